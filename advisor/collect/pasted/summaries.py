"""Parse reports of pt-mysql-summary and pt-summary; sizes are rounded in them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from advisor.collect.host.formats import parse_number
from advisor.collect.pasted.facts import PastedFacts
from advisor.facts.host import Cpu, Host, Memory, Mount, OperatingSystem, SkippedPart

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


_HEADING = re.compile(r"# (.+?) #{2,}")
_SHORT_NUMBER = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,9})?)([kMGTP]?)")
_STEPS = {"": 0, "k": 10, "M": 20, "G": 30, "T": 40, "P": 50}


class SummarySection(NamedTuple):
    """One section: names with their first values, and all lines."""

    named: dict[str, str]
    lines: tuple[str, ...]


NOTHING = SummarySection({}, ())


def sections(text: str) -> dict[str, SummarySection]:
    """The sections of a report by heading; the first of equal headings."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.split("\n"):
        heading = _HEADING.fullmatch(line.rstrip())
        if heading:
            lines = found.setdefault(heading[1], []) if heading[1] not in found else []
        else:
            lines.append(line)
    return {title: SummarySection(_named_values(under), tuple(under)) for title, under in found.items()}


def _named_values(lines: list[str]) -> dict[str, str]:
    named: dict[str, str] = {}
    for line in lines:
        name, bar, value = line.partition(" | ")
        if bar:
            named.setdefault(name.strip(), value.strip())
    return named


def parse_rounded_size(text: str) -> int | None:
    """Bytes of a size as these tools abbreviate it (23.5G, 256k); None for anything else."""
    match = _SHORT_NUMBER.fullmatch(text)
    return round(float(match[1]) * (1 << _STEPS[match[2]])) if match else None


TITLE = "# Percona Toolkit MySQL Summary Report"
LACKS = (
    "pt-mysql-summary prints a few settings, sizes rounded, and rounded counters that are left out: "
    "the text of SHOW GLOBAL VARIABLES and SHOW GLOBAL STATUS has the rest"
)
_REPORT = "Report On Port"
_OWN = re.compile(rf"^# {_REPORT} \S+ #{{2,}}", re.MULTILINE)  # in a report without its beginning
# Heading, name in the report, variable; values are as the server prints them.
_EXACT = (
    (_REPORT, "Hostname", "hostname"),
    (_REPORT, "Datadir", "datadir"),
    ("Table cache", "Size", "table_open_cache"),
    ("Query cache", "query_cache_type", "query_cache_type"),
    ("InnoDB", "File Per Table", "innodb_file_per_table"),
    ("InnoDB", "Flush Method", "innodb_flush_method"),
    ("InnoDB", "Flush Log At Commit", "innodb_flush_log_at_trx_commit"),
    ("InnoDB", "Doublewrite", "innodb_doublewrite"),
    ("InnoDB", "I/O Capacity", "innodb_io_capacity"),
    ("InnoDB", "Thread Concurrency", "innodb_thread_concurrency"),
    ("InnoDB", "Concurrency Tickets", "innodb_concurrency_tickets"),
    ("InnoDB", "Commit Concurrency", "innodb_commit_concurrency"),
    ("InnoDB", "Adaptive Flushing", "innodb_adaptive_flushing"),
    *(("Binary Logging", n, n) for n in ("binlog_format", "expire_logs_days", "sync_binlog", "server_id")),
    *(("Noteworthy Variables", n, n) for n in ("default_storage_engine", "flush_time", "init_file", "sql_mode")),
    *(("Noteworthy Variables", n, n) for n in ("log_error", "log_warnings", "log_slave_updates")),
    ("Noteworthy Variables", "log_queries_not_using_indexes", "log_queries_not_using_indexes"),
)
_ROUNDED = (
    ("Query cache", "Size", "query_cache_size"),
    ("InnoDB", "Buffer Pool Size", "innodb_buffer_pool_size"),
    ("InnoDB", "Log Buffer Size", "innodb_log_buffer_size"),
    ("MyISAM", "Key Cache", "key_buffer_size"),
    *(
        ("Noteworthy Variables", n, n)
        for n in (
            *("join_buffer_size", "sort_buffer_size", "read_buffer_size", "read_rnd_buffer_size"),
            *("max_heap_table_size", "tmp_table_size", "max_allowed_packet", "thread_stack"),
        )
    ),
)
# Heading, name, pattern of the value, the variables in it; those that end in _size are rounded.
_JOINED = (
    (
        "InnoDB",
        "Log File Size",
        re.compile(r"(\d+) \* (\S+) = .*"),
        ("innodb_log_files_in_group", "innodb_log_file_size"),
    ),
    ("InnoDB", "R/W I/O Threads", re.compile(r"(\d+) (\d+)"), ("innodb_read_io_threads", "innodb_write_io_threads")),
    (
        "Noteworthy Variables",
        "Auto-Inc Incr/Offset",
        re.compile(r"(\d+)/(\d+)"),
        ("auto_increment_increment", "auto_increment_offset"),
    ),
    (_REPORT, "Version", re.compile(r"(\S+(?: from \S+)?) ?(.*)"), ("version", "version_comment")),
    (_REPORT, "Built On", re.compile(r"(\S+) (\S+)"), ("version_compile_os", "version_compile_machine")),
)
_UP = re.compile(r".*\(up (\d+)\+(\d+):(\d+):(\d+)\)")


def is_server_summary(text: str) -> bool:
    """Whether the text is from pt-mysql-summary."""
    return TITLE in text or bool(_OWN.search(text))


def read_server_summary(path: str, text: str, at: float) -> PastedFacts:
    """The settings in the report, and the server's uptime."""
    parts = sections(text[max(0, text.find(TITLE)) :])
    heading = next((title for title in parts if title.startswith(_REPORT)), "")
    parts[_REPORT] = parts.get(heading, NOTHING)
    port = heading.removeprefix(_REPORT).strip()
    logs = parts.get("Binary Logging", NOTHING).named.get("Binlogs", "")
    variables = {
        **({"log_bin": "ON"} if logs.isdecimal() else {}),
        **_exact_values(parts),
        **_rounded_values(parts),
        **_joined_lines(parts),
        **({"port": port} if port.isdecimal() else {}),
    }
    up = _UP.fullmatch(parts[_REPORT].named.get("Started", ""))
    days, hours, minutes, seconds = (int(n[:9]) for n in up.groups()) if up else (0, 0, 0, 0)
    uptime = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    return PastedFacts(path, (variables,), ({"uptime": str(uptime)},) if up else (), lacks=LACKS, at=at)


def _exact_values(parts: Mapping[str, SummarySection]) -> dict[str, str]:
    printed = {variable: parts.get(title, NOTHING).named.get(name, "") for title, name, variable in _EXACT}
    return {variable: value for variable, value in printed.items() if value}  # empty may also mean missing


def _rounded_values(parts: Mapping[str, SummarySection]) -> dict[str, str]:
    sizes = {
        name: parse_rounded_size(parts.get(title, NOTHING).named.get(shown, "")) for title, shown, name in _ROUNDED
    }
    return {name: str(size) for name, size in sizes.items() if size is not None}


def _joined_lines(parts: Mapping[str, SummarySection]) -> dict[str, str]:
    found: dict[str, str] = {}
    for title, name, form, variables in _JOINED:
        match = form.fullmatch(parts.get(title, NOTHING).named.get(name, ""))
        for variable, value in zip(variables, match.groups() if match else (), strict=False):
            size = parse_rounded_size(value) if variable.endswith("_size") else None
            found[variable] = value if size is None else str(size)
    return found


SYSTEM_TITLE = "# Percona Toolkit System Summary Report"
_SYSTEM_SECTION = re.compile(r"^# Memory #{9,}\n +Total \| ", re.MULTILINE)  # in a report without its beginning
SOURCE = "not read: only what pt-summary prints is known, sizes rounded"
MOST_CPUS = 1 << 16
_CPUS = re.compile(r"physical = (\d{1,6}), cores = (\d{1,6}), virtual = (\d{1,6}).*")
_SWAP = re.compile(r".*swap allocated = (\S+), swap used = (\S+),.*")
_MOUNT = re.compile(r" {2}(\S+) +(\S+) +(\d+%|-) (\S+) +(\S+) +(/.*)")


def is_system_summary(text: str) -> bool:
    """Whether the text is from pt-summary."""
    return SYSTEM_TITLE in text or bool(_SYSTEM_SECTION.search(text))


def read_system_summary(path: str, text: str, at: float) -> PastedFacts:
    """The facts about the machine in the report."""
    parts = sections(text[max(0, text.find(SYSTEM_TITLE)) :])
    system = parts.get("Percona Toolkit System Summary Report", NOTHING).named
    host = Host(
        cpu=_cpu(parts.get("Processor", NOTHING).named.get("Processors", "")),
        memory=_memory(parts.get("Memory", NOTHING).named),
        os=OperatingSystem(
            kernel=system.get("Kernel"),
            hostname=system.get("Hostname"),
            distribution=system.get("Release"),
        ),
        skipped=(SkippedPart("host", SOURCE),),
    )
    return PastedFacts(path, host=host, mounts=tuple(_mounts(parts.get("Mounted Filesystems", NOTHING))), at=at)


def _cpu(text: str) -> Cpu | None:
    match = _CPUS.fullmatch(text)
    sockets, cores, logical = (int(n) for n in match.groups()) if match else (0, 0, 0)
    if not 0 < logical < MOST_CPUS:
        return None
    return Cpu(logical=logical, online=tuple(range(logical)), kinds=(), cores=cores, sockets=sockets)


def _memory(named: dict[str, str]) -> Memory | None:
    total = parse_rounded_size(named.get("Total", ""))
    if not total:
        return None
    swap = _SWAP.fullmatch(named.get("Used", ""))
    allocated, used = (parse_rounded_size(n) or 0 for n in swap.groups()) if swap else (0, 0)
    ratio, background = _two_numbers(named.get("DirtyPolicy", ""))
    limit, background_limit = _two_numbers(named.get("DirtyStatus", ""))  # the tool's label for limits in bytes
    return Memory(
        total=total,
        free=parse_rounded_size(named.get("Free", "")),
        swap_total=allocated,
        swap_free=max(0, allocated - used),
        swappiness=parse_number(named.get("Swappiness")),
        dirty_ratio=ratio,
        dirty_background_ratio=background,
        dirty_bytes=limit,
        dirty_background_bytes=background_limit,
    )


def _two_numbers(text: str) -> tuple[int | None, int | None]:
    first, _, second = text.partition(",")
    return parse_number(first), parse_number(second)


def _mounts(part: SummarySection) -> Iterator[tuple[Mount, None]]:
    for line in part.lines:
        match = _MOUNT.fullmatch(line.rstrip())
        if match:
            yield Mount(match[6], match[4], match[1], options=tuple(match[5].split(","))), None
