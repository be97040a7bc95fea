"""The connect screen: which server, as whom; an error stays beside what to correct."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static

from advisor.collect.connection.options import HIGHEST_PORT, ConnectRequest
from advisor.core.errors import MycnfError
from advisor.tui.dialogs import recent_connections
from advisor.tui.screens.base import Pane
from advisor.tui.text import line, plain, spoken
from advisor.tui.workers import in_background

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from advisor.tui.start import Connect, Feed

FIELDS = (
    ("socket", "socket", "path, empty for the usual places"),
    ("host", "host", "empty for the socket"),
    ("port", "port", "3306"),
    ("user", "user", "of your option files, or your own name"),
    ("password", "password", "of your option files"),
    ("login_path", "login path", "a group of .mylogin.cnf"),
    ("ssl_mode", "TLS", "disabled, preferred, required, verify-ca, verify-identity"),
    ("ssl_ca", "TLS CA", "a file of certificates"),
)
PATHS = ("socket", "ssl_ca")  # no shell is there to know what ~ is
# Words of a refusal, and the field that mends it; the first that fits.
SIGNS = (
    ("login_path", ("login path", "login-path", "mysql_config_editor", "mysql ignores it", "-file instead")),
    ("password", ("password", "denied")),
    ("ssl_mode", ("mismatch",)),
    ("ssl_ca", ("certificate", "ssl-ca")),
    ("ssl_mode", ("tls", "ssl")),
    ("socket", ("listens at /",)),
    ("socket", ("server socket", "socket /", "usual places")),
    ("host", ("can't be reached", "did not answer in time")),
    ("port", ("port ", ":33", "listens at")),
    ("host", ("host name", "--host", "resolve", "no answer")),
)


class Connecting(ModalScreen["Feed | None"]):
    """Asks for a server, tries it, and gives a feed of it; None where the user leaves."""

    BINDINGS: ClassVar = [Binding("escape", "dismiss(None)", "back", id="connect.back")]

    class Tried(Message):
        """What came of it: a feed, or why not."""

        def __init__(self, feed: Feed | None, reason: str) -> None:
            self.feed, self.reason = feed, reason
            super().__init__()

    def __init__(self, request: ConnectRequest | None, connect: Connect, reason: str = "") -> None:
        super().__init__()
        self._request = replace(request or ConnectRequest(), ask_password=False)
        self._connect = connect
        self._reason = reason

    def compose(self) -> ComposeResult:
        """The latest servers, and a field for each thing that can be said of a connection."""
        with Vertical(classes="dialog", id="connecting"):
            back = "goes back" if self.app.screen_stack[0].query(Pane) else "leaves"
            yield Static(f"Connect to a server: enter connects, esc {back}", markup=False)
            if known := recent_connections.read():
                yield OptionList(
                    *(line(target.words) for target in known), id="connect-recent", markup=False, compact=True
                )
            for name, label, hint in FIELDS:
                with Horizontal(classes="field"):
                    yield Static(f"{label:>10} ", markup=False)
                    value = getattr(self._request, name, None)
                    yield Input(
                        value="" if value is None else str(value),
                        placeholder=hint,
                        id=f"connect-{name}",
                        password=name == "password",
                        compact=True,
                    )
                yield Static("", classes="reason", id=f"reason-{name}", markup=False)
            yield Static("", id="connect-state", markup=False)

    def on_mount(self) -> None:
        """Begin where the last try failed."""
        self._refuse(self._reason)

    def _refuse(self, reason: str) -> None:
        """Say why not beside the field that it is about, and go there."""
        name = field_of(reason)
        for field, _, _ in FIELDS:
            text = self.query_one(f"#reason-{field}", Static)
            text.display = bool(reason) and field == name
            text.update(plain(spoken(reason) if field == name else "", "$text-error"))
        self.query_one(f"#connect-{name}", Input).focus()

    @on(OptionList.OptionSelected, "#connect-recent")
    def _picked(self, event: OptionList.OptionSelected) -> None:
        target = recent_connections.read()[event.option_index]
        for name in recent_connections.RecentConnection._fields:
            self.query_one(f"#connect-{name}", Input).value = getattr(target, name)
        self._try()

    @on(Input.Submitted)
    def _try(self) -> None:
        said = {name: self.query_one(f"#connect-{name}", Input).value for name, _, _ in FIELDS}
        password = said.pop("password")
        port = said.pop("port").strip()
        if port and not (port.isdecimal() and 1 <= int(port) <= HIGHEST_PORT):
            self._refuse(f"port {port} is no TCP port; write a number from 1 to {HIGHEST_PORT}")
            return
        words = {name: value.strip() or None for name, value in said.items()}
        words |= {name: os.path.expanduser(words[name] or "") or None for name in PATHS}
        request = replace(self._request, **words, port=int(port) if port else None)  # type: ignore[arg-type] # texts all
        self.query_one("#connect-state", Static).update("connecting …")
        in_background(self.app, "connect", lambda: self._tried(request, password), self)

    def _tried(self, request: ConnectRequest, password: str) -> Connecting.Tried:
        """Open a session and close it again, in a thread."""
        try:
            feed = self._connect(request, password)
            if feed.session is not None:
                feed.session().close()
        except MycnfError as error:
            return self.Tried(None, str(error))
        recent_connections.remember(request)
        return self.Tried(feed, "")

    @on(Tried)
    def _answered(self, message: Tried) -> None:
        self.query_one("#connect-state", Static).update("")
        if message.feed is None:
            self._refuse(message.reason)
        else:
            self.dismiss(message.feed)


def field_of(reason: str) -> str:
    """The field that a refusal is about, as far as its words tell."""
    words = reason.lower()
    for field, signs in SIGNS:
        if any(sign in words for sign in signs):
            return field
    return FIELDS[0][0]
