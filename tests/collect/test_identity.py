"""Flavour, vendor and platform are detected by what only one of them has, never by a number alone."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pytest

from advisor.collect.connection.session import flavour_of, managed_by, vendor_of, version_number

if TYPE_CHECKING:
    from pathlib import Path

NUMBERS = {
    "8.0.36": "8.0.36",
    "5.7.22-log": "5.7.22",
    "8.0.36-28.1": "8.0.36",
    "5.5.5-10.11.6-MariaDB-1:10.11.6+maria~deb12-log": "10.11.6",
    "11.4.9-MariaDB": "11.4.9",
    "26.7.0": "26.7.0",
}


@pytest.mark.parametrize(("text", "number"), NUMBERS.items())
def test_the_number_is_what_the_text_begins_with(text: str, number: str) -> None:
    """Suffixes of builds and MariaDB's prefix for old replicas are left out."""
    assert version_number(text) == number


def test_real_servers_are_detected_by_their_variables(shared: Path) -> None:
    """The variables of every recorded server show its flavour, for any version that it claims to have."""
    files = sorted(shared.glob("catalog/servers/*/global-variables.tsv"))
    assert files
    for file in files:
        with file.open(encoding="utf-8", newline="") as rows:
            names = {row[0].lower(): "" for row in csv.reader(rows, delimiter="\t", quoting=csv.QUOTE_NONE) if row}
        assert flavour_of("26.7.0", "built here", names) == file.parent.name.partition("-")[0]
        assert flavour_of("11.4.9", "", names) == file.parent.name.partition("-")[0]


def test_without_variables_the_texts_decide() -> None:
    """Where no variable could be read, the server's own words count."""
    assert flavour_of("10.11.6-MariaDB", "", {}) == "mariadb"
    assert flavour_of("10.11.6", "mariadb.org binary distribution", {}) == "mariadb"
    assert flavour_of("8.0.36", "MySQL Community Server - GPL", {}) == "mysql"


@pytest.mark.parametrize(
    ("flavour", "comment", "vendor"),
    [
        ("mysql", "Percona Server (GPL), Release 28, Revision 47601f19", "Percona"),
        ("mysql", "MySQL Community Server - GPL", "MySQL"),
        ("mysql", "(Debian)", "MySQL"),
        ("mariadb", "Debian 12", "MariaDB"),
        ("mariadb", "MariaDB Server", "MariaDB"),
    ],
)
def test_the_vendor_is_in_the_comment(flavour: str, comment: str, vendor: str) -> None:
    """The builder is in the version comment; without one it counts as the flavour."""
    assert vendor_of(flavour, "8.0.36", comment) == vendor


@pytest.mark.parametrize(
    ("version", "comment", "variables", "platform"),
    [
        ("8.0.32", "Source distribution", {"aurora_version": "3.05.2", "basedir": "/rdsdbbin/oscar/"}, "aurora"),
        ("8.0.36", "Source distribution", {"basedir": "/rdsdbbin/mysql-8.0.36/", "datadir": "/rdsdbdata/db/"}, "rds"),
        ("10.11.6-MariaDB-log", "managed by https://aws.amazon.com/rds/", {"datadir": "/rdsdbdata/db/"}, "rds"),
        ("8.0.37-azure", "MySQL Community Server", {"aad_auth_only": "OFF"}, "azure"),
        ("8.0.31-google", "(Google)", {}, "cloudsql"),
        ("8.0.32-u1-cloud", "MySQL Enterprise - Cloud", {}, "heatwave"),
        ("8.0.36", "MySQL Community Server - GPL", {"basedir": "/usr/", "datadir": "/var/lib/mysql/"}, ""),
    ],
)
def test_managed_platforms_are_known(version: str, comment: str, variables: dict[str, str], platform: str) -> None:
    """Platforms show by variables of their own, their directories or their version; a server of one's own by none."""
    assert managed_by(version, comment, variables) == platform
