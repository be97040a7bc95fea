"""Option files that reviewers judged: sane ones get no findings, and faults of the others are named.

The files are in the shared folder; the first line of each names the host that it is for.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from mycnf_command import Mycnf

MOST_NOTES = 4  # deprecations aside
DEPRECATED = "OPT008"
SANE = {
    "g106": ("mariadb-10.6", "64G", 16),
    "g57_percona": ("mysql-5.7", "128G", 32),
    "g80_nvme": ("mysql-8.0.36", "256G", 64),
    "g_galera": ("mariadb-10.11", "64G", 16),
    "sane84": ("mysql-8.4", "256G", 32),
}
B80 = (
    "INN007 INN009 INN022 INN039 INN042 INN043 INN044 INN045 INN046 TMP001 TMP009 DUR003 BUF002 BUF003 BUF004 OPT006 "
    "OBS001 MEM002 BIN010 SYS032"
)
REPLICA = (
    "REP001 REP003 REP007 REP011 REP012 REP017 REP024 BIN003 BIN005 BIN011 INN031 DUR001 DUR002 DUR005 DUR009 MOD001 "
    "OPT001 OPT003 OPT006 SEC001 SEC004 SEC005 SEC007 TLS001"
)
# What a consultant names and mycnf names too. Left out on purpose: values that are the defaults (gcs.fc_limit = 16,
# bind_address = *, master_verify_checksum = OFF), innodb_change_buffering = all (measured: three times the inserts),
# the adaptive hash index of MySQL (no published figure), innodb_ddl_threads (no measurement),
# innodb_lru_scan_depth = 100 (the manual calls a smaller one generally suitable), table_definition_cache (audits see
# the tables), and sync_relay_log = 1 (the manual's choice for several workers without GTIDs).
FAULTY = {
    "b80": (
        ("mysql-8.0", "192G", 32),
        B80,
    ),
    "b84_redo": (("mysql-8.4", "512G", 64), "BUF006 LOG007 DUR002 DUR001 INN039 CON028"),
    "gal1": (("mariadb-10.11", "128G", 32), "GAL008 GAL009 GAL010 GAL011 GAL012 GAL013 SEC002 OPT006 BUF008 DUR001"),
    "rep80": (
        ("mysql-8.0", "64G", 16),
        REPLICA,
    ),
    "z": (("mysql-5.7", "32G", 16), "BIN008 BIN009 CON028 MEM002 DUR010 INN039 INN040 INN041"),
}


def findings(mycnf: Mycnf, path: Path, host: tuple[str, str, int]) -> list[dict[str, Any]]:
    """The findings of lint for a file on its host, whose disk is NVMe."""
    target, ram, cpus = host
    words = ("--target", target, "--ram", ram, "--cpus", str(cpus), "--disk", "nvme", "--format", "json")
    (entry,) = json.loads(mycnf("lint", *words, path).out)["files"]
    found: list[dict[str, Any]] = entry["findings"]
    return found


def test_all_files_are_judged(shared: Path) -> None:
    """No file of either folder is left out."""
    review = shared / "review"
    assert {path.stem for path in (review / "sane").glob("*.cnf")} == set(SANE)
    assert {path.stem for path in (review / "faulty").glob("*.cnf")} == set(FAULTY)


@pytest.mark.parametrize("name", SANE)
def test_sane_files_get_no_findings(name: str, mycnf: Mycnf, shared: Path) -> None:
    """A good file gets no error, no warning and few notes."""
    found = findings(mycnf, shared / "review" / "sane" / f"{name}.cnf", SANE[name])
    assert [(f["code"], f["message"]) for f in found if f["severity"] != "note"] == []
    notes = [f["code"] for f in found if f["code"] != DEPRECATED]
    assert len(notes) <= MOST_NOTES, notes


@pytest.mark.parametrize("name", FAULTY)
def test_faults_are_named(name: str, mycnf: Mycnf, shared: Path) -> None:
    """Each of these faults is named under its code."""
    host, codes = FAULTY[name]
    found = {f["code"] for f in findings(mycnf, shared / "review" / "faulty" / f"{name}.cnf", host)}
    assert sorted(set(codes.split()) - found) == []
