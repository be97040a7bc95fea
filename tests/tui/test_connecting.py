"""The connect screen, against a real server: errors stay next to what to correct, and a corrected field gets in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from app_driver import driven, opened, until
from login_paths import write_login_file
from real_servers import Start
from textual.pilot import Pilot
from textual.widgets import Input

from advisor.tui.app import AuditApp
from advisor.tui.dialogs.connect import FIELDS, RecentConnection, field_for_refusal
from probes.sandbox import Sandbox

WORD = "sésame"


def reason(app: AuditApp, field: str) -> str:
    """What stands beside a field, nothing while the screen is still being built."""
    return "".join(str(shown.render()) for shown in app.screen.query(f"#reason-{field}"))


def kept(place: Path) -> object:
    """The servers that the app remembers."""
    (recent,) = place.rglob("recent.json")
    return json.loads(recent.read_text(encoding="utf-8"))


@pytest.mark.servers("mysql-8.0", "mariadb-10.11")
async def test_a_wrong_place_is_corrected_on_the_spot(any_server: Sandbox, tmp_path: Path, own_places: Path) -> None:
    """Without a server at the socket the screen says so beside it; with the right one the audit opens."""
    none, empty = tmp_path / "none.sock", tmp_path / "empty.cnf"
    empty.touch()
    words = ("--defaults-file", str(empty), "--socket", str(none), "--user", "root")
    async with driven(*words, size=(80, 24), wait=False) as (app, pilot):
        await until(pilot, lambda: str(none) in reason(app, "socket"))
        await until(pilot, lambda: app.focused is app.screen.query_one("#connect-socket"))
        for port in ("many", "0", "65536"):
            app.screen.query_one("#connect-port", Input).value = port
            await pilot.press("enter")
            await until(pilot, lambda: f"invalid port {port}." in reason(app, "port"))  # noqa: B023
        app.screen.query_one("#connect-port", Input).value = ""
        app.screen.query_one("#connect-socket", Input).value = any_server.socket
        await pilot.press("enter")
        await until(pilot, lambda: opened(app))
        assert app.view is not None
        assert app.view.live
        assert app.view.audited.context.target == any_server.binary.target
        await pilot.press("q")
    nothing = dict.fromkeys(RecentConnection._fields, "")
    assert kept(own_places) == [nothing | {"socket": any_server.socket, "user": "root"}]


@pytest.mark.servers("mysql-8.0", "mariadb-10.11")
async def test_a_wrong_password_stays_beside_the_field(any_server: Sandbox, tmp_path: Path) -> None:
    """A refused password is said at the password, which is never shown nor kept."""
    empty = tmp_path / "empty.cnf"
    empty.touch()
    words = ("--defaults-file", str(empty), "--socket", any_server.socket, "--user", "nobody")
    async with driven(*words, wait=False) as (app, pilot):
        await until(pilot, lambda: bool(reason(app, "password")))
        app.screen.query_one("#connect-password", Input).value = "hunter2"
        await pilot.press("enter")
        await until(pilot, lambda: "typed" in reason(app, "password"))
        assert "hunter2" not in reason(app, "password")
        await pilot.press("escape")
        await until(pilot, lambda: app.return_value is not None)
        assert app.return_value == 3


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ("access was denied for 'root' (no password was given)", "password"),
        ("there is no server socket /tmp/x.sock; is the server running?", "socket"),
        ("the server's certificate is not trusted; give --ssl-ca", "ssl_ca"),
        ("", FIELDS[0][0]),
        ("nothing listens at db1:3307; is the server running?", "port"),
        ("db1:3306 can't be reached (Name or service not known); check the address", "host"),
        ("db1:3306 did not answer in time; check the address, firewalls and the server's load", "host"),
        ("socket /run/mysqld/x.sock can't be reached (File name too long); check the address", "socket"),
        ("nothing listens at /run/mysqld/mysqld.sock; is the server running?", "socket"),
    ],
)
def test_refusals_point_at_a_field(message: str, field: str) -> None:
    """The words of a refusal decide where it is shown."""
    assert field_for_refusal(message) == field


@pytest.mark.servers("mysql-8.0")
async def test_tls_and_a_login_path_get_in(
    server_name: str, start: Start, tmp_path: Path, own_places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each wrong word of either is shown next to its field; corrected, both get in, and are offered the next time."""
    server = start(server_name, tcp=True, small=True)
    with server.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE USER tls@'%' IDENTIFIED WITH mysql_native_password BY '{WORD}' REQUIRE SSL")
    empty, junk, ca = tmp_path / "empty.cnf", tmp_path / "junk.pem", Path(server.datadir) / "ca.pem"
    empty.touch()
    junk.touch()
    monkeypatch.setenv("HOME", str(ca.parent))
    monkeypatch.setenv("MYSQL_TEST_LOGIN_FILE", str(tmp_path / "paths"))
    words = ("--defaults-file", str(empty), "--host", "127.0.0.1", "--port", str(server.port), "--user", "tls")
    async with driven(*words, "--ssl-mode", "verify-ca", wait=False) as (app, pilot):
        await refused(app, pilot, "ssl_ca", "self-signed certificate")
        await tried(app, pilot, ssl_ca="~/none.pem")
        await refused(app, pilot, "ssl_ca", f"{ca.parent}/none.pem")
        await tried(app, pilot, ssl_ca=str(junk))
        await refused(app, pilot, "ssl_ca", "no certificate")
        await tried(app, pilot, ssl_ca="~/ca.pem")
        await refused(app, pilot, "password", "no password was given")
        await tried(app, pilot, password=WORD, ssl_mode="verify")
        await refused(app, pilot, "ssl_mode", "is unknown")
        await tried(app, pilot, ssl_mode="verify-identity")
        await refused(app, pilot, "ssl_mode", "mismatch")
        await tried(app, pilot, ssl_mode="")  # a certificate alone means verify-ca, as to servers' clients
        await until(pilot, lambda: opened(app))
        await pilot.press("C")
        await until(pilot, lambda: bool(app.screen.query("#connect-login_path")))
        fields = dict.fromkeys(("host", "port", "user", "ssl_mode", "ssl_ca"), "")
        await tried(app, pilot, **fields, login_path="prod")
        await refused(app, pilot, "login_path", "does not exist")
        write_login_file(tmp_path / "paths", f'[prod]\nuser = tls\npassword = "wrong"\nsocket = {server.socket}\n')
        await tried(app, pilot, login_path="test")
        await refused(app, pilot, "login_path", "not in")
        await tried(app, pilot, login_path="prod")
        await refused(app, pilot, "password", "[prod]")
        group = f'[prod]\nuser = tls\npassword = "{WORD}"\nsocket = {server.socket}\nssl-ca = {ca}\n'
        write_login_file(tmp_path / "paths", group)
        await tried(app, pilot)
        await until(pilot, lambda: app.view is not None and server.socket in app.view.place)
        await pilot.press("q")
    nothing = dict.fromkeys(RecentConnection._fields, "")
    by_tcp = {"host": "127.0.0.1", "port": str(server.port), "user": "tls", "ssl_ca": str(ca)}
    assert kept(own_places) == [nothing | {"login_path": "prod"}, nothing | by_tcp]


async def tried(app: AuditApp, pilot: Pilot[int], **fields: str) -> None:
    """Write these fields, and connect."""
    for name, value in fields.items():
        app.screen.query_one(f"#connect-{name}", Input).value = value
    await pilot.press("enter")


async def refused(app: AuditApp, pilot: Pilot[int], field: str, words: str) -> None:
    """Wait until that is said beside the field, and the cursor is in it."""
    await until(pilot, lambda: words in reason(app, field))
    await until(pilot, lambda: app.focused is app.screen.query_one(f"#connect-{field}"))
