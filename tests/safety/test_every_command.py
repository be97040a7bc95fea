"""For every command of the tool, a server's own log shows nothing but statements of the published list."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from app_driver import driven, opened, until
from general_log import Ear, Said, overheard, unlisted
from live_server import Live
from mycnf_command import CHECKOUT
from real_servers import names_of

from advisor.cli import dispatch
from advisor.cli.parser import COMMANDS
from advisor.collect.connection.connect import ConnectionLimits
from advisor.collect.connection.statements import STATUS
from advisor.commands.probe_prove import _running_context
from advisor.report.formats import names
from advisor.tui.app import AuditApp
from advisor.tui.screens.workload import sampler as sampler_module
from probes.safety import neighbours
from rules import find_rule

# A fleet goes through ansible, for which its own tests have a stage.
ELSEWHERE = {"fleet": ("tests/fleet/test_servers.py", "test_servers_were_sent_listed_statements_alone")}


class Stage(NamedTuple):
    """A server, the words by which it is reached, and a folder with a snapshot of it and an option file."""

    live: Live
    folder: Path

    @property
    def available_parts(self) -> tuple[str, ...]:
        """The words of a connection."""
        return ("--socket", self.live.sandbox.socket, "--user", "root")

    @property
    def snapshot(self) -> str:
        """What `collect` writes."""
        return str(self.folder / "db.snap")

    @property
    def file(self) -> str:
        """An option file."""
        return str(self.folder / "my.cnf")


def audits(stage: Stage) -> Iterator[tuple[str, ...]]:
    """Every format on one server or another, and on each the audit that compares and keeps."""
    ask = ("audit", *stage.available_parts, "--isolated", "--fail-on", "never")
    servers = names_of(())
    for form in names("audit")[servers.index(stage.live.name) :: len(servers)]:
        yield (*ask, "--window", "0.01", "--format", form)
    yield (*ask, "--window", "0", "--since", stage.snapshot, "--keep", "--format", "text")


# What has each command ask a server; collect goes first, for others read what it wrote.
CONNECTING: dict[str, Callable[[Stage], Iterator[tuple[str, ...]]]] = {
    "collect": lambda s: iter([("collect", *s.available_parts, "--window", "0.01", "-o", s.snapshot, "--keep")]),
    "audit": audits,
    "preflight": lambda s: iter([("preflight", *s.available_parts, "--fail-on", "never")]),
    "diff": lambda s: iter([("diff", f"socket:{s.live.sandbox.socket}", s.file, "--user", "root")]),
    "sample": lambda s: iter([("sample", *s.available_parts)]),
}
# What they do without a server, though one would let them in.
OFFLINE: dict[str, Callable[[Stage], Iterator[tuple[str, ...]]]] = {
    "lint": lambda s: iter([("lint", s.file), ("lint", s.file, "--diff")]),
    "show": lambda s: iter([("show", s.file)]),
    "upgrade": lambda s: iter([("upgrade", "--from", "mysql-5.7", "--to", "mysql-8.0", s.file)]),
    "audit": lambda s: iter(
        [("audit", "--demo", "--format", "text"), ("audit", "--list-statements"), ("audit", "--snapshot", s.snapshot)]
    ),
    "preflight": lambda s: iter([("preflight", "--snapshot", s.snapshot)]),
    "diff": lambda s: iter([("diff", s.file, "mysql-8.0")]),
    "report": lambda s: iter([("report", s.snapshot, "--format", "html")]),
    "history": lambda _: iter([("history",)]),
    "sample": lambda _: iter([("sample", "--list"), ("sample", "--print-timer")]),
    "probe": lambda _: iter([("probe",), ("probe", "results")]),
    "suggest": lambda _: iter([("suggest", "--ram", "8G", "--cpus", "4")]),
    "explain": lambda _: iter([("explain", "BUF001")]),
    "rules": lambda _: iter([("rules",)]),
    "grants": lambda _: iter([("grants", "--target", "mysql-8.0")]),
    "completion": lambda _: iter([("completion", "bash")]),
}


@pytest.fixture
def stage(live: Live, led: Path, tmp_path: Path) -> Stage:
    """The server, to which this user's own option file leads, so that nothing keeps a command from asking it."""
    (tmp_path / "my.cnf").write_text("[mysqld]\nmax_connections = 200\n", encoding="utf-8")
    return Stage(live, tmp_path)


def statements(heard: list[Said]) -> list[str]:
    """The texts, all of them listed."""
    assert unlisted(heard) == []
    return [entry.text for entry in heard if entry.command == "Query"]


def test_every_command_is_walked() -> None:
    """A new command has to be added here, or to the test that is named for it."""
    assert CONNECTING.keys() | OFFLINE.keys() | ELSEWHERE.keys() == COMMANDS.keys()
    for path, name in ELSEWHERE.values():
        assert f"def {name}(" in (CHECKOUT / path).read_text("utf-8")


def test_every_format_is_walked() -> None:
    """The servers share the formats of an audit among them, and none is left out."""
    servers = names_of(())
    assert sorted(f for at in range(len(servers)) for f in names("audit")[at :: len(servers)]) == sorted(names("audit"))


def test_commands_send_listed_statements_alone(stage: Stage, capfd: pytest.CaptureFixture[str]) -> None:
    """Each command that asks a server has asked it, and every statement that the server saw stands on the list."""
    with overheard(stage.live.sandbox, stage.folder / "general.log") as heard:
        for command, runs in CONNECTING.items():
            for words in runs(stage):
                assert dispatch(list(words)) in (0, 1), capfd.readouterr().err
                assert len(statements(heard())) > 4, f"{command} was not heard"
    capfd.readouterr()


@pytest.mark.servers("mysql-8.0")
def test_commands_that_need_no_server_ask_none(stage: Stage, capfd: pytest.CaptureFixture[str]) -> None:
    """Though the user's option file leads to a server, commands about files and snapshots don't even connect."""
    (collect,) = CONNECTING["collect"](stage)
    assert dispatch(list(collect)) == 0
    with overheard(stage.live.sandbox, stage.folder / "general.log") as heard:
        for command, runs in OFFLINE.items():
            for words in runs(stage):
                dispatch(list(words))
                assert heard() == [], command
    capfd.readouterr()


def test_probes_send_listed_statements_alone(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """A probe's ear at a neighbouring server, and the question what it runs with, send nothing else either."""
    neighbour = neighbours.OtherServer(stage.live.sandbox.pid, "mysqld", stage.live.sandbox.datadir)
    rule = find_rule("BUF001")
    assert rule is not None
    monkeypatch.setattr(
        neighbours, "SESSION_LIMITS", ConnectionLimits(connect=60, read=60)
    )  # a busy host may take its time
    with overheard(stage.live.sandbox, stage.folder / "general.log") as heard, monkeypatch.context() as patched:
        listener = neighbours.open_latency_session(neighbour)
        assert listener is not None, neighbours.listening_sockets(neighbour.pid)
        assert listener() is not None
        listener.close()
        assert len(statements(heard())) > 2
        patched.setattr(neighbours, "find_other_servers", lambda: (neighbour,))  # sandboxes are no neighbours
        _running_context(rule)
        assert len(statements(heard())) > 4


async def test_the_app_sends_listed_statements_alone(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening, sampling, refreshing and coming back after a lost connection: all of it is on the list."""
    monkeypatch.setattr(sampler_module, "EVERY", 0.3)
    monkeypatch.setattr(sampler_module, "RETRY_AFTER", 0.05)
    with overheard(stage.live.sandbox, stage.folder / "general.log") as heard:
        entries: list[Said] = []

        def counted() -> int:
            entries.extend(heard())
            return sum(one.text == STATUS.text() for one in entries)

        async with driven(*stage.available_parts, "--isolated", wait=False) as (app, pilot):
            await until(pilot, lambda: opened(app) and counted() > 1)
            await pilot.press("3", "r")
            before = counted()
            await until(pilot, lambda: counted() > before + 1)  # the audit's and the sampler's
            connections = {one.connection for one in entries}
            end_sampling(app, heard)
            await until(pilot, lambda: counted() > 0 and any(one.connection not in connections for one in entries))
            await pilot.press("q")
    assert statements(entries)


def end_sampling(app: AuditApp, heard: Ear) -> None:
    """Have the server end the connection over which the app samples."""
    sampler = app._sampler
    assert sampler is not None
    assert sampler._session is not None
    heard.run(f"KILL {sampler._session.connection_id}")
