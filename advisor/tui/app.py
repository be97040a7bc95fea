"""The app: reads in the background, shows audits, and switches screens."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding
from textual.containers import Horizontal
from textual.widgets import ContentSwitcher, Static

from advisor.core import errors
from advisor.tui.app_base import AppBase
from advisor.tui.footer import release_old_keys, show_keys
from advisor.tui.header import FIRST_HINT, AppHeader, LostBanner, ScreenTab, ScreenTabs, splash
from advisor.tui.preferences import register_themes, save_hint_shown, save_theme
from advisor.tui.screens import SCREENS, SCREENS_BY_ID
from advisor.tui.screens.base import NARROW
from advisor.tui.text import safe_text
from advisor.tui.workers import (
    AuditReady,
    ConnectionLost,
    Notice,
    ProbeResultReady,
    SampleRead,
    TopEventsRead,
    WorkFailed,
    run_in_background,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from threading import Thread

    from textual.app import ComposeResult, SystemCommand
    from textual.screen import Screen

    from advisor.core.model import Finding
    from advisor.facts import Facts, Sample, Workload
    from advisor.tui.screens.base import Pane
    from advisor.tui.screens.workload.rates import VariableChange
    from advisor.tui.screens.workload.sampler import Sampler
    from advisor.tui.start import AuditSource, StartOptions
    from advisor.tui.view import UserMarks, View

SOON = 1.0  # seconds until the footer is shown if no findings are on the screen by then
OPENED_FIRST = "overview"  # id of the screen
WINDOW = 10.0  # seconds of samples after which the rules that need a window run


class AuditApp(AppBase):
    """The audit app; its result is the exit code."""

    TITLE = "mycnf"
    CSS_PATH = "styles.tcss"
    COMMAND_PALETTE_BINDING = "ctrl+p"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (NARROW, "-roomy")]  # noqa: RUF012 - textual's type is no ClassVar
    BINDINGS: ClassVar = [
        *(Binding(p.digit, f"go('{p.id}')", p.title, show=False, id=f"screen.{p.id}") for p in SCREENS),
        Binding("e", "go('report')", "export", show=False, id="export"),
        Binding("r", "refresh", "refresh", show=False, id="refresh"),
        Binding("S", "schema", "examine tables", show=False, id="schema"),
        Binding("c", "changes", "changes", id="changes"),
        Binding("backspace", "back", "back", show=False, id="back", key_display="⌫"),
        Binding("C", "connect", "connect", show=False, id="connect"),
        Binding("question_mark", "help", "help", id="help", key_display="?"),
        Binding("f1", "help", "help", show=False, id="help.f1"),  # in text fields, only F1 and Ctrl-Q still work
        Binding("q", "quit", "quit", id="quit"),
        Binding("ctrl+q", "quit", "quit", show=False, id="quit.ctrl"),
    ]

    def __init__(self, opening: StartOptions) -> None:
        super().__init__()
        self.opening = opening
        self.feed: AuditSource | None = opening.feed
        self.view: View | None = None
        self.lost_reason = self._connect_failure = ""
        self._samples: tuple[Sample, ...] = ()  # of the charts
        self._whole_samples: tuple[Sample, ...] = ()  # of the rules
        self._changes: tuple[VariableChange, ...] = ()
        self._sampler: Sampler | None = None
        self._window_judged = False
        self._reading: Thread | None = None
        register_themes(self)
        self.theme = opening.theme if opening.theme in self.available_themes else "textual-dark"
        self.set_keymap(opening.keymap)

    def compose(self) -> ComposeResult:
        """Header, tabs, footer and an empty switcher; screens are created when first shown."""
        yield AppHeader(id="heading")
        yield ScreenTabs(id="tabs")
        yield LostBanner("", id="lost", markup=False)
        with ContentSwitcher(id="screens", initial="waiting"):
            yield Static(splash(self.feed), id="waiting", markup=False)
        if self.opening.first_start:
            yield Static(FIRST_HINT, id="hint", markup=False)
        yield Horizontal(id="foot")

    def on_mount(self) -> None:
        """Start to read after the first frame is drawn."""
        self.theme_changed_signal.subscribe(self, lambda theme: save_theme(theme.name))
        if not self.is_headless:
            from advisor.tui.signals import leave_on_signals

            leave_on_signals(self)
        self.call_after_refresh(self._begin)

    def on_unmount(self) -> None:
        """Stop the samples however the app ends: its thread would go on with a session of its own."""
        self._stop_sampling()

    def _begin(self) -> None:
        self.set_timer(SOON, self._show_footer)
        if self.feed is None:
            self.action_connect(self.opening.reason)
        else:
            self.read(self.feed)

    def on_key(self) -> None:
        """Remove the hint of the first start with the first key."""
        for hint in self.query("#hint"):
            hint.remove()
            save_hint_shown()

    async def _show_keys_when_drawn(self, screen: Screen[object]) -> None:
        """Show the keys once the first findings are on the screen."""
        screen.screen_layout_refresh_signal.unsubscribe(self)
        await self._show_footer()

    async def _show_footer(self) -> None:
        """Show the keys at the bottom, and enable garbage collection again."""
        import gc

        gc.enable()
        await show_keys(self)

    # Reading

    def read(self, feed: AuditSource, *, schema: bool = False) -> None:
        """Read this source in the background; the current audit stays on screen until the new one is ready."""
        if feed is not self.feed:
            self._stop_sampling()
            self._samples = self._whole_samples = self._changes = ()
            self.view, self.feed, self.lost_reason = None, feed, ""
            self.visited.clear()
            self.query_one("#waiting", Static).update(splash(self.feed))
            self.query_one("#screens", ContentSwitcher).current = "waiting"  # the values are those of another server
            self.query_one(ScreenTabs).mark_shown("")
            self.query_one(AppHeader).clear()
            self.query_one(LostBanner).hide()
        window = self._sample_window()
        self._window_judged = window is not None
        self._reading = run_in_background(
            self, "audit", lambda: AuditReady(feed.read_view(window, schema=schema)), source=feed
        )

    @on(AuditReady)
    async def _show_audit(self, message: AuditReady) -> None:
        from advisor.tui import view as view_module

        first = self.view is None
        if (
            message.source is not self.feed
            or self._is_leaving
            or (self.view and message.view.read_at < self.view.read_at)
        ):
            return  # of another source, or older than the audit on screen
        self.lost_reason = ""
        marks = view_module.read_marks(view_module.marks_path(message.view.audited.facts.server))
        selected = self.view.selected if self.view else ()
        self.view = message.view._replace(marks=marks, selected=selected)
        if self.view.live:
            self.view = self.view._replace(samples=self._samples, changes=self._changes)
            self._start_sampling()
        self._show_all()
        if first:
            await self.action_go(OPENED_FIRST)
            self.screen_stack[0].screen_layout_refresh_signal.subscribe(self, self._show_keys_when_drawn)

    @on(WorkFailed)
    def _report_failure(self, message: WorkFailed) -> None:
        if message.source is not self.feed:
            return
        if self.view is not None:
            self.notify(safe_text(message.reason).plain, severity="error", timeout=10, markup=False)
        elif message.code == errors.CONNECTION and self.opening.connect is not None:
            self.action_connect(message.reason)
        else:
            self.exit(message.code, message=message.reason)

    def _show_all(self) -> None:
        if self.view is None:
            return
        self.query_one(AppHeader).show(self.view, self.lost_reason)
        for pane in self.panes():
            pane.show(self.view)

    @property
    def _is_leaving(self) -> bool:
        """Whether the app is closing, so that messages of threads no longer have a widget to update."""
        return not self.is_running or not self.query(AppHeader)

    def panes(self) -> list[Pane]:
        from advisor.tui.screens.base import Pane

        return list(self.query_one("#screens").query(Pane))

    # Samples

    def _start_sampling(self) -> None:
        from advisor.tui.screens.workload.sampler import Sampler

        if self._sampler is None and self.feed is not None and self.feed.session is not None:
            self._sampler = Sampler(self, self.feed.session, self._known_facts)
            self._sampler.start()

    def _known_facts(self) -> Facts | None:
        """The facts of the newest audit, for the sampler: whether the server runs here, and whether it is a replica."""
        return self.view.audited.facts if self.view is not None else None

    def _stop_sampling(self) -> None:
        if self._sampler is not None:
            self._sampler.stop()
            self._sampler = None

    @on(SampleRead)
    def _add_sample(self, message: SampleRead) -> None:
        if self.view is None or message.source is not self._sampler or self._is_leaving:
            return  # of another source
        from advisor.tui.screens.workload.rates import MOST_CHANGES, add_sample, add_whole_sample

        came_back, self.lost_reason = bool(self.lost_reason), ""
        if self._samples and message.sample.at < self._samples[-1].at:
            self._changes = ()  # the server was restarted: its uptime starts at 0 again
        self._samples = add_sample(self._samples, message.sample)
        self._whole_samples = add_whole_sample(self._whole_samples, message.sample)
        self._changes = (*self._changes, *message.changes)[-MOST_CHANGES:]
        self.view = self.view._replace(samples=self._samples, changes=self._changes)
        self.query_one(AppHeader).show(self.view)
        self.query_one(LostBanner).hide()
        for pane in self.panes():
            pane.show_samples(self.view)
        if came_back and self.feed is not None:
            self.notify("Reconnected. Reading everything again")
            self.read(self.feed)
        elif not self._window_judged and (window := self._sample_window()):
            self._judge_window(window)

    def watch_events(self, of: str) -> None:
        """Read a summary table of events beside the samples, for the workload screen; none for an empty name."""
        if self._sampler is not None:
            self._sampler.watch(of)

    @on(TopEventsRead)
    def _show_events(self, message: TopEventsRead) -> None:
        if message.source is self._sampler and not self._is_leaving:
            for pane in self.panes():
                pane.show_events(message.first, message.last)

    def _sample_window(self) -> Workload | None:
        """The samples so far as a window, once they span enough time for the rules."""
        whole = self._whole_samples
        if not whole or whole[-1].at - whole[0].at < WINDOW:
            return None
        from advisor.facts import Workload

        return Workload(whole[0], whole[-1])

    def _judge_window(self, window: Workload) -> None:
        """Run the rules again with a window of samples."""
        from advisor.tui.start import with_window

        self._window_judged = True
        feed, view = self.feed, self.view
        if feed is not None and view is not None:
            self._judge_again(feed, partial(with_window, view.audited.facts, window), view)

    def _judge_again(self, feed: AuditSource, facts: Callable[[], Facts], view: View) -> None:
        """Run the rules on the facts of this view with newer facts added."""
        run_in_background(
            self, "rules", lambda: AuditReady(feed.judge_facts(facts())._replace(read_at=view.read_at)), source=feed
        )

    @on(ProbeResultReady)
    def _judge_probe_result(self, message: ProbeResultReady) -> None:
        """Run the rules again with a new probe result of the server's own host."""
        from advisor.tui.start import with_result

        feed, view = self.feed, self.view
        if feed is None or view is None or not view.live or view.audited.facts.host is None:
            return
        self._judge_again(feed, partial(with_result, view.audited.facts, message.result), view)

    @on(ConnectionLost)
    def _report_lost_connection(self, message: ConnectionLost) -> None:
        if self.view is not None and message.source is self._sampler and not self._is_leaving:
            self.lost_reason = message.reason or "the server does not respond"
            self.query_one(AppHeader).show(self.view, self.lost_reason)
            self.query_one(LostBanner).show(self.lost_reason, self.view)

    @on(Notice)
    def _show_notice(self, message: Notice) -> None:
        if message.text:
            self.notify(safe_text(message.text).plain, severity=message.severity, markup=False)  # type: ignore[arg-type] # one of three severities

    # Screens

    @on(ScreenTab.Selected)
    async def _open_tab(self, message: ScreenTab.Selected) -> None:
        await self.action_go(message.place)

    async def action_go(self, place: str) -> None:
        """Show the screen of that id."""
        if self.view is None:
            return
        screens = self.query_one("#screens", ContentSwitcher)
        if not screens.query(f"#{place}"):
            pane = SCREENS_BY_ID[place].make()
            await screens.add_content(pane)
            pane.show(self.view)
        screens.current = place
        self.query_one(ScreenTabs).mark_shown(place)
        self._focus(place)
        release_old_keys(self)

    def _focus(self, place: str) -> None:
        """Focus the widget that the screen names."""
        from advisor.tui.screens.base import Pane

        self.screen.set_focus(self.query_one("#screens").query_one(f"#{place}", Pane).first_focus)

    # Actions

    def change_marks(self, marks: UserMarks) -> None:
        """Save which findings the user marked as seen or hid, and show the change."""
        from advisor.tui import view as view_module

        if self.view is None:
            return
        before = self.view.marks
        self.view = self.view._replace(marks=marks)
        try:
            kept = view_module.save_marks(view_module.marks_path(self.view.audited.facts.server), before, marks)
            self.view = self.view._replace(marks=kept)
        except errors.MycnfError as error:
            self.notify(str(error), severity="warning", markup=False)
        self._show_all()

    def add_to_baseline(self, finding: Finding, reason: str) -> None:
        """Add a finding with its reason to the baseline, if one is in use."""
        self._change_baseline(finding, reason, "now suppresses this finding")

    def remove_from_baseline(self, finding: Finding) -> None:
        """Remove a finding from the baseline, if one is in use, and run the rules again."""
        self._change_baseline(finding, "", "no longer suppresses this finding")

    def _change_baseline(self, finding: Finding, reason: str, words: str) -> None:
        write, path, feed, view = self.opening.change_baseline, self.opening.baseline(), self.feed, self.view
        if write is None or feed is None or view is None or not path:
            return

        def done() -> Notice | AuditReady:
            try:
                write(finding, reason)
            except errors.MycnfError as error:
                return Notice(str(error), "warning")
            self.post_message(Notice(f"{path} {words}"))
            return AuditReady(feed.judge_facts(view.audited.facts)._replace(read_at=view.read_at))

        run_in_background(self, "baseline", done, source=feed)

    def action_refresh(self) -> None:
        """Read everything again, unless that is happening already."""
        if self._reading is not None and self._reading.is_alive():
            self.notify("Still reading: the server has not answered everything yet")
        elif self.feed is not None:
            self.read(self.feed)

    def action_schema(self) -> None:
        """Ask whether to read the definitions of tables, and read everything again with them."""
        feed = self.feed
        if feed is None or feed.read_schema is None:
            self.notify("This audit shows a recording. To examine tables, audit a running server")
            return
        from advisor.tui.dialogs.prompts import SchemaDialog

        self.push_screen(SchemaDialog(), lambda yes: self.read(feed, schema=True) if yes else None)

    def action_connect(self, reason: str = "") -> None:
        """Show the connect dialog; `reason` says why the last connection failed."""
        if self.opening.connect is None:
            self.notify(
                "This audit shows a recording. To connect, run mycnf audit without --demo, --snapshot or --from"
            )
            return
        from advisor.tui.dialogs.connect import ConnectDialog

        self._connect_failure = reason
        self.push_screen(ConnectDialog(self.opening.request, self.opening.connect, reason), self._use_connection)

    def _use_connection(self, feed: AuditSource | None) -> None:
        if feed is not None:
            self.read(feed)
        elif self.view is None:
            self.exit(errors.CONNECTION, message=safe_text(self._connect_failure).plain)

    def action_help(self) -> None:
        """Show the keys that are active here."""
        from advisor.tui.dialogs.help import HelpDialog

        self.push_screen(HelpDialog(self.screen))

    def _fatal_error(self) -> None:
        """Write a crash file and show one line: textual's own traceback would print the values of all variables."""
        from advisor.state.crash_report import write_crash_file

        error = sys.exc_info()[1]
        self.panic(safe_text(write_crash_file(error)).plain if isinstance(error, Exception) else "interrupted")
        self._stop_panes()

    async def action_quit(self) -> None:
        """Quit at once; textual's own action does not clean up running work."""
        self.leave(errors.OK)

    def leave(self, code: int) -> None:
        """Exit with that code; wait only for what a screen has to clean up."""
        self._stop_sampling()
        self._stop_panes()
        self.exit(code)

    def _stop_panes(self) -> None:
        for pane in self.panes():
            pane.stop_work()

    def action_help_quit(self) -> None:
        """Ctrl-C does not quit, as it copies in text fields: name the key that quits."""
        from advisor.tui.dialogs.help import quit_hint

        self.notify(quit_hint(self.screen))

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Every active action by its description, and textual's own commands."""
        from advisor.tui.dialogs.help import palette_commands

        return palette_commands(screen, super().get_system_commands(screen))
