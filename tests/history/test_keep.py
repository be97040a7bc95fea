"""What is kept is bounded, private and whole, with several writers at once and on a full disk."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace
from mycnf_command import CHECKOUT
from process_checks import PATIENCE

from advisor.core.errors import MycnfError
from advisor.facts import Facts
from advisor.facts.snapshot import MAX_JSON_BYTES, load
from advisor.state.history import (
    MAX_SNAPSHOTS,
    MIN_SNAPSHOTS,
    file_stamp,
    find_server,
    list_servers,
    save_snapshot,
    snapshot_names,
)

SNAPSHOT = CHECKOUT / "tests" / "snapshots" / "schema-1.0.json"


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state directory of the test's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "mycnf" / "history"


@pytest.fixture
def facts() -> Facts:
    """Facts of a small server, quick to write."""
    whole = load(str(SNAPSHOT))
    few = {name: whole.server.variables[name] for name in ("version", "hostname", "port", "datadir")}
    return replace(whole, server=replace(whole.server, variables=few, status={}, origins={}), files=None, host=None)


def of_day(facts: Facts, number: int) -> Facts:
    """The same facts of a later minute."""
    return replace(facts, taken_at=f"2026-11-21T{number // 60:02}:{number % 60:02}:00+00:00")


def test_files_and_folders_are_private(facts: Facts, state: Path) -> None:
    """What is kept is its owner's alone, and loads as it was."""
    path = save_snapshot(facts)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in (state, *state.iterdir()) if folder != state} == {0o700}
    assert load(path) == facts


def test_what_is_kept_can_be_read(facts: Facts) -> None:
    """Facts larger than what is read of a snapshot, from wherever they came, are kept without their largest part."""
    heavy = replace(
        facts, server=replace(facts.server, status={"uptime": "5", "odd": "\udcff" * (MAX_JSON_BYTES // 5)})
    )
    kept = load(save_snapshot(heavy))
    assert kept.server.status == {}
    assert "left out" in kept.reason_missing("server.status")
    assert kept.server.variables == facts.server.variables


def test_the_oldest_go(facts: Facts) -> None:
    """No more than so many stay, the newest; and those of years ago go too, but for two."""
    paths = [save_snapshot(of_day(facts, number)) for number in range(MAX_SNAPSHOTS + 3)]
    folder = os.path.dirname(paths[0])
    assert snapshot_names(folder) == [os.path.basename(path) for path in paths[3:]]
    for name in snapshot_names(folder)[:-5]:
        os.unlink(os.path.join(folder, name))
    for year in ("2019", "2020", "2021"):
        save_snapshot(replace(facts, taken_at=f"{year}-01-01T00:00:00+00:00"))
    assert len(snapshot_names(folder)) == 5


def test_two_of_years_ago_stay(facts: Facts) -> None:
    """A history of old snapshots alone keeps two to compare."""
    paths = [save_snapshot(replace(facts, taken_at=f"20{year}-01-01T00:00:00+00:00")) for year in (15, 16, 17)]
    assert snapshot_names(os.path.dirname(paths[0])) == [os.path.basename(path) for path in paths[-MIN_SNAPSHOTS:]]


@pytest.mark.parametrize("taken_at", ["", "yesterday", "2026-11-21T05:00:00+00:00", "2026-11-21T05:00:00", "9" * 400])
def test_any_time_names_a_file(taken_at: str) -> None:
    """With any time in a snapshot, its file has a name that sorts and leads nowhere else."""
    assert file_stamp(taken_at) in ("00000000T000000", "20261121T050000")


def test_a_full_disk_leaves_the_old_whole(facts: Facts, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a snapshot can't be written it is one line, and what was kept is as it was."""
    path = save_snapshot(facts)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("advisor.state.private_file.os.fsync", full)
    with pytest.raises(MycnfError, match=r"^the snapshot cannot be saved in \S+ \(No space left on device\); [^\n]*$"):
        save_snapshot(of_day(facts, 5))
    assert snapshot_names(os.path.dirname(path)) == [os.path.basename(path)]
    assert load(path) == facts


def test_two_at_once_lose_nothing(facts: Facts, state: Path) -> None:
    """Processes that keep snapshots of one server at once keep them all."""
    code = (
        "import sys; from msgspec.structs import replace; from advisor.facts.snapshot import load\n"
        "from advisor.state.history import save_snapshot; facts = load(sys.argv[1])\n"
        "for n in range(10):\n"
        "    save_snapshot(replace(facts, taken_at=f'2026-11-{int(sys.argv[2]):02}T{n:02}:00:00+00:00'))"
    )
    source = save_snapshot(facts)
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    each = [subprocess.Popen([sys.executable, "-c", code, source, str(n)], env=environment) for n in range(1, 5)]
    assert [process.wait(PATIENCE) for process in each] == [0] * 4
    assert len(snapshot_names(os.path.dirname(source))) == 41
    assert not [name for name in os.listdir(os.path.dirname(source)) if name.endswith(".part")]


def test_servers_are_told_apart(facts: Facts) -> None:
    """Host name, port and data directory make a server where it has no UUID; a UUID does alone."""
    others = [{"port": "3307"}, {"server_uuid": "u1"}, {"server_uuid": "u1", "hostname": "renamed"}]
    for change in ({}, *others):
        save_snapshot(replace(facts, server=replace(facts.server, variables={**facts.server.variables, **change})))
    found = list_servers(print)
    assert sorted(len(one.paths) for one in found) == [1, 1, 2]
    assert find_server(found, found[0].id[:6]) == found[0]
    (other,) = (one for one in found if one.name.endswith(":3307"))
    assert find_server([other], other.name.removesuffix(":3307")) == other
    assert find_server(found, other.name.removesuffix(":3307")) != other  # one without a port has the name itself
    with pytest.raises(MycnfError, match="several servers"):
        find_server([other, other._replace(id="0", name=f"{other.name}8")], other.name.removesuffix(":3307"))
    with pytest.raises(MycnfError, match="several servers"):
        find_server([*found, found[0]._replace(id=found[0].id + "0")], found[0].name)


def test_facts_without_a_server_are_not_kept(facts: Facts) -> None:
    """An account that reads no variables gives nothing to identify a server by."""
    with pytest.raises(MycnfError, match="nothing was saved"):
        save_snapshot(replace(facts, server=replace(facts.server, variables={})))
