"""Findings: the list on the left, one in full on the right; filter, severities, order, and hiding findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from advisor.core.model import Finding, Severity
from advisor.redaction import escape_text, redact_value
from advisor.tui.screens.base import NARROW, Pane
from advisor.tui.screens.findings.filter import ORDERS, RESTART, FindingFilter, finding_row
from advisor.tui.text import safe_line, safe_text
from advisor.tui.view import finding_key
from rules import find_rule
from rules.core.advice import advised_value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.app import ComposeResult
    from textual.css.query import DOMQuery
    from textual.events import Resize
    from textual.widgets import Input

    from advisor.tui.footer import SearchField
    from advisor.tui.view import View

NARROWEST, WIDEST = 30, 90  # columns of the list, as in the style sheet
SEEN, HIDDEN, SELECTED = "✓", "-", "+"
SELECT = "put into the change set, or take out"
MOST_REASON = 300  # characters of a reason in the question; the detail shows all of it
ROW_MARGIN = 5  # columns of border, padding and scrollbar


class FindingsPane(Pane):
    """The findings screen."""

    BINDINGS: ClassVar = [
        Binding("slash", "filter", "filter", id="findings.filter", key_display="/", priority=True),
        Binding("E", "severity('error')", "errors on or off", show=False, id="findings.errors"),
        Binding("W", "severity('warning')", "warnings on or off", show=False, id="findings.warnings"),
        Binding("N", "severity('note')", "notes on or off", show=False, id="findings.notes"),
        Binding("space", "select", "select", id="findings.select", key_display="space", tooltip=SELECT),
        Binding("t", "ticket", "ticket", id="findings.ticket"),
        Binding("l", "line", "line in the option file", show=False, id="findings.line"),
        Binding("v", "variable", "variable", show=False, id="findings.variable"),
        Binding("w", "counters", "counters", show=False, id="findings.counters"),
        Binding("o", "order", "sort by area, severity, option or restart", show=False, id="findings.order"),
        Binding("H", "hidden", "list hidden findings with reasons", show=False, id="findings.hidden"),
        Binding("m", "seen", "mark as seen", show=False, id="findings.seen"),
        Binding("x", "suppress", "hide", id="findings.suppress"),
        Binding("u", "take_back", "unhide", id="findings.take-back"),
        Binding("x", "take_back", "unhide", show=False, id="findings.take-back.x"),
        Binding("p", "probe", "probe", show=False, id="findings.probe"),
        Binding("y", "copy('statement')", "copy", id="findings.copy"),
        Binding("Y", "copy('line')", "copy the lines for the option file", show=False, id="findings.copy-line"),
        Binding("escape", "unfilter", "show all", show=False, id="findings.unfilter"),
    ]

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - textual's parameter name
        super().__init__(id=id)
        self.filter = FindingFilter()
        self._shown: dict[str, Finding] = {}
        self._drawn: tuple[object, ...] = ()
        self._drawn_for = 0
        self._keys_for_hidden = False

    def compose(self) -> ComposeResult:
        """The list and the detail of one finding."""
        with Horizontal():
            yield OptionList(id="findings-list", classes="box", markup=False)
            with VerticalScroll(id="findings-detail", classes="box"):
                yield Static("", markup=False)

    def refill(self) -> None:
        """Draw the list again and keep the selected finding."""
        if self.view is None:
            return
        options = self.query_one(OptionList)
        chosen, place = self.chosen, options.highlighted or 0
        kept = finding_key(chosen) if chosen else None
        self._shown, listed, self._drawn_for = {}, [], self.app.size.width
        for title, findings in self.filter.group_findings(self.view):
            if title:
                words = f"{title} · {len(findings)}"
                listed.append(Option(Content(words), disabled=True))
            for order, finding in enumerate(findings):
                key = f"{finding_key(finding)}#{order}#{title}"
                self._shown[key] = finding
                listed.append(Option(self._row(finding), id=key))
        options.clear_options()
        options.add_options(listed)
        options.border_title = f"Findings{self.filter.summary}"
        self._show_counts()
        same = next((key for key, finding in self._shown.items() if finding_key(finding) == kept), None)
        if same is None and kept in dict(self.view.marks.suppressed):
            same = self._next(listed[place:]) or next(
                reversed(self._shown), None
            )  # after hiding a finding, select the next one
        first = same or next(iter(self._shown), None)
        options.highlighted = options.get_option_index(first) if first else None
        self.call_after_refresh(self._show_detail)  # the list is visible while the evidence is loaded

    def _show_counts(self) -> None:
        """Show below the list what the sign of a restart means, and how many findings are selected and hidden."""
        if self.view is None:
            return
        selected, hidden = len(self.view.selected), len(self.view.hidden)
        signs = any(
            row.prompt.plain.endswith(RESTART)
            for row in self.query_one(OptionList).options
            if isinstance(row.prompt, Content)
        )
        parts = [f"{RESTART} restart" if signs else "", f"{selected} selected: c" if selected else ""]
        parts += [f"H lists {hidden} hidden" if hidden and not self.filter.hidden else ""]
        self.query_one(OptionList).border_subtitle = " · ".join(part for part in parts if part)

    def show_selection(self, view: View) -> None:
        """Draw the rows again that were selected, or are no longer."""
        before, self.view = self.view, view
        options = self.query_one(OptionList)
        for key, finding in self._shown.items():
            if before is None or before.is_selected(finding) != view.is_selected(finding):
                options.replace_option_prompt(key, self._row(finding))
        self._show_counts()

    def current_item(self) -> object:
        """The selected finding."""
        return self.chosen

    def choose_item(self, item: object) -> bool:
        """Select this finding, or the one with the same rule and option of a newer audit."""
        audited = self.view.audited if self.view else None
        findings = (*audited.findings, *(f for f, _ in audited.suppressed)) if audited else ()
        keys = [finding_key(f) for f in findings]
        if not isinstance(item, Finding) or finding_key(item) not in keys:
            return False
        self.choose(item if item in findings else findings[keys.index(finding_key(item))])
        return True

    @staticmethod
    def _next(options: list[Option]) -> str | None:
        return next((option.id for option in options if not option.disabled), None)

    def _row(self, finding: Finding) -> Content:
        view = self.view
        seen = view is not None and finding_key(finding) in view.marks.seen
        selected = view is not None and view.is_selected(finding)
        hidden = self._is_hidden(finding)
        style = "dim strike" if hidden else "bold" if selected else "dim" if seen else ""
        mark = SELECTED if selected else HIDDEN if hidden else SEEN if seen else " "
        whole = self.app.size.width
        width = whole if whole < NARROW else min(WIDEST, max(NARROWEST, whole // 2))
        return finding_row(finding, width - ROW_MARGIN, mark, style)

    @property
    def chosen(self) -> Finding | None:
        """The selected finding."""
        options = self.query_one(OptionList)
        if options.highlighted is None:
            return None
        return self._shown.get(options.get_option_at_index(options.highlighted).id or "")

    def _is_hidden(self, finding: Finding | None) -> bool:
        return self.view is not None and finding is not None and self.view.hidden_reason(finding) is not None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer to unhide a hidden finding, and to hide any other."""
        if action in ("suppress", "take_back"):
            hidden = bool(self.query(OptionList)) and self._is_hidden(self.chosen)
            return hidden == (action == "take_back")
        return super().check_action(action, parameters)

    def choose(self, finding: Finding) -> None:
        """Select this finding; clear the filter if it excludes the finding."""
        if finding not in self._shown.values():
            self._clear_search()
            self.filter = FindingFilter(order=self.filter.order, hidden=self._is_hidden(finding))
            self.refill()
        options = self.query_one(OptionList)
        key = next((key for key, shown in self._shown.items() if shown == finding), None)
        if key is not None:
            options.highlighted = options.get_option_index(key)

    @on(OptionList.OptionHighlighted)
    def _show_marked(self) -> None:
        self.draw_later(self._show_detail)

    @on(OptionList.OptionSelected)
    def _focus_detail(self) -> None:
        self.query_one("#findings-detail").focus()

    def on_resize(self, _: Resize) -> None:
        """Wrap the text to the new width."""
        if self.app.size.width != self._drawn_for:
            self.refill()
        self.call_after_refresh(self._show_detail)

    def _show_detail(self) -> None:
        box = self.query_one("#findings-detail", VerticalScroll)
        finding, width = self.chosen, box.scrollable_content_region.width
        if width <= 1:
            return  # not laid out yet
        reason = self.view.hidden_reason(finding) if self.view and finding else None
        drawn = (finding, width, reason)
        if drawn == self._drawn:
            return
        self._drawn = drawn
        if self._keys_for_hidden != (foot := self._is_hidden(finding)):
            self._keys_for_hidden = foot
            self.refresh_bindings()
        text = self.query_one("#findings-detail Static", Static)
        if finding is None or self.view is None:
            box.border_title = ""
            text.update(safe_text(self._empty_text()))
            self.call_after_refresh(self._show_scroll_hint)
            return
        from advisor.tui.screens.findings.detail import finding_detail

        box.border_title = finding.code
        text.update(finding_detail(self.view, finding, width - 1))
        if box.scroll_y:
            box.scroll_home(animate=False)
        self.call_after_refresh(self._show_scroll_hint)

    def _show_scroll_hint(self) -> None:
        """Show at the bottom of a long detail how to scroll it, or how to return."""
        box = self.query_one("#findings-detail", VerticalScroll)
        box.border_subtitle = "" if not box.max_scroll_y else "Esc: list" if box.has_focus else "Enter: read on"

    def on_descendant_focus(self) -> None:
        """Update the scroll hint."""
        self._show_scroll_hint()

    def _empty_text(self) -> str:
        if self.view and self.view.open_findings:
            return "No finding matches. Esc shows all, H lists hidden findings."
        if self.view and self.view.hidden:
            return "All findings are hidden. H lists them with the reasons."
        return "No findings: every check that could run passed."

    # What the user does

    async def action_filter(self) -> None:
        """Open the search field; it is created when first used."""
        from advisor.tui.footer import SearchField

        if not self._search_fields:
            words = "code, option, text or file"
            await self.mount(SearchField(self.action_unfilter, placeholder=words, id="findings-filter"))
        for box in self._search_fields:
            box.open_field()

    @property
    def _search_fields(self) -> DOMQuery[SearchField]:
        """The search field, if it has been created."""
        return self.query("#findings-filter")  # type: ignore[return-value] # no other widget has that id

    def _clear_search(self) -> None:
        for box in self._search_fields:
            box.remove_class("-open")
            box.value = ""

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter the list while typing."""
        self.filter = self.filter._replace(search_text=event.value)
        self.refill()

    def on_input_submitted(self) -> None:
        """Focus the list."""
        self.query_one(OptionList).focus()

    def action_unfilter(self) -> None:
        """Return to the list; from the list, clear the filter."""
        options = self.query_one(OptionList)
        if not options.has_focus and not any(box.has_focus for box in self._search_fields):
            options.focus()
            return
        self._clear_search()
        self.filter = FindingFilter(order=self.filter.order)
        options.focus()
        self.refill()

    def action_severity(self, severity: str) -> None:
        """Show or exclude findings of that severity."""
        self.filter = self.filter.toggle_severity(Severity(severity))
        self.refill()

    def action_order(self) -> None:
        """Switch to the next order: area, severity, option, restart."""
        self.filter = self.filter._replace(order=ORDERS[(ORDERS.index(self.filter.order) + 1) % len(ORDERS)])
        self.refill()

    def action_hidden(self) -> None:
        """Show or exclude hidden findings."""
        self.filter = self.filter._replace(hidden=not self.filter.hidden)
        self.refill()

    def action_seen(self) -> None:
        """Mark the finding as seen, or remove the mark."""
        if self.view is None or (finding := self.chosen) is None:
            return
        marks = self.view.marks
        self.app.change_marks(marks._replace(seen=marks.seen ^ {finding_key(finding)}))

    def action_suppress(self) -> None:
        """Hide the finding with a reason."""
        if (finding := self.chosen) is None:
            return
        from advisor.analysis.suppress import reason_fault
        from advisor.report.output import today
        from advisor.tui.dialogs.prompts import ReasonDialog

        def take_reason(reason: str | None) -> None:
            if reason:
                self._set_reason(finding, reason)
                self.app.add_to_baseline(finding, reason)

        question = f"Reason for hiding {finding.code} {finding.name}:"
        self.app.push_screen(ReasonDialog(question, fault=lambda text: reason_fault(text, today())), take_reason)

    def action_take_back(self) -> None:
        """Unhide a finding; if that changes a baseline, ask first."""
        if self.view is None or (finding := self.chosen) is None:
            return
        known = self.view.baseline_reason(finding)
        if known is None:
            self._set_reason(finding, "")
            return
        from advisor.tui.dialogs.prompts import ChoiceDialog

        def take_answer(yes: bool | None) -> None:
            if yes:
                self._set_reason(finding, "")
                self.app.remove_from_baseline(finding)

        question = f"Remove {finding.code} {finding.canonical or finding.name} from the baseline, with its reason?"
        reason = safe_line(redact_value("", known), longest=MOST_REASON).plain
        offer = ChoiceDialog(
            f"{escape_text(question)}\n{reason}", "remove it: audits report the finding again", "keep it hidden"
        )
        self.app.push_screen(offer, take_answer)

    def _set_reason(self, finding: Finding, reason: str) -> None:
        """Save the reason for hiding a finding; an empty reason unhides it."""
        if self.view is not None:
            marks, key = self.view.marks, finding_key(finding)
            rest = {k: why for k, why in marks.suppressed if k != key} | ({key: reason} if reason else {})
            self.app.change_marks(marks._replace(suppressed=tuple(rest.items())))

    def action_select(self) -> None:
        """Put the finding into the change set, or take it out, and go to the next one."""
        if finding := self.chosen:
            self.app.toggle_selected(finding)
            if finding is not next(reversed(self._shown.values())):  # from the last one, space would go to the first
                self.query_one(OptionList).action_cursor_down()

    def action_ticket(self) -> None:
        """Copy a short ticket of this finding."""
        if self.view is None or (finding := self.chosen) is None:
            return
        from advisor.report.audit.ticket import short_ticket

        text = short_ticket(self.view.audited, (finding,))
        self.app.copy(text, f"a ticket of {finding.code}, {len(text):,} characters")

    async def action_line(self) -> None:
        """Show the line of the option file that this finding is about, or where its advice belongs."""
        finding = self.chosen
        places = [finding.location, *(a.place for a in finding.actions)] if finding else []
        at = next((at for at in places if at is not None and at.line), None)
        await self._lead("files", (at.path, at.line) if at else None, "This finding has no line in an option file")

    async def action_variable(self) -> None:
        """Show the variable that this finding is about."""
        finding = self.chosen
        change = advised_value(finding) if finding else None
        name = (finding.canonical if finding else None) or (change.option if change else None)
        await self._lead("variables", name, "This finding is about no variable of the server")

    async def action_counters(self) -> None:
        """Show the first counter that this finding names on the workload screen."""
        from advisor.tui.screens.findings.detail import counters_of

        names = counters_of(self.view, self.chosen) if self.view and self.chosen else []
        await self._lead("workload", tuple(names) or None, "No chart shows a counter of this finding")

    async def _lead(self, place: str, item: object, missing: str) -> None:
        if item is None:
            self.notify(missing, severity="warning")
        else:
            await self.app.show_item(place, item, missing)

    async def action_probe(self) -> None:
        """Show the probe that measures what this finding claims."""
        rule = find_rule(self.chosen.code) if self.chosen else None
        if rule is not None and rule.probe:
            await self.app.action_probe(rule.probe)
        else:
            self.notify("No probe covers this finding", severity="warning")

    def action_copy(self, what: str) -> None:
        """Copy the statements, or the lines for the option file."""
        actions = self.chosen.actions if self.chosen else ()
        statements = _texts_of(a.statement for a in actions)
        lines, arguments = _texts_of(a.option_line for a in actions), _texts_of(a.argument for a in actions)
        if what == "statement" and statements:
            self._copy_statements(statements)
        elif lines:
            self.app.copy("\n".join(lines), f"{_the(lines, 'line')} for the option file")
        elif arguments:
            self.app.copy(" ".join(arguments), f"{_the(arguments, 'argument')} for the command line")
        else:
            self.notify("Nothing to copy: this finding has no statement and no option-file line", severity="warning")

    def _copy_statements(self, statements: list[str]) -> None:
        """Copy the statements that set variables, which belong together; of others, such as KILL, only the first."""
        from advisor.fixing.change_set import SET

        if all(SET.search(statement) for statement in statements):
            self.app.copy("\n".join(statements), f"{_the(statements, 'statement')}. mycnf never runs them for you")
        else:
            more = f"first of {len(statements)} statements" if len(statements) > 1 else "statement"
            self.app.copy(statements[0], f"the {more}. mycnf never runs it for you")


def _texts_of(texts: Iterable[str | None]) -> list[str]:
    """The texts without those that are missing, each once."""
    return list(dict.fromkeys(filter(None, texts)))


def _the(texts: list[str], noun: str) -> str:
    return f"the {noun}" if len(texts) == 1 else f"{len(texts)} {noun}s"
