"""Six real servers as one fleet, with hosts in it that are dead, hang, refuse the password or grant nothing."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from fleet_run import PATIENCE, Ground, Servers
from general_log import Ear, Said, overheard, unlisted
from jsonschema import Draft202012Validator
from live_server import Live
from mycnf_command import CHECKOUT, Ended, check_run
from real_servers import lacking, names_of
from referencing import Registry, Resource

from advisor.facts.snapshot import load

SECRET = "Quite5ecret.Word"  # noqa: S105 - looked for everywhere
WRONG = "0ther.5ecret.Word"
EXPECTED = {"SEC007", "SEC016", "VER001"}  # tests read the general log, run as root, and have old series too
TIMEOUT = 150  # seconds, for eleven at once on a busy host; the hanging one takes the driver's own limit of 10


class Ran(NamedTuple):
    """The run, its report, every command line that was seen while it lasted, and what each server was sent."""

    ground: Ground
    ended: Ended
    report: dict[str, Any]
    seen: set[str]
    heard: dict[str, list[Said]]

    def host(self, name: str) -> dict[str, Any]:
        """One host of the report."""
        found: dict[str, Any] = next(host for host in self.report["hosts"] if host["host"] == name)
        return found


@pytest.fixture(scope="module")
def ran(
    module_ground: Ground, servers: Servers, local: Callable[[Live], dict[str, object]], dead_port: int
) -> Iterator[Ran]:
    """One run over them all; the passwords come out of a vault."""
    names = names_of(())
    if missing := [reason for name in names if (reason := lacking(name))]:
        pytest.skip("; ".join(missing))
    running = {name: servers(name) for name in names}
    over_tcp = running["mysql-5.7"]
    tcp = {"ansible_connection": "local", "mycnf_host": "127.0.0.1", "mycnf_port": over_tcp.sandbox.port}
    wrong = {"mycnf_user": "let_in", "mycnf_password": "{{ vault_wrong }}"}
    bad: dict[str, dict[str, object]] = {"dead": {**tcp, "mycnf_port": dead_port}, "wrong": {**tcp, **wrong}}
    bad["unknown"] = {**tcp, "mycnf_password": "{{ no_such_variable }}"}
    bad["bare"] = {**tcp, "mycnf_user": "bare", "mycnf_password": "{{ vault_bare }}"}
    module_ground.vault(vault_bare=SECRET, vault_wrong=WRONG)
    with socket.socket() as listener, _user(over_tcp, "let_in"), _user(over_tcp, "bare"):
        listener.bind(("127.0.0.1", 0))
        listener.listen(8)
        bad["hanging"] = {**tcp, "mycnf_port": listener.getsockname()[1]}
        module_ground.inventory({"db": {name: local(live) for name, live in running.items()}, "bad": bad})
        with contextlib.ExitStack() as stack:
            ears = {n: stack.enter_context(overheard(s.sandbox, module_ground.place / n)) for n, s in running.items()}
            done = _ran(module_ground, ears)
        yield done


def _ran(ground: Ground, ears: dict[str, Ear]) -> Ran:
    words = ["--vault-password-file", "vault-password", "--forks", "12", "--timeout", str(TIMEOUT), "--format", "json"]
    with subprocess.Popen(
        ground.command(*words),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ground.place,
        env=ground.environment(),
    ) as process:
        seen: set[str] = set()
        watching = threading.Event()
        watcher = threading.Thread(target=_watch, args=(seen, watching))
        watcher.start()
        out, err = process.communicate(timeout=PATIENCE)
        watching.set()
        watcher.join()
    heard = {name: ear() for name, ear in ears.items()}
    return Ran(ground, check_run(process.returncode, out.decode(), err.decode()), json.loads(out), seen, heard)


def _watch(seen: set[str], ended: threading.Event) -> None:
    """Keep every command line and environment that any process shows that began meanwhile."""
    before = set(os.listdir("/proc"))
    while not ended.is_set():
        for entry in Path("/proc").iterdir():
            if entry.name not in before and entry.name.isdigit():
                for file in ("cmdline", "environ"):
                    with contextlib.suppress(OSError):
                        seen.add((entry / file).read_text("utf-8", "replace"))
        time.sleep(0.02)


@contextlib.contextmanager
def _user(live: Live, name: str) -> Iterator[None]:
    with live.user(name, f"IDENTIFIED BY '{SECRET}'"):
        yield


def test_each_real_server_is_audited(ran: Ran) -> None:
    """All six are reported with their versions, their machines were read, and none has an error or a warning."""
    for name in names_of(()):
        host = ran.host(name)
        assert (host["status"], host["machine"], host["groups"]) == ("audited", "read", ["db"]), host
        assert host["target"].startswith(name), host["target"]
        assert not [f for f in host["findings"] if f["severity"] != "note" and f["code"] not in EXPECTED], name
    assert sorted(n for v in ran.report["versions"] for n in v["hosts"] if n != "bare") == sorted(names_of(()))


def test_servers_were_sent_listed_statements_alone(ran: Ran) -> None:
    """Each server's own log shows an audit, and nothing but statements of the published list."""
    for name, heard in ran.heard.items():
        assert unlisted(heard) == [], name
        assert len(heard) > 10, name


@pytest.mark.parametrize(("name", "status", "why"), [
    ("dead", "refused", "nothing listens at 127.0.0.1:"),
    ("hanging", "silent", "did not answer properly in time"),
    ("wrong", "denied", "denied access to user 'let_in' (password from mycnf_password)"),
    ("unknown", "failed", "mycnf_password: 'no_such_variable' is undefined"),
])  # fmt: skip
def test_each_failure_is_a_row(ran: Ran, name: str, status: str, why: str) -> None:
    """A host that can't be queried is reported with the reason, and nothing else fails for it."""
    host = ran.host(name)
    assert host["status"] == status
    assert why in host["reason"]
    assert host["snapshot"] is None
    assert why in ran.ended.err


def test_one_without_privileges_is_audited(ran: Ran) -> None:
    """An account that may do nothing gets a report that says what it needs for the rest."""
    bare = ran.host("bare")
    assert bare["status"] == "audited"
    assert [s for s in bare["skipped"] if "PROCESS" in s["reason"]]


def test_exit_code_of_a_run_in_part(ran: Ran) -> None:
    """2 means "not all could be audited", as for lint where not all could be read, and stderr says so."""
    assert ran.ended.code == 2
    assert "7 of 11 hosts audited; continue with mycnf fleet --resume --dir" in ran.ended.err


def test_no_secret_anywhere(ran: Ran) -> None:
    """No output, kept file, command line or environment holds a password of the vault."""
    kept = [file.read_text("utf-8", "replace") for file in ran.ground.run_directory.rglob("*") if file.is_file()]
    texts = [ran.ended.out, ran.ended.err, *kept, *ran.seen]
    assert any("advisor.fleet.host" in text for text in ran.seen)
    for secret in (SECRET, WRONG):
        assert not [text for text in texts if secret in text]


def test_kept_files_are_the_owners_alone(ran: Ran) -> None:
    """Everything in the run's directory is closed to others."""
    found = [ran.ground.run_directory, *ran.ground.run_directory.rglob("*")]
    assert {oct(stat.S_IMODE(path.stat().st_mode)) for path in found if path.is_dir()} == {"0o700"}
    assert {oct(stat.S_IMODE(path.stat().st_mode)) for path in found if path.is_file()} == {"0o600"}


def test_snapshots_are_ordinary(ran: Ran) -> None:
    """Each loads as what `mycnf collect` writes."""
    kept = [ran.ground.run_directory / host["snapshot"] for host in ran.report["hosts"] if host["snapshot"]]
    assert len(kept) == 7
    assert all(load(str(path)).server.variables for path in kept)


def test_mycnf_report_takes_the_directory(ran: Ran) -> None:
    """The run's directory is one of snapshots to `mycnf report`, and holds nothing else that it would trip over."""
    words = [sys.executable, "-m", "advisor", "report", "--isolated", "--format", "json", "--fail-on", "never", "run"]
    place, environment = ran.ground.place, ran.ground.environment()
    done = subprocess.run(words, cwd=place, env=environment, capture_output=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr


def test_report_keeps_to_its_schema(ran: Ran) -> None:
    """The JSON is what schemas/fleet.schema.json publishes."""
    names = ("lint", "fleet")
    contents = {n: json.loads((CHECKOUT / "schemas" / f"{n}.schema.json").read_text()) for n in names}
    registry: Registry[Any] = Registry().with_resources(
        (f"{n}.schema.json", Resource.from_contents(c)) for n, c in contents.items()
    )
    Draft202012Validator.check_schema(contents["fleet"])
    Draft202012Validator(contents["fleet"], registry=registry).validate(ran.report)


def test_other_formats_say_the_same(ran: Ran) -> None:
    """Text of 80 columns and Markdown name every host with its status, made of the kept run."""
    text = ran.ground.fleet("--from", "run")
    assert max(map(len, text.out.splitlines())) <= 80
    assert "hosts audited; continue with mycnf fleet --resume --dir run and the -i and -l of that run" in text.err
    markdown = ran.ground.fleet("--from", "run", "--format", "markdown")
    assert text.code == markdown.code == 2
    for host in ran.report["hosts"]:
        assert host["host"] in text.out
        assert f"`{host['host']}`" in markdown.out
