"""The app: reads in the background, shows what arrived, and goes from screen to screen."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import App
from textual.binding import Binding
from textual.containers import Horizontal
from textual.widgets import ContentSwitcher, Static

from advisor.core import errors
from advisor.tui.messages import Arrived, Failed, Gone, Measured, Noted, Sampled
from advisor.tui.screens.base import BY_ID, NARROW, PLACES
from advisor.tui.text import plain
from advisor.tui.themes import fit_themes, keep_theme
from advisor.tui.widgets.footer import forget_keys, show_keys
from advisor.tui.widgets.header import Heading, Tab, Tabs
from advisor.tui.workers import in_background

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from textual.app import ComposeResult, SystemCommand
    from textual.content import Content
    from textual.screen import Screen

    from advisor.core.model import Finding
    from advisor.facts import Facts, Sample, Workload
    from advisor.tui.screens.base import Pane
    from advisor.tui.screens.workload.sampler import Sampler
    from advisor.tui.start import Feed, Opening
    from advisor.tui.view import Aside, View

SOON = 1.0  # seconds until the keys are shown where there are no findings by then
MOST_SAMPLES = 900  # half an hour at one in two seconds
WINDOW = 10.0  # seconds of samples after which the rules that need a window are asked


class AuditApp(App[int]):
    """One audit, walked through; its result is the exit code."""

    TITLE = "mycnf"
    CSS_PATH = "styles.tcss"
    COMMAND_PALETTE_BINDING = "ctrl+p"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (NARROW, "-roomy")]  # noqa: RUF012 - the framework's type is no ClassVar
    BINDINGS: ClassVar = [
        *(Binding(p.digit, f"go('{p.id}')", p.title, show=False, id=f"screen.{p.id}") for p in PLACES),
        Binding("e", "go('report')", "export", id="export"),
        Binding("r", "refresh", "refresh", id="refresh"),
        Binding("c", "connect", "connect", show=False, id="connect"),
        Binding("question_mark", "help", "help", id="help", key_display="?"),
        Binding("f1", "help", "help", show=False, id="help.f1"),  # where a field takes letters these two are left
        Binding("q", "quit", "quit", id="quit"),
        Binding("ctrl+q", "quit", "quit", show=False, id="quit.ctrl"),
    ]

    def __init__(self, opening: Opening) -> None:
        super().__init__()
        self.opening = opening
        self.feed: Feed | None = opening.feed
        self.view: View | None = None
        self.gone = self._refused = ""
        self._samples: tuple[Sample, ...] = ()
        self._sampler: Sampler | None = None
        self._window_judged = False
        fit_themes(self)
        self.theme = opening.theme if opening.theme in self.available_themes else "textual-dark"
        self.set_keymap(opening.keymap)

    def compose(self) -> ComposeResult:
        """The frame: what is in it is made when there is something to show."""
        yield Heading(id="heading")
        yield Tabs(id="tabs")
        with ContentSwitcher(id="screens", initial="waiting"):
            yield Static(self._waiting(), id="waiting", markup=False)
        yield Horizontal(id="foot")

    def on_mount(self) -> None:
        """Begin to read once the first frame is out."""
        self.theme_changed_signal.subscribe(self, lambda theme: keep_theme(theme.name))
        if not self.is_headless:
            from advisor.tui.signals import leave_on_signals

            leave_on_signals(self)
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        self.set_timer(SOON, self._foot)
        if self.feed is None:
            self.action_connect(self.opening.reason)
        else:
            self.read(self.feed)

    def _waiting(self) -> Content:
        return plain(f"reading {self.feed.place} …" if self.feed else "")

    async def _drawn(self, screen: Screen[object]) -> None:
        """The first findings are on the screen."""
        screen.screen_layout_refresh_signal.unsubscribe(self)
        await self._foot()

    async def _foot(self) -> None:
        """Show the keys at the bottom, and let memory be tidied up again."""
        import gc

        gc.enable()
        await show_keys(self)

    # Reading

    def read(self, feed: Feed) -> None:
        """Read this feed in the background; what is shown stays until it arrives."""
        if feed is not self.feed:
            self._stop_sampling()
            self._samples, self.view, self.feed = (), None, feed
            self.query_one("#waiting", Static).update(self._waiting())
        window = self._window()
        self._window_judged = window is not None
        in_background(self, "audit", lambda: Arrived(feed.view(window)), source=feed)

    @on(Arrived)
    async def _arrived(self, message: Arrived) -> None:
        from advisor.tui import view as view_module

        first = self.view is None
        if message.source is not self.feed or self._bare or (self.view and message.view.taken < self.view.taken):
            return  # of a server that was left since, or older than what is shown
        self.gone = ""
        aside = view_module.load(view_module.path_of(message.view.audited.facts.server))
        self.view = message.view._replace(aside=aside)
        if self.view.live:
            self.view = self.view._replace(samples=self._samples)
            self._sample()
        self._show_all()
        if first:
            await self.action_go("findings")
            self.screen_stack[0].screen_layout_refresh_signal.subscribe(self, self._drawn)

    @on(Failed)
    def _failed(self, message: Failed) -> None:
        if message.source is not self.feed:
            return
        if self.view is not None:
            self.notify(plain(message.reason).plain, severity="error", timeout=10, markup=False)
        elif message.code == errors.CONNECTION and self.opening.connect is not None:
            self.action_connect(message.reason)
        else:
            self.exit(message.code, message=message.reason)

    def _show_all(self) -> None:
        if self.view is None:
            return
        self.query_one(Heading).show(self.view, self.gone)
        for pane in self._panes():
            pane.show(self.view)

    @property
    def _bare(self) -> bool:
        """Whether the app is on the way out, with nothing left to show on what threads still tell."""
        return not self.query(Heading)

    def _panes(self) -> list[Pane]:
        from advisor.tui.screens.base import Pane

        return list(self.query_one("#screens").query(Pane))

    # Samples

    def _sample(self) -> None:
        from advisor.tui.screens.workload.sampler import Sampler

        if self._sampler is None and self.feed is not None and self.feed.session is not None:
            self._sampler = Sampler(self, self.feed.session)
            self._sampler.start()

    def _stop_sampling(self) -> None:
        if self._sampler is not None:
            self._sampler.stop()
            self._sampler = None

    @on(Sampled)
    def _sampled(self, message: Sampled) -> None:
        if self.view is None or message.source is not self._sampler or self._bare:
            return  # of a server that was left since
        came_back, self.gone = bool(self.gone), ""
        if self._samples and message.sample.at < self._samples[-1].at:
            self._samples = ()  # it was restarted, and counts from the beginning
        self._samples = (*self._samples[-MOST_SAMPLES + 1 :], message.sample)
        self.view = self.view._replace(samples=self._samples)
        self.query_one(Heading).show(self.view)
        for pane in self._panes():
            pane.sampled(self.view)
        if came_back:
            self.notify("the server answers again; what it says is read anew")
            self.action_refresh()
        elif not self._window_judged and (window := self._window()):
            self._judge_window(window)

    def _window(self) -> Workload | None:
        """The samples so far as a window, once they are far enough apart for the rules that need one."""
        if not self._samples or self._samples[-1].at - self._samples[0].at < WINDOW:
            return None
        from advisor.facts import Workload

        return Workload(self._samples[0], self._samples[-1])

    def _judge_window(self, window: Workload) -> None:
        """Ask the rules once more, now that there is a window of samples for those that need one."""
        from advisor.tui.start import with_window

        self._window_judged = True
        feed, view = self.feed, self.view
        if feed is not None and view is not None:
            self._judge_again(feed, partial(with_window, view.audited.facts, window), view)

    def _judge_again(self, feed: Feed, facts: Callable[[], Facts], view: View) -> None:
        """Ask the rules about facts that were read for this view, and more that came since."""
        in_background(self, "rules", lambda: Arrived(feed.judged(facts())._replace(taken=view.taken)), source=feed)

    @on(Measured)
    def _measured(self, message: Measured) -> None:
        """Ask the rules once more, now that something was measured on the server's own host."""
        from advisor.tui.start import with_result

        feed, view = self.feed, self.view
        if feed is None or view is None or not view.live or view.audited.facts.host is None:
            return
        self._judge_again(feed, partial(with_result, view.audited.facts, message.result), view)

    @on(Gone)
    def _left(self, message: Gone) -> None:
        if self.view is not None and not self.gone and message.source is self._sampler and not self._bare:
            self.gone = message.reason or "the server no longer answers"
            self.query_one(Heading).show(self.view, self.gone)
            self.notify(
                f"{plain(self.gone).plain}: trying again; what was read stays", severity="warning", markup=False
            )

    @on(Noted)
    def _noted(self, message: Noted) -> None:
        if message.words:
            self.notify(plain(message.words).plain, severity=message.severity, markup=False)  # type: ignore[arg-type] # its three words

    # Screens

    @on(Tab.Chosen)
    async def _tab(self, message: Tab.Chosen) -> None:
        await self.action_go(message.place)

    async def action_go(self, place: str) -> None:
        """Show the screen of that id."""
        if self.view is None:
            return
        screens = self.query_one("#screens", ContentSwitcher)
        if not screens.query(f"#{place}"):
            pane = BY_ID[place].make()
            await screens.add_content(pane)
            pane.show(self.view)
        screens.current = place
        self.query_one(Tabs).mark(place)
        self._focus(place)
        forget_keys(self)

    async def show_finding(self, finding: Finding) -> None:
        """Show the screen of findings with this one marked."""
        from advisor.tui.screens.findings.screen import Findings

        await self.action_go("findings")
        self.query_one(Findings).choose(finding)

    async def action_probe(self, name: str) -> None:
        """Show the experiment of that name."""
        from advisor.tui.screens.probes.screen import Probes

        await self.action_go("probes")
        for pane in self.query(Probes):
            pane.choose(name)

    def _focus(self, place: str) -> None:
        """Put the keys to the first widget of a screen that takes them."""
        chosen = self.query_one("#screens").query_one(f"#{place}")
        self.screen.set_focus(next((widget for widget in chosen.query("*") if widget.focusable), None))

    # Actions

    def put_aside(self, aside: Aside) -> None:
        """Keep what the user put aside, and show it."""
        from advisor.tui import view as view_module

        if self.view is None:
            return
        before = self.view.aside
        self.view = self.view._replace(aside=aside)
        try:
            kept = view_module.change(view_module.path_of(self.view.audited.facts.server), before, aside)
            self.view = self.view._replace(aside=kept)
        except errors.MycnfError as error:
            self.notify(str(error), severity="warning", markup=False)
        self._show_all()

    def into_baseline(self, finding: Finding, reason: str) -> None:
        """Write into the baseline, where one is used, why a finding was put aside."""
        self._change_baseline(finding, reason, "knows it, with the reason")

    def out_of_baseline(self, finding: Finding) -> None:
        """Take a finding out of the baseline, where one is used, and ask the rules once more."""
        self._change_baseline(finding, "", "no longer knows it")

    def _change_baseline(self, finding: Finding, reason: str, words: str) -> None:
        write, path, feed, view = self.opening.aside, self.opening.baseline(), self.feed, self.view
        if write is None or feed is None or view is None or not path:
            return

        def done() -> Noted | Arrived:
            try:
                write(finding, reason)
            except errors.MycnfError as error:
                return Noted(str(error), "warning")
            self.post_message(Noted(f"{path} {words}"))
            return Arrived(feed.judged(view.audited.facts)._replace(taken=view.taken))

        in_background(self, "baseline", done, source=feed)

    def copy(self, text: str, what: str) -> None:
        """Copy text to the clipboard of the terminal, and say so."""
        self.copy_to_clipboard(text)
        self.notify(f"copied {what}")

    def action_refresh(self) -> None:
        """Read everything again."""
        if self.feed is not None:
            self.read(self.feed)

    def action_connect(self, reason: str = "") -> None:
        """Ask which server; `reason` says why the last one could not be had."""
        if self.opening.connect is None:
            self.notify("this audit is of a recording; mycnf audit without --demo, --snapshot or --from asks a server")
            return
        from advisor.tui.dialogs.connect import Connecting

        self._refused = reason
        self.push_screen(Connecting(self.opening.request, self.opening.connect, reason), self._connected)

    def _connected(self, feed: Feed | None) -> None:
        if feed is not None:
            self.read(feed)
        elif self.view is None:
            self.exit(errors.CONNECTION, message=plain(self._refused).plain)

    def action_help(self) -> None:
        """Show the keys that count here."""
        from advisor.tui.dialogs.help import Help

        self.push_screen(Help(self.screen))

    def _fatal_error(self) -> None:
        """One line and a file for the unexpected: the framework's own page shows the values of all variables."""
        from advisor.state.crash_report import write_crash_file

        error = sys.exc_info()[1]
        self.panic(plain(write_crash_file(error)).plain if isinstance(error, Exception) else "interrupted")
        self._clear_up()

    async def action_quit(self) -> None:
        """Give the prompt back at once; the framework's own way knows of nothing that is under way."""
        self.leave(errors.OK)

    def leave(self, code: int) -> None:
        """End with that exit code: no thread is waited for, but for what a screen has to clear up."""
        self._stop_sampling()
        self._clear_up()
        self.exit(code)

    def _clear_up(self) -> None:
        for pane in self._panes():
            pane.leaving()

    def action_help_quit(self) -> None:
        """Ctrl-C ends nothing, for in fields it copies: say what does."""
        from advisor.tui.dialogs.help import what_quits

        self.notify(what_quits(self.screen))

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Every action in force by its words, and what the framework has beside them."""
        from advisor.tui.dialogs.help import commands

        return commands(screen, super().get_system_commands(screen))
