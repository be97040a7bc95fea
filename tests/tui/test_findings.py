"""The screen of findings: filter, severities, order, what is suppressed, and what is copied."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path

import pytest
from app_driver import driven, screen_text, until
from textual.widgets import ContentSwitcher, Input, OptionList

from advisor.cli.parser import build_parser
from advisor.commands.app import make_opening
from advisor.core.model import Action, Finding, Severity
from advisor.report.audit.ticket import LONGEST
from advisor.tui.app import AuditApp
from advisor.tui.screens.base import Pane
from advisor.tui.screens.findings.filter import RESTART, TITLES, finding_row
from advisor.tui.screens.findings.screen import FindingsPane
from advisor.tui.screens.workload.screen import WorkloadPane
from advisor.tui.view import UserMarks, finding_key, read_marks


def listed(app: AuditApp) -> list[str]:
    """The findings of the list as text, without the titles of their groups."""
    return [str(option.prompt) for option in app.query_one("#findings-list", OptionList).options if option.id]


def titles(app: AuditApp) -> list[str]:
    """The titles of the groups."""
    return [str(option.prompt) for option in app.query_one("#findings-list", OptionList).options if not option.id]


def findings(app: AuditApp) -> list[Finding]:
    """The findings of the list in its order."""
    return list(app.query_one(FindingsPane)._shown.values())


@cache
def demo_findings() -> tuple[Finding, ...]:
    """The findings of the demo's recording."""
    feed = make_opening(build_parser("audit").parse_args(["audit", "--demo"])).feed
    assert feed is not None
    return feed.read_view().audited.findings


def notes(place: Path) -> list[Path]:
    """The files in which the app keeps what was suppressed."""
    return list(place.rglob("app/*.json"))


async def test_words_narrow_the_list_and_escape_widens_it() -> None:
    """Typing after `/` leaves the findings with these words; escape goes to the list, and then shows all."""
    async with driven() as (app, pilot):
        every = listed(app)
        await pilot.press("slash", *"buffer size")
        await until(pilot, lambda: len(listed(app)) < len(every))
        assert listed(app)
        assert all("buffer" in f"{f.canonical} {f.message}".lower() for f in findings(app))
        await pilot.press("escape")
        assert app.query_one("#findings-filter", Input).value == ""
        assert listed(app) == every


async def test_a_severity_is_left_out_and_comes_back() -> None:
    """W takes the warnings away and brings them back; the title says so."""
    async with driven() as (app, pilot):
        every = listed(app)
        await pilot.press("W")
        await pilot.pause()
        assert 0 < len(listed(app)) < len(every)
        assert "without warnings" in str(app.query_one("#findings-list").border_title)
        assert not [row for row in listed(app) if row.startswith("▲")]
        await pilot.press("W")
        await pilot.pause()
        assert listed(app) == every


async def test_orders_go_round() -> None:
    """o sorts by severity, option, restart and area again, under titles in words; the finding stays marked."""
    async with driven(size=(120, 40)) as (app, pilot):
        by_area = listed(app)
        assert titles(app)[:2] == ["security · 3", "data safety · 4"]
        await pilot.press("down", "down")
        chosen = app.query_one(FindingsPane).chosen
        await pilot.press("o")
        await pilot.pause()
        assert [title.split()[0] for title in titles(app)] == ["errors", "warnings", "notes"]
        await pilot.press("o")
        await pilot.pause()
        names = [f.canonical or f.option or "~" for f in findings(app)]
        assert names == sorted(names)
        await pilot.press("o")
        await pilot.pause()
        assert [title.split(" ·")[0] for title in titles(app)] == list(TITLES["restart"])
        assert app.query_one(FindingsPane).chosen == chosen
        await pilot.press("o")
        await pilot.pause()
        assert listed(app) == by_area


@pytest.mark.parametrize("width", [25, 31, 36, 50, 85])
def test_rows_say_option_value_advice_and_restart(width: int) -> None:
    """Each row fits its width and ends with the advised value and whether it needs a restart."""
    wanted = {"DUR003": "OFF OFF ON", "BUF001": "8M 128K"}
    for finding in demo_findings():
        row = finding_row(finding, width).plain
        assert len(row) <= width, row
        if finding.code in wanted:
            assert all(word in row for word in wanted[finding.code].split()), row
        if finding.code == "DUR003":
            assert row.endswith("restart   " if width > 60 else RESTART)


@pytest.mark.parametrize("width", [36, 85])
def test_findings_of_one_rule_are_told_apart_by_their_options(width: int) -> None:
    """A rule about several options names the option in each row, before its own name if both do not fit."""
    finding = next(f for f in demo_findings() if f.code == "DUR009")
    rows = {
        finding_row(finding._replace(name="file-differs-from-running", canonical=name, actions=()), width).plain
        for name in ("max_connections", "sort_buffer_size")
    }
    assert len(rows) == 2


async def test_a_finding_is_hidden_with_a_reason_and_kept(own_places: Path) -> None:
    """x asks why, hides it for this server in later runs too, and H and x bring it back; no reason, no hiding."""
    async with driven() as (app, pilot):
        first = listed(app)[0]
        await pilot.press("x", "enter")
        await until(pilot, lambda: len(app.screen_stack) == 2 and app.screen.focused is not None)
        await pilot.press(*"agreed", "enter")
        await until(pilot, lambda: listed(app)[0] != first)
    (kept,) = notes(own_places)
    assert kept.stat().st_mode & 0o777 == 0o600
    assert list(json.loads(kept.read_text(encoding="utf-8"))["suppressed"].values()) == ["agreed"]
    async with driven() as (app, pilot):
        assert first not in listed(app)
        await pilot.press("H")
        await until(pilot, lambda: first.replace(" ", "-", 1) in listed(app))  # by a sign, not by colour alone
        await pilot.press("home")
        await until(pilot, lambda: "suppressed: agreed" in screen_text(app))
        await pilot.press("x", "H")
        await pilot.pause()
        assert first in listed(app)


async def test_what_a_baseline_hides_is_listed_and_taken_back(tmp_path: Path, own_places: Path) -> None:
    """Hidden with a reason into the baseline, in a later run listed with it, and taken out only after a question."""
    baseline = tmp_path / "baseline.json"
    other = {"path": "<server>", "code": "SYS001", "name": "x", "group": None, "option": None, "value": "gone"}
    baseline.write_text(json.dumps({"version": 1, "findings": [other | {"reason": "kept"}]}), encoding="utf-8")

    def entries() -> list[dict[str, object]]:
        return list(json.loads(baseline.read_text(encoding="utf-8"))["findings"])

    async with driven("--demo", "--baseline", str(baseline)) as (app, pilot):
        wanted = next(at for at, f in enumerate(findings(app)) if f.code == "BIN003")
        following = findings(app)[wanted + 1]
        await pilot.press(*["down"] * wanted, "x", *"agreed", "enter")
        await until(pilot, lambda: len(entries()) == 2)
        await until(pilot, lambda: "H lists 1 hidden" in screen_text(app))
        await until(pilot, lambda: app.query_one(FindingsPane).chosen == following)  # goes on from there
        assert "Enter: read on" in screen_text(app)
        await pilot.press("enter")
        await until(pilot, lambda: "Esc: list" in screen_text(app))
        assert [(e["code"], e["reason"]) for e in entries()] == [("BIN003", "agreed"), ("SYS001", "kept")]
    for notes_of_the_app in notes(own_places):
        notes_of_the_app.unlink()
    async with driven("--demo", "--baseline", str(baseline), size=(120, 40)) as (app, pilot):
        assert not [row for row in listed(app) if "BIN003" in row]
        await pilot.press("H")
        await until(pilot, lambda: any("-BIN003" in row for row in listed(app)))
        await pilot.press("home", *["down"] * wanted)
        await until(pilot, lambda: "unhide" in screen_text(app))
        await until(pilot, lambda: "agreed" in screen_text(app))
        for key, answer in (("x", ("escape",)), ("u", ("down", "enter"))):
            await pilot.press(key)
            await until(pilot, lambda: "from the baseline" in screen_text(app))
            assert "agreed" in screen_text(app)
            await pilot.press(*answer)
            await until(pilot, lambda: len(app.screen_stack) == 1)
            assert len(entries()) == 2
        await pilot.press("u", "enter")
        await until(pilot, lambda: [e["code"] for e in entries()] == ["SYS001"])
        await until(pilot, lambda: any(" BIN003" in row for row in listed(app)))
        assert os.listdir(tmp_path) == [baseline.name]  # nothing is left beside it
        baseline.unlink()
        await pilot.press("x", *"again", "enter")
        await until(pilot, lambda: any("can't be read" in n.message for n in app._notifications))


async def test_a_seen_finding_is_marked() -> None:
    """m marks it and takes the mark away again."""
    async with driven() as (app, pilot):
        key = finding_key(findings(app)[0])
        await pilot.press("m")
        await until(pilot, lambda: app.view is not None and key in app.view.marks.seen)
        await pilot.press("m")
        await until(pilot, lambda: app.view is not None and key not in app.view.marks.seen)


async def test_damaged_notes_are_ignored(own_places: Path) -> None:
    """A file of notes that can't be read as one hides nothing and breaks nothing."""
    async with driven() as (app, pilot):
        await pilot.press("m")
        await until(pilot, lambda: app.view is not None and bool(app.view.marks.seen))
    (kept,) = notes(own_places)
    assert read_marks(str(kept)).seen
    for text in ("", "[]", "\x00", '{"seen": 3, "suppressed": {}}'):
        kept.write_text(text, encoding="utf-8")
        assert read_marks(str(kept)) == UserMarks()
    async with driven() as (app, _):
        assert app.view is not None
        assert not app.view.marks.seen


async def test_statement_and_line_are_copied() -> None:
    """y copies the statement of the marked finding, Y the line for the option file; without one it says so."""
    async with driven() as (app, pilot):
        shown = findings(app)
        wanted = next(i for i, f in enumerate(shown) if any(a.statement and a.option_line for a in f.actions))
        await pilot.press(*["down"] * wanted, "y")
        action = next(a for a in shown[wanted].actions if a.statement)
        assert app.clipboard == action.statement
        await pilot.press("Y")
        assert app.clipboard == action.option_line


async def test_the_ticket_of_one_finding_is_one_key_away() -> None:
    """t copies a ticket of the marked finding: whole, with what to do, and no longer than it says."""
    async with driven() as (app, pilot):
        wanted = next(i for i, f in enumerate(findings(app)) if f.code == "DUR002")
        await pilot.press(*["down"] * wanted, "t")
        await until(pilot, lambda: "SET GLOBAL sync_binlog = 1;" in app.clipboard)
        assert app.clipboard.startswith("## ")
        assert len(app.clipboard) <= LONGEST


async def test_the_mouse_marks_a_finding() -> None:
    """A click on a row shows that finding."""
    async with driven(size=(120, 40)) as (app, pilot):
        await pilot.click("#findings-list", offset=(6, 4))
        await pilot.pause()
        assert app.query_one(FindingsPane).chosen == findings(app)[2]  # below the title of its group


async def test_keys_lead_from_a_finding_to_its_places_and_back() -> None:
    """l, v, w and p show line, variable, counters and probe of a finding; Backspace returns to it each time."""
    async with driven(size=(120, 40)) as (app, pilot):
        wanted = next(i for i, f in enumerate(findings(app)) if f.code == "BUF001")
        await pilot.press("tab", "shift+tab", *["down"] * wanted)
        chosen = app.query_one(FindingsPane).chosen
        for key, place, item in (
            ("l", "files", ("/etc/mysql/mariadb.conf.d/90-tuning.cnf", 11)),
            ("v", "variables", "read_buffer_size"),
            ("p", "probes", "read-buffer"),
        ):
            await pilot.press(key)
            await until(pilot, lambda place=place: app.query_one("#screens", ContentSwitcher).current == place)  # type: ignore[misc] # the loop's own
            await until(pilot, lambda place=place, item=item: app.query_one(f"#{place}", Pane).current_item() == item)  # type: ignore[misc]
            await pilot.press("backspace")
            await until(pilot, lambda: app.query_one("#screens", ContentSwitcher).current == "findings")
            assert app.query_one(FindingsPane).chosen == chosen


async def test_the_key_of_counters_marks_the_row_of_the_counter() -> None:
    """`w` marks the row of the finding's counter, below any headings; Backspace returns to the finding."""
    async with driven(size=(120, 40)) as (app, pilot):
        for code, series in (("LOG002", "checkpoint-age"), ("OBS003", "slow")):
            finding = next(f for f in findings(app) if f.code == code)
            app.query_one(FindingsPane).choose(finding)
            await pilot.press("w")
            await until(pilot, lambda: app.query_one("#screens", ContentSwitcher).current == "workload")
            await until(pilot, lambda: app.query_one(WorkloadPane).selected is not None)
            await until(pilot, lambda: app.query_one(WorkloadPane)._row_to_mark == "")
            selected = app.query_one(WorkloadPane).selected
            assert selected is not None
            assert selected.series.id == series
            await pilot.press("backspace")
            await until(pilot, lambda: app.query_one("#screens", ContentSwitcher).current == "findings")
            assert app.query_one(FindingsPane).chosen == finding


async def test_the_key_of_counters_is_offered_only_for_what_is_charted() -> None:
    """No chart shows the counter of sync_binlog, so its finding names no key for it; that of the redo log does."""
    from advisor.tui.screens.findings.detail import finding_detail

    async with driven(size=(120, 40)) as (app, pilot):
        assert app.view is not None
        for code, offered in (("DUR002", False), ("LOG002", True)):
            finding = next(f for f in findings(app) if f.code == code)
            assert ("w counters" in finding_detail(app.view, finding, 80).plain) is offered
        app.query_one(FindingsPane).choose(next(f for f in findings(app) if f.code == "DUR002"))
        await pilot.press("w")
        await until(pilot, lambda: "No chart" in "".join(n.message for n in app._notifications))
        assert app.query_one("#screens", ContentSwitcher).current == "findings"


def test_advice_in_words_is_not_cut_within_a_word() -> None:
    """In a narrow list "remove the line" becomes "remove"."""
    found = next(f for f in demo_findings() if f.code == "OPT009")
    assert " remove the line" in finding_row(found, 56).plain
    assert finding_row(found, 36).plain.split()[-1] == "remove"


async def test_a_place_that_does_not_exist_is_reported() -> None:
    """A finding without a variable stays on the screen and says so; so does Backspace without a place."""
    async with driven() as (app, pilot):
        assert findings(app)[0].code == "SEC003"
        await pilot.press("v", "backspace", "w")
        await until(pilot, lambda: len(app._notifications) == 3)
        assert app.query_one("#screens", ContentSwitcher).current == "findings"


async def test_each_finding_is_shown_in_full() -> None:
    """Message, evidence with its source, and what to do are beside the list for every finding of the recording."""
    from advisor.tui.screens.findings.detail import finding_detail

    async with driven() as (app, _):
        assert app.view is not None
        for finding in app.view.audited.findings:
            text = finding_detail(app.view, finding, 60).plain
            assert finding.code in text
            assert " ".join(finding.message.split()[:4]) in " ".join(text.split())
            for action in finding.actions:
                assert not action.statement or action.statement.split()[0] in text
            for identity in finding.evidence:
                assert identity in text
        assert {f.severity for f in app.view.audited.findings} == set(Severity)


def test_an_advised_value_that_is_cut_has_an_ellipsis() -> None:
    """A value without its end would be another value: 1099511627776 is not 10995116277."""
    found = next(f for f in demo_findings() if f.code == "DUR002")
    lines = [a._replace(option_line="sync_binlog = 1099511627776") for a in found.actions]
    row = finding_row(found._replace(actions=tuple(lines)), 36).plain
    assert "→ 1099511627…" in row


async def test_a_hidden_finding_opens_from_the_change_set() -> None:
    """Hidden after it was selected, it is listed again where it is opened, and no other one is shown in its place."""
    async with driven() as (app, pilot):
        pane = app.query_one(FindingsPane)
        wanted = next(f for f in findings(app) if f.code == "DUR002")
        pane.choose(wanted)
        await pilot.press("space")
        await until(pilot, lambda: app.view is not None and app.view.is_selected(wanted))
        pane.choose(wanted)
        await pilot.press("x")
        await until(pilot, lambda: len(app.screen_stack) == 2 and app.screen.focused is not None)
        await pilot.press(*"agreed", "enter")
        await until(pilot, lambda: bool(app.view and app.view.hidden))
        await until(pilot, lambda: wanted not in findings(app))
        await pilot.press("c")
        await until(pilot, lambda: bool(app.query("#changes-list")) and app.query_one("#changes-list").has_focus)
        await pilot.press("enter")
        await until(pilot, lambda: app.query_one("#screens", ContentSwitcher).current == "findings")
        await until(pilot, lambda: pane.chosen == wanted)


async def test_statements_that_belong_together_are_copied_together() -> None:
    """A capacity goes with its maximum; of statements to choose from, such as KILL, the first is copied."""
    pair = (
        Action("innodb_io_capacity_max = 4000", "SET GLOBAL innodb_io_capacity_max = 4000;"),
        Action("innodb_io_capacity = 2000", "SET GLOBAL innodb_io_capacity = 2000;"),
    )
    look = (Action(statement="SELECT * FROM performance_schema.threads;"), Action(statement="KILL 12;"))
    async with driven() as (app, pilot):
        pane = app.query_one(FindingsPane)
        assert app.view is not None
        changed = {"DUR002": pair, "DUR003": look}
        shown = tuple(f._replace(actions=changed.get(f.code, f.actions)) for f in app.view.audited.findings)
        app.view = app.view._replace(audited=app.view.audited._replace(findings=shown))
        pane.show(app.view)
        pane.choose(next(f for f in shown if f.code == "DUR002"))
        await pilot.press("y")
        assert app.clipboard.splitlines() == [action.statement for action in pair]
        await pilot.press("Y")
        assert app.clipboard.splitlines() == [action.option_line for action in pair]
        pane.choose(next(f for f in shown if f.code == "DUR003"))
        await pilot.press("y")
        assert app.clipboard == look[0].statement
        await until(pilot, lambda: any("the first of 2 statements" in n.message for n in app._notifications))


def test_findings_about_channels_are_told_apart() -> None:
    """To hide that one channel is stopped does not hide that another one is; their rows differ too."""
    found = next(f for f in demo_findings() if f.code == "SEC003")._replace(location=None, option=None, canonical=None)
    texts = (
        "The replica of channel c0 is stopped.",
        "The replica of channel c1 is stopped.",
        "The replica is stopped.",
    )
    alike = [
        found._replace(code="REP015", name="stopped-replica", message=text, fix=None, actions=()) for text in texts
    ]
    alike += [found._replace(message=f"3 sessions wait behind connection {n} (app@db{n}).") for n in (12, 13)]
    assert len({finding_key(f) for f in alike}) == 5
    for width in (36, 85):
        assert len({finding_row(f, width).plain for f in alike}) == 5
    option = found._replace(canonical="sync_binlog", message="With connection 12 it is slow.")
    assert finding_key(option) == f"{option.code} sync_binlog"


async def test_space_selects_down_to_the_last_finding() -> None:
    """Held down, it selects all findings, and does not begin again at the first and take them out."""
    async with driven() as (app, pilot):
        count = len(findings(app))
        await pilot.press("home", *["space"] * count)
        await until(pilot, lambda: app.view is not None and len(app.view.selected) == count)
        assert app.query_one(FindingsPane).chosen == findings(app)[-1]


@pytest.mark.parametrize(("epoch", "hides"), [("1801439999", True), ("1801440000", False)])
def test_hiding_ends(epoch: str, hides: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reason that begins with a last day hides a finding through that day; any other reason always does."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    marks = UserMarks(suppressed=(("a", "until 2027-01-31 OPS-1234"), ("b", "until the move")))
    assert set(marks.hiding) == ({"a", "b"} if hides else {"b"})


async def test_a_wrong_day_hides_nothing() -> None:
    """A reason with what is no date would hide the finding with no end: it is refused, and kept to be corrected."""
    async with driven() as (app, pilot):
        first = listed(app)[0]
        await pilot.press("x", "enter")
        await until(pilot, lambda: len(app.screen_stack) == 2 and app.screen.focused is not None)
        await pilot.press(*"until", "space", *"31/01/27", "enter")
        await until(pilot, lambda: any("is not a date" in n.message for n in app._notifications))
        assert len(app.screen_stack) == 2
        assert app.screen.query_one(Input).value == "until 31/01/27"
        await pilot.press(*["backspace"] * 8, *"2999-12-31", "enter")
        await until(pilot, lambda: len(app.screen_stack) == 1 and listed(app)[0] != first)
