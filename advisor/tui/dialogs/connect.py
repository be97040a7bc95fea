"""The dialog that asks for a connection: its fields, and the servers of the last connections."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import on
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static

from advisor.collect.connection.options import HIGHEST_PORT, ConnectRequest
from advisor.core.errors import MycnfError
from advisor.state.directory import lock_folder, make_state_folder
from advisor.state.private_file import replace_private
from advisor.tui.text import replace_flags, safe_line, safe_text
from advisor.tui.view import STATE_SUBDIRECTORY, app_state_directory
from advisor.tui.workers import run_in_background

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from advisor.tui.app_base import AppBase
    from advisor.tui.start import AuditSource, SourceFactory


MOST = 5


class RecentConnection(NamedTuple):
    """One recent server; fields that were not set are empty."""

    socket: str = ""
    host: str = ""
    port: str = ""
    user: str = ""
    login_path: str = ""
    ssl_mode: str = ""
    ssl_ca: str = ""

    @property
    def label(self) -> str:
        """The label in the list."""
        place = self.socket or (f"{self.host}:{self.port or 3306}" if self.host else "")
        path = f"login path {self.login_path}" if self.login_path else ""
        where = " by ".join(part for part in (place, path) if part) or "the default socket"
        tls = f", TLS {self.ssl_mode}" if self.ssl_mode else ", TLS" if self.ssl_ca else ""
        return (f"{self.user}@{where}" if self.user else where) + tls


def read_recent() -> list[RecentConnection]:
    """The recent servers, the latest first; none if the file is missing or invalid."""
    try:
        with open(_path(), encoding="utf-8") as file:
            return [
                RecentConnection(*(str(entry.get(name, "")) for name in RecentConnection._fields))
                for entry in json.load(file)
            ][:MOST]
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return []


def save_recent(request: ConnectRequest) -> None:
    """Add a server at the top of the list; failing to write the list is ignored."""
    latest = RecentConnection(*(str(getattr(request, name) or "") for name in RecentConnection._fields))
    with suppress(OSError, MycnfError), lock_folder(make_state_folder(STATE_SUBDIRECTORY)):
        known = [target._asdict() for target in (latest, *(t for t in read_recent() if t != latest))][:MOST]
        replace_private(_path(), (json.dumps(known, indent=1) + "\n").encode("ascii"))


def _path() -> str:
    return os.path.join(app_state_directory(), "recent.json")


FIELDS = (
    ("socket", "socket", "path; empty: the default places"),
    ("host", "host", "empty: use the socket"),
    ("port", "port", "3306"),
    ("user", "user", "default: from your option files, or your login name"),
    ("password", "password", "default: from your option files"),
    ("login_path", "login path", "a group in .mylogin.cnf"),
    ("ssl_mode", "TLS", "disabled, preferred, required, verify-ca, verify-identity"),
    ("ssl_ca", "TLS CA", "path of a CA certificate file"),
)
PATHS = ("socket", "ssl_ca")  # no shell expands ~ here
# Words of an error, and the field to correct; the first match counts.
FIELD_HINTS = (
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


class ConnectDialog(ModalScreen["AuditSource | None"]):
    """Asks for a server, tries to connect, and returns a source; None if the user cancels."""

    app: AppBase

    BINDINGS: ClassVar = [Binding("escape", "dismiss(None)", "back", id="connect.back")]

    class TryFinished(Message):
        """The result of an attempt to connect: a source, or the error."""

        def __init__(self, feed: AuditSource | None, reason: str) -> None:
            self.feed, self.reason = feed, reason
            super().__init__()

    def __init__(self, request: ConnectRequest | None, connect: SourceFactory, reason: str = "") -> None:
        super().__init__()
        self._request = replace(request or ConnectRequest(), ask_password=False)
        self._connect = connect
        self._reason = reason

    def compose(self) -> ComposeResult:
        """The recent servers, and a field for each connection option."""
        with Vertical(classes="dialog", id="connecting"):
            back = "cancels" if self.app.view is not None else "quits"
            yield Static(f"Connect to a server: Enter connects, Esc {back}", markup=False)
            if known := read_recent():
                yield OptionList(
                    *(safe_line(target.label) for target in known), id="connect-recent", markup=False, compact=True
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
        """Show the error of the last attempt."""
        self._show_refusal(self._reason)

    def _show_refusal(self, reason: str) -> None:
        """Show the error below the field it concerns, and focus that field."""
        name = field_for_refusal(reason)
        for field, _, _ in FIELDS:
            text = self.query_one(f"#reason-{field}", Static)
            text.display = bool(reason) and field == name
            text.update(safe_text(replace_flags(reason) if field == name else "", "$text-error"))
        self.query_one(f"#connect-{name}", Input).focus()

    @on(OptionList.OptionSelected, "#connect-recent")
    def _use_recent(self, event: OptionList.OptionSelected) -> None:
        target = read_recent()[event.option_index]
        for name in RecentConnection._fields:
            self.query_one(f"#connect-{name}", Input).value = getattr(target, name)
        self._connect_to_fields()

    @on(Input.Submitted)
    def _connect_to_fields(self) -> None:
        values = {name: self.query_one(f"#connect-{name}", Input).value for name, _, _ in FIELDS}
        password = values.pop("password")
        port = values.pop("port").strip()
        if port and not (port.isdecimal() and 1 <= int(port) <= HIGHEST_PORT):
            self._show_refusal(f"invalid port {port}. Write a number from 1 to {HIGHEST_PORT}")
            return
        words = {name: value.strip() or None for name, value in values.items()}
        words |= {name: os.path.expanduser(words[name] or "") or None for name in PATHS}
        request = replace(self._request, **words, port=int(port) if port else None)  # type: ignore[arg-type] # texts all
        self.query_one("#connect-state", Static).update("connecting …")
        run_in_background(self.app, "connect", lambda: self._try_connection(request, password), self)

    def _try_connection(self, request: ConnectRequest, password: str) -> ConnectDialog.TryFinished:
        """Open a session and close it again; runs in a thread."""
        try:
            feed = self._connect(request, password)
            if feed.session is not None:
                feed.session().close()
        except MycnfError as error:
            return self.TryFinished(None, str(error))
        save_recent(request)
        return self.TryFinished(feed, "")

    @on(TryFinished)
    def _finish_try(self, message: TryFinished) -> None:
        self.query_one("#connect-state", Static).update("")
        if message.feed is None:
            self._show_refusal(message.reason)
        else:
            self.dismiss(message.feed)


def field_for_refusal(reason: str) -> str:
    """The field that an error concerns, by its wording."""
    words = reason.lower()
    for field, signs in FIELD_HINTS:
        if any(sign in words for sign in signs):
            return field
    return FIELDS[0][0]
