"""Which server this is: flavour, vendor and platform, never from the version number alone."""

from __future__ import annotations

import re

# Variables that one flavour has had in every supported series and the other never.
_MARIADB_ONLY = ("gtid_domain_id", "aria_pagecache_buffer_size")
_MYSQL_ONLY = ("server_uuid", "gtid_purged")

# What the managed platforms leave visible: variables of their own, their directories, words in version and comment.
_MANAGED_VARIABLES = (("aurora", "aurora_version"), ("azure", "aad_auth_only"))
_MANAGED_PATHS = (("rds", ("/rdsdbbin/", "/rdsdbdata/")),)
_MANAGED_WORDS = (("cloudsql", "(google)"), ("cloudsql", "-google"), ("heatwave", "mysql enterprise - cloud"))
_DIGITS = 9  # of a part of a version
_VENDORS = (("Percona", "percona"), ("MariaDB", "mariadb"))


def flavour_of(version: str, comment: str, variables: dict[str, str]) -> str:
    """mysql or mariadb: by variables that only one of them has; by the texts where no variables could be read."""
    if any(name in variables for name in _MARIADB_ONLY):
        return "mariadb"
    if any(name in variables for name in _MYSQL_ONLY):
        return "mysql"
    return "mariadb" if "mariadb" in f"{version} {comment}".lower() else "mysql"


def number_of(version: str) -> str:
    """The digits of a version text: 10.11.6 of 5.5.5-10.11.6-MariaDB-log, 8.0.36 of 8.0.36-28.1-log."""
    match = re.match(r"(?:5\.5\.5-)?([0-9]{1,9}(?:\.[0-9]{1,9})+)", version)
    return match[1] if match else version


def numbers_of(version: str) -> tuple[int, ...]:
    """A version text as numbers; parts that are none, or longer than any, are left out."""
    return tuple(int(n) for n in number_of(version).split(".") if n.isdecimal() and len(n) <= _DIGITS)


def vendor_of(flavour: str, version: str, comment: str) -> str:
    """Who built it: MySQL, Percona, MariaDB, …; a fork that says nothing counts as the flavour that it speaks."""
    text = f"{version} {comment}".lower()
    named = next((vendor for vendor, word in _VENDORS if word in text), "")
    return named or ("MariaDB" if flavour == "mariadb" else "MySQL")


def managed_by(version: str, comment: str, variables: dict[str, str]) -> str:
    """The managed platform (aurora, rds, azure, cloudsql, heatwave); empty for a server of one's own."""
    by_variable = next((platform for platform, name in _MANAGED_VARIABLES if name in variables), "")
    folders = (variables.get("basedir", ""), variables.get("datadir", ""))
    by_path = next((platform for platform, starts in _MANAGED_PATHS if any(f.startswith(starts) for f in folders)), "")
    text = f"{version} {comment}".lower()
    return by_variable or by_path or next((platform for platform, word in _MANAGED_WORDS if word in text), "")
