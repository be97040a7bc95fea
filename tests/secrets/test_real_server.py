"""Real servers full of passwords, reached by a password: none is printed, kept, or seen in the process list."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from background_runs import OnTerminal
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from live_server import Live
from mycnf_command import CHECKOUT
from planted_secrets import canary, out_of
from process_checks import PATIENCE, eventually
from real_servers import Start

from advisor.__main__ import main
from advisor.redaction import MASK
from advisor.report.formats import names
from probes.sandbox import Sandbox

OPTIONS = f"""[client]
password = {canary("client")}
[mysqld]
report_host = replica1
report_password = {canary("file")}
init_connect = "SET @planted = '{canary("initfile")}'"
"""
SHOWN_BY = ("SHOW FULL PROCESSLIST", "SHOW ENGINE INNODB STATUS")
LOOK = 0.02  # seconds between two looks at the processes of this host


class Planted(NamedTuple):
    """The server, and an option file and a login path by which an account with a password gets in."""

    live: Live
    sandbox: Sandbox
    option_file: Path
    login_file: Path
    wrong: Path


@pytest.fixture
def planted(server_name: str, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Planted]:
    """A server started, configured and queried with passwords; state, home and what mycnf writes in a folder."""
    for name in ("HOME", "XDG_STATE_HOME", "TMPDIR"):
        (tmp_path / "out" / name).mkdir(parents=True)
        monkeypatch.setenv(name, str(tmp_path / "out" / name))
    monkeypatch.setenv("MYSQL_PWD", canary("environment"))
    monkeypatch.chdir(tmp_path / "out")
    options = tmp_path / "server.cnf"
    options.write_text(OPTIONS)
    options.chmod(0o600)
    sandbox = start(server_name, option_file=options, arguments=[f"--report-password={canary('word')}"], small=True)
    live = Live(server_name, sandbox)
    _configure(live)
    account, wrong = tmp_path / "account.cnf", tmp_path / "wrong.cnf"
    account.write_text(f"[client]\nuser=watcher\npassword='{canary('account')}'\nsocket={sandbox.socket}\n")
    wrong.write_text(account.read_text().replace(canary("account"), canary("wrong")))
    login = tmp_path / "login.cnf"
    settings = {"user": "watcher", "password": canary("account"), "socket": sandbox.socket}
    login.write_bytes(_login_path("[there]\n" + "".join(f'{name} = "{value}"\n' for name, value in settings.items())))
    for path in (account, wrong, login):
        path.chmod(0o600)
    with _busy(live, sandbox):
        yield Planted(live, sandbox, account, login, wrong)


def _configure(live: Live) -> None:
    """Statements of an administrator, with a password in each: an account, its master, what it is to persist."""
    password = canary("account")
    live.run(
        f"CREATE USER watcher@localhost IDENTIFIED BY '{password}'",
        "GRANT PROCESS, REPLICATION CLIENT ON *.* TO watcher@localhost",
        *([] if live.is_mariadb else [f"SET PERSIST init_connect = 'SET @planted = ''{canary('persisted')}'''"]),
        *(["GRANT SLAVE MONITOR ON *.* TO watcher@localhost"] if live.is_mariadb else []),
        f"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_USER='r', MASTER_PASSWORD='{canary('master')}'",
    )


def _is_running(live: Live, statement: str) -> bool:
    """Whether the answer has the password of a statement that runs."""
    return canary("running") in out_of(repr(live.run(statement)))


@contextmanager
def _busy(live: Live, sandbox: Sandbox) -> Iterator[None]:
    """A statement with a password is running, in a transaction that InnoDB shows."""
    asleep = threading.Thread(target=_sleep, args=(sandbox.connect(),))
    asleep.start()
    try:
        for statement in SHOWN_BY:
            eventually(partial(_is_running, live, statement), what="the statement runs")
        yield
    finally:
        sandbox.kill()
        asleep.join()


def _sleep(connection: object) -> None:
    try:
        with connection.cursor() as cursor:  # type: ignore[attr-defined]
            cursor.execute(
                f"SELECT SLEEP(600), '{canary('running')}' FROM mysql.innodb_table_stats FOR UPDATE"  # noqa: S608
            )
    except Exception:  # noqa: BLE001, S110 - it ends with the server
        pass


def _login_path(text: str) -> bytes:
    """A file of login paths as mysql_config_editor writes it."""
    key = bytes(range(20))
    folded = bytearray(16)
    for place, byte in enumerate(key):
        folded[place % 16] ^= byte
    cipher = Cipher(algorithms.AES(bytes(folded)), modes.ECB())  # noqa: S305 - what the servers' own program does
    lines = bytes(4) + key
    for line in text.splitlines(keepends=True):
        plain = line.encode()
        plain += bytes([16 - len(plain) % 16]) * (16 - len(plain) % 16)
        encryptor = cipher.encryptor()
        hidden = encryptor.update(plain) + encryptor.finalize()
        lines += struct.pack("<i", len(hidden)) + hidden
    return lines


@pytest.mark.servers("mysql-8.0", "mariadb-10.11")
def test_nothing_of_a_server_full_of_passwords(
    planted: Planted, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Audit, collect, sample, preflight, diff, history and report, live and of the snapshot, in every format."""
    monkeypatch.setenv("MYSQL_TEST_LOGIN_FILE", str(planted.login_file))
    assert out_of(repr(planted.live.run("SELECT @@GLOBAL.init_connect")))
    assert all(canary("running") in out_of(repr(planted.live.run(text))) for text in SHOWN_BY)
    there = ("--defaults-file", str(planted.option_file))
    live = (
        ("collect", *there, "-o", "live.json", "--keep", "--window", "1"),
        ("sample", "--login-path", "there"),
        ("audit", "--isolated", *there, "--window", "0", "--format", "text"),
        ("preflight", *there, "--format", "json"),
        ("preflight", *there),
        ("diff", "server", "mysql-8.0", *there, "--isolated", "--all"),
        ("audit", "--isolated", "--defaults-file", str(planted.wrong)),
    )
    of_snapshot = [("audit", "--isolated", "--snapshot", "live.json", "--format", form) for form in names("audit")]
    codes = []
    text = ""
    for words in (*live, *of_snapshot, ("preflight", "--snapshot", "live.json"), ("history", "--isolated")):
        codes.append(main(list(words)))
        printed = capsys.readouterr()
        assert "internal error" not in printed.err
        assert out_of(printed.out + printed.err) == [], words
        text += printed.out + printed.err
    assert codes[:2] == [0, 0]
    assert codes[6] == 3
    assert "denied access to user 'watcher' (password from " in text
    kept = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert {path: out_of(data.decode("latin-1")) for path, data in kept.items() if out_of(data.decode("latin-1"))} == {}
    assert MASK.encode() in kept[tmp_path / "out" / "live.json"]
    assert b"replica1" in kept[tmp_path / "out" / "live.json"]
    assert {path.stat().st_mode & 0o777 for path in kept} == {0o600}


@pytest.mark.servers("mariadb-10.11")
def test_a_password_that_is_asked_for(planted: Planted, tmp_path: Path) -> None:
    """Typed on a terminal it is shown neither there nor in the process list of this host."""
    seen: list[str] = []
    done = threading.Event()
    watch = threading.Thread(target=_watch, args=(planted.sandbox.pid, seen, done))

    def begin(*args: str | Path, **popen: object) -> subprocess.Popen[bytes]:
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(CHECKOUT), "HOME": str(tmp_path), "TERM": "xterm"}
        command = [sys.executable, "-m", "advisor", *map(str, args)]
        return subprocess.Popen(command, env=environment, cwd=tmp_path, **popen)  # type: ignore[call-overload, no-any-return]

    watch.start()
    there = ("--socket", planted.sandbox.socket, "-u", "watcher", "--ask-password")
    it = OnTerminal(begin, "collect", "-o", "asked.json", "--window", "1", *there)
    eventually(lambda: it.shows(b"assword"), what="the password is asked for")
    os.write(it.ours, f"{canary('account')}\n".encode())
    eventually(it.ended, what="it has collected")
    done.set()
    watch.join(PATIENCE)
    assert it.process.returncode == 0, it.shown
    assert b"asked.json has the facts" in it.shown
    assert out_of(it.shown.decode()) == []
    assert any("asked.json" in words for words in seen)
    assert [words for words in seen if canary("account") in words] == []


def _watch(server: int, seen: list[str], done: threading.Event) -> None:
    """Note every command line and environment that processes of this host show, but for the server's own."""
    known: set[str] = set()
    while not done.wait(LOOK):
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) in (server, os.getpid()):
                continue
            for file in ("cmdline", "environ"):
                try:
                    words = (entry / file).read_bytes().decode("utf-8", "replace")
                except OSError:
                    continue
                if words not in known:
                    known.add(words)
                    seen.append(words)
