"""The memory model and the rules about memory, before real servers whose buffers are really filled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from session_load import Sizes, connected, each, held, make_tables, sizes, statements

from advisor.analysis.context import build_context
from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.collect.connection.options import Account
from advisor.facts.host import Memory
from rules import find_rule
from rules.sizing.memory import expected_memory, memory_budget, pool_overhead

if TYPE_CHECKING:
    from collections.abc import Callable

    from real_servers import Start

    from advisor.core.model import Finding
    from advisor.facts import Facts
    from probes.sandbox import Sandbox
    from rules.sizing.memory import Budget

MIB = 1 << 20
SESSIONS = 12
BUFFERS = (
    "--innodb-buffer-pool-size=32M",
    f"--max-connections={SESSIONS + 6}",
    "--sort-buffer-size=8M",
    "--join-buffer-size=2M",
    "--tmp-table-size=8M",
    "--max-heap-table-size=8M",
)


def facts_of(sandbox: Sandbox, window: float = 0.0, wait: Callable[[float], None] | None = None) -> Facts:
    """What an audit reads."""
    account = Account(user="root", socket=sandbox.socket)
    request = CollectRequest(window=window)
    return collect_from_account(account, request) if wait is None else collect_from_account(account, request, wait)


def resident(facts: Facts) -> int:
    """Bytes of the server's process without the files that it maps, which the kernel can take back."""
    assert facts.host is not None
    assert facts.host.process is not None
    assert facts.host.process.resident is not None
    assert facts.host.process.mapped_files is not None
    return facts.host.process.resident - facts.host.process.mapped_files


def reckoned(facts: Facts) -> Budget:
    """The three numbers."""
    estimate = memory_budget(build_context(facts))
    assert estimate is not None
    return estimate


def filled(sandbox: Sandbox, load: str) -> Facts:
    """What is read while all sessions hold what one statement of this load filled."""
    with held(sandbox, SESSIONS, statements(sizes(sandbox))[load]):
        return facts_of(sandbox)


@pytest.mark.servers("mysql-5.7", "mysql-8.0", "mariadb-10.11")
def test_sessions_that_fill_their_buffers(server_name: str, start: Start) -> None:
    """Sorts show in the resident size, and under each load the ceiling bounds it and likely lies where it should."""
    sandbox = start(server_name, arguments=BUFFERS)
    make_tables(sandbox, sizes(sandbox))
    with connected(sandbox, SESSIONS) as sessions:
        each(sessions, "SELECT pad FROM t WHERE id = 5")
        idle = facts_of(sandbox)
    sorting = filled(sandbox, "sort")
    # 85 percent of 8M are filled; half of that must be seen, for some may lie where the sessions before had theirs.
    assert resident(sorting) - resident(idle) > SESSIONS * 4 * MIB
    tables = filled(sandbox, "temporary table, sorted")
    for facts in (sorting, tables):
        estimate = reckoned(facts)
        assert resident(facts) < estimate.ceiling
        assert resident(idle) < expected_memory(build_context(facts)) <= (estimate.likely or 0) <= estimate.ceiling
    # What was once taken stays in the estimate when the sessions have gone; the kernel's two counts differ by pages.
    assert (reckoned(facts_of(sandbox)).likely or 0) > max(resident(sorting), resident(tables)) - MIB


@pytest.mark.servers("mariadb-10.11")
def test_joins_keep_to_their_common_limit(server_name: str, start: Start) -> None:
    """A join buffer beyond the limit of a statement's joins isn't taken; with a larger limit or without the cap it is.

    BUF004 compares what is taken.
    """
    grown = {}
    for limit, cap in ((2, "on"), (64, "on"), (2, "off")):
        arguments = (
            "--join-buffer-size=12M",
            f"--join-buffer-space-limit={limit}M",
            f"--optimizer-switch=optimize_join_buffer_size={cap}",
        )
        sandbox = start(server_name, arguments=arguments)
        make_tables(sandbox, sizes(sandbox))
        with connected(sandbox, SESSIONS) as sessions:
            each(sessions, "SELECT pad FROM t WHERE id = 5")
            idle = facts_of(sandbox)
        joining = filled(sandbox, "join")
        (found,) = findings("oversized-join-buffer", joining)
        assert ("has no effect" in found.message) is (limit == 2 and cap == "on")
        grown[limit, cap] = (resident(joining) - resident(idle)) // SESSIONS, reckoned(joining).per_session
    assert grown[2, "on"][0] < 4 * MIB
    for larger in ((64, "on"), (2, "off")):
        assert grown[larger][0] > 6 * MIB
        assert grown[larger][1] - grown[2, "on"][1] == 10 * MIB


@pytest.mark.servers("mysql-5.7", "mariadb-10.11")
def test_transactions_hold_what_goes_to_the_binary_log(server_name: str, start: Start) -> None:
    """What sessions gather for the binary log is in their memory until they commit, and in the ceiling."""
    sandbox = start(server_name, arguments=(*BUFFERS, "--log-bin", "--server-id=1", "--binlog-cache-size=8M"))
    with sandbox.connect() as connection, connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE filling")
        cursor.execute("CREATE TABLE filling.b (pad LONGBLOB) ENGINE=InnoDB")
    with connected(sandbox, SESSIONS) as sessions:
        each(sessions, "BEGIN")
        idle = facts_of(sandbox)
        for _ in range(7):
            each(sessions, "INSERT INTO b VALUES (REPEAT('x', 1000000))")
        gathered = facts_of(sandbox)
        each(sessions, "ROLLBACK")
    assert resident(gathered) - resident(idle) > SESSIONS * 4 * MIB
    assert resident(gathered) < reckoned(gathered).ceiling
    unlogged = replace(idle.server, variables=idle.server.variables | {"log_bin": "OFF"})
    caches = sum(int(idle.server.variables[f"binlog_{kind}cache_size"]) for kind in ("", "stmt_"))
    assert reckoned(idle).per_session - reckoned(replace(idle, server=unlogged)).per_session == caches


@pytest.mark.servers("mysql-8.0", "mariadb-10.11")
def test_a_pool_has_lists(server_name: str, start: Start) -> None:
    """A larger pool makes a server larger before any page is in it, by what is reckoned to a quarter."""
    facts = [facts_of(start(server_name, arguments=(f"--innodb-buffer-pool-size={size}G",))) for size in (1, 4)]
    lists = [pool_overhead(build_context(one), size << 30) for one, size in zip(facts, (1, 4), strict=True)]
    reckoned_growth, growth = lists[1] - lists[0], resident(facts[1]) - resident(facts[0])
    assert abs(growth - reckoned_growth) < reckoned_growth / 4


@pytest.mark.parametrize(("rows", "finds"), [(15_000, False), (60_000, True)])
@pytest.mark.servers("mysql-8.0", "mariadb-10.11")
def test_a_pool_is_small_for_its_data_alone(
    server_name: str, rows: int, finds: bool, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reads from disk after a start are no fault of a pool that holds all data; of one that doesn't they are."""
    for limit in (
        "rules.core.counters.MINIMUM_UPTIME",
        "rules.core.counters.MINIMUM_WINDOW",
        "rules.memory.budget.DISK_READS",
    ):
        monkeypatch.setattr(limit, 0)  # how fast this machine reads is no matter here
    sandbox = start(server_name, arguments=("--innodb-buffer-pool-size=32M",))
    make_tables(sandbox, Sizes(sort=rows * 1000, join=0, table=0, pool=0))
    sandbox.restart()

    def scan(_: float) -> None:
        with sandbox.connect(database="filling") as connection, connection.cursor() as cursor:
            cursor.execute("SELECT COUNT(pad) FROM t WHERE pad <> ''")

    facts = facts_of(sandbox, window=1.0, wait=scan)
    assert bool(small_pool(facts)) is finds
    assert small_pool(replace(facts, server=replace(facts.server, data=None)))  # reported where the data is unreadable


def findings(name: str, facts: Facts) -> list[Finding]:
    """What a rule finds."""
    rule = find_rule(name)
    assert rule is not None
    return list(rule.check(build_context(facts)))


def small_pool(facts: Facts) -> list[Finding]:
    """What the rule reports for the pool, on a machine with eight gigabytes."""
    assert facts.host is not None
    roomy = replace(facts, host=replace(facts.host, memory=Memory(8 << 30), cgroup=None))
    return findings("small-buffer-pool", roomy)
