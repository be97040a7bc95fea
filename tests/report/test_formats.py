"""Which report goes where, and that every format is available."""

from __future__ import annotations

import importlib
import os
import re
import stat
from functools import partial
from pathlib import Path

import pytest
from hostile_findings import SECRET, nasty, nothing, page
from mycnf_command import CHECKOUT

from advisor.__main__ import main
from advisor.commands.lint import write_reports
from advisor.config.shape import find_faults
from advisor.core.errors import MycnfError
from advisor.facts.snapshot import load, save
from advisor.report import formats
from advisor.report.bulk.streams import BulkWriter, Counts
from advisor.report.document import Document
from advisor.report.formats import Format, names
from advisor.report.formats import render_lint as render
from advisor.report.output import Paper, pair, run_time, write
from advisor.tui.screens.report.preview import report_formats, save_report

SNAPSHOT = CHECKOUT / "examples" / "snapshots" / "mariadb-10.11.json"
STRANGER = 54321  # no user of any host
WORDS = {"f": "format", "o": "output"}


def given(text: str) -> list[tuple[str, str]]:
    """`f:json o:a` as the command line's `--format json -o a`."""
    return [(WORDS[word[0]], word[2:]) for word in text.split()]


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("", [("text", None)]),
        ("o:a", [("text", "a")]),
        ("f:json", [("json", None)]),
        ("f:json o:a", [("json", "a")]),
        ("o:a f:json", [("json", "a")]),
        ("f:json o:a f:sarif o:b", [("json", "a"), ("sarif", "b")]),
        ("o:a f:json o:b f:sarif", [("json", "a"), ("sarif", "b")]),
        ("f:text f:sarif o:b", [("text", None), ("sarif", "b")]),
        ("f:sarif o:b f:text", [("sarif", "b"), ("text", None)]),
        ("f:sarif o:b f:text o:-", [("sarif", "b"), ("text", "-")]),
    ],
)
def test_pairs(text: str, pairs: list[tuple[str, str | None]]) -> None:
    """A file belongs to the format beside it; a format without one goes to stdout."""
    assert pair(given(text)) == pairs


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("o:a o:b", "-o b"),
        ("f:json o:a o:b", "-o b"),
        ("o:a f:json o:b", "-o b"),
        ("f:json f:sarif", "stdout"),
        ("f:json f:sarif o:-", "stdout"),
        ("f:json o:a f:sarif o:a", "go to a"),
    ],
)
def test_pairs_that_are_none(text: str, says: str) -> None:
    """More files than formats, or two reports for one place, are one line that says which."""
    with pytest.raises(MycnfError, match=says):
        pair(given(text))


def test_an_unknown_format_raises() -> None:
    """No kind of report falls back to another format."""
    for made in (
        partial(render, "svg", nothing(), page()),
        partial(formats.bulk_writer, "svg"),
        partial(formats.render, "diff", "svg", Paper(), lambda: Document((), ()), {}),
        partial(formats.by_hand, "show", "svg", {"text": str}),
    ):
        with pytest.raises(ValueError, match="no format 'svg'"):
            made()


@pytest.mark.parametrize("kind", ["lint", "audit", "report", "document"])
def test_a_format_loads_its_own_writers(kind: str) -> None:
    """Each format has a writer where the registry names a loader, and no two formats have the same one."""
    loaders = {form.name: loader for form in formats.FORMATS if (loader := getattr(form, kind))}
    writers = {name: load(name) for name, load in loaders.items()}
    assert len({id(writer) for writer in writers.values()}) == len(loaders) >= 3


def test_a_format_is_added_in_one_place(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One more Format in the registry is a choice of every command, configuration, app and page of documentation."""
    throwaway = Format(
        "throwaway",
        "a throwaway",
        "tmp",
        "this test",
        finding="a dot",
        lint=lambda _: lambda files, _: "lint " + "." * sum(len(c.findings) for c in files),
        audit=lambda _: lambda audited, _: f"audit of {audited.context.target}",
        report=lambda _: BulkWriter(partial(Counts, lambda tally, _: f"report of {tally.read}")),
    )
    monkeypatch.setattr(formats, "FORMATS", [*formats.FORMATS, throwaway])
    monkeypatch.syspath_prepend(CHECKOUT / "tools")
    tables = importlib.import_module("formatpages")
    assert list(find_faults({"format": "throwaway"})) == []
    assert "| `throwaway` | this test | a dot |" in tables._table("lint")
    assert "throwaway" in [form.name for form in report_formats()]
    (tmp_path / "my.cnf").write_text("[mysqld]\nnonsense = 1\n")
    for command, printed in (
        (["lint", "--isolated", "--target", "mysql-8.4", str(tmp_path / "my.cnf")], "lint ."),
        (["audit", "--isolated", "--demo"], "audit of mariadb-10.11.19"),
        (["report", "--isolated", "--jobs", "1", str(SNAPSHOT), str(SNAPSHOT.parent)], "report of 1"),
    ):
        assert main([*command, "--format", "throwaway"]) in (0, 1)
        assert capsys.readouterr().out == printed


@pytest.mark.parametrize("name", names("lint"))
def test_no_secret_in_any_format(name: str) -> None:
    """The password in the file is in no report."""
    assert SECRET not in render(name, nasty(), page())
    assert "********" in render(name, nasty(), page())


@pytest.mark.parametrize("name", names("lint"))
def test_same_findings_same_bytes(name: str) -> None:
    """Nothing but findings and page decides what is printed."""
    assert render(name, nasty(), page()) == render(name, nasty(), page())


def test_colour_is_for_stdout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of two text reports, the one that goes to a file has no escapes."""
    write_reports([("text", str(tmp_path / "a")), ("concise", None)], nasty(), page(colour=True))
    assert "\x1b" not in (tmp_path / "a").read_text()
    write_reports([("text", None)], nasty(), page(colour=True))
    assert "\x1b" in capsys.readouterr().out


def test_nothing_is_written_where_one_cannot_be_made(tmp_path: Path) -> None:
    """Every report is made before the first is written."""
    with pytest.raises(ValueError, match="no format 'no such format'"):
        write_reports([("json", str(tmp_path / "a")), ("no such format", None)], nothing(), page())
    assert not list(tmp_path.iterdir())


def test_where_no_file_could_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    """For people stderr has said it all; machines get a whole document."""
    write_reports([("text", None)], [], page(("a", "why")))
    assert capsys.readouterr().out == ""
    write_reports([("json", None)], [], page(("a", "why")))
    assert capsys.readouterr().out


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    """A report to a link replaces the file behind it."""
    (tmp_path / "file").write_text("old")
    (tmp_path / "link").symlink_to("file")
    write("new", str(tmp_path / "link"))
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "new"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "link"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a link to another account")
def test_a_strangers_link_in_a_shared_directory_is_not_followed(tmp_path: Path) -> None:
    """In a directory such as /tmp it may lead anywhere: Linux forbids to follow it, and so do reports and snapshots."""
    shared, target = tmp_path / "shared", tmp_path / "target"
    shared.mkdir()
    shared.chmod(0o1777)
    target.write_text("old")
    trap = shared / "report"
    for leads_to in (target, tmp_path / "absent"):
        trap.symlink_to(leads_to)
        os.lchown(trap, STRANGER, STRANGER)
        for save_there in (partial(write, "new"), partial(save, load(str(SNAPSHOT)))):
            with pytest.raises(MycnfError, match="link of another user"):
                save_there(str(trap))
        with pytest.raises(MycnfError, match="link of another user"):
            save_report("new", str(trap), load(str(SNAPSHOT)), replace=True)
        os.lchown(trap, 0, 0)
        write("new", str(trap))
        assert leads_to.read_text() == "new"
        trap.unlink()
        leads_to.write_text("old")


def test_a_fifo_stays_a_fifo(tmp_path: Path) -> None:
    """What is no ordinary file is written to, not replaced."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write("report", str(fifo))
        assert os.read(reader, 100) == b"report"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(fifo.stat().st_mode)


def test_a_folder_is_no_place_for_a_report(tmp_path: Path) -> None:
    """A folder is one line with the reason, and nothing is left in it or beside it."""
    (tmp_path / "folder").mkdir()
    with pytest.raises(MycnfError, match="name another file"):
        write("report", str(tmp_path / "folder"))
    assert [p.name for p in tmp_path.rglob("*")] == ["folder"]


@pytest.mark.parametrize(("given_time", "shown"), [("0", "1970-01-01T00:00:00"), ("1795244400", "2026-11-21T07:00:00")])
def test_run_time_can_be_given(monkeypatch: pytest.MonkeyPatch, given_time: str, shown: str) -> None:
    """SOURCE_DATE_EPOCH makes a report repeatable."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", given_time)
    assert run_time() == shown


@pytest.mark.parametrize("given_time", ["", "yesterday", "-1", "9" * 12, "9" * 30, "9" * 5000])
def test_a_run_time_that_is_none(monkeypatch: pytest.MonkeyPatch, given_time: str) -> None:
    """What no calendar has is no time: the report carries that of the run."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", given_time)
    assert re.fullmatch(r"2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d", run_time())
