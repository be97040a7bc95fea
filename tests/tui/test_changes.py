"""The change set in the app: selecting, the four files, saving, and what became of each finding."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from app_driver import driven, screen_text, snapshot_with, until
from msgspec.structs import replace
from mycnf_command import CHECKOUT
from textual.pilot import Pilot
from textual.widgets import OptionList

from advisor.core.model import Action, Finding
from advisor.redaction import MASK
from advisor.report.audit.ticket import LONGEST
from advisor.tui.app import AuditApp
from advisor.tui.screens.changes import (
    DONE,
    STILL,
    UNJUDGED,
    UNWRITTEN,
    ChangesPane,
    change_state,
    save_files,
)
from advisor.tui.screens.findings.screen import FindingsPane
from advisor.tui.view import SelectedFinding

if TYPE_CHECKING:
    from real_servers import Start

FILES = ["apply.sql", "options.diff", "rollback.sql", "ticket.md"]


async def select(app: AuditApp, pilot: Pilot[int], *codes: str) -> None:
    """Select the findings of these codes with the keys of the user."""
    shown = list(app.query_one(FindingsPane)._shown.values())
    for code in codes:
        place = next(i for i, f in enumerate(shown) if f.code == code)
        await pilot.press("home", *["down"] * place, "space")
    await until(pilot, lambda: app.view is not None and len(app.view.selected) == len(codes))


def rows(app: AuditApp) -> list[str]:
    """The rows of the change set as text."""
    return [str(option.prompt) for option in app.query_one("#changes-list", OptionList).options]


async def test_selected_findings_become_files(tmp_path: Path) -> None:
    """space selects, c shows the change set, keys show and copy its files, s saves all of them for the user alone."""
    async with driven(size=(120, 40)) as (app, pilot):
        await select(app, pilot, "DUR002", "DUR003", "SEC002")
        assert any("+DUR002" in str(o.prompt) for o in app.query_one("#findings-list", OptionList).options)
        await pilot.press("c")
        await until(pilot, lambda: bool(app.query("#changes-list")) and len(rows(app)) == 3)
        assert [row.split()[-1] for row in rows(app)] == ["file", "restart", "ticket"]
        for key, words in (
            ("a", "SET GLOBAL sync_binlog = 1;"),
            ("b", "SET GLOBAL sync_binlog = 0;"),
            ("d", "+innodb_doublewrite = ON"),
            ("a", "--   SEC002: "),  # what is done by hand
            ("t", "Undo: `SET GLOBAL sync_binlog = 0;`"),
        ):
            await pilot.press(key, "y")
            await until(pilot, lambda words=words: words in app.clipboard)  # type: ignore[misc] # the loop's own
            assert MASK not in app.clipboard or key == "t"
        assert len(app.clipboard) <= LONGEST
        await pilot.press("s")
        await until(pilot, lambda: len(app.screen_stack) == 2 and app.screen.focused is not None)
        await pilot.press("home", "ctrl+k", *str(tmp_path / "out"), "enter")
        await until(pilot, (tmp_path / "out" / "ticket.md").exists)
        assert sorted(os.listdir(tmp_path / "out")) == FILES
        assert {(tmp_path / "out" / name).stat().st_mode & 0o777 for name in FILES} == {0o600}
        assert (tmp_path / "out").stat().st_mode & 0o777 == 0o700
        await until(pilot, lambda: len(app.screen_stack) == 1)
        await pilot.press("home", "space")
        await until(pilot, lambda: len(rows(app)) == 2)
        await pilot.press("enter")
        await until(pilot, lambda: app.query_one(FindingsPane).chosen == _finding(app, "DUR003"))
        await pilot.press("backspace", "X")
        await until(pilot, lambda: "The change set is empty" in screen_text(app))


def _finding(app: AuditApp, code: str) -> Finding:
    assert app.view is not None
    return next(f for f in app.view.audited.findings if f.code == code)


async def test_escape_leaves_the_change_set() -> None:
    """esc returns from the file to the list, and from there to where c was pressed, also from an empty change set."""
    async with driven(size=(120, 40)) as (app, pilot):
        findings = app.query_one(FindingsPane)
        await pilot.press("c", "c")
        await until(pilot, lambda: "The change set is empty" in screen_text(app))
        changes = app.query_one(ChangesPane)
        await pilot.press("escape")
        await until(pilot, lambda: findings.display and not changes.display)
        await select(app, pilot, "DUR002")
        await pilot.press("c", "right")
        await until(pilot, lambda: app.focused is changes.query_one("#changes-preview"))
        await pilot.press("escape")
        await until(pilot, lambda: app.focused is changes.query_one("#changes-list"))
        await pilot.press("escape")
        await until(pilot, lambda: findings.display and not changes.display)


async def test_contradictions_are_named_on_the_screen() -> None:
    """Two findings that advise against each other are shown as left out, with both codes."""
    async with driven(size=(120, 40)) as (app, pilot):
        assert app.view is not None
        opposite = Action("query_cache_type = ON", "SET GLOBAL query_cache_type = ON;")
        against = _finding(app, "BUF009")._replace(code="BUF008", name="query-cache", actions=(opposite,))
        app.toggle_selected(against)
        app.toggle_selected(_finding(app, "BUF009"))
        await pilot.press("c")
        await until(pilot, lambda: bool(app.query("#changes-list")) and len(rows(app)) == 2)
        assert all("left out: contradiction" in row for row in rows(app))
        await until(pilot, lambda: "query_cache_type: BUF008 advises ON; BUF009 advises OFF" in screen_text(app))


async def test_after_a_refresh_each_finding_has_a_state(tmp_path: Path) -> None:
    """A finding that is gone is done, one that is found is still there, and one whose facts are missing not judged."""
    async with driven() as (before, _):
        assert before.view is not None
        earlier = before.view.audited
    earlier = earlier._replace(facts=replace(earlier.facts, taken_at="2020-01-01T00:00:00+00:00"))

    def mend(document: dict[str, object]) -> None:
        document["server"]["variables"]["sync_binlog"] = "1"
        document["files"] = None
        document["unavailable"].append({"part": "files", "reason": "not read"})  # type: ignore[attr-defined]

    async with driven("--snapshot", str(snapshot_with(tmp_path, mend))) as (app, _):
        assert app.view is not None
        states = {}
        for code in ("DUR002", "BUF001", "SEC003"):
            finding = next(f for f in earlier.findings if f.code == code)
            states[code] = change_state(app.view, SelectedFinding(finding, earlier))[0]
        assert states["SEC003"] == UNJUDGED
        assert states["DUR002"] in (DONE, UNJUDGED)  # without the files its line is not known
        still = SelectedFinding(app.view.audited.findings[0], earlier)
        assert change_state(app.view, still) == (STILL, "still there")
        fixed = SelectedFinding(app.view.audited.findings[0]._replace(canonical="no_such_option"), app.view.audited)
        assert change_state(app.view, fixed) == (" ", "")


async def test_files_are_never_written_over_others(tmp_path: Path) -> None:
    """A directory that already holds a file of that name is refused with a line that names it."""
    async with driven() as (app, _):
        assert app.view is not None
        files = {"apply.sql": "SELECT 1;\n", "options.diff": ""}
        folder = save_files(app.view, str(tmp_path / "new"), files)
        assert os.listdir(folder) == ["apply.sql"]
        with pytest.raises(Exception, match=r"already holds apply\.sql"):
            save_files(app.view, str(tmp_path / "new"), files)


@pytest.mark.servers("mariadb-10.11")
async def test_what_was_applied_is_done_after_a_refresh(server_name: str, start: Start, tmp_path: Path) -> None:
    """On a running server, a finding is done once its statement was sent and its line written; the other is there."""
    file = tmp_path / "my.cnf"
    shutil.copy(CHECKOUT / "examples" / "bad.cnf", file)
    server = start(server_name, option_file=file, small=True)
    async with driven("--socket", server.socket, "--user", "root", size=(120, 40)) as (app, pilot):
        await select(app, pilot, "BUF003", "BUF005")
        await pilot.press("c", "y")
        await until(pilot, lambda: "SET GLOBAL sort_buffer_size = 2097152;" in app.clipboard)
        with server.connect(autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute(next(line for line in app.clipboard.splitlines() if "sort_buffer_size" in line))
        await pilot.press("r")
        await until(pilot, lambda: any(UNWRITTEN in row for row in rows(app)))  # the next restart would undo it
        assert _states(app) == {"BUF003": STILL, "BUF005": STILL}
        await until(pilot, lambda: "sort_buffer_size" not in _shown(app))  # it is not applied again
        await pilot.press("d")
        await until(pilot, lambda: "+sort_buffer_size = 2M" in _shown(app))
        file.write_text(re.sub(r"(?m)^sort_buffer_size *=.*", "sort_buffer_size = 2M", file.read_text()))
        await pilot.press("r")
        await until(pilot, lambda: any("done" in row for row in rows(app)))  # although the line is shorter now
        assert _states(app) == {"BUF003": DONE, "BUF005": STILL}
        await until(pilot, lambda: "+sort_buffer_size" not in _shown(app))
        await pilot.press("b")
        await until(pilot, lambda: "SET GLOBAL sort_buffer_size = 268435456;" in _shown(app))


def _states(app: AuditApp) -> dict[str, str]:
    return {row.split()[1]: row[0] for row in rows(app)}


def _shown(app: AuditApp) -> str:
    return str(app.query_one("#changes-preview Static").render())


async def test_rows_of_a_very_wide_terminal_are_not_cut() -> None:
    """Blanks between a change and its place are no text that goes on."""
    async with driven(size=(260, 40)) as (app, pilot):
        await select(app, pilot, "DUR002")
        await pilot.press("c")
        await until(pilot, lambda: bool(app.query("#changes-list")) and len(rows(app)) == 1)
        assert "…" not in rows(app)[0]
        assert rows(app)[0].rstrip().endswith("SQL + file")


async def test_the_files_name_the_port_of_one_server_of_several(tmp_path: Path) -> None:
    """Two servers of one host have its name in common: the statements are for the one with that port."""

    def move(document: dict[str, Any]) -> None:
        document["server"]["variables"]["port"] = "3307"

    async with driven("--snapshot", str(snapshot_with(tmp_path, move)), size=(120, 40)) as (app, pilot):
        await select(app, pilot, "DUR002")
        await pilot.press("c")
        await until(pilot, lambda: bool(app.query("#changes-list")) and len(rows(app)) == 1)
        await until(pilot, lambda: "-- db1 (MariaDB 10.11.19, port 3307), audit of" in _shown(app))
