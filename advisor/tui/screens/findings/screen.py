"""Findings: the list on the left, one in full on the right; filter, severities, order, and what to put aside."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from advisor.core.model import Severity
from advisor.redaction.secrets import clean, redact_value
from advisor.tui.screens.base import NARROW, Pane
from advisor.tui.screens.findings.filter import ORDERS, Sieve
from advisor.tui.text import line, plain
from advisor.tui.view import key_of
from advisor.tui.widgets.header import SIGNS, STYLES
from rules import find_rule

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.css.query import DOMQuery
    from textual.events import Resize
    from textual.widgets import Input

    from advisor.core.model import Finding
    from advisor.tui.app import AuditApp
    from advisor.tui.widgets.footer import Sought

NARROWEST, WIDEST = 30, 60  # columns of the list, as the style sheet has it
SEEN, HIDDEN = "✓", "-"
MOST_REASON = 300  # characters of a reason in the question; beside the list it stands in full
AROUND = 14  # of which border, padding, sign, code and scrollbar take so many


class Findings(Pane):
    """The screen of findings."""

    BINDINGS: ClassVar = [
        Binding("slash", "filter", "filter", id="findings.filter", key_display="/", priority=True),
        Binding("E", "severity('error')", "errors on or off", show=False, id="findings.errors"),
        Binding("W", "severity('warning')", "warnings on or off", show=False, id="findings.warnings"),
        Binding("N", "severity('note')", "notes on or off", show=False, id="findings.notes"),
        Binding("o", "order", "order", show=False, id="findings.order"),
        Binding("H", "hidden", "list hidden ones, with the reason", show=False, id="findings.hidden"),
        Binding("m", "seen", "seen", show=False, id="findings.seen"),
        Binding("x", "suppress", "hide", id="findings.suppress"),
        Binding("u", "take_back", "take back", id="findings.take-back"),
        Binding("x", "take_back", "take back", show=False, id="findings.take-back.x"),
        Binding("p", "probe", "probe", id="findings.probe"),
        Binding("y", "copy('statement')", "copy", id="findings.copy"),
        Binding("Y", "copy('line')", "copy the line for the option file", show=False, id="findings.copy-line"),
        Binding("escape", "unfilter", "show all", show=False, id="findings.unfilter"),
    ]
    app: AuditApp

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - the framework's word
        super().__init__(id=id)
        self.sieve = Sieve()
        self._shown: dict[str, Finding] = {}
        self._drawn: tuple[object, ...] = ()
        self._drawn_for = 0
        self._foot_for = False

    def compose(self) -> ComposeResult:
        """The list, and one finding beside it."""
        with Horizontal():
            yield OptionList(id="findings-list", classes="box", markup=False)
            with VerticalScroll(id="findings-detail", classes="box"):
                yield Static("", markup=False)

    def refill(self) -> None:
        """Draw the list anew and stay on the finding that was chosen."""
        if self.view is None:
            return
        options = self.query_one(OptionList)
        chosen, place = self.chosen, options.highlighted or 0
        kept = key_of(chosen) if chosen else None
        self._shown, listed, self._drawn_for = {}, [], self.app.size.width
        for title, findings in self.sieve.groups(self.view):
            if title:
                listed.append(Option(Content.styled(title, "dim"), disabled=True))
            for order, finding in enumerate(findings):
                key = f"{key_of(finding)}#{order}#{title}"
                self._shown[key] = finding
                listed.append(Option(self._row(finding), id=key))
        options.clear_options()
        options.add_options(listed)
        options.border_title = f"Findings{self.sieve.words}"
        hidden = len(self.view.hidden)
        options.border_subtitle = f"H lists {hidden} hidden" if hidden and not self.sieve.hidden else ""
        same = next((key for key, finding in self._shown.items() if key_of(finding) == kept), None)
        if same is None and kept in dict(self.view.aside.suppressed):
            same = self._next(listed[place:]) or next(reversed(self._shown), None)  # who goes on hiding goes on there
        first = same or next(iter(self._shown), None)
        options.highlighted = options.get_option_index(first) if first else None
        self.call_after_refresh(self._show_detail)  # the list is to be read while the evidence is being looked up

    @staticmethod
    def _next(options: list[Option]) -> str | None:
        return next((option.id for option in options if not option.disabled), None)

    def _row(self, finding: Finding) -> Content:
        view = self.view
        seen = view is not None and key_of(finding) in view.aside.seen
        hidden = self._is_hidden(finding)
        sign = Content.styled(SIGNS[finding.severity], STYLES[finding.severity])
        style = "dim strike" if hidden else "dim" if seen else ""
        mark = HIDDEN if hidden else SEEN if seen else " "
        return sign + line(f"{mark}{finding.code} {self._about(finding)}", style)

    def _about(self, finding: Finding) -> str:
        """Rule and option; where there is no room for both the option, for that tells findings of one rule apart."""
        both = f"{finding.name} {finding.canonical or ''}".strip()
        whole = self.app.size.width
        room = (whole if whole < NARROW else min(WIDEST, max(NARROWEST, whole * 2 // 5))) - AROUND
        return finding.canonical if finding.canonical and len(both) > room else both

    @property
    def chosen(self) -> Finding | None:
        """The finding that is marked in the list."""
        options = self.query_one(OptionList)
        if options.highlighted is None:
            return None
        return self._shown.get(options.get_option_at_index(options.highlighted).id or "")

    def _is_hidden(self, finding: Finding | None) -> bool:
        return self.view is not None and finding is not None and self.view.reason(finding) is not None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """There is something to take back only where a hidden one is marked, and nothing to hide there."""
        if action in ("suppress", "take_back"):
            hidden = bool(self.query(OptionList)) and self._is_hidden(self.chosen)
            return hidden == (action == "take_back")
        return super().check_action(action, parameters)

    def choose(self, finding: Finding) -> None:
        """Mark this finding, and show all where it is filtered away."""
        if finding not in self._shown.values():
            self._clear()
            self.sieve = Sieve(order=self.sieve.order)
            self.refill()
        options = self.query_one(OptionList)
        key = next((key for key, shown in self._shown.items() if shown == finding), None)
        if key is not None:
            options.highlighted = options.get_option_index(key)

    @on(OptionList.OptionHighlighted)
    def _marked(self) -> None:
        self.soon(self._show_detail)

    @on(OptionList.OptionSelected)
    def _entered(self) -> None:
        self.query_one("#findings-detail").focus()

    def on_resize(self, _: Resize) -> None:
        """Wrap anew."""
        if self.app.size.width != self._drawn_for:
            self.refill()
        self.call_after_refresh(self._show_detail)

    def _show_detail(self) -> None:
        box = self.query_one("#findings-detail", VerticalScroll)
        finding, width = self.chosen, box.scrollable_content_region.width
        if width <= 1:
            return  # there is no room yet
        reason = self.view.reason(finding) if self.view and finding else None
        drawn = (finding, width, reason)
        if drawn == self._drawn:
            return
        self._drawn = drawn
        if self._foot_for != (foot := self._is_hidden(finding)):
            self._foot_for = foot
            self.refresh_bindings()
        text = self.query_one("#findings-detail Static", Static)
        if finding is None or self.view is None:
            box.border_title = ""
            text.update(plain(self._nothing()))
            self.call_after_refresh(self._hint)
            return
        from advisor.tui.screens.findings.detail import detail

        box.border_title = finding.code
        text.update(detail(self.view, finding, width - 1))
        if box.scroll_y:
            box.scroll_home(animate=False)
        self.call_after_refresh(self._hint)

    def _hint(self) -> None:
        """Tell at the foot of what is longer than its box how to read on, or back."""
        box = self.query_one("#findings-detail", VerticalScroll)
        box.border_subtitle = "" if not box.max_scroll_y else "esc to the list" if box.has_focus else "enter reads on"

    def on_descendant_focus(self) -> None:
        """The way back is another one than the way in."""
        self._hint()

    def _nothing(self) -> str:
        if self.view and self.view.open_findings:
            return "Nothing matches: esc shows all, H what is hidden."
        if self.view and self.view.hidden:
            return "Nothing is left to say but what is hidden: H lists it, with the reasons."
        return "Nothing to say: every rule that could look found this server in order."

    # What the user does

    async def action_filter(self) -> None:
        """Type words to look for; the field is made when it is first wanted."""
        from advisor.tui.widgets.footer import Sought

        if not self._field:
            words = "code, option, words or file"
            await self.mount(Sought(self.action_unfilter, placeholder=words, id="findings-filter"))
        for box in self._field:
            box.open()

    @property
    def _field(self) -> DOMQuery[Sought]:
        """The field to type into, where it was wanted yet."""
        return self.query("#findings-filter")  # type: ignore[return-value] # no other widget has that name

    def _clear(self) -> None:
        for box in self._field:
            box.remove_class("-open")
            box.value = ""

    def on_input_changed(self, event: Input.Changed) -> None:
        """Look for the words as they are typed."""
        self.sieve = self.sieve._replace(sought=event.value)
        self.refill()

    def on_input_submitted(self) -> None:
        """Go to what was found."""
        self.query_one(OptionList).focus()

    def action_unfilter(self) -> None:
        """Back to the list; from the list, back to all findings."""
        options = self.query_one(OptionList)
        if not options.has_focus and not any(box.has_focus for box in self._field):
            options.focus()
            return
        self._clear()
        self.sieve = Sieve(order=self.sieve.order)
        options.focus()
        self.refill()

    def action_severity(self, severity: str) -> None:
        """Show findings of that severity, or not."""
        self.sieve = self.sieve.toggled(Severity(severity))
        self.refill()

    def action_order(self) -> None:
        """The next order: by weight, family, code, option."""
        self.sieve = self.sieve._replace(order=ORDERS[(ORDERS.index(self.sieve.order) + 1) % len(ORDERS)])
        self.refill()

    def action_hidden(self) -> None:
        """List the hidden findings among the others, or not."""
        self.sieve = self.sieve._replace(hidden=not self.sieve.hidden)
        self.refill()

    def action_seen(self) -> None:
        """Mark the finding as seen, or take the mark away."""
        if self.view is None or (finding := self.chosen) is None:
            return
        aside = self.view.aside
        self.app.put_aside(aside._replace(seen=aside.seen ^ {key_of(finding)}))

    def action_suppress(self) -> None:
        """Hide the finding with a reason."""
        if (finding := self.chosen) is None:
            return
        from advisor.tui.dialogs.prompts import Reason

        def given(reason: str | None) -> None:
            if reason:
                self._put(finding, reason)
                self.app.into_baseline(finding, reason)

        self.app.push_screen(Reason(f"Hide {finding.code} {finding.name} because"), given)

    def action_take_back(self) -> None:
        """Show a hidden finding again from now on; where that changes a baseline, ask first."""
        if self.view is None or (finding := self.chosen) is None:
            return
        known = self.view.known(finding)
        if known is None:
            self._put(finding, "")
            return
        from advisor.tui.dialogs.prompts import Offer

        def answered(yes: bool | None) -> None:
            if yes:
                self._put(finding, "")
                self.app.out_of_baseline(finding)

        question = f"Take {finding.code} {finding.canonical or finding.name} out of the baseline, with its reason?"
        told = line(redact_value("", known), longest=MOST_REASON).plain
        offer = Offer(f"{clean(question)}\n{told}", "take it back: audits show it again", "leave it hidden")
        self.app.push_screen(offer, answered)

    def _put(self, finding: Finding, reason: str) -> None:
        """Keep beside what is put aside why this finding is; no reason takes it out."""
        if self.view is not None:
            aside, key = self.view.aside, key_of(finding)
            rest = {k: why for k, why in aside.suppressed if k != key} | ({key: reason} if reason else {})
            self.app.put_aside(aside._replace(suppressed=tuple(rest.items())))

    async def action_probe(self) -> None:
        """Go to the experiment that measures here what the finding rests on."""
        rule = find_rule(self.chosen.code) if self.chosen else None
        if rule is not None and rule.probe:
            await self.app.action_probe(rule.probe)
        else:
            self.notify("no experiment measures what this finding rests on", severity="warning")

    def action_copy(self, what: str) -> None:
        """Copy the statement, or the line for the option file."""
        actions = self.chosen.actions if self.chosen else ()
        if what == "statement" and (statement := next((a.statement for a in actions if a.statement), None)):
            self.app.copy(statement, "the statement; it is yours to run")
        elif option_line := next((a.option_line for a in actions if a.option_line), None):
            self.app.copy(option_line, "the line for the option file")
        elif argument := next((a.argument for a in actions if a.argument), None):
            self.app.copy(argument, "the argument for the command line")
        else:
            self.notify("this finding has no statement and no line to copy", severity="warning")
