"""Rules that need a long uptime: skipped before, with the time from which an audit is conclusive, and never silent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from rule_cases import Case, context_of_case

from advisor.analysis import run_rules, select_rules

if TYPE_CHECKING:
    from pathlib import Path

    from advisor.analysis import RuleRun

WEEK = 7 * 86400
# A rule, what its file sets, and counters that support the finding, regardless of the uptime.
BY_COUNTERS = (
    ("CON020", "max_connections = 1000", {"max_used_connections": 1}),
    (
        "MEM004",
        "innodb_buffer_pool_size = 8G",
        {"innodb_buffer_pool_pages_free": 400000, "innodb_buffer_pool_pages_total": 524288},
    ),
    ("MYI006", "key_buffer_size = 1G", {"key_blocks_used": 5}),
)


def asked(code: str, file: str, tmp_path: Path, status: dict[str, Any]) -> RuleRun:
    """One rule's answer about a server with these counters."""
    case = Case("", "", "mysql-8.0.15", file=file, server={"status": status})
    return run_rules(context_of_case(case, tmp_path), select_rules([code], None))


@pytest.mark.parametrize(("code", "file", "status"), BY_COUNTERS)
def test_a_young_server_is_not_judged(code: str, file: str, status: dict[str, int], tmp_path: Path) -> None:
    """A second before the week is over the rule is skipped and says when to audit again, so `--since` calls it so."""
    young = asked(code, file, tmp_path, status | {"uptime": WEEK - 7200})
    assert young.findings == ()
    assert [(skip.code, skip.reason) for skip in young.skipped] == [
        (code, "needs an uptime of 7 d (up for 6 d 22 h: audit again in 2 h)")
    ]
    younger = asked(code, file, tmp_path, status | {"uptime": 720})
    assert younger.skipped[0].reason.endswith("(up for 12 min: audit again in 7 d)")  # 6 d would be 23 hours too early
    old = asked(code, file, tmp_path, status | {"uptime": WEEK})
    assert [found.code for found in old.findings] == [code]


@pytest.mark.parametrize(("code", "file", "status"), BY_COUNTERS)
def test_nothing_is_skipped_where_nothing_would_be_found(
    code: str, file: str, status: dict[str, int], tmp_path: Path
) -> None:
    """Without the counters that support a finding, or without the line, a young server leaves nothing open."""
    for given, counted in ((file, {}), ("", status)):
        young = asked(code, given, tmp_path, counted | {"uptime": 60})
        assert (young.findings, young.skipped) == ((), ())


def test_a_day_of_binary_log_is_not_known_in_the_first_hour(tmp_path: Path) -> None:
    """Where the first minutes suggest a warning the rule is skipped, and says when to audit again."""
    host = {"disks": [], "space": {"size": 1_000_000_000_000, "free": 199_999_999_999}}

    def audited(uptime: int, free: int = 199_999_999_999) -> RuleRun:
        server = {"status": {"uptime": uptime, "binlog_bytes_written": 400_000_000_000}}
        room = host | {"space": {"size": 1_000_000_000_000, "free": free}}
        case = Case("", "", "mariadb-11.4", host=room, server=server)
        return run_rules(context_of_case(case, tmp_path), select_rules(["STO009"], None))

    young = audited(3599)
    assert young.findings == ()
    assert [skip.reason for skip in young.skipped] == ["needs an uptime of 1 h (up for 59 min: audit again in 1 s)"]
    (found,) = audited(172_800).findings
    assert found.message.endswith(
        "less than the 186G of binary log that this server writes a day, at the mean rate of the 2 d since its start."
    )
    assert [skip.code for skip in audited(60, free=0).skipped] == []  # a full disk needs no rate


def test_a_peak_that_was_reset_is_not_judged(tmp_path: Path) -> None:
    """FLUSH STATUS resets Max_used_connections: a server of a month then has the peak of an hour."""
    status = {"max_used_connections": 1, "uptime": 30 * 86400, "uptime_since_flush_status": 3600}
    reset = asked("CON020", "max_connections = 1000", tmp_path, status)
    assert reset.findings == ()
    assert [skip.reason for skip in reset.skipped] == [
        "needs Max_used_connections of 7 d or more (it was reset 1 h ago)"
    ]
    old = asked("CON020", "max_connections = 1000", tmp_path, status | {"uptime_since_flush_status": WEEK})
    assert [found.message for found in old.findings] == [
        "1,000 connections are allowed, and at most 1 were in use at once since the counter was reset 7 d ago."
    ]


AT = 1_795_046_400  # 2026-11-19 00:00 UTC


@pytest.mark.parametrize("by_counters", BY_COUNTERS[1:])
@pytest.mark.parametrize(
    ("target", "origin", "since"),
    [
        ("mariadb-11.8", "SQL", ", at an unknown time"),
        ("mysql-9.7.4", {"source": "DYNAMIC", "set_by": {"account": "root@localhost", "at": AT}}, " 2 d ago"),
        ("mysql-9.7.4", {"source": "DYNAMIC", "set_by": {"account": "root@localhost", "at": AT - WEEK}}, None),
    ],
)
def test_a_cache_of_another_size_is_not_judged(
    by_counters: tuple[str, str, dict[str, int]], target: str, origin: Any, since: str | None, tmp_path: Path
) -> None:
    """What an old server counted of a cache says nothing about a size that was set in the last week."""
    code, file, status = by_counters
    name = file.partition(" ")[0]
    server = {
        "taken_at": "2026-11-21T00:00:00+00:00",
        "status": status | {"uptime": 9 * WEEK},
        "origins": {name: origin},
    }
    known = context_of_case(Case("", "", target, file=file, server=server), tmp_path)
    run = run_rules(known, select_rules([code], None))
    if since is None:
        assert [found.code for found in run.findings] == [code]
        return
    assert run.findings == ()
    assert [skip.reason for skip in run.skipped] == [f"needs {name} unchanged for 7 d (it was set at run time{since})"]
