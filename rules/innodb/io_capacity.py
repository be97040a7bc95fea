"""INN: rules about innodb_io_capacity and its maximum: too low, too high, contradicting each other."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity
from rules.core.rule import Docs, rule
from rules.core.subject import variable_subject
from rules.innodb.buffer_pool import is_aurora
from rules.sizing.io import (
    CAPACITY,
    CAPACITY_MAX,
    LEAST_MAXIMUM,
    SOLID_CAPACITY,
    SPINNING_CAPACITY,
    recommended_capacity,
    writes_pages,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core.context import RuleContext


@rule(
    "INN039",
    "undersized-io-capacity",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="innodb_io_capacity is set for a spinning disk, but the data is on solid-state disks.",
    needs=("host",),
    options=(CAPACITY,),
    evidence=("IOC-02", "IOC-03", "INNA-13", "IOC-01"),
    probe="random-write",
    docs=Docs(
        why="innodb_io_capacity limits how many pages a second are written in the background. Where more pages change "
        "than that, the redo log fills and sessions wait: under one load the checkpoint age was at 93 percent of its "
        "limit with 100, and at 8 percent with 4000. MariaDB's documentation recommends 2000 to 20000 for SATA and "
        "more for NVMe; MySQL's default is 10000 from 8.4 on. The rule reports 200 or less, and only where it is "
        "explicitly configured. Where writes are measured (an audit with a window), starved-flushing judges by them "
        "instead.",
        fix="Start with 2000, and raise it only if the checkpoint age still comes near its limit.",
        risk="More writes in the background, which wear out the disk sooner.",
        exceptions="Servers that write little, and disks whose writes are rationed or paid for.",
        reconsider_when="A checkpoint age that stays below half of its limit over the busiest hour.",
        disagree="Percona: lower than most people set it.",
    ),
)
def undersized_io_capacity(context: RuleContext) -> Iterator[Finding]:
    """Report an innodb_io_capacity for spinning disks on solid-state disks."""
    from rules.core.storage import disk_names, is_solid_state
    from rules.measured.apply import max_write_rate

    value, measured = context.number(CAPACITY), max_write_rate(context)
    if value is None or value > SPINNING_CAPACITY or not context.is_set(CAPACITY) or is_aurora(context):
        return
    if context.has("workload"):
        return
    if is_solid_state(context) and (measured is None or measured[0] >= SOLID_CAPACITY):
        yield undersized_io_capacity.finding(
            f"{value:,} page writes a second in the background suit a spinning disk, but the data is on solid-state "
            f"disks ({disk_names(context.host)}).",
            variable_subject(context, CAPACITY),
            help=f"try {CAPACITY} = {SOLID_CAPACITY}, with {CAPACITY_MAX} at least as high",
        )


@rule(
    "INN006",
    "oversized-io-capacity",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="innodb_io_capacity is above what the vendor's documentation recommends for this kind of disk.",
    options=(CAPACITY, CAPACITY_MAX),
    evidence=("IOC-01", "IOC-02", "IOC-03", "IOC-04"),
    probe="random-write",
    docs=Docs(
        why="innodb_io_capacity is how many pages a second the server writes in the background, even when it is idle. "
        "Too high a value writes pages that would have changed again, which wears out solid-state disks. MySQL's "
        "manual advises against more than 20000 without need. MariaDB's documentation recommends 100 to 200 for a "
        "spinning disk, 2000 to 20000 for SATA and 20000 to 80000 for NVMe. On one host with a SATA disk 10000 was 11 "
        "percent slower than 5000; no other disk was measured. The default, 10000 from MySQL 8.4 on, is reported on "
        "spinning disks to which 100 pages a second or more are written. innodb_io_capacity_max is reported where it "
        "is set to more than twice the recommendation.",
        fix="Lower it to the smallest value that keeps the checkpoint age away from its limit.",
        risk="Too low a value lets dirty pages accumulate until sessions must wait; watch the checkpoint age.",
        exceptions="NVMe under a heavy steady write load. Disks behind a RAID controller: the kernel sees one disk, "
        "which may be an array of many, with a cache.",
        reconsider_when="A run on this host in which the higher value gives more or steadier throughput.",
        disagree="MySQL's manual: no more than 20000 without need. MariaDB: 20000 to 80000 and more for "
        "NVMe. Percona: lower than most people set it.",
    ),
)
def oversized_io_capacity(context: RuleContext) -> Iterator[Finding]:
    """Report a capacity above the disk's measured write rate or the vendor's recommendation, and its maximum."""
    if is_aurora(context):
        return
    value = context.number(CAPACITY)
    if value is not None and (context.is_set(CAPACITY) or _is_costly_default(context)):
        measured, (most, source) = _measured_write_rate(context), recommended_capacity(context)
        default = "" if context.is_set(CAPACITY) else f" ({CAPACITY}, the default of {context.target.label})"
        too_much = f"the disk reaches {measured:,.0f} at most" if measured and value > measured else ""
        if too_much or value > most:
            yield oversized_io_capacity.finding(
                f"The server may write {value:,} pages a second in the background{default}"
                + (f", but {too_much}." if too_much else f"; {source}."),
                variable_subject(context, CAPACITY),
                severity=Severity.WARNING if too_much else None,
                help="lower it as far as the checkpoint age allows",
            )
            return
    yield from _oversized_maximum(context)


def _oversized_maximum(context: RuleContext) -> Iterator[Finding]:
    highest, (most, source) = context.number(CAPACITY_MAX), recommended_capacity(context)
    limit = max(2 * most, LEAST_MAXIMUM)
    if highest is not None and context.is_set(CAPACITY_MAX) and highest > limit:
        yield oversized_io_capacity.finding(
            f"The server may write {highest:,} pages a second while the redo log fills; {source}.",
            variable_subject(context, CAPACITY_MAX),
            help=f"lower it to {limit:,} or less",
        )


def _is_costly_default(context: RuleContext) -> bool:
    """Whether a default above the recommendation burdens spinning disks that are written to."""
    if not context.has("host"):
        return False
    from rules.core.storage import is_spinning

    return is_spinning(context) and writes_pages(context)


def _measured_write_rate(context: RuleContext) -> float | None:
    """Page writes per second that a probe measured on this host; None without a result."""
    if not context.has("probes"):
        return None
    from rules.measured.apply import max_write_rate

    found = max_write_rate(context)
    return found[0] if found else None


@rule(
    "INN008",
    "io-capacity-above-its-maximum",
    summary="innodb_io_capacity is above innodb_io_capacity_max, and the server lowers it to that.",
    options=("innodb_io_capacity", "innodb_io_capacity_max"),
    evidence=("ASK-08",),
    docs=Docs(
        why="At start-up the server lowers innodb_io_capacity to innodb_io_capacity_max where it is larger, "
        "with a warning in its log: 4000 with a maximum of 3000 runs as 3000.",
        fix="Set the maximum to the value that you want, or lower the capacity.",
        risk="None.",
        exceptions="None.",
        reconsider_when="A server of this version that runs with the larger capacity.",
    ),
)
def io_capacity_above_its_maximum(context: RuleContext) -> Iterator[Finding]:
    """Report innodb_io_capacity above innodb_io_capacity_max in the file."""
    lines = [context.file_verdict.effective.get(f"innodb_io_capacity{end}") for end in ("", "_max")]
    asked, most = (int(line.value) if line and line.value and line.value.isdigit() else None for line in lines)
    running = context.number("innodb_io_capacity") if context.has("server") else most
    if asked is not None and most is not None and asked > most and running == most:
        yield io_capacity_above_its_maximum.finding(
            f"innodb_io_capacity_max is {most}, so the server runs with {most} instead of {asked}.",
            variable_subject(context, "innodb_io_capacity"),
            help="raise innodb_io_capacity_max, or lower innodb_io_capacity",
        )
