"""Variables: all of them, searchable, with where each value came from and what it differs from."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import DataTable, Input, Static

from advisor.sizes import about
from advisor.tui.pane import Pane
from advisor.tui.plain import line, plain
from advisor.tui.variables import bounds, reference, rows

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from advisor.tui.app import AuditApp
    from advisor.tui.variables import Row

VIEWS = {
    "all": "all",
    "changed": "not default",
    "file": "not what the files say",
    "set": "set by somebody",
}
WIDE, NARROW = (34, 20, 12, 30), (30, 16, 10, 14)  # columns for name, value, default and source
ROOMY = 110  # columns of the screen
FITS = 92  # of which the last column of the narrow ones has room too
CELL = 44  # characters of a cell; the whole value is shown below
SIZE = 4096  # numbers from here on are shown as sizes too


class Variables(Pane):
    """The screen of variables."""

    BINDINGS: ClassVar = [
        Binding("slash", "filter", "filter", id="variables.filter", key_display="/"),
        Binding("d", "only('changed')", "not default", id="variables.default"),
        Binding("f", "only('file')", "unlike files", id="variables.file"),
        Binding("s", "only('set')", "set by somebody", show=False, id="variables.set"),
        Binding("y", "copy", "copy", show=False, id="variables.copy"),
        Binding("escape", "unfilter", "show all", show=False, id="variables.unfilter"),
    ]
    app: AuditApp

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - the framework's word
        super().__init__(id=id)
        self._rows: dict[str, Row] = {}
        self._sought = ""
        self._only = "all"
        self._source_width = 0

    def compose(self) -> ComposeResult:
        """The table, the field that narrows it, and one variable in full."""
        table: DataTable[Content] = DataTable(id="variables-table", cursor_type="row", zebra_stripes=False)
        name, value, default, source = NARROW if self.app.size.width < ROOMY else WIDE
        self._source_width = source
        table.add_column("variable", key="name", width=name)
        table.add_column("value", key="value", width=value)
        table.add_column("default", key="default", width=default)
        table.add_column("source", key="source", width=source)
        if self.app.size.width >= FITS:  # else a letter of it would be seen; the words below have it too
            table.add_column("change", key="when", width=8)
        yield table
        yield Input(placeholder="name or value", classes="filter", id="variables-filter")
        with VerticalScroll(id="variables-detail", classes="box"):
            yield Static("", markup=False)

    def refill(self) -> None:
        """Read the rows anew and stay on the variable that was chosen."""
        if self.view is not None:
            self._rows = {row.name: row for row in rows(self.view)}
            self._fill()

    def _fill(self) -> None:
        table = self.query_one(DataTable)
        kept = self.chosen.name if self.chosen else None
        table.clear()
        for row in self._rows.values():
            if self._passes(row):
                table.add_row(*_cells(row, self._source_width)[: len(table.columns)], key=row.name)
        if kept in table.rows:
            table.move_cursor(row=table.get_row_index(kept or ""), animate=False)
        self._show_detail()

    def _passes(self, row: Row) -> bool:
        if self._only == "changed" and not row.changed:
            return False
        if self._only == "file" and not row.differs_from_file:
            return False
        if self._only == "set" and row.origin.value in ("compiled", "unknown"):
            return False
        text = f"{row.name} {row.value[:200]} {row.source}".lower().replace("-", "_")
        return all(word in text for word in self._sought.lower().replace("-", "_").split())

    @property
    def chosen(self) -> Row | None:
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

    def _told(self, row: Row) -> Content:
        parts = [Content.styled(row.name, "bold") + line(f" = {_sized(row.value)}", longest=2000)]
        facts = [
            ("default", "it depends on the host" if row.default is None else _sized(row.default)),
            ("the files say", row.written or "" if row.differs_from_file else ""),
            ("from", row.source),
            ("takes", bounds(row.option) if row.option else "not in the catalog of this version"),
            ("change", {"dynamic": "while the server runs", "restart": "needs a restart"}.get(row.when, "")),
            ("manual", reference(self.view) if self.view else ""),
        ]
        parts += [line(f"{label:<14}{text}", longest=2000) for label, text in facts if text]
        return Content("\n").join(parts)

    def action_filter(self) -> None:
        """Type part of a name or a value."""
        box = self.query_one("#variables-filter", Input)
        box.add_class("-open")
        box.focus()

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


def _cells(row: Row, width: int) -> tuple[Content, ...]:
    style = "$text-warning" if row.differs_from_file else "bold" if row.changed else ""
    default = "" if row.default is None else row.default
    return (
        line(row.name, style, CELL),
        line(row.value, style, CELL),
        line(default, "dim", CELL),
        line(row.source if len(row.source) <= width else f"…{row.source[1 - width :]}", "dim", CELL),
        line(row.when, "dim"),
    )


def _sized(value: str) -> str:
    return f"{value} ({about(int(value))})" if value.isdecimal() and len(value) < 20 and int(value) >= SIZE else value  # noqa: PLR2004 - digits that a server can hold


PANE = Variables
