"""What probes showed on this host travels in the snapshots of servers that are proved to run on it."""

from __future__ import annotations

from pathlib import Path

import controlled_experiment
import pytest
from msgspec.structs import replace
from mycnf_command import Mycnf

from advisor.__main__ import main
from advisor.facts.snapshot import load
from probes import registry
from probes.results import read_all, write_result
from probes.sandbox import Sandbox


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A state directory with two results of this host and one of another; the newer of the two has two rounds."""
    monkeypatch.setattr(controlled_experiment, "EXPERIMENT", controlled_experiment.Steered())
    monkeypatch.setattr(registry, "MODULES", {"scan": "controlled_experiment"})
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for rounds in ("1", "2"):
        words = ["--dir", str(tmp_path), "--force", "busy,neighbour,full,little", "--rounds", rounds]
        assert main(["probe", "scan", *words]) == 0
    newest, older = sorted((k.result for k in read_all().kept), key=lambda r: -r.rounds)
    write_result(replace(newest, began_at="2999-01-01T00:00:00Z"), read_all().kept[0].path)
    write_result(replace(older, began_at="2998-01-01T00:00:00Z"), read_all().kept[1].path)
    write_result(replace(newest, began_at="2999-02-01T00:00:00Z", place=replace(newest.place, host="elsewhere")))
    return tmp_path / "state"


@pytest.mark.servers("mariadb-10.11", "mysql-8.0")
def test_a_snapshot_carries_the_latest_of_this_host(
    mycnf: Mycnf, any_server: Sandbox, kept: Path, tmp_path: Path
) -> None:
    """One result of the kind, the newest that was measured here, whole; without any kept none is carried."""
    words = ("collect", "--socket", any_server.socket, "--user", "root", "--window", "0", "-o")
    saved = mycnf(*words, tmp_path / "snap", env={"XDG_STATE_HOME": str(kept)})
    assert saved.code == 0, saved.err
    (carried,) = load(str(tmp_path / "snap")).probes
    assert (carried.began_at, carried.rounds) == ("2999-01-01T00:00:00Z", 2)
    assert carried in [k.result for k in read_all().kept]
    mycnf(*words, tmp_path / "other", env={"XDG_STATE_HOME": str(tmp_path / "empty")})
    assert load(str(tmp_path / "other")).probes == ()


@pytest.mark.servers("mariadb-10.11")
def test_a_damaged_result_stops_nothing(mycnf: Mycnf, any_server: Sandbox, kept: Path, tmp_path: Path) -> None:
    """It is named on stderr, and the snapshot carries the others."""
    bad = kept / "mycnf" / "probes" / "bad.json"
    bad.write_text('{"schema": "1.0", "arms": 7}')
    words = ("collect", "--socket", any_server.socket, "--user", "root", "--window", "0", "-o", tmp_path / "snap")
    saved = mycnf(*words, env={"XDG_STATE_HOME": str(kept)})
    assert saved.code == 0
    assert str(bad) in saved.err
    assert len(load(str(tmp_path / "snap")).probes) == 1
