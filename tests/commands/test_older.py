"""Servers older than all that mycnf knows: their version, system and disks are judged, their options are not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from advisor.analysis.restart import check_restart
from advisor.core.errors import MycnfError
from advisor.facts.snapshot import load

CHECKOUT = Path(__file__).resolve().parents[2]
VARIABLES = """\
Variable_name\tValue
datadir\t/var/lib/mysql/
max_connections\t151
port\t3306
version\t5.6.51
"""
RECORDED = CHECKOUT / "examples" / "snapshots" / "mariadb-10.11.json"


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """A recorded server as one of a series below the catalogs; tried on a real MariaDB 10.2.11 as well."""
    facts = json.loads(RECORDED.read_text("utf-8"))
    facts["server"]["version"] = "10.2.11"
    path = tmp_path / "older.json"
    path.write_text(json.dumps(facts), "utf-8")
    return path


def mycnf(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run mycnf as its user does."""
    command = [sys.executable, "-m", "advisor", *map(str, words)]
    return subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)


def test_an_audit_keeps_to_what_holds_for_every_version(older: Path) -> None:
    """It says how old the server is and what is not judged, and nothing of its options."""
    ran = mycnf("audit", "--snapshot", older, "--format", "json")
    assert ran.returncode in (0, 1), ran.stderr
    report = json.loads(ran.stdout)
    codes = {finding["code"] for finding in report["findings"]}
    assert {"VER001", "VER003"} <= codes
    assert {code[:3] for code in codes} <= {"VER", "SYS", "STO"}
    of_recorded = json.loads(mycnf("audit", "--snapshot", RECORDED, "--format", "json").stdout)
    assert {finding["code"][:3] for finding in of_recorded["findings"]} > {"BUF"}


def test_texts_that_people_send_are_enough(tmp_path: Path) -> None:
    """So are those of a MySQL of ten years ago."""
    text = tmp_path / "variables.txt"
    text.write_text(VARIABLES, "utf-8")
    ran = mycnf("audit", "--from", text, "--format", "json")
    assert ran.returncode in (0, 1), ran.stderr
    assert "VER003" in {finding["code"] for finding in json.loads(ran.stdout)["findings"]}


def test_a_report_of_many_has_it(older: Path) -> None:
    """It is a row as any other, so that the oldest servers stand on the map of versions."""
    ran = mycnf("report", older.parent, "--format", "text")
    assert ran.returncode in (0, 1), ran.stderr
    assert "10.2" in ran.stdout
    assert "broken" not in ran.stdout


def test_its_reading_of_option_files_is_not_guessed(older: Path, tmp_path: Path) -> None:
    """A comparison with a file, and a forecast of a restart, are refused with the reason in one line."""
    file = tmp_path / "my.cnf"
    file.write_text("[mysqld]\nread_buffer_size = 1M\n", "utf-8")
    ran = mycnf("diff", older, file)
    assert ran.returncode == 2
    assert ran.stderr.count("\n") == 1
    assert "MariaDB 10.2.11 is older than mariadb-10.6" in ran.stderr
    with pytest.raises(MycnfError, match="is older than mariadb"):
        check_restart(load(str(older)))


def test_two_of_them_are_compared(older: Path) -> None:
    """A comparison of what two servers report needs no catalog."""
    assert mycnf("diff", older, older).returncode == 0


def test_no_lint_for_it(older: Path) -> None:
    """A target is named by people, who can name one that is known."""
    ran = mycnf("lint", "--target", "mariadb-10.2", older)
    assert ran.returncode == 2
    assert "known are" in ran.stderr
