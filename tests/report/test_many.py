"""Reports of many snapshots in the formats of machines, by the schemas of others."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from jsonschema import Draft4Validator
from lxml import etree
from mycnf_command import CHECKOUT

from advisor.__main__ import main

SNAPSHOT = CHECKOUT / "examples" / "snapshots" / "mariadb-10.11.json"


def printed(capsys: pytest.CaptureFixture[str], folder: Path, form: str) -> str:
    """The report of two servers and a file that is no snapshot."""
    for name in ("a.json", "b.json"):
        (folder / name).write_bytes(SNAPSHOT.read_bytes())
    (folder / "c.json").write_text("]]><script>", encoding="utf-8")
    assert main(["report", "--isolated", "--jobs", "1", str(folder), "--format", form]) == 2
    return capsys.readouterr().out


def test_each_snapshot_counts_once(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """One that is named and is in a directory that is named too is one server."""
    (tmp_path / "a.json").write_bytes(SNAPSHOT.read_bytes())
    words = [str(tmp_path), str(tmp_path / "a.json"), os.path.relpath(tmp_path / "a.json"), str(tmp_path / "no.json")]
    assert main(["report", "--isolated", "--jobs", "1", *words, "--format", "text"]) == 2
    printed = capsys.readouterr()
    assert "1 read, 1 broken" in printed.out
    assert "no.json does not exist" in printed.err


def test_sarif(capsys: pytest.CaptureFixture[str], sarif_validator: Draft4Validator, tmp_path: Path) -> None:
    """The log is valid; each server has a run of its own, and one that could not be read is no success."""
    log = json.loads(printed(capsys, tmp_path, "sarif"))
    sarif_validator.validate(log)
    assert [run["automationDetails"]["id"] for run in log["runs"][:2]] == ["db1/", "db1/"]
    assert [run["invocations"][0]["executionSuccessful"] for run in log["runs"]] == [True, True, False]
    assert len(log["runs"][0]["results"]) == len(log["runs"][1]["results"]) > 20


def test_junit(capsys: pytest.CaptureFixture[str], junit_schema: etree.XMLSchema, tmp_path: Path) -> None:
    """The document is valid: a suite a server, numbered, and what could not be read is an error."""
    root = etree.fromstring(printed(capsys, tmp_path, "junit").encode())
    junit_schema.assertValid(root)
    assert [suite.get("id") for suite in root] == ["0", "1", "2"]
    assert [suite.get("name") for suite in root][:2] == ["db1", "db1"]
    assert [len(list(suite.iter("error"))) for suite in root] == [0, 0, 1]


def test_concise(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A line a finding, with its server."""
    lines = printed(capsys, tmp_path, "concise").splitlines()
    assert sum(line.startswith("db1: error: SEC003 ") for line in lines) == 2
    assert sum(": broken: " in line for line in lines) == 1
