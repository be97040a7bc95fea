"""The screen of variables: all of them, what differs, and one in full."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from app_driver import driven, until
from textual.pilot import Pilot
from textual.widgets import DataTable, Input

from advisor.catalog import load
from advisor.catalog.targets import parse_target
from advisor.core.model import Origin
from advisor.redaction import escape_text
from advisor.tui.app import AuditApp
from advisor.tui.screens.variables.rows import VariableRow, column_widths, variable_rows
from advisor.tui.screens.variables.screen import VariablesPane, _default_note
from rules.core.statements import set_global_effect


def names(app: AuditApp) -> list[str]:
    """The variables in the table."""
    return [str(key.value) for key in app.query_one("#variables-table", DataTable).rows]


async def listed(app: AuditApp, pilot: Pilot[int], wanted: Callable[[VariableRow], bool] = lambda _: True) -> None:
    """Wait until the table has the expected variables, in their order, and no other."""
    assert app.view is not None
    expected = [row.name for row in variable_rows(app.view) if wanted(row)]
    await until(pilot, lambda: bool(app.query("#variables-table")) and names(app) == expected)


def shown(app: AuditApp) -> str:
    """The variable that is shown in full."""
    return str(app.query_one("#variables-detail Static").render())


async def test_every_variable_is_there_and_can_be_found() -> None:
    """The table has all of the server's variables; words with dashes or underscores narrow it, escape shows all."""
    async with driven() as (app, pilot):
        await pilot.press("2", "a")
        await listed(app, pilot)
        assert app.view is not None
        assert names(app) == sorted(app.view.audited.facts.server.variables)
        await pilot.press("slash", *"buffer-pool")
        await until(pilot, lambda: len(names(app)) < 30)
        assert "innodb_buffer_pool_size" in names(app)
        await pilot.press("enter", "escape")
        await listed(app, pilot)
        assert app.query_one("#variables-filter", Input).value == ""


async def test_what_differs_is_shown_alone() -> None:
    """First what differs from the default, f what runs otherwise than the files say, once more all, d the default."""
    async with driven(size=(120, 40)) as (app, pilot):
        await pilot.press("2")
        await listed(app, pilot, lambda row: row.changed)
        assert "sync_binlog" in names(app) or "innodb_buffer_pool_size" in names(app)
        await pilot.press("f")
        await listed(app, pilot, lambda row: row.differs_from_file)
        await pilot.press("f")
        await listed(app, pilot)
        await pilot.press("d")
        await listed(app, pilot, lambda row: row.changed)


async def test_one_is_shown_in_full_and_copied() -> None:
    """Value, default, source and range of the marked variable stand below; y copies it as an option file has it."""
    async with driven(size=(120, 40)) as (app, pilot):
        await pilot.press("2", "a")
        await listed(app, pilot)
        await pilot.press("slash", *"innodb_buffer_pool_size", "enter")
        await until(pilot, lambda: "innodb_buffer_pool_size = 268435456 (256M)" in shown(app))
        screen = shown(app)
        assert "default       134217728 (128M)" in screen
        assert ".cnf:" in screen
        await pilot.press("y")
        await until(pilot, lambda: bool(app.clipboard))
        assert app.clipboard == "innodb_buffer_pool_size = 268435456"


async def test_keys_typed_ahead_count_on_the_screen_that_was_asked_for() -> None:
    """A key that comes right after a digit is the new screen's."""
    async with driven() as (app, pilot):
        await pilot.press("2", "f")
        await until(pilot, lambda: bool(app.query("#variables-table")) and len(names(app)) < 30)


@pytest.mark.parametrize(("size", "least"), [((80, 24), 30), ((120, 40), 34), ((200, 60), 58)])
async def test_the_columns_take_what_there_is(size: tuple[int, int], least: int) -> None:
    """The table fits its screen; what is cut has a sign of it, so that no part of a number passes for the whole."""
    async with driven(size=size) as (app, pilot):
        await pilot.press("2", "a")
        await listed(app, pilot)
        assert app.view is not None
        table = app.query_one("#variables-table", DataTable)
        assert table.virtual_size.width <= size[0]
        assert table.ordered_columns[0].width >= least
        for row in variable_rows(app.view):
            for whole, cell, column in zip(
                (row.name, row.for_people(row.value)), table.get_row(row.name), table.ordered_columns, strict=False
            ):
                text = cell.plain
                assert len(text) <= column.width
                assert text.endswith("…") or text == escape_text(whole)


async def test_the_columns_follow_the_terminal() -> None:
    """When the terminal is made wider or narrower the table is too, at the variable that was marked."""
    async with driven() as (app, pilot):
        await pilot.press("2", "a")
        await listed(app, pilot)
        table = app.query_one("#variables-table", DataTable)
        await pilot.press("down", "down")
        marked = app.query_one("#variables", VariablesPane).chosen
        for size in ((200, 60), (80, 24)):
            await pilot.resize_terminal(*size)
            wanted = list(column_widths(size[0]))
            await until(pilot, lambda wanted=wanted: [c.width for c in table.ordered_columns] == wanted)  # type: ignore[misc] # the loop's own
            assert app.query_one("#variables", VariablesPane).chosen == marked


def test_when_a_variable_may_be_changed_is_what_audits_say() -> None:
    """The app reads what SET GLOBAL does where audits and preflight read it."""
    target = parse_target("mysql-9.7")
    option = load(target).get("read_buffer_size")
    assert option is not None
    effect = set_global_effect(option, target)
    row = VariableRow("read_buffer_size", "131072", None, None, Origin.COMPILED, None, option, effect)
    assert row.change_mode == "restart"


async def test_columns_sort_numbers_by_size() -> None:
    """o sorts by the next column, the largest number first, and marks it; a click on a column does too."""
    async with driven(size=(120, 40)) as (app, pilot):
        await pilot.press("2")
        await listed(app, pilot, lambda row: row.changed)
        await pilot.press("o")
        table = app.query_one("#variables-table", DataTable)
        await until(pilot, lambda: "value ▾" in [str(column.label) for column in table.ordered_columns])
        assert app.view is not None
        rows = {row.name: row.value for row in variable_rows(app.view)}
        numbers = [int(rows[name]) for name in names(app) if rows[name].isdecimal()]
        assert len(numbers) > 10
        assert numbers == sorted(numbers, reverse=True)
        await pilot.click("#variables-table", offset=(4, 0))
        await until(pilot, lambda: names(app) == sorted(names(app)))


def test_values_are_compared_by_meaning_and_shown_for_people() -> None:
    """TRUE is ON, 134217728 is 128M, and neither differs from its default in another notation."""
    catalog = load(parse_target("mariadb-10.11"))
    switch, size = catalog.get("local_infile"), catalog.get("read_buffer_size")
    on = VariableRow("local_infile", "ON", "TRUE", "1", Origin.FILE, None, switch)
    buffer = VariableRow("read_buffer_size", "131072", "131072", "128K", Origin.COMPILED, None, size)
    assert (on.changed, on.differs_from_file, on.for_people("TRUE"), on.for_people("0")) == (False, False, "ON", "OFF")
    assert (buffer.changed, buffer.for_people("131072"), buffer.for_people("131073")) == (False, "128K", "131073")
    assert buffer.set_by == "nothing: not explicitly configured"


def test_the_account_that_set_a_variable_is_shown() -> None:
    """The row says which statement set the value, and who ran it."""
    origin = "SET GLOBAL by app@10.0.0.3 at 2026-11-28 03:12 UTC, until the next restart"
    row = VariableRow("max_connections", "900", None, None, Origin.RUNTIME, None, None, None, origin)
    assert row.set_by == origin


async def test_a_default_that_the_host_may_lower_is_the_number_that_explain_has() -> None:
    """max_connections and table_open_cache have a default, which a low limit of open files lowers."""
    async with driven() as (app, _):
        assert app.view is not None
        rows = {row.name: row for row in variable_rows(app.view)}
        assert rows["max_connections"].default == "151"
        assert _default_note(rows["max_connections"]) == "151, lower with a low limit of open files"
        assert rows["table_open_cache"].default == "2000"
        assert _default_note(rows["back_log"]) == "depends on max_connections"
        assert _default_note(rows["pid_file"]) == "depends on the host name"


def test_an_option_without_a_default_has_none() -> None:
    """`(No default value)` is how --help prints it, and no value."""
    row = VariableRow("bind_address", "127.0.0.1", "(No default value)", None, Origin.FILE, None, None)
    assert row.for_people(row.default) == "none"
