"""The app as a whole: it opens, goes from screen to screen, helps, and leaves."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from app_driver import driven, frame_drawn, opened, screen_text, until
from msgspec.structs import replace
from textual.widgets import ContentSwitcher, Input, Static
from textual.widgets._footer import FooterKey

from advisor.cli.parser import build_parser
from advisor.commands.app import make_opening, show_narration
from advisor.core import errors as console
from advisor.core.errors import MycnfError
from advisor.core.model import format_duration
from advisor.tui import preferences
from advisor.tui.app import AuditApp
from advisor.tui.dialogs.help import active_keys
from advisor.tui.header import AppHeader, LostBanner
from advisor.tui.preferences import read_keymap
from advisor.tui.screens import SCREENS
from advisor.tui.screens.findings.screen import FindingsPane
from advisor.tui.screens.workload import sampler
from advisor.tui.view import UserMarks, finding_key
from advisor.tui.workers import AuditReady, ConnectionLost

SIZES = [(80, 24), (120, 40), (200, 60)]


@pytest.mark.parametrize("size", SIZES)
async def test_the_demo_opens_on_the_findings(size: tuple[int, int]) -> None:
    """The first screen names the server, counts the findings, and shows the gravest in full."""
    async with driven(size=size) as (app, _):
        text = screen_text(app)
        assert "MariaDB 10.11.19" in text
        assert "demo" in text
        assert app.view is not None
        assert app.view.audited.findings[0].name in text
        assert len(text.splitlines()) == size[1]


async def test_digits_show_the_screens() -> None:
    """Each digit shows its screen and marks its tab; a click on a tab does the same."""
    async with driven() as (app, pilot):
        shown = app.query_one("#screens", ContentSwitcher)
        for place in (*SCREENS[1:], SCREENS[0]):
            await pilot.press(place.digit)
            await until(pilot, lambda place=place: shown.current == place.id)  # type: ignore[misc] # the loop's own
            assert [tab.place for tab in app.query(".tab.-shown")] == [place.id]  # type: ignore[attr-defined] # a Tab
        await pilot.click(app.query(".tab")[1])
        await until(pilot, lambda: shown.current == SCREENS[1].id)


async def test_going_to_and_fro_leaves_nothing_behind() -> None:
    """A day of looking at one screen and another keeps the keys of the last footer, and of none before it."""
    async with driven() as (app, pilot):

        def left() -> int:
            gc.collect()
            return sum(isinstance(one, FooterKey) and not one.is_attached for one in gc.get_objects())

        async def go(turns: int) -> None:
            for place in ("host", "findings") * turns:
                await app.action_go(place)
                await pilot.pause()

        await go(10)
        for _ in range(20):
            if left() <= 30:
                break
            await go(1)  # the keys of a footer are released when the next is drawn
        assert left() <= 30


async def test_help_lists_the_keys_in_force_and_narrows() -> None:
    """`?` shows the keys of the screen it was asked on; typing narrows them, escape closes."""
    async with driven() as (app, pilot):

        def keys() -> str:
            return "".join(str(shown.render()) for shown in app.screen.query("#help-keys"))

        await pilot.press("question_mark")
        await until(pilot, lambda: "findings.suppress" in keys())
        assert "variables.default" not in keys()
        await pilot.press(*"hide")
        await until(pilot, lambda: "findings.filter" not in keys())
        assert "findings.suppress" in keys()
        await pilot.press("escape")
        await until(pilot, lambda: len(app.screen_stack) == 1)


async def test_help_does_not_mix_keys_of_lists_with_those_of_the_screen() -> None:
    """Space puts a finding into the change set, which Enter does not: it opens the finding."""
    async with driven() as (app, pilot):
        app.query_one("#findings-list").focus()
        await pilot.pause()
        keys = {key.keys: key for key in active_keys(app.screen)}
        assert keys["space"].description == "put into the change set, or take out"
        assert {key.description for key in keys.values() if "⏎" in key.keys or "enter" in key.keys} == {"open"}


async def test_the_palette_knows_every_action() -> None:
    """ctrl+p finds what a key does by its words."""
    async with driven() as (app, pilot):
        titles = [command.title for command in app.get_system_commands(app.screen)]
        assert {"Here: filter", "Here: hide", "App: help", "Go to: Files (option files, edit)"} <= set(titles)
        assert {"App: quit (exit, leave)", "Server: refresh (reread, reload)"} <= set(titles)
        assert "Theme: textual-light (light)" in titles
        assert {title.partition(":")[0] for title in titles} == {"App", "Go to", "Here", "Server", "Theme"}
        assert len({title.lower() for title in titles}) == len(titles)  # each once
        assert not {"Down", "Focus Next"} & set(titles)
        await pilot.press("ctrl+p")
        await until(pilot, lambda: len(app.screen_stack) == 2)


def footer(app: AuditApp) -> list[str]:
    """The keys at the bottom, in words."""
    return [f"{key.key_display} {key.description}" for key in app.screen.query(FooterKey)]


@pytest.mark.parametrize(("digit", "words"), [("1", "BUF"), ("2", "buffer"), ("5", "buffer")])
async def test_a_field_offers_no_key_that_it_takes_as_a_letter(digit: str, words: str) -> None:
    """While words are typed, the footer has what ends it; letters, q, ? and / among them, go into the field."""
    async with driven() as (app, pilot):
        await pilot.press(digit)
        await until(pilot, lambda: "q quit" in footer(app))
        await pilot.press("slash")
        await until(pilot, lambda: footer(app) == ["enter go on", "esc clear"])
        await pilot.press(*words, "slash", "q", "question_mark")
        (box,) = (box for box in app.query(Input) if box.has_focus)
        assert box.value == f"{words}/q?"
        await pilot.press("f1")
        await until(pilot, lambda: len(app.screen_stack) == 2)
        await pilot.press("escape")
        await until(pilot, lambda: len(app.screen_stack) == 1)
        await pilot.press("escape")
        await until(pilot, lambda: "q quit" in footer(app))
        assert box.value == ""


async def test_ctrl_c_says_what_quits() -> None:
    """It ends nothing, for in fields it copies; every key does something."""
    async with driven() as (app, pilot):
        await pilot.press("ctrl+c")
        await until(pilot, lambda: [notification.message for notification in app._notifications] == ["q quits"])
        assert app.is_running


async def test_q_leaves_with_success() -> None:
    """`q` ends the app with exit code 0."""
    async with driven() as (app, pilot):
        await pilot.press("q")
        await until(pilot, lambda: app.return_value == 0)


async def test_refreshing_keeps_the_place() -> None:
    """After `r` the same finding is marked."""
    async with driven() as (app, pilot):
        await pilot.press("down", "down", "down")
        findings = app.query_one("#findings")
        before = findings.chosen  # type: ignore[attr-defined] # the screen of findings
        taken = app.view.read_at if app.view else 0.0
        await pilot.press("r")
        await until(pilot, lambda: app.view is not None and app.view.read_at > taken)
        assert findings.chosen == before  # type: ignore[attr-defined]


async def test_a_snapshot_that_is_none_ends_with_one_line(tmp_path: object) -> None:
    """Without anything to show the app gives the terminal back, with the reason and the documented exit code."""
    async with driven("--snapshot", f"{tmp_path}/none.json", wait=False) as (app, pilot):
        await until(pilot, lambda: not app.is_running or app.return_code == 2)
        assert app.return_value == 2 or app.return_code == 2


async def test_a_sample_lays_out_nothing_again() -> None:
    """The heading shows at each sample how old the data is; the screen is laid out again where that is wider."""
    laid_out: list[object] = []
    async with driven() as (app, pilot):
        await until(pilot, lambda: bool(app.query(FindingsPane)))
        heading = app.query_one(AppHeader)

        async def aged(minutes: int) -> str:
            heading.show(app.view._replace(origin="live", read_at=time.time() - 60 * minutes - 1))
            await frame_drawn(app)
            await frame_drawn(app)  # a text that needs more room is laid out in the frame after it
            return str(heading.query_one("#standing").render())

        await aged(11)
        app.screen.screen_layout_refresh_signal.subscribe(app, laid_out.append)
        assert len({await aged(minutes) for minutes in range(12, 20)}) == 8
        assert laid_out == []
        await aged(1)
        assert laid_out


async def test_messages_of_threads_on_the_way_out_are_ignored() -> None:
    """An app that is left has no heading any more when its server is lost, or an audit comes late."""
    async with driven() as (app, pilot):
        late = AuditReady(app.view._replace(origin="late"))
        late.source = app.feed
        await app.query_one(AppHeader).remove()
        app.post_message(ConnectionLost("no answer"))
        app.post_message(late)
        await pilot.pause()
        assert app.lost_reason == ""
        assert app.view is not None
        assert app.view.origin == "demo"


async def test_hidden_findings_are_not_called_none() -> None:
    """If all findings are hidden, the heading has their number."""
    async with driven() as (app, pilot):
        assert app.view is not None
        hidden = tuple((finding_key(f), "agreed") for f in app.view.audited.findings)
        app.query_one(AppHeader).show(app.view._replace(marks=UserMarks(suppressed=hidden)))
        await until(pilot, lambda: " hidden  demo" in str(app.query_one("#standing").render()))


async def test_the_heading_says_what_it_is_shown() -> None:
    """Counts by severity, and that it only reads."""
    async with driven() as (app, _):
        shown_text = str(app.query_one(AppHeader).query_one("#standing").render())
        assert "read-only" in shown_text
        assert "W" in shown_text


async def test_the_time_up_goes_on_between_reads() -> None:
    """What a running server was up when it was read is an hour more an hour later; what a recording says stays."""
    async with driven(size=(120, 40)) as (app, pilot):
        assert app.view is not None
        heading, uptime = app.query_one(AppHeader), app.view.audited.facts.server.uptime
        for origin, hours in (("live", 1), ("demo", 0)):
            heading.show(app.view._replace(origin=origin, read_at=time.time() - 3600))
            await pilot.pause()
            shown_text = str(heading.query_one("#server").render())
            assert any(f"up {format_duration(uptime + 3600 * hours + late)}" in shown_text for late in range(60))
        heading.show(app.view._replace(origin="live"), "the server does not respond")
        assert " up " not in str(heading.query_one("#server").render())


async def test_narration_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that the command line would have on stderr comes up in the app, in its own words."""
    heard: list[Callable[[str], object]] = []
    monkeypatch.setattr(console, "_LISTENERS", heard)
    async with driven() as (app, pilot):
        show_narration(app)
        console.print_notice("may be measured: see --dir\x1b[31m")
        await until(pilot, lambda: bool(app._notifications))
        (notification,) = app._notifications
        assert "takes another directory" in notification.message
        assert "\x1b" not in notification.message


async def test_the_first_start_has_a_hint_until_a_key_is_pressed() -> None:
    """Three lines above the footer, which the first key removes, and later starts do not show."""
    assert preferences.is_first_start()
    asked = build_parser("audit").parse_args(["audit", "--demo"])
    app = AuditApp(replace(make_opening(asked), first_start=preferences.is_first_start()))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: opened(app))
        assert "ctrl+p finds every action" in screen_text(app)
        assert app.query_one("#hint").size.height == 3
        await pilot.press("3")
        await until(pilot, lambda: not app.query("#hint"))
    assert not preferences.is_first_start()


async def test_a_lost_connection_has_a_banner_with_the_next_try(monkeypatch: pytest.MonkeyPatch) -> None:
    """Since when, the next try, the age of the values and the reason; values are dimmed until the server answers."""
    monkeypatch.setattr(sampler, "RETRY_AFTER", 3600.0)  # a busy host may draw the banner when three seconds are over
    async with driven(size=(120, 40), place="overview") as (app, pilot):
        assert app.view is not None
        app.post_message(ConnectionLost("the server\x1b[2J has gone away"))
        await until(pilot, lambda: app.query_one(LostBanner).display)
        text = screen_text(app).splitlines()[2]
        assert text.startswith(" ✖ No connection since ")
        assert "next try in " in text
        assert "values of " in text
        assert "\x1b" not in text
        assert app.query_one("#screens").has_class("-lost")
        monkeypatch.setattr(sampler, "RETRY_AFTER", 0.0)
        app.post_message(ConnectionLost("it is still away"))
        await until(pilot, lambda: "trying to reconnect" in screen_text(app).splitlines()[2])
        app.query_one(LostBanner).hide()
        await until(pilot, lambda: not app.query_one(LostBanner).display)
        assert not app.query_one("#screens").has_class("-lost")


async def test_the_splash_names_what_is_read() -> None:
    """While the server is read, the app says from where."""
    async with driven(wait=False) as (app, _):
        assert app.query_one("#waiting", Static).content.plain == "mycnf\nreading a recorded server …"


async def test_the_theme_is_kept() -> None:
    """The theme that the user chose is the next run's, and an unknown name is ignored."""
    async with driven() as (app, pilot):
        app.theme = "high-contrast"
        await pilot.pause()
    assert preferences.read_theme() == "high-contrast"
    preferences.save_theme("none such")
    async with driven() as (app, _):
        assert app.theme in app.available_themes


async def test_no_theme_is_offered_that_comes_out_black(monkeypatch: pytest.MonkeyPatch) -> None:
    """The terminal's own colours are among the themes, but for NO_COLOR, which would make them black on black."""
    for no_color in (False, True):
        if no_color:
            monkeypatch.setenv("NO_COLOR", "1")
        async with driven(wait=False) as (app, _):
            assert any(theme.ansi for theme in app.available_themes.values()) is not no_color
            assert "high-contrast" in app.available_themes


async def test_the_palette_offers_what_works_here() -> None:
    """Themes of the framework's are there, its pictures into a directory that servers lack are not."""
    async with driven() as (app, _):
        titles = [command.title for command in app.get_system_commands(app.screen)]
        assert "Theme: textual-dark (dark)" in titles
        assert "Here: filter" in titles
        assert not [title for title in titles if "screenshot" in title.lower() or "keys" in title.lower()]


async def test_the_help_has_the_id_of_each_key() -> None:
    """An action of two keys has both ids, for keys.toml to give either another."""
    async with driven() as (app, _):
        ids = {key.description: (key.keys, key.id) for key in active_keys(app.screen)}
        assert sorted(ids["quit"][1].split(", ")) == ["quit", "quit.ctrl"]
        assert len(ids["quit"][0].split(", ")) == 2
        assert ids["filter"][1] == "findings.filter"


async def test_keys_of_the_users_own(own_places: Path) -> None:
    """keys.toml gives a binding another key; the old one does nothing any more."""
    folder = own_places / "mycnf"
    folder.mkdir()
    (folder / "keys.toml").write_text('"findings.order" = "z"\n', encoding="utf-8")
    async with driven() as (app, pilot):
        findings = app.query_one(FindingsPane)
        await pilot.press("o")
        assert findings.filter.order == "area"
        await pilot.press("z")
        assert findings.filter.order == "severity"


@pytest.mark.parametrize("text", ["[[", '"help" = 3', "\x00"])
def test_a_damaged_keymap_is_one_line(text: str, own_places: Path) -> None:
    """A file of keys that can't be meant is refused with its path and what to write."""
    folder = own_places / "mycnf"
    folder.mkdir()
    (folder / "keys.toml").write_text(text, encoding="utf-8")
    with pytest.raises(MycnfError, match=r"keys\.toml") as refused:
        read_keymap()
    assert len(str(refused.value).splitlines()) == 1


def test_an_id_without_quotes_is_reported(own_places: Path) -> None:
    """In TOML a dot without quotes makes a table: the refusal writes the line as it has to be."""
    folder = own_places / "mycnf"
    folder.mkdir()
    (folder / "keys.toml").write_text('findings.order = "z"\n', encoding="utf-8")
    with pytest.raises(MycnfError, match=r'write "findings\.order" = "z"'):
        read_keymap()


def test_an_unknown_id_is_refused(own_places: Path) -> None:
    """An id that no action has would do nothing: the refusal names it, and one that is close."""
    folder = own_places / "mycnf"
    folder.mkdir()
    keys = folder / "keys.toml"
    keys.write_text('"findings.suppress" = "h"\n"screen.variables" = "2,v"\n"quit.ctrl" = "x"\n', encoding="utf-8")
    assert read_keymap() == {"findings.suppress": "h", "screen.variables": "2,v", "quit.ctrl": "x"}
    keys.write_text('"findings.ordre" = "z"\n', encoding="utf-8")
    with pytest.raises(MycnfError, match=r"'findings\.ordre'; did you mean findings\.order\?$"):
        read_keymap()


async def test_what_was_left_behind_is_ignored() -> None:
    """An audit that arrives of a server that was left since, or that is older than what is shown, changes nothing."""
    async with driven() as (app, pilot):
        assert app.view is not None
        shown = app.view
        other = AuditReady(shown._replace(place="another server", read_at=shown.read_at + 60))
        other.source = object()
        app.post_message(other)
        older = AuditReady(shown._replace(place="as it was before", read_at=shown.read_at - 60))
        older.source = app.feed
        app.post_message(older)
        await pilot.pause()
        assert app.view.place == shown.place


async def test_a_narrow_banner_has_room_for_the_reason() -> None:
    """At 80 columns the reason of a lost connection counts for more than the next try."""
    async with driven() as (app, pilot):
        app.post_message(ConnectionLost("nothing listens at db1:3306; is the server running?"))
        await until(pilot, lambda: app.query_one(LostBanner).display)
        await until(pilot, lambda: "nothing listens at db1" in screen_text(app).splitlines()[2])
        assert "next try" not in screen_text(app).splitlines()[2]
