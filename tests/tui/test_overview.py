"""The overview: what each part shows of an audit, and where it leads."""

from __future__ import annotations

import pytest
from app_driver import driven, screen_text, until
from msgspec.structs import replace
from rich.cells import cell_len
from textual.widgets import ContentSwitcher

from advisor.analysis.audited import AuditResult
from advisor.cli.parser import build_parser
from advisor.commands.collect import DEMO
from advisor.commands.judge_facts import audit_facts, make_request
from advisor.core.model import Severity
from advisor.facts import Facts, Replication, Sample, Server, Unavailable, Workload
from advisor.facts.server import GroupMember
from advisor.facts.snapshot import load
from advisor.facts.workload import Blocking, LockWait, OpenTransaction, ServerSession
from advisor.report.audit.fact_lines import memory_layers
from advisor.tui.lock_waits import (
    BAD,
    GOOD,
    StatusLine,
    blocking_lines,
    replication_lines,
    status_content,
)
from advisor.tui.screens import SCREENS
from advisor.tui.screens.findings.filter import finding_row
from advisor.tui.screens.findings.screen import FindingsPane
from advisor.tui.screens.overview import gauges, summary
from advisor.tui.screens.overview.screen import PLACES, TITLES, OverviewPane, OverviewPart
from advisor.tui.screens.workload.rates import VariableChange, add_sample
from advisor.tui.view import View
from rules import all_rules
from rules.sizing.memory import expected_memory, memory_budget

HOLDER = ServerSession(12, "app@db2", "Sleep", 300, transaction=OpenTransaction("RUNNING", 360, rows_locked=3000))
FIRST = ServerSession(14, "shop@web1", "Query", 42, "updating", OpenTransaction("LOCK WAIT", 50, waiting=42))
SECOND = ServerSession(15, "shop@web2", "Query", 9, "updating", OpenTransaction("LOCK WAIT", 9, waiting=9))
BEHIND_FIRST = ServerSession(17, "", "Query", 5, "Waiting for table metadata lock")
QUEUE = Blocking(
    (HOLDER, FIRST, SECOND, BEHIND_FIRST),
    waits=(
        LockWait(15, 12, "rows", "shop.orders"),
        LockWait(14, 12, "rows", "shop.orders"),
        LockWait(17, 14, "TABLE", "shop.orders"),
    ),
)


@pytest.fixture(scope="module")
def recorded() -> Facts:
    """The facts of the demo."""
    return load(DEMO)


def audited(facts: Facts, **server: object) -> AuditResult:
    """The audit of these facts with other answers of the server."""
    asked = make_request(build_parser("audit").parse_args(["audit", "--isolated", "--demo"]))
    return audit_facts(replace(facts, server=replace(facts.server, **server)), asked)


def test_blocking_is_a_tree_with_the_longest_wait_first(recorded: Facts) -> None:
    """The session that waits for none is at the top, and each other one below the session that it waits for."""
    lines = blocking_lines(audited(recorded, blocking=QUEUE))
    assert [line.text for line in lines] == [
        "connection 12 (app@db2), idle for 5 min, transaction open for 6 min, 3,000 rows locked",
        "├─ 14 (shop@web1) waits 42 s for rows of shop.orders",
        "│  └─ 17 waits 5 s for a metadata lock on shop.orders",
        "└─ 15 (shop@web2) waits 9 s for rows of shop.orders",
    ]
    assert lines[0].state == BAD


def test_an_old_transaction_is_named_although_no_session_waits(recorded: Facts) -> None:
    """A transaction that blocks none yet is a line of its own."""
    (line,) = blocking_lines(audited(recorded, blocking=Blocking((HOLDER,))))
    assert line.text == "oldest transaction: 6 min, connection 12 (app@db2), idle for 5 min"


def test_a_transaction_beside_the_tree_is_not_called_the_oldest(recorded: Facts) -> None:
    """The blocker may have the oldest transaction; that of a session beside the tree is the oldest of the others."""
    other = replace(HOLDER, id=99)
    lines = blocking_lines(audited(recorded, blocking=replace(QUEUE, sessions=(*QUEUE.sessions, other))))
    assert lines[-1].text.startswith("oldest other transaction: 6 min, connection 99")


def test_a_deadlock_has_no_first_blocker(recorded: Facts) -> None:
    """Sessions that wait for each other are named, and the tree ends."""
    circle = Blocking((FIRST, SECOND), waits=(LockWait(14, 15, "rows"), LockWait(15, 14, "rows")))
    assert blocking_lines(audited(recorded, blocking=circle))[0].text == "connections 14, 15 wait for each other"


def test_a_long_line_of_the_tree_goes_on_below() -> None:
    """Nothing of who waits for what is cut at 40 columns, and the branches go on."""
    lines = [StatusLine("├─ 14 (app@db2) waits 5 s for rows of shop.orders by its primary key"), StatusLine("└─ 15")]
    text = status_content(lines, 40, whole=True).plain.splitlines()
    assert text == ["├─ 14 (app@db2) waits 5 s for rows of", "│  shop.orders by its primary key", "└─ 15"]


def test_blocked_sessions_lead_to_their_finding(recorded: Facts) -> None:
    """The part names the gravest finding about sessions that block others, not the first of the list."""
    view = view_of(audited(recorded, blocking=QUEUE))
    finding = summary.blocking_finding(view)
    assert finding is not None
    assert finding.code.startswith("BLK")
    assert summary.blocking_finding(view_of(audited(recorded))) is None
    assert "PROCESSLIST_ID" not in finding_row(finding, 60).plain


def test_blocking_that_was_not_read_says_why(recorded: Facts) -> None:
    """Without a read there is no claim that no session waits."""
    gap = Unavailable("server.blocking", "needs the PROCESS privilege")
    facts = replace(recorded, unavailable=(*recorded.unavailable, gap))
    assert [line.text for line in blocking_lines(audited(facts, blocking=None))] == [
        "not measured: needs the PROCESS privilege"
    ]
    assert [line.state for line in blocking_lines(audited(recorded, blocking=Blocking()))] == [GOOD]


def test_waiters_whose_blocker_is_hidden_are_counted(recorded: Facts) -> None:
    """A wait without a known blocker is a line of its own."""
    lines = blocking_lines(audited(recorded, blocking=Blocking((BEHIND_FIRST,), metadata_read=False)))
    assert lines[0].text == "1 session waits up to 5 s; the server does not show who blocks them"


def _row(**changed: str) -> dict[str, str | None]:
    return {"Master_Host": "db1", "Slave_IO_Running": "Yes", "Slave_SQL_Running": "Yes", **changed}


@pytest.mark.parametrize(
    ("row", "text", "state"),
    [
        (_row(Seconds_Behind_Master="0"), "replica of db1: lag 0 s", GOOD),
        (_row(Seconds_Behind_Master="90"), "replica of db1: lag 1 min 30 s", BAD),
        (_row(Master_Port="3306", Seconds_Behind_Master="0"), "replica of db1: lag 0 s", GOOD),
        (_row(Master_Port="3307", Seconds_Behind_Master="0"), "replica of db1:3307: lag 0 s", GOOD),
        (_row(Slave_SQL_Running="No"), "replica of db1: applier not running, lag unknown", BAD),
        (_row(Slave_IO_Running="Connecting"), "replica of db1: receiver Connecting, lag unknown", BAD),
    ],
)
def test_channels_have_their_lag(recorded: Facts, row: dict[str, str | None], text: str, state: str) -> None:
    """A channel is good only if both threads run and it is not behind."""
    (line,) = replication_lines(audited(recorded, replication=Replication((row,))))
    assert (line.text, line.state) == (text, state)


def test_members_of_a_group_are_rows(recorded: Facts) -> None:
    """The own server comes first, and a member that is not ONLINE is bad."""
    members = (GroupMember("RECOVERING", "SECONDARY", "8.0.36"), GroupMember("ONLINE", "PRIMARY", "8.0.36", own=True))
    lines = replication_lines(audited(recorded, replication=Replication(group_members=2, members=members)))
    assert [line.text.split() for line in lines[1:]] == [
        ["this", "server", "ONLINE", "PRIMARY", "8.0.36", "-"],
        ["member", "2", "RECOVERING", "SECONDARY", "8.0.36", "-"],
    ]
    assert lines[2].state == BAD


@pytest.mark.parametrize(
    ("addresses", "lines"), [("a:3306,b:3306", ["  node a:3306", "  node b:3306"]), ("AUTO,AUTO", []), ("", [])]
)
def test_nodes_of_a_cluster_are_listed(recorded: Facts, addresses: str, lines: list[str]) -> None:
    """A Galera node shows its cluster's status, its own state and the nodes whose addresses the server knows."""
    variables = recorded.server.variables | {"wsrep_on": "ON", "wsrep_provider": "/usr/lib/galera.so"}
    status = recorded.server.status | {
        "wsrep_cluster_status": "Primary",
        "wsrep_cluster_size": "2",
        "wsrep_local_state_comment": "Synced",
        "wsrep_incoming_addresses": addresses,
    }
    shown = replication_lines(audited(recorded, variables=variables, status=status, replication=Replication()))
    assert [line.text for line in shown] == ["Galera cluster of 2 nodes: Primary, this node Synced", *lines]


def test_a_lone_server_has_no_replication(recorded: Facts) -> None:
    """Nothing is said of replication where there is none."""
    server: Server = recorded.server
    assert server.replication is None or not server.replication.is_replica
    assert replication_lines(audited(recorded, replication=Replication())) == []


def test_the_memory_layers_are_those_of_the_budget(recorded: Facts) -> None:
    """Pool, other memory and sessions add up to what the memory estimate expects; the ceiling is the estimate's."""
    found = audited(recorded)
    layers, budget = memory_layers(found), memory_budget(found.context)
    assert layers is not None
    assert budget is not None
    assert layers.likely_total == expected_memory(found.context)
    assert (layers.ceiling, layers.measured) == (budget.ceiling, budget.measured)
    assert layers.pool == found.context.number("innodb_buffer_pool_size")


def shown(view: View) -> str:
    """The text of the memory bar."""
    return gauges.memory_text(view.audited, 60).plain


def view_of(audit: AuditResult) -> View:
    """A view of a recording."""
    return View(audit, "demo", "the demo", 0.0)


def test_the_memory_bar_marks_a_limit_that_the_worst_case_exceeds(recorded: Facts) -> None:
    """The limit is in the bar, and an arrow says that the worst case is beyond its end."""
    text = shown(view_of(audited(recorded)))
    bar = text.splitlines()[0]
    assert len(bar) == 60
    assert bar.index("┃") == 40
    assert bar.endswith("▶")
    assert "worst case exceeds the limit" in text
    small = recorded.server.variables | {"max_connections": "10"}
    assert "┃" not in shown(view_of(audited(recorded, variables=small)))


def test_without_a_host_the_limit_is_not_known(recorded: Facts) -> None:
    """The reason stands where the figure would be."""
    gap = Unavailable("host", "the server runs on another host")
    facts = replace(recorded, host=None, unavailable=(gap,))
    text = shown(view_of(audited(facts)))
    assert "limit not known: the server runs on another host" in " ".join(text.split())
    storage = gauges.storage_text(view_of(audited(facts)), 80, 8).plain
    assert storage == "not known: the host was not read"  # the reason is beside the memory


def test_each_step_of_the_storage_chain_has_its_verdict(recorded: Facts) -> None:
    """A step names its findings, or counts the checks that passed."""
    view = view_of(audited(recorded))
    lines = gauges.storage_text(view, 80, 8).plain.splitlines()
    assert lines[0].startswith("/var/lib/mysql ")
    assert [line.rpartition("  ")[2].split()[-1] for line in lines] == ["checks", "checks", "INN006"]
    verdict = gauges.step_verdict(view, gauges.STORAGE_RULES["disk"])
    assert [f.code for f in verdict.findings] == ["INN006"]


def test_the_storage_rules_exist(recorded: Facts) -> None:
    """Every rule of a step is a rule, and belongs to one step."""
    codes = [code for listed in gauges.STORAGE_RULES.values() for code in listed]
    assert len(codes) == len(set(codes))
    assert set(codes) <= {rule.code for rule in all_rules()}


def test_risks_are_counted_in_words(recorded: Facts) -> None:
    """Errors and warnings are counted by area, notes and skipped rules below; no score."""
    view = view_of(audited(recorded))
    lines = [line.plain for line in summary.risk_lines(view, 80)]
    grave = [f for f in view.open_findings if f.severity is not Severity.NOTE]
    assert sum(int(line.split()[1]) for line in lines[:-1]) == len(grave)
    assert lines[0].startswith("▲ 2 risks to data")
    assert lines[-1].startswith(f"{len(view.open_findings) - len(grave)} notes · ")


def test_do_first_is_the_gravest_advice(recorded: Facts) -> None:
    """Errors come first, then risks to data; each says what changes, and whether that needs a restart."""
    advice = summary.first_advice(view_of(audited(recorded)))
    assert [one.finding.severity for one in advice] == [Severity.ERROR, *[Severity.WARNING] * 4]
    assert ("sync_binlog  0 → 1", "no restart") in [(one.change, one.restart) for one in advice]
    assert ("innodb_doublewrite  OFF → ON", "restart") in [(one.change, one.restart) for one in advice]


def test_the_role_is_named_or_said_to_be_unknown(recorded: Facts) -> None:
    """Roles come from the replication facts alone."""
    replica = Replication((_row(Seconds_Behind_Master="0"),), replicas_connected=2)
    assert summary.server_role(audited(recorded, replication=replica)) == "replica of db1, source of 2 replicas"
    assert summary.server_role(audited(recorded, replication=Replication())) == "no replication"
    assert summary.server_role(audited(recorded, replication=None)) == "role not known"


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ({"threads_connected": "950"}, "950 of 2,000 connections"),
        ({"threads_running": "1"}, "1 thread running ·"),
        ({"threads_connected": "x"}, "open connections not known"),
    ],
)
def test_connections_are_a_gauge(recorded: Facts, status: dict[str, str], words: str) -> None:
    """The server's own counter against max_connections; without it nothing is claimed."""
    audit = audited(recorded, status=recorded.server.status | status)
    assert words in gauges.connections_text(view_of(audit), 60).plain


def test_a_server_without_the_counter_has_no_checkpoint_age(recorded: Facts) -> None:
    """The gauge says that the counter is missing."""
    bare = {name: text for name, text in recorded.server.status.items() if "checkpoint" not in name}
    facts = replace(recorded, workload=None)
    text = gauges.redo_text(view_of(audited(facts, status=bare, innodb_status="")), 60).plain
    assert text.startswith("checkpoint age: this server has no counter")
    assert "write rate not measured" in text


def test_bytes_written_to_the_redo_log_are_an_upper_limit(recorded: Facts) -> None:
    """Without log sequence numbers the counter of written bytes is a limit: a block counts each time it is written."""
    first, last = Sample(0, {"innodb_os_log_written": 0}), Sample(10, {"innodb_os_log_written": 10 << 20})
    facts = replace(recorded, workload=Workload(first, last))
    assert "at most 1M/s written · holds at least 8 s of it" in gauges.redo_text(view_of(audited(facts)), 80).plain


@pytest.mark.parametrize("size", [(44, 14), (80, 24), (120, 40), (200, 60)])
async def test_the_overview_opens_first_and_fits(size: tuple[int, int]) -> None:
    """Every part is on the screen or below it, and no line is cut by the edge of the terminal."""
    async with driven(size=size, place="overview") as (app, pilot):
        assert app.query_one("#screens", ContentSwitcher).current == "overview"

        def displayed() -> list[OverviewPart]:
            return [part for part in app.query(OverviewPart) if part.display]

        await until(pilot, lambda: all(part.size.height > 0 for part in displayed()))
        parts = displayed()
        assert {part.part for part in parts} == set(TITLES) - {"replication"}
        assert all(part.region.right <= size[0] for part in parts)
        text = screen_text(app)
        assert len(text.splitlines()) == size[1]
        assert "risk" in text


def test_parts_name_their_screen_as_its_tab_does() -> None:
    """The subtitle of a box is the tab of the screen that it opens."""
    assert {one.id: f"{one.digit} {one.title}" for one in SCREENS if one.id in PLACES} == PLACES
    assert {place for _, place in TITLES.values()} == set(PLACES)


async def test_enter_opens_what_is_selected() -> None:
    """Enter on a line of "Do first" opens that finding; on another part its screen."""
    async with driven(size=(120, 40), place="overview") as (app, pilot):
        screens, pane = app.query_one("#screens", ContentSwitcher), app.query_one(OverviewPane)
        await pilot.press("down", "enter")
        await until(pilot, lambda: screens.current == "findings")
        wanted = summary.first_advice(pane.view)[1].finding if pane.view else None
        assert app.query_one(FindingsPane).chosen == wanted
        await pilot.press("0")
        await until(pilot, lambda: screens.current == "overview")
        for _ in range(5):
            await pilot.press("down")
        await until(pilot, lambda: pane.query_one("#overview-memory").has_focus)
        await pilot.press("enter")
        await until(pilot, lambda: screens.current == "host")


async def test_arrow_keys_select_although_the_parts_do_not_fit() -> None:
    """On a small terminal, down selects the next line of "Do first" instead of scrolling; Page Down scrolls."""
    async with driven(size=(80, 24), place="overview") as (app, pilot):
        pane = app.query_one(OverviewPane)
        await until(pilot, lambda: pane.query_one("#overview-scroll").max_scroll_y > 0)
        await pilot.press("down", "down")
        await until(pilot, lambda: pane.chosen == 2)
        assert pane.query_one("#overview-scroll").scroll_y == 0
        await pilot.press("pagedown")
        await until(pilot, lambda: pane.query_one("#overview-scroll").scroll_y > 0)


async def test_y_copies_the_overview() -> None:
    """The copy has every part as text."""
    async with driven(size=(120, 40), place="overview") as (app, pilot):
        await pilot.press("y")
        await until(pilot, lambda: bool(app.clipboard))
        assert {"Server", "Risks", "Do first", "Memory", "Storage"} <= set(app.clipboard.splitlines())


def test_the_peak_of_connections_is_that_of_the_newest_sample(recorded: Facts) -> None:
    """Connections of now never exceed the peak that stands beside them, however old the audit is."""
    samples = tuple(
        Sample(float(at), {"threads_connected": 120, "threads_running": 3, "max_used_connections": 130})
        for at in (900, 902)
    )
    kept = add_sample(add_sample((), samples[0]), samples[1])
    view = view_of(audited(recorded))._replace(origin="live", samples=kept)
    text = gauges.connections_text(view, 60).plain
    assert "120 of 2,000 connections" in text
    assert "peak 130 since the start" in text
    changes = (VariableChange(901.0, "max_connections", "2000", "150"), VariableChange(902.0, "sync_binlog", "0", "1"))
    assert "120 of 150 connections" in gauges.connections_text(view._replace(changes=changes), 60).plain


def test_a_running_server_has_its_address_and_whether_it_refuses_writes(recorded: Facts) -> None:
    """Two servers of one host are told apart; what samples do not read again has the time at which it was read."""
    variables = recorded.server.variables | {"read_only": "ON", "super_read_only": "ON"}
    view = view_of(audited(recorded, variables=variables))._replace(
        origin="live", place="socket /run/mysqld/second.sock"
    )
    for short in (True, False):
        text = summary.server_text(view, 200, short=short).plain
        assert "no replication · super_read_only" in text
        assert "socket /run/mysqld/second.sock" in text
    assert "read_only" not in summary.server_text(view_of(audited(recorded)), 200, short=True).plain
    for comment, shown in (("(Debian)", "(Debian)"), ("Community Server (GPL)", "(Community Server (GPL))")):
        other = view_of(audited(recorded, version_comment=comment))
        assert f"MariaDB 10.11.19 {shown} · " in summary.server_text(other, 200, short=False).plain
    assert summary.read_note(view_of(audited(recorded)), 60).plain == ""
    assert "r reads again" in summary.read_note(view, 60).plain


def test_an_audit_that_lost_its_server_says_so(recorded: Facts) -> None:
    """What was not read is no good news."""
    lost = replace(recorded, lost="the connection was lost during 'SHOW GLOBAL STATUS'")
    lines = summary.risk_lines(view_of(audited(lost)), 100)
    assert lines[0].plain == "✖ read in part, r reads again: the connection was lost during 'SHOW GLOBAL STATUS'"
    assert "read in part" not in "".join(line.plain for line in summary.risk_lines(view_of(audited(recorded)), 100))


def test_silence_of_skipped_rules_is_no_good_news(recorded: Facts) -> None:
    """An account without privileges has few findings because many rules were skipped."""
    audit = audited(recorded)._replace(findings=())
    assert summary.risk_lines(view_of(audit), 100)[0].plain == "no errors and no warnings"
    skip = audit.skipped[0]
    many = tuple(skip._replace(code=code) for code in audit.rule_codes[:128])
    lines = summary.risk_lines(view_of(audit._replace(skipped=many)), 100)
    assert lines[0].plain == "no errors and no warnings, but 128 rules were skipped"


async def test_the_name_of_a_part_is_a_word() -> None:
    """On a small terminal, "Traffic, recorded series" is "Traffic", without the comma."""
    async with driven(size=(80, 24), place="overview") as (app, pilot):
        part = app.query_one("#overview-traffic", OverviewPart)
        await until(pilot, lambda: str(part.content).startswith("Traffic "))


def test_redo_of_a_running_server_is_that_of_the_last_minutes(recorded: Facts) -> None:
    """The window that the audit was judged with may be hours old."""
    kept = tuple(Sample(at, {}, lsn=int(at) * 4096) for at in (100.0, 690.0, 990.0, 992.0))
    view = view_of(audited(recorded))._replace(origin="live", samples=kept)
    assert "4K/s written" in gauges.redo_text(view, 80).plain
    quiet = tuple(Sample(at, {}, lsn=min(int(at), 690) * 4096) for at in (100.0, 690.0, 990.0, 992.0))
    assert "0/s written" in gauges.redo_text(view._replace(samples=quiet), 80).plain
    assert "24.3K/s written" in gauges.redo_text(view._replace(samples=kept[:1]), 80).plain


@pytest.mark.parametrize("width", [58, 60, 61, 62])
async def test_no_row_is_wider_than_its_part(width: int) -> None:
    """Whether a part has its name on a line of its own, or before its rows, the end of a row is not cut off."""
    async with driven(size=(width, 30), place="overview") as (app, pilot):
        first = app.query_one("#overview-first", OverviewPart)
        await until(pilot, lambda: first.size.width > 0 and "no restart" in str(first.content))
        assert max(map(cell_len, str(first.content).splitlines())) <= first.content_size.width
