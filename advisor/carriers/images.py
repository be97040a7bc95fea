"""The server in a container image, derived from the image's name and tag."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from advisor.catalog.targets import newest_target, target_of_version

if TYPE_CHECKING:
    from advisor.core.model import Target

# The server in an image, by the image's name: flavour and build.
_NAMES = {
    **dict.fromkeys(("mysql", "mysql-server", "community-server", "mysql-ndb", "mysql-cluster"), ("mysql", "")),
    "enterprise-server": ("mysql", "enterprise"),
    **dict.fromkeys(("percona", "percona-server", "percona-server-mysql"), ("mysql", "percona")),
    "percona-xtradb-cluster": ("mysql", "pxc"),
    **dict.fromkeys(("mariadb", "mariadb-server", "mariadb-galera", "mariadb-enterprise", "mariadb-community"),
                    ("mariadb", "")),
    **{name: ("mysql", name) for name in ("greatsql", "tidb", "stonedb", "shannonbase")},
    "oceanbase-ce": ("mysql", "oceanbase"),
}  # fmt: skip
# Percona's operators name the server behind their own version: 1.14.0-pxc8.0.35, 0.9.0-ps8.0.36.
_OPERATOR_TAG = r".*-(pxc|ps)(\d[\d.]*)"
_VARIABLE_DEFAULT = r"\$\{\w+:?-([^{}]*)\}"
_EXPRESSION = r"[{}$%<]"  # in a tag that is filled in later
UNVERSIONED = "version is not in the document"
_VERSION = r"(?:ps-|v)?(\d+)(?:\.(\d+))?(?:\.(\d+))?"


class ServerImage(NamedTuple):
    """The server in an image, and a phrase that says how it was derived."""

    target: Target
    why: str


def image_of(reference: str) -> ServerImage | None:
    """Return the server in an image such as `mysql:8.0.36` or `docker.io/bitnami/mariadb:11.4`; None for other images.

    A tag without a version means the newest series; a version older than all known series means the oldest known.
    """
    plain = re.sub(_VARIABLE_DEFAULT, r"\1", reference.strip()).partition("@")[0]
    name, _, tag = plain.rpartition("/")[2].partition(":")
    parent = plain.rpartition("/")[0].rpartition("/")[2]
    server = _NAMES.get(name.lower())
    if name == "server" and parent == "mariadb":
        server = ("mariadb", "")
    operated = re.fullmatch(_OPERATOR_TAG, tag) if name.startswith("percona-") else None
    if operated:
        server, tag = ("mysql", "pxc" if operated[1] == "pxc" else "percona"), operated[2]
    if server is None:
        return None
    version = re.match(_VERSION, tag)
    if version is None and re.search(_EXPRESSION, tag):
        return ServerImage(newest_target(*server), f"its image is {reference.strip()}, whose {UNVERSIONED}")
    if version is None:
        return ServerImage(
            newest_target(*server), f"its image is {reference.strip()}, assumed to be the newest version"
        )
    numbers = tuple(int(n) for n in version.groups() if n)
    return ServerImage(*target_of_version(server[0], numbers, server[1], f"its image is {reference.strip()}"))
