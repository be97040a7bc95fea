"""The server in a container image, derived from the image's name and tag."""

from __future__ import annotations

import re
from typing import NamedTuple

from advisor.catalog.targets import SERIES, newest_target, parse_target
from advisor.core.model import Target

_MYSQL = frozenset(("mysql", "mysql-server", "community-server", "enterprise-server", "percona", "percona-server",
                    "percona-xtradb-cluster", "mysql-ndb", "mysql-cluster", "percona-server-mysql"))  # fmt: skip
_MARIADB = frozenset(("mariadb", "mariadb-server", "mariadb-galera", "mariadb-enterprise", "mariadb-community"))
_VARIABLE_DEFAULT = r"\$\{\w+:?-([^{}]*)\}"
_VERSION = r"v?(\d+)(?:\.(\d+))?(?:\.(\d+))?"


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
    flavour = "mysql" if name.lower() in _MYSQL else "mariadb" if name.lower() in _MARIADB else None
    if flavour is None:
        parent = plain.rpartition("/")[0].rpartition("/")[2]
        if name != "server" or parent != "mariadb":
            return None
        flavour = "mariadb"
    version = re.match(_VERSION, tag)
    if version is None:
        return ServerImage(newest_target(flavour), f"its image is {reference.strip()}, taken for the newest")
    return _image_of_tag(flavour, tuple(int(n) for n in version.groups() if n), reference.strip())


def _image_of_tag(flavour: str, version: tuple[int, ...], reference: str) -> ServerImage:
    known = SERIES[flavour]
    if len(version) == 1:
        series = max((s for s in known if s[0] == version[0]), default=None)
        return ServerImage(
            Target(flavour, known[series]) if series else newest_target(flavour), f"its image is {reference}"
        )
    if version[:2] < min(known):
        oldest = min(known)
        return ServerImage(Target(flavour, known[oldest]), f"its image is {reference}, and no older series is known")
    if max(version) > 9999:  # noqa: PLR2004 - no release has five digits
        return ServerImage(newest_target(flavour), f"its image is {reference}")
    return ServerImage(parse_target(f"{flavour}-{'.'.join(map(str, version))}"), f"its image is {reference}")
