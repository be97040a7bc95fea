"""All that mycnf keeps is its owner's alone, files 0600 in folders 0700, with any umask."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from local_results import host_result
from msgspec.structs import replace
from planted_secrets import SNAPSHOT

from advisor.collect.connection.options import ConnectRequest
from advisor.facts import Sample
from advisor.facts.snapshot import load, save
from advisor.fleet import run_directory as fleet
from advisor.fleet.run_directory import HostRow
from advisor.state.crash_report import write_crash_file
from advisor.state.history import save_snapshot
from advisor.state.sample_ring import save_sample
from advisor.tui import preferences, view
from advisor.tui.dialogs import connect
from advisor.tui.screens.report import preview
from advisor.tui.view import UserMarks
from probes import leftovers, results


def _snapshot(place: Path) -> None:
    save(load(str(SNAPSHOT)), str(place / "file"))


def _over_an_open_one(place: Path) -> None:
    (place / "file").write_text("old")
    (place / "file").chmod(0o644)
    _snapshot(place)


def _behind_a_link(place: Path) -> None:
    (place / "link").symlink_to("file")
    save(load(str(SNAPSHOT)), str(place / "link"))
    assert (place / "link").is_symlink()


def _history(_place: Path) -> None:
    save_snapshot(load(str(SNAPSHOT)))


def _ring(_place: Path) -> None:
    save_sample(Sample(5000.0, {"questions": 1}, 1), {"hostname": "db1"}, 1_795_262_400)


def _probe(place: Path) -> None:
    results.write_result(host_result("sequential-read", {"size": 1.5}))
    leftovers.remove_leftovers((str(place),))


def _fleet(_place: Path) -> None:
    run = fleet.default_directory("2026-11-21T07:00:00")
    fleet.prepare_directory(run, resume=False)
    fleet.write_row(run, HostRow(name="db1"))


def _app(place: Path) -> None:
    facts = load(str(SNAPSHOT))
    view.save_marks(view.marks_path(facts.server), UserMarks(), UserMarks(frozenset({"BUF001"})))
    connect.save_recent(ConnectRequest(host="db1"))
    preferences.save_theme("textual-dark")
    preview.save_report("report", str(place / "report.md"), replace(facts, files=None))


def _defect(_place: Path) -> None:
    write_crash_file(ValueError())


KEPT: tuple[Callable[[Path], None], ...] = (
    *(_snapshot, _over_an_open_one, _behind_a_link, _history, _ring, _probe, _fleet, _app, _defect),
)


@pytest.fixture(params=[0o000, 0o022, 0o277], ids=lambda umask: f"umask {umask:03o}")
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    """A umask that lets everybody in, the usual one, and one that takes the owner's own rights."""
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@pytest.mark.parametrize("write", KEPT)
def test_what_is_kept_is_private(
    umask: int, write: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every file that comes of it, and every folder from ours on down."""
    for name in ("XDG_STATE_HOME", "TMPDIR", "place"):
        os.mkdir(tmp_path / name)
        os.chmod(tmp_path / name, 0o755)  # noqa: S103 - as such folders usually are
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setattr("tempfile.tempdir", None)
    write(tmp_path / "place")
    files = [path for path in tmp_path.rglob("*") if path.is_file() and not path.is_symlink()]
    folders = [path for path in (tmp_path / "XDG_STATE_HOME").rglob("*") if path.is_dir()]
    assert files
    assert {oct(stat.S_IMODE(path.stat().st_mode)) for path in files} == {"0o600"}
    assert {oct(stat.S_IMODE(path.stat().st_mode)) for path in folders} <= {"0o700"}


def test_folders_that_others_could_read_are_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An open folder of ours, of an older version or hand-made, is closed; what it is in is not changed."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    open_one = tmp_path / "state" / "mycnf" / "history"
    open_one.mkdir(parents=True)
    for folder in (open_one, open_one.parent, open_one.parent.parent):
        folder.chmod(0o755)
    save_snapshot(load(str(SNAPSHOT)))
    modes = [stat.S_IMODE(folder.stat().st_mode) for folder in (open_one, open_one.parent, open_one.parent.parent)]
    assert modes == [0o700, 0o700, 0o755]
