"""The variables screen: all variables with source and default, searchable."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import DataTable, Input, Static

from advisor.catalog.host_defaults import LIMITED_BY_FILES, LOWERED
from advisor.catalog.presence import describe_option
from advisor.tui.footer import SearchField
from advisor.tui.screens.base import Pane
from advisor.tui.screens.variables.rows import column_widths, manual_url, value_range, variable_rows
from advisor.tui.text import SEVERITY_SIGNS, SEVERITY_STYLES, safe_line, safe_text
from advisor.verdict.settings import NO_DEFAULT

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.events import Resize

    from advisor.core.model import Finding
    from advisor.tui.screens.variables.rows import VariableRow

FILTERS = {
    "all": "all",
    "changed": "differs from the default",
    "file": "differs from the files",
    "set": "explicitly configured",
}
COLUMNS = ("variable", "value", "default", "source", "change")


class VariablesPane(Pane):
    """The variables screen."""

    BINDINGS: ClassVar = [
        Binding("slash", "filter", "filter", id="variables.filter", key_display="/", priority=True),
        Binding("a", "unfilter", "all", id="variables.all"),
        Binding("d", "only('changed')", "changed", id="variables.default"),
        Binding("f", "only('file')", "file differs", id="variables.file"),
        Binding("o", "order", "sort", id="variables.order"),
        Binding("i", "finding", "finding", show=False, id="variables.finding"),
        Binding("l", "line", "line in the option file", show=False, id="variables.line"),
        Binding("s", "only('set')", "explicitly configured", show=False, id="variables.set"),
        Binding("y", "copy", "copy", show=False, id="variables.copy"),
        Binding("escape", "unfilter", "show all", show=False, id="variables.unfilter"),
    ]

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - textual's parameter name
        super().__init__(id=id)
        self._rows: dict[str, VariableRow] = {}
        self._search_text = ""
        self._filter = "changed"
        self._order = self._sorted_by = COLUMNS[0]
        self._widths: tuple[int, ...] = ()

    def compose(self) -> ComposeResult:
        """The table, the search field, and one variable in full."""
        table: DataTable[Content] = DataTable(id="variables-table", cursor_type="row", zebra_stripes=False)
        yield table
        yield SearchField(self.action_unfilter, placeholder="name or value", id="variables-filter")
        with VerticalScroll(id="variables-detail", classes="box"):
            yield Static("", markup=False)

    def on_resize(self, _: Resize) -> None:
        """Fit the columns to the width."""
        if self._widths != column_widths(self.app.size.width):
            self._fill()

    def refill(self) -> None:
        """Fill the table again and keep the selected variable."""
        if self.view is not None:
            self._rows = {row.name: row for row in variable_rows(self.view)}
            self._fill()

    def _fill(self) -> None:
        table = self.query_one(DataTable)
        kept = self.chosen.name if self.chosen else None
        self._clear(table)
        listed = [row for row in self._rows.values() if self._matches(row)]
        if self._order != COLUMNS[0]:
            listed.sort(key=lambda row: row.sort_key(self._order))
        for row in listed:
            table.add_row(*_cells(row, self._widths), key=row.name)
        if kept in table.rows:
            table.move_cursor(row=table.get_row_index(kept or ""), animate=False)
        self._show_detail()

    def _clear(self, table: DataTable[Content]) -> None:
        """Clear the rows, and the columns if their widths or the order change."""
        rebuild = (self._widths, self._sorted_by) != (column_widths(self.app.size.width), self._order)
        table.clear(columns=rebuild)
        if rebuild:
            self._widths, self._sorted_by = column_widths(self.app.size.width), self._order
            for name, width in zip(COLUMNS, self._widths, strict=False):  # the last column needs a wide screen
                table.add_column(f"{name} ▾" if name == self._order else name, width=width, key=name)

    def _matches(self, row: VariableRow) -> bool:
        if self._filter == "changed" and not row.changed:
            return False
        if self._filter == "file" and not row.differs_from_file:
            return False
        if self._filter == "set" and not row.is_set:
            return False
        text = f"{row.name} {row.value[:200]} {row.source}".lower().replace("-", "_")
        return all(word in text for word in self._search_text.lower().replace("-", "_").split())

    @property
    def chosen(self) -> VariableRow | None:
        """The variable under the cursor."""
        table = self.query_one(DataTable)
        if not table.row_count:
            return None
        return self._rows.get(table.coordinate_to_cell_key(table.cursor_coordinate).row_key.value or "")

    @on(DataTable.RowHighlighted)
    def _show_marked(self) -> None:
        self.draw_later(self._show_detail)

    def _show_detail(self) -> None:
        box, row = self.query_one("#variables-detail"), self.chosen
        table = self.query_one(DataTable)
        box.border_title = f"{table.row_count} of {len(self._rows)}: {FILTERS[self._filter]}"
        text = self.query_one("#variables-detail Static", Static)
        text.update(self._describe(row) if row else safe_text("No variable matches. Esc shows all."))

    def _describe(self, row: VariableRow) -> Content:
        parts = [Content.styled(row.name, "bold") + safe_line(f" = {_both_notations(row, row.value)}", longest=2000)]
        parts += [Content(" · ").join(self._findings_about(row))] if self._findings_about(row) else []
        if does := describe_option(row.option.name if row.option else row.name, row.option):
            parts.append(safe_text(does))
        facts = [
            ("default", _default_note(row)),
            ("in the files", row.file_value or "" if row.differs_from_file else ""),
            ("set by", row.set_by),
            ("values", value_range(row.option) if row.option else "unknown: not in the catalog of this version"),
            ("change", _change_note(row)),
            ("since", _versions(row)),
            ("manual", manual_url(self.view) if self.view else ""),
        ]
        parts += [safe_line(f"{label:<14}{text}", longest=2000) for label, text in facts if text]
        return Content("\n").join(parts)

    def _findings_about(self, row: VariableRow) -> list[Content]:
        """The findings about the variable, by code and name."""
        return [
            Content.styled(SEVERITY_SIGNS[f.severity], SEVERITY_STYLES[f.severity]) + safe_line(f" {f.code} {f.name}")
            for f in self._open_findings(row)
        ]

    def _open_findings(self, row: VariableRow) -> list[Finding]:
        names = {row.name, row.option.name if row.option else row.name}
        return [f for f in self.view.open_findings if f.canonical in names] if self.view else []

    def current_item(self) -> object:
        """The name of the selected variable."""
        return self.chosen.name if self.chosen else None

    def choose_item(self, item: object) -> bool:
        """Select the variable of that name, or of that option; show all variables if the filter excludes it."""
        names = [row.name for row in self._rows.values() if item in (row.name, row.option.name if row.option else None)]
        if not names:
            return False
        table = self.query_one(DataTable)
        if names[0] not in table.rows:
            self.action_unfilter()
        table.move_cursor(row=table.get_row_index(names[0]), animate=False)
        table.focus()
        return True

    def action_order(self) -> None:
        """Sort by the next column."""
        shown = COLUMNS[: len(self._widths)]
        self._order = shown[(shown.index(self._order) + 1) % len(shown)] if self._order in shown else shown[0]
        self._fill()

    @on(DataTable.HeaderSelected)
    def _sort_by_column(self, event: DataTable.HeaderSelected) -> None:
        self._order = event.column_key.value or COLUMNS[0]
        self._fill()

    @on(DataTable.RowSelected)
    async def action_finding(self) -> None:
        """Show the worst finding about the variable."""
        findings = self._open_findings(self.chosen) if self.chosen else []
        if findings:
            await self.app.show_item("findings", findings[0], "")
        else:
            self.notify("No finding is about this variable")

    async def action_line(self) -> None:
        """Show the line of the option file that sets the variable."""
        at = self.chosen.location if self.chosen else None
        missing = "No line of an option file sets this variable"
        if at is None or not at.line:
            self.notify(missing, severity="warning")
        else:
            await self.app.show_item("files", (at.path, at.line), missing)

    def action_filter(self) -> None:
        """Open the search field."""
        self.query_one(SearchField).open_field()

    @on(Input.Changed, "#variables-filter")
    def _search(self, event: Input.Changed) -> None:
        self._search_text = event.value
        self._fill()

    @on(Input.Submitted, "#variables-filter")
    def _focus_table(self) -> None:
        self.query_one(DataTable).focus()

    def action_only(self, which: str) -> None:
        """Show only these variables; the same key again shows all."""
        self._filter = "all" if self._filter == which else which
        self._fill()

    def action_unfilter(self) -> None:
        """Show all variables."""
        box = self.query_one("#variables-filter", Input)
        box.remove_class("-open")
        box.value = ""
        self._search_text, self._filter = "", "all"
        self.query_one(DataTable).focus()
        self._fill()

    def action_copy(self) -> None:
        """Copy the variable as a line of an option file."""
        if row := self.chosen:
            self.app.copy(f"{row.option.name if row.option else row.name} = {row.value}", "name and value")


def _cells(row: VariableRow, columns: tuple[int, ...]) -> list[Content]:
    """The cells of a row; cut texts end with an ellipsis, the detail shows all of the value."""
    style = "$text-warning" if row.differs_from_file else "bold" if row.changed else ""
    place = row.source if len(row.source) <= columns[3] else f"…{row.source[1 - columns[3] :]}"
    texts = (row.name, row.for_people(row.value), row.for_people(row.default), place, row.change_mode)
    styles = (style, style, "dim", "dim", "dim")
    return [safe_line(*cell) for cell in zip(texts, styles, columns, strict=False)]


def _change_note(row: VariableRow) -> str:
    """How the variable can be changed, and the effect of SET GLOBAL."""
    change = {"dynamic": "while the server runs", "restart": "needs a restart"}.get(row.change_mode, "")
    note = row.at_run_time.words if row.at_run_time else ""
    return f"{change}; {note}" if change and note else change


def _default_note(row: VariableRow) -> str:
    if row.default == NO_DEFAULT:
        return row.for_people(row.default)
    if row.default is not None:
        lowered = row.option is not None and row.option.name in LIMITED_BY_FILES
        return _both_notations(row, row.default) + (f", {LOWERED}" if lowered else "")
    return row.on_host or "unknown"


def _versions(row: VariableRow) -> str:
    """The versions that introduced and deprecated the option, as far as they are known."""
    option = row.option
    if option is None:
        return ""
    gone = f"; removed in {option.gone}" if option.gone else ""
    old = f"; deprecated since {option.deprecated}" if option.deprecated else ""
    use = f"; use {option.replaced_by}" if option.replaced_by and (gone or old) else ""
    return f"{option.since or 'before the oldest supported version' * bool(old or gone)}{old}{gone}{use}".strip("; ")


def _both_notations(row: VariableRow, value: str) -> str:
    """The value as the server prints it, with the notation of people in parentheses if that differs."""
    short = row.for_people(value)
    return value if short == value else f"{value} ({short})" if value else short
