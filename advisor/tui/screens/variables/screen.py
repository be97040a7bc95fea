"""Variables: all of them, searchable, with where each value came from and what it differs from."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import DataTable, Input, Static

from advisor.core.sizes import about
from advisor.tui.screens.base import Pane
from advisor.tui.screens.variables.rows import bounds, reference, rows, widths
from advisor.tui.text import line, plain
from advisor.tui.widgets.footer import Sought

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.events import Resize

    from advisor.tui.app import AuditApp
    from advisor.tui.screens.variables.rows import VariableRow

VIEWS = {
    "all": "all",
    "changed": "not default",
    "file": "not what the files say",
    "set": "set by somebody",
}
COLUMNS = ("variable", "value", "default", "source", "change")
SIZE = 4096  # numbers from here on are shown as sizes too


class Variables(Pane):
    """The screen of variables."""

    BINDINGS: ClassVar = [
        Binding("slash", "filter", "filter", id="variables.filter", key_display="/", priority=True),
        Binding("d", "only('changed')", "not default", id="variables.default"),
        Binding("f", "only('file')", "unlike files", id="variables.file"),
        Binding("s", "only('set')", "set by somebody", show=False, id="variables.set"),
        Binding("y", "copy", "copy", show=False, id="variables.copy"),
        Binding("escape", "unfilter", "show all", show=False, id="variables.unfilter"),
    ]
    app: AuditApp

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - the framework's word
        super().__init__(id=id)
        self._rows: dict[str, VariableRow] = {}
        self._sought = ""
        self._only = "all"
        self._widths: tuple[int, ...] = ()

    def compose(self) -> ComposeResult:
        """The table, the field that narrows it, and one variable in full."""
        table: DataTable[Content] = DataTable(id="variables-table", cursor_type="row", zebra_stripes=False)
        yield table
        yield Sought(self.action_unfilter, placeholder="name or value", id="variables-filter")
        with VerticalScroll(id="variables-detail", classes="box"):
            yield Static("", markup=False)

    def on_resize(self, _: Resize) -> None:
        """Give the columns what there is."""
        if self._widths != widths(self.app.size.width):
            self._fill()

    def refill(self) -> None:
        """Read the rows anew and stay on the variable that was chosen."""
        if self.view is not None:
            self._rows = {row.name: row for row in rows(self.view)}
            self._fill()

    def _fill(self) -> None:
        table = self.query_one(DataTable)
        kept = self.chosen.name if self.chosen else None
        self._clear(table)
        for row in self._rows.values():
            if self._passes(row):
                table.add_row(*_cells(row, self._widths), key=row.name)
        if kept in table.rows:
            table.move_cursor(row=table.get_row_index(kept or ""), animate=False)
        self._show_detail()

    def _clear(self, table: DataTable[Content]) -> None:
        """Take all rows out, and the columns too where there is room for others."""
        anew = self._widths != widths(self.app.size.width)
        table.clear(columns=anew)
        if anew:
            self._widths = widths(self.app.size.width)
            for name, width in zip(COLUMNS, self._widths, strict=False):  # the last has no room everywhere
                table.add_column(name, width=width)

    def _passes(self, row: VariableRow) -> bool:
        if self._only == "changed" and not row.changed:
            return False
        if self._only == "file" and not row.differs_from_file:
            return False
        if self._only == "set" and row.origin.value in ("compiled", "unknown"):
            return False
        text = f"{row.name} {row.value[:200]} {row.source}".lower().replace("-", "_")
        return all(word in text for word in self._sought.lower().replace("-", "_").split())

    @property
    def chosen(self) -> VariableRow | None:
        """The variable under the cursor."""
        table = self.query_one(DataTable)
        if not table.row_count:
            return None
        return self._rows.get(table.coordinate_to_cell_key(table.cursor_coordinate).row_key.value or "")

    @on(DataTable.RowHighlighted)
    def _marked(self) -> None:
        self.soon(self._show_detail)

    def _show_detail(self) -> None:
        box, row = self.query_one("#variables-detail"), self.chosen
        table = self.query_one(DataTable)
        box.border_title = f"{table.row_count} of {len(self._rows)}: {VIEWS[self._only]}"
        text = self.query_one("#variables-detail Static", Static)
        text.update(self._told(row) if row else plain("No variable matches: esc shows all."))

    def _told(self, row: VariableRow) -> Content:
        parts = [Content.styled(row.name, "bold") + line(f" = {_sized(row.value)}", longest=2000)]
        facts = [
            ("default", "it depends on the host" if row.default is None else _sized(row.default)),
            ("the files say", row.written or "" if row.differs_from_file else ""),
            ("from", row.source),
            ("takes", bounds(row.option) if row.option else "not in the catalog of this version"),
            ("change", _change(row)),
            ("manual", reference(self.view) if self.view else ""),
        ]
        parts += [line(f"{label:<14}{text}", longest=2000) for label, text in facts if text]
        return Content("\n").join(parts)

    def action_filter(self) -> None:
        """Type part of a name or a value."""
        self.query_one(Sought).open()

    @on(Input.Changed, "#variables-filter")
    def _typed(self, event: Input.Changed) -> None:
        self._sought = event.value
        self._fill()

    @on(Input.Submitted, "#variables-filter")
    def _entered(self) -> None:
        self.query_one(DataTable).focus()

    def action_only(self, which: str) -> None:
        """Show those alone; once more shows all again."""
        self._only = "all" if self._only == which else which
        self._fill()

    def action_unfilter(self) -> None:
        """Show all variables."""
        box = self.query_one("#variables-filter", Input)
        box.remove_class("-open")
        box.value = ""
        self._sought, self._only = "", "all"
        self.query_one(DataTable).focus()
        self._fill()

    def action_copy(self) -> None:
        """Copy the variable as an option file would have it."""
        if row := self.chosen:
            self.app.copy(f"{row.option.name if row.option else row.name} = {row.value}", "name and value")


def _cells(row: VariableRow, columns: tuple[int, ...]) -> list[Content]:
    """What stands in the row, each cut with a sign of it: the whole value is shown below."""
    style = "$text-warning" if row.differs_from_file else "bold" if row.changed else ""
    place = row.source if len(row.source) <= columns[3] else f"…{row.source[1 - columns[3] :]}"
    texts = (row.name, row.value, row.default or "", place, row.when)
    styles = (style, style, "dim", "dim", "dim")
    return [line(*cell) for cell in zip(texts, styles, columns, strict=False)]


def _change(row: VariableRow) -> str:
    """When the variable may be changed, and what SET GLOBAL does then."""
    change = {"dynamic": "while the server runs", "restart": "needs a restart"}.get(row.when, "")
    words = row.at_run_time.words if row.at_run_time else ""
    return f"{change}; {words}" if change and words else change


def _sized(value: str) -> str:
    return f"{value} ({about(int(value))})" if value.isdecimal() and len(value) < 20 and int(value) >= SIZE else value  # noqa: PLR2004 - digits that a server can hold
