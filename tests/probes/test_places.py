"""The next run finds what a dead one left, wherever that was, and remembers no more places than it must."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from probes.leftovers import PLACES_FILE, remove_leftovers
from probes.results import make_results_folder
from probes.sandbox.scratch import MARKER, PREFIX, Scratch

ORPHAN = {"product": "mycnf-advisor", "owner": None, "server": None}


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state directory of the test's own, and directories for what is measured."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for name in ("first", "second", "third"):
        (tmp_path / name).mkdir()
    return tmp_path / "state"


def orphan(place: Path) -> Path:
    """What a killed run leaves in a place."""
    left = place / f"{PREFIX}left0123"
    left.mkdir(mode=0o700)
    (left / MARKER).write_text(json.dumps(ORPHAN))
    return left


def remembered() -> list[str]:
    """The places that are noted."""
    noted: list[str] = json.loads((Path(make_results_folder()) / PLACES_FILE).read_text("ascii"))
    return noted


def test_a_run_elsewhere_sweeps_where_the_last_one_was_killed(tmp_path: Path) -> None:
    """What is left in either directory of a run goes with the next run, which is in a third one."""
    remove_leftovers((str(tmp_path / "first"), str(tmp_path / "second")))
    left = [orphan(tmp_path / name) for name in ("first", "second")]
    remove_leftovers((str(tmp_path / "third"),))
    assert not any(path.exists() for path in left)


def test_a_place_is_forgotten_once_nothing_of_ours_is_there(tmp_path: Path) -> None:
    """Where another run is alive it is remembered on; where nothing is, it isn't."""
    alive = Scratch(tmp_path / "first", needed=0)
    remove_leftovers((str(tmp_path / "first"), str(tmp_path / "second")))
    remove_leftovers((str(tmp_path / "third"),))
    assert {str(tmp_path / name) for name in ("first", "third")} <= set(remembered())
    assert str(tmp_path / "second") not in remembered()
    alive.remove()


@pytest.mark.parametrize("damage", [b"", b"{", b"[1, null]", b"{}", b"\xff", b"[" * 100_000])
def test_a_damaged_note_costs_nothing(tmp_path: Path, damage: bytes) -> None:
    """It is written again, and the run goes on."""
    (Path(make_results_folder()) / PLACES_FILE).write_bytes(damage)
    left = orphan(tmp_path / "first")
    remove_leftovers((str(tmp_path / "first"),))
    assert not left.exists()
    assert str(tmp_path / "first") in remembered()


def test_without_a_state_directory_the_place_itself_is_swept(tmp_path: Path, state: Path) -> None:
    """A run that can note nothing still removes what was left where it is about to begin."""
    state.write_text("")
    left = orphan(tmp_path / "first")
    remove_leftovers((str(tmp_path / "first"),))
    assert not left.exists()


def test_parts_of_results_are_removed_once_they_are_abandoned(tmp_path: Path) -> None:
    """An old part goes, one that is being written just now stays, and so does everything else."""
    folder = Path(make_results_folder())
    for name in ("old.json.1a2b3c4d.part", "new.json.1a2b3c4d.part", "old.json"):
        (folder / name).write_text("{")
    for name in ("old.json.1a2b3c4d.part", "old.json"):
        os.utime(folder / name, (0, 0))
    remove_leftovers((str(tmp_path / "first"),))
    assert {path.name for path in folder.iterdir()} == {"new.json.1a2b3c4d.part", "old.json", PLACES_FILE}
