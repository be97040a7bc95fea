"""The screen of the report: formats, preview, what is left out and masked, saving and copying."""

from __future__ import annotations

import json
import os
import re
import stat
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from app_driver import driven, screen_text, snapshot_with, until
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from rich.cells import cell_len
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Static

from advisor.__main__ import main
from advisor.core.errors import MycnfError
from advisor.facts.snapshot import load
from advisor.redaction import escape_text
from advisor.report.formats import Format, names
from advisor.tui.app import AuditApp
from advisor.tui.dialogs.prompts import ReplaceDialog
from advisor.tui.screens.report.preview import (
    ReportExistsError,
    ReportText,
    absolute_path,
    change_extension,
    default_name,
    report_formats,
    save_report,
    wrap_report,
)
from advisor.tui.screens.report.screen import ReportPane
from advisor.tui.screens.workload.rates import VariableChange
from advisor.tui.view import UserMarks, finding_key

DEMO = Path(__file__).resolve().parents[2] / "advisor" / "demo" / "recording.json"


@pytest.fixture(autouse=True)
def own_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each test runs in a directory of its own, in which reports land."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def state(app: AuditApp) -> str:
    """The line below the field."""
    return str(app.query_one("#report-state", Static).content)


def title(app: AuditApp) -> str:
    """The title of the preview, which counts the report's characters once it is made."""
    return str(app.query_one("#report-preview").border_title)


def note(app: AuditApp) -> str:
    """The note beside the preview about what the report leaves out and masks."""
    return str(app.query_one("#report-told", Static).content)


def files(folder: Path) -> list[Path]:
    """The entries of the directory."""
    return list(folder.iterdir())


def name(app: AuditApp) -> Input:
    """The field with the name."""
    return app.query_one("#report-name", Input)


async def shown(app: AuditApp, pilot: Pilot[int]) -> None:
    """Go to the screen by its key and wait for the preview."""
    await pilot.press("e")
    await until(pilot, lambda: bool(app.query("#report-preview")) and title(app).endswith(" characters"))


async def test_the_place_is_shown_as_it_is_typed(own_directory: Path) -> None:
    """Below the field stands where enter would save what is typed by now, and that nothing is typed yet."""
    async with driven(size=(200, 30)) as (app, pilot):
        await shown(app, pilot)
        await pilot.press("s")
        await until(pilot, lambda: f"Enter saves {own_directory / default_of(app)}," in state(app))
        name(app).value = "other.md"
        await until(pilot, lambda: f"Enter saves {own_directory / 'other.md'}," in state(app))
        name(app).value = ""
        await until(pilot, lambda: state(app) == "Enter a file name")


def default_of(app: AuditApp) -> str:
    """The name that the field began with."""
    return name(app).value


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_a_ticket_is_saved_by_three_keys(
    size: tuple[int, int], own_directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`e`, enter, enter: the demo's ticket is in the directory of the run, whole, and for its owner alone."""
    async with driven(size=size) as (app, pilot):
        await shown(app, pilot)
        assert "## mycnf audit of db1 · MariaDB 10.11.19" in screen_text(app)
        assert "masked as ********" in note(app)
        await pilot.press("enter")
        await until(pilot, lambda: name(app).has_focus)
        assert state(app).startswith(f"Enter saves {own_directory}/db1-")
        await pilot.press("enter")
        await until(pilot, lambda: state(app).startswith("saved "))
        assert app.query_one("#report-forms").has_focus
    (saved,) = files(own_directory)
    assert re.fullmatch(r"db1-20261121-\d{4}\.md", saved.name)
    assert stat.S_IMODE(saved.stat().st_mode) == 0o600
    main(["audit", "--isolated", "--demo", "--format", "markdown"])
    assert saved.read_text() == capsys.readouterr().out


@pytest.mark.parametrize("digit", "12346")
async def test_e_leads_here_from_every_screen(digit: str) -> None:
    """On any screen `e` leads to the report; on that of files it opens the editor, and 7 leads here."""
    async with driven() as (app, pilot):
        await pilot.press(digit)
        await pilot.pause()
        await shown(app, pilot)
        assert app.query_one("#screens").current == "report"  # type: ignore[attr-defined] # the switcher


def forms() -> dict[str, Format]:
    """The formats by name, in the order of the list."""
    return {form.name: form for form in report_formats()}


async def test_every_format_has_a_preview_and_an_ending() -> None:
    """Going down the list shows each format and changes the name's ending."""
    async with driven() as (app, pilot):
        await shown(app, pilot)
        for form in report_formats():
            await until(pilot, lambda form=form: title(app).startswith(f"{form.title}: ") and "made" not in title(app))  # type: ignore[misc] # the loop's own
            assert name(app).value.endswith(f".{form.extension}")
            assert app.query_one(ReportText).text
            await pilot.press("down")
        assert {form.name for form in report_formats()} == set(names("audit"))


async def test_a_name_that_was_typed_stays() -> None:
    """Only the ending follows the format, and only where it is that of a format."""
    async with driven(size=(120, 40)) as (app, pilot):
        await shown(app, pilot)
        name(app).value = "for-ops.md"
        await pilot.press("down")
        await pilot.pause()
        assert name(app).value == "for-ops.txt"
        name(app).value = "for-ops.old"
        await pilot.press("up")
        await pilot.pause()
        assert name(app).value == "for-ops.old"
        await pilot.press("r")
        await pilot.pause()
        assert name(app).value == "for-ops.old"


async def test_nothing_is_replaced_without_a_yes(own_directory: Path) -> None:
    """A file of that name stays at enter, n and escape; y replaces it."""
    taken = own_directory / "taken.md"
    taken.write_text("mine")
    async with driven() as (app, pilot):
        await shown(app, pilot)
        await pilot.press("s")
        name(app).value = "taken.md"
        for no in ("n", "escape"):
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(app.screen, ReplaceDialog))
            await pilot.press("enter", "space")
            assert isinstance(app.screen, ReplaceDialog)
            assert str(app.screen.query_one(Static).content) == f"{taken} already exists"
            await pilot.press(no)
            await until(pilot, lambda: "Nothing was written" in state(app))
            assert taken.read_text() == "mine"
            assert name(app).has_focus
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ReplaceDialog))
        await pilot.press("y")
        await until(pilot, lambda: state(app).startswith("saved "))
    assert taken.read_text().startswith("## mycnf audit of db1")
    assert [path.name for path in files(own_directory)] == ["taken.md"]


async def test_an_error_stays_beside_the_field(own_directory: Path) -> None:
    """A name that can't be had keeps the field, with the reason below it; the next one that can is saved."""
    async with driven() as (app, pilot):
        await shown(app, pilot)
        await pilot.press("s")
        for typed, reason in (
            ("no/such/place.md", f"directory {own_directory}/no/such does not exist"),
            (".", "is a directory"),
            ("", "Enter a file name"),
            ("/etc/mysql/mariadb.conf.d/90-tuning.cnf", "mycnf never writes"),
            ("a\0b.md", "null"),
        ):
            name(app).value = typed
            await pilot.press("enter")
            await until(pilot, lambda reason=reason: reason in state(app))  # type: ignore[misc] # the loop's own
            assert name(app).has_focus
        name(app).value = "here.md"
        await pilot.press("enter")
        await until(pilot, lambda: state(app).startswith("saved "))
    assert [path.name for path in files(own_directory)] == ["here.md"]


async def test_hidden_findings_are_left_out_and_seen_ones_stay() -> None:
    """A hidden finding is counted beside the preview and in the ticket, without its words; a seen one stays."""
    async with driven() as (app, pilot):
        view = app.view
        assert view is not None
        hidden, seen = view.audited.findings[1:3]
        app.change_marks(UserMarks(frozenset({finding_key(seen)}), ((finding_key(hidden), "we [red]know[/red]"),)))
        await shown(app, pilot)
        assert "1 hidden finding left out." in note(app)
        await pilot.press("y")
        await pilot.pause()
        text = app.clipboard
        assert hidden.message not in text
        assert f"- `{hidden.code}` `{hidden.canonical}`: we `[red]know[/red]`" in text
        assert f"({seen.code}, {seen.confidence.value}): {seen.message}" in text
        counts = Counter(finding.severity.value for finding in view.audited.findings) - Counter(["warning"])
        assert f"1 error, {counts['warning']} warnings, {counts['note']} notes" in text


async def test_what_is_suppressed_later_counts_at_once() -> None:
    """Hiding a finding after a look at the report makes the report again."""
    async with driven() as (app, pilot):
        await shown(app, pilot)
        await pilot.press("1", "x", *"known", "enter")
        await until(pilot, lambda: app.view is not None and bool(app.view.marks.suppressed))
        await shown(app, pilot)
        await until(pilot, lambda: "1 hidden finding left out." in note(app))


async def test_the_whole_report_is_copied() -> None:
    """The clipboard gets what a file would hold, however much of it the preview shows."""
    async with driven() as (app, pilot):
        await shown(app, pilot)
        app.query_one("#report-forms", OptionList).highlighted = list(forms()).index("json")
        await until(pilot, lambda: title(app).startswith("JSON: ") and title(app).endswith("characters"))
        await pilot.press("y")
        await pilot.pause()
        assert app.view is not None
        assert len(json.loads(app.clipboard)["findings"]) == len(app.view.audited.findings)


async def test_names_are_taken_out_and_let_in() -> None:
    """`n` takes the host's name out of report, preview and file name, says so, and lets it in again."""
    async with driven() as (app, pilot):
        await shown(app, pilot)
        for words, there in (
            ("Host names and addresses are removed", False),
            ("host names and addresses (n removes these)", True),
        ):
            await pilot.press("n")
            await until(pilot, lambda words=words: words in note(app))  # type: ignore[misc] # the loop's own
            assert name(app).value.startswith("db1-" if there else "server-")
            await pilot.press("y")
            assert ("db1" in app.clipboard) is there
            assert ("some-host" in app.clipboard) is not there


async def test_samples_do_not_hold_a_report_up() -> None:
    """A sample that comes in while the report is made leaves it what it is."""
    async with driven() as (app, pilot):
        await app.action_go("report")
        pane = app.query_one("#report", ReportPane)
        assert app.view is not None
        change = VariableChange(1.0, "max_connections", "100", "200")
        pane.show_samples(app.view._replace(samples=(), changes=(change,)))
        await until(pilot, lambda: title(app).endswith(" characters"))


async def test_the_preview_is_read_by_keys_and_mouse() -> None:
    """Right goes into the preview, escape back to the formats; a click takes a format."""
    async with driven() as (app, pilot):
        await shown(app, pilot)
        await pilot.press("right", "pagedown")
        await until(pilot, lambda: app.query_one("#report-preview").scroll_offset.y > 0)
        await pilot.press("escape")
        assert app.query_one("#report-forms").has_focus
        await pilot.click("#report-forms", offset=(3, 4))
        await until(pilot, lambda: title(app).startswith("JSON: "))


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_hostile_words_are_shown_harmlessly(size: tuple[int, int], tmp_path: Path) -> None:
    """Markup, escapes and 10 kB of a server are text here too, and no part of the name leads elsewhere."""
    hostile = "../[red]x[/red]\x1b[31m\u202e" + "y" * 10_000

    def change(document: dict[str, Any]) -> None:
        document["server"]["variables"]["hostname"] = hostile
        document["server"]["version_comment"] = hostile

    async with driven("--snapshot", str(snapshot_with(tmp_path, change)), size=size) as (app, pilot):
        await shown(app, pilot)
        for form in report_formats():
            await until(pilot, lambda form=form: title(app).startswith(f"{form.title}: ") and "made" not in title(app))  # type: ignore[misc] # the loop's own
            assert not [c for c in screen_text(app) if c != "\n" and not c.isprintable()]
            await pilot.press("down")
        assert re.fullmatch(r"red-x-red-31m-y+-\d{8}-\d{4}\.\w+", name(app).value)


# Without the screen


def test_a_long_report_is_cut_in_the_preview_alone() -> None:
    """The preview says how much more there is; lines that never end are cut too, and controls are spelled."""
    shown_rows = wrap_report("\n".join(["\x1b[31m" + "z" * 10_000] * 2100), 100)
    assert len(shown_rows) == 2000 * 4 + 1
    assert shown_rows[0].startswith("\\x1b[31mz")
    assert shown_rows[3].endswith("z…")
    assert shown_rows[-1].startswith("… 100 more lines")


WORDS = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("  鯨a"), max_size=90)


@given(st.lists(WORDS, max_size=4), st.integers(10, 60))
def test_a_preview_shows_every_word(lines: list[str], width: int) -> None:
    """For any text and box, no row is wider than the box, and nothing but spaces is lost at the folds."""
    folded = wrap_report("\n".join(lines), width)
    assert all(cell_len(row) <= width for row in folded)
    wanted = "".join(escape_text(line) for line in "\n".join(lines).rstrip("\n").split("\n"))
    assert "".join("".join(folded).split(" ")) == "".join(wanted.split(" "))


def test_rows_that_go_on_stand_as_far_in() -> None:
    """What is indented stays so."""
    assert wrap_report("    - one two three four", 16) == ["    - one two", "    three four"]
    assert wrap_report(" " * 8 + "鯨" * 5, 0)[-1] == "  鯨鯨"
    assert wrap_report("  " + "x" * 20, 12) == ["  " + "x" * 10, "  " + "x" * 10]


def test_names_have_the_ending_of_their_format() -> None:
    """Of a name only the ending of the old format goes."""
    assert change_extension("a.md.md", forms()["markdown"], forms()["junit"]) == "a.md.xml"
    assert change_extension("a.zip", forms()["markdown"], forms()["junit"]) == "a.zip"


async def test_the_default_name_has_host_and_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time is when the server was read, by the local clock; a nameless host is `server`."""
    monkeypatch.setenv("TZ", "UTC")
    async with driven() as (app, _):
        view = app.view
        assert view is not None
        assert default_name(view, report_formats()[0]) == "db1-20261121-0501.md"
        facts = view.audited.facts
        renamed = replace(facts, server=replace(facts.server, variables={"hostname": "../.."}))
        hostile = view._replace(audited=view.audited._replace(facts=renamed))
        assert default_name(hostile, report_formats()[0]) == "server-20261121-0501.md"


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    """What a link leads to is replaced, once it was asked for; the link is not."""
    target, link = tmp_path / "target", tmp_path / "link.md"
    target.write_text("old")
    link.symlink_to(target)
    facts = load(str(DEMO))
    with pytest.raises(ReportExistsError):
        save_report("new", str(link), facts)
    assert save_report("new", str(link), facts, replace=True) == str(target)
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_what_is_no_file_is_not_replaced(tmp_path: Path) -> None:
    """A device or FIFO is never replaced, even on request."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with pytest.raises(MycnfError, match="not a regular file"):
        save_report("x", str(fifo), load(str(DEMO)), replace=True)
    assert stat.S_ISFIFO(fifo.stat().st_mode)


def test_nothing_is_written_into_the_servers_directories(tmp_path: Path) -> None:
    """Nothing is written into the data directory, under any name of it; beside it is fine."""
    data = tmp_path / "data"
    data.mkdir()
    (tmp_path / "way").symlink_to(data)
    path = snapshot_with(tmp_path, lambda document: document["server"]["variables"].update(datadir=f"{data}/"))
    facts = load(str(path))
    with pytest.raises(MycnfError, match="data directory"):
        save_report("x", str(tmp_path / "way" / "report.md"), facts)
    assert save_report("x", str(tmp_path / "data-report.md"), facts) == str(tmp_path / "data-report.md")
    assert not list(data.iterdir())


def set_directory(name: str, document: dict[str, Any]) -> None:
    """The server's data directory has this name."""
    document["server"]["variables"].update(datadir=name)


def test_paths_that_no_host_has_are_no_obstacle(tmp_path: Path) -> None:
    """A server whose data directory holds a null character, or half a character, can be reported on."""
    for name_of_it in ("/a\0b", "/a\ud800"):
        change = partial(set_directory, name_of_it)
        path = snapshot_with(tmp_path, change)
        assert save_report("x", str(tmp_path / "x.md"), load(str(path)), replace=True) == str(tmp_path / "x.md")


def test_home_is_taken_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`~` is the user's home, and other names are below the directory of the run."""
    monkeypatch.setenv("HOME", str(tmp_path))
    assert absolute_path("~/x.md") == str(tmp_path / "x.md")
    assert absolute_path(" x.md ") == str(Path.cwd() / "x.md")
