"""How large the redo log should be: one number in a run, by the busiest hour, the window or the counters."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from rule_cases import Case, context_of_case

from advisor.analysis import run_rules, select_rules
from rules import file_rules, find_rule

if TYPE_CHECKING:
    from pathlib import Path

    from advisor.core.model import Finding

PLACES = {"capacity_resized": 8 << 20, "current_lsn": 9_000_000, "checkpoint_lsn": 1_000_000}
PRESSED = {"innodb_checkpoint_age": 9_000_000, "innodb_checkpoint_max_age": 10_000_000}


def first(rule: str, target: str, tmp_path: Path, **words: object) -> Finding:
    """The first finding of a rule in a small case."""
    found = find_rule(rule)
    assert found is not None
    return next(iter(found.check(context_of_case(Case(rule, "", target, **words), tmp_path))))


def lines(finding: Finding) -> list[str | None]:
    """The lines that a finding advises."""
    return [action.option_line for action in finding.actions]


@pytest.mark.parametrize(
    ("status", "line"),
    [
        ({"uptime": 86400, "innodb_os_log_written": 8_640_000_000}, "innodb_log_file_size = 384M"),
        ({"uptime": 86400, "innodb_os_log_written": 86_400_000_000}, "innodb_log_file_size = 3456M"),
        ({}, "innodb_log_file_size = 192M"),
    ],
)
def test_a_log_under_pressure_gets_a_number(status: dict[str, int], line: str, tmp_path: Path) -> None:
    """A full redo log is advised an hour of the mean since the start, and twice its size where that is unknown."""
    found = first("checkpoint-pressure", "mariadb-10.11", tmp_path, server={"status": PRESSED | status})
    assert lines(found) == [line]
    assert found.help == f"write {line}"


def test_a_log_that_holds_an_hour_grows_no_further(tmp_path: Path) -> None:
    """Where an hour of writes fits into the log, more pages have to be written instead, if the disks allow for them."""
    status = PRESSED | {"uptime": 86400, "innodb_os_log_written": 864_000_000}
    found = first("checkpoint-pressure", "mariadb-10.11", tmp_path, server={"status": status})
    assert lines(found) == ["innodb_io_capacity = 400"]
    assert found.help == "the log of 96M holds an hour of that: write innodb_io_capacity = 400"
    assert found.message.endswith(" 9.8K of redo a second on average since the server started 1 d ago: 34.3M an hour.")
    large = {"innodb_io_capacity": "4000", "innodb_io_capacity_max": "4000"}
    raised = first("checkpoint-pressure", "mariadb-10.11", tmp_path, server={"status": status, "variables": large})
    assert lines(raised) == ["innodb_io_capacity_max = 16000", "innodb_io_capacity = 8000"]
    spinning = {"disks": [{"kernel_name": "sda", "transport": "sata", "rotational": True}]}
    slow = first("checkpoint-pressure", "mariadb-10.11", tmp_path, server={"status": status}, host=spinning)
    assert lines(slow) == []
    assert slow.help == (
        "the log of 96M holds an hour of that, and a higher innodb_io_capacity than 200 is not advised for these "
        "disks: look at the latency of their writes"
    )


def test_a_capacity_that_is_not_reached_is_not_raised(tmp_path: Path) -> None:
    """Where fewer pages are written than innodb_io_capacity allows, a higher one changes nothing."""

    def pressed(flushed: int, file: str = "") -> Finding:
        window = {"rises": {"innodb_buffer_pool_pages_flushed": flushed}}
        status = PRESSED | {"uptime": 86400, "innodb_os_log_written": 864_000_000}
        server = {"status": status}
        return first("checkpoint-pressure", "mariadb-10.11", tmp_path, file=file, server=server, workload=window)

    assert lines(pressed(2000)) == ["innodb_io_capacity = 400"]
    late = pressed(1990)
    assert lines(late) == ["innodb_max_dirty_pages_pct_lwm = 10"]
    assert late.help.endswith("holds an hour of that: if commits stall, write innodb_max_dirty_pages_pct_lwm = 10")
    early = pressed(1990, "innodb_max_dirty_pages_pct_lwm = 10")
    assert lines(early) == []
    assert early.help == (
        "the log of 96M holds an hour of that, and 199 pages a second are written, fewer than innodb_io_capacity (200) "
        "allows: look at the latency of these writes"
    )


def test_pressure_in_the_first_minutes(tmp_path: Path) -> None:
    """Before the counters since the start say something, the message says when they will."""
    status = PRESSED | {"uptime": 240, "innodb_os_log_written": 864_000_000}
    found = first("checkpoint-pressure", "mariadb-10.11", tmp_path, server={"status": status})
    assert found.message.endswith(
        " The hourly rate is known once the server has been up for 10 min: audit again in 6 min."
    )
    assert lines(found) == ["innodb_log_file_size = 192M"]


def test_one_size_for_the_redo_log_in_a_run(tmp_path: Path) -> None:
    """Where both the rate and the pressure are reported, both advise the same size."""
    running = {"status": PRESSED | {"uptime": 86400, "innodb_os_log_written": 86_400_000_000}}
    work = {"redo": 20_000_000}
    found = [
        lines(first(rule, "mariadb-10.11", tmp_path, server=running, workload=work))
        for rule in ("small-redo-log", "checkpoint-pressure")
    ]
    assert found == [["innodb_log_file_size = 6912M"], ["innodb_log_file_size = 6912M"]]


@pytest.mark.parametrize(("status", "line"), [
    ({}, "innodb_redo_log_capacity = 16M"),
    ({"uptime": 86400, "innodb_os_log_written": 8_640_000}, "innodb_redo_log_capacity = 64M"),
    ({"uptime": 86400, "innodb_os_log_written": 86_400_000_000}, "innodb_redo_log_capacity = 3456M"),
])  # fmt: skip
def test_a_log_that_was_full_gets_one_size(status: dict[str, int], line: str, tmp_path: Path) -> None:
    """By the server's own warnings: an hour of writes, at least twice the size; the same as by the checkpoint age."""
    pressed = {f"innodb_redo_log_{name}": at for name, at in PLACES.items()}
    running = {"status": pressed | status, "redo_waits": {"count": 2, "newest": 90}}
    found = [first(rule, "mysql-9.7.4", tmp_path, server=running) for rule in ("small-redo-log", "checkpoint-pressure")]
    assert [lines(finding) for finding in found] == [[line], [line]]
    assert found[0].message.startswith(
        "The redo log of 8M was full, and statements waited for space in it: 2 warnings in the error log, the newest "
        "1 min 30 s ago."
    )


def test_a_mean_since_the_start(tmp_path: Path) -> None:
    """On MySQL a quarter of the counter is reported, as it counts rewritten blocks, and all of it sizes the log."""
    status = {"uptime": 86400, "innodb_os_log_written": 86_400_000_000, "innodb_redo_log_capacity_resized": 104857600}
    found = first("small-redo-log", "mysql-8.4", tmp_path, server={"status": status})
    assert found.message == (
        "At 244K of redo a second on average since the server started 1 d ago, the log of 100M is full in 6 min 59 s."
    )
    assert lines(found) == ["innodb_redo_log_capacity = 3456M"]


def test_a_low_mean_says_nothing_of_the_busiest_hour(tmp_path: Path) -> None:
    """Without a window the rule is skipped where the mean since the start would not fill the log, and never passed."""
    status = {"uptime": 86400, "innodb_os_log_written": 86_400, "innodb_redo_log_capacity_resized": 104857600}
    known = context_of_case(Case("", "", "mysql-8.4", server={"status": status}), tmp_path)
    assert "LOG002" in {skipped.code for skipped in run_rules(known, select_rules(None, None)).skipped}


@pytest.mark.parametrize(("target", "file"), [
    ("mysql-9.7.4", "innodb_log_file_size = 24M"),
    ("mysql-8.4", "innodb_log_file_size = 24M"),
    ("mysql-8.4", "innodb_log_file_size = 24M\ninnodb_log_file_size = 48M"),
    ("mysql-9.7.4", "innodb_log_file_size = 2G\ninnodb_log_files_in_group = 3"),
])  # fmt: skip
def test_one_number_for_the_redo_log_of_a_file(target: str, file: str, tmp_path: Path) -> None:
    """Lines that went or go, overridden ones too, and a pool that is large for them: one size is named, not two."""
    known = context_of_case(Case("", "", target, file=f"innodb_buffer_pool_size = 8G\n{file}"), tmp_path)
    texts = " ".join(f"{f.message} {f.help}" for f in run_rules(known, file_rules()).findings)
    sizes = set(re.findall(r"innodb_redo_log_capacity = (\S+)|hold (\S+) in all", texts))
    assert len(sizes) == 1
