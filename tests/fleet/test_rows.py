"""The rows and the list of hosts in a run directory: what is written is read again, and damage is noticed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from mycnf_command import CHECKOUT

from advisor.fleet.run_directory import (
    HOSTS,
    ROWS,
    HostRow,
    Status,
    file_name,
    hosts_of,
    prepare_directory,
    read_row,
    write_row,
)

WHOLE = HostRow(name="db1\udcff", groups=("shop",), status=Status.AUDITED, snapshot="snapshots/db1.json", seconds=1.5)
DAMAGED = {
    "cut off": '{"name": "db1", "gro',
    "no table": "[]",
    "no name": "{}",
    "a name that is a number": '{"name": 1}',
    "groups that are a text": '{"name": "db1", "groups": "shop"}',
    "a group that is a number": '{"name": "db1", "groups": [1]}',
    "an unknown status": '{"name": "db1", "status": "well"}',
    "a time that is a text": '{"name": "db1", "seconds": "soon"}',
    "a time beyond all numbers": f'{{"name": "db1", "seconds": 1{"0" * 400}}}',
    "a key that is no text": r'{"name": "db1", "\udcff": 1}',
}


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """An empty run directory."""
    prepare_directory(str(tmp_path), resume=False)
    return str(tmp_path)


def test_a_row_is_read_as_it_was_written(folder: str) -> None:
    """For any name; fields that a later version adds are ignored."""
    write_row(folder, WHOLE)
    assert read_row(folder, WHOLE.name) == WHOLE
    path = Path(folder, ROWS, file_name(WHOLE.name) + ".row")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"later": 1}))
    assert read_row(folder, WHOLE.name) == WHOLE


@pytest.mark.parametrize("case", DAMAGED)
def test_a_damaged_row_counts_as_none(folder: str, case: str) -> None:
    """Its host is asked again."""
    Path(folder, ROWS, "db1.row").write_text(DAMAGED[case])
    assert read_row(folder, "db1") is None


@pytest.mark.parametrize("text", ["", "{}", '"db1"', "[1]", '["db1", null]'])
def test_a_damaged_list_of_hosts_names_none(folder: str, text: str) -> None:
    """As if ansible had not got as far as to name them."""
    Path(folder, HOSTS).write_text('["db1", "db2"]')
    assert hosts_of(folder) == ("db1", "db2")
    Path(folder, HOSTS).write_text(text)
    assert hosts_of(folder) == ()


def test_the_process_of_a_host_does_not_import_pydantic() -> None:
    """There is one for each host, and it only writes."""
    code = "import sys, advisor.fleet.host; print('pydantic' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], cwd=CHECKOUT, capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"
