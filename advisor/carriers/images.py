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
# Images of Software Collections (sclorg) and Red Hat have the series in their name: mysql-80, mariadb-1011-c9s. Each
# reads options from variables such as MYSQL_MAX_CONNECTIONS.
_COLLECTION = r"(mysql|mariadb)-(\d{2,4})(?:-(?:centos|c|el|rhel|ubi)\d+\w*)?"
_COLLECTORS = r"sclorg|centos\d*|rhscl|rhel\d+|ubi\d+|fedora"
# The last series of an image that gets no newer ones: Oracle publishes those in a registry of its own.
_LAST_SERIES = {"mysql/mysql-server": (8, 0)}
_HUB = ("", "docker.io", "index.docker.io", "registry-1.docker.io")


class ServerImage(NamedTuple):
    """The server in an image, and a phrase that says how it was derived."""

    target: Target
    why: str


def image_of_program(program: str) -> ServerImage | None:
    """Return the server of a command without an image, by the name of its program; None for mysqld, which both have."""
    return ServerImage(newest_target("mariadb"), f"its program is {program}") if program.startswith("mariadb") else None


def image_of(reference: str) -> ServerImage | None:
    """Return the server in an image such as `mysql:8.0.36` or `docker.io/bitnami/mariadb:11.4`; None for other images.

    A tag without a version means the newest series; a version older than all known series means the oldest known.
    """
    plain = re.sub(_VARIABLE_DEFAULT, r"\1", reference.strip()).partition("@")[0]
    name, _, tag = plain.rpartition("/")[2].partition(":")
    parent = plain.rpartition("/")[0].rpartition("/")[2]
    if (series := collection_series(reference)) is not None:
        return ServerImage(*target_of_version(*series, "", f"its image is {reference.strip()}"))
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
    last = _last_series(plain)
    if version is None and last is not None:
        series_name = ".".join(map(str, last))
        why = f"its image is {reference.strip()}, assumed to be {series_name}, the last series of this name"
        return ServerImage(target_of_version(server[0], last, server[1], why)[0], why)
    if version is None:
        return ServerImage(
            newest_target(*server), f"its image is {reference.strip()}, assumed to be the newest version"
        )
    numbers = tuple(int(n) for n in version.groups() if n)
    return ServerImage(*target_of_version(server[0], numbers, server[1], f"its image is {reference.strip()}"))


def collection_series(reference: str) -> tuple[str, tuple[int, ...]] | None:
    """Return flavour and series of an image of Software Collections or Red Hat; None for other images."""
    path = re.sub(_VARIABLE_DEFAULT, r"\1", reference.strip()).partition("@")[0]
    name, parent = path.rpartition("/")[2].partition(":")[0], path.rpartition("/")[0].rpartition("/")[2]
    match = re.fullmatch(_COLLECTION, name)
    if match is None or not re.fullmatch(_COLLECTORS, parent):
        return None
    flavour, digits = match[1], match[2]
    major = 2 if flavour == "mariadb" else 1
    return (flavour, (int(digits[:major]), int(digits[major:]))) if digits[major:] else None


def _last_series(path: str) -> tuple[int, ...] | None:
    """Return the last series of an image by its name with or without the registry of Docker."""
    for name, series in _LAST_SERIES.items():
        before, found, after = path.partition(name)
        if found and before.rstrip("/") in _HUB and after[:1] in ("", ":"):
            return series
    return None
