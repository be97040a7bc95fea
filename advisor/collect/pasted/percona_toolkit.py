"""Read what Percona Toolkit collects: samples of pt-stalk, and reports of pt-mysql-summary and pt-summary."""

from __future__ import annotations

import os
import re
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from advisor.collect.host.host import read_memory, read_system
from advisor.collect.host.root import key_values, parse_number
from advisor.collect.logs import read_log
from advisor.collect.pasted.facts import PastedFacts, TextError
from advisor.collect.pasted.replicas import replica_rows
from advisor.collect.pasted.samples import innodb_text
from advisor.collect.pasted.text import open_text, read_all, read_plain
from advisor.facts.host import Cpu, Host, Memory, OperatingSystem, SkippedPart
from advisor.facts.storage import Mount, Space

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from advisor.collect.host.root import FileId


STALK_SOURCE = "not read: only the host facts that pt-stalk collected are known"
TABLES = ("variables", "mysqladmin")
INNODB = ("innodbstatus2", "innodbstatus1")  # the later sample first
REPLICA = ("replica-status", "slave-status")  # the name depends on the versions of tool and server
SESSIONS = "processlist"
LOG = "log_error"  # what was logged during the collection, and the ten lines before
_PARTS = (*TABLES, *INNODB, *REPLICA, SESSIONS, LOG, "meminfo", "sysctl", "procstat", "df")
_STALKED = re.compile(rf"(?P<prefix>.+)-(?P<part>{'|'.join(_PARTS)})")

_SAVED = {
    "mysql-variables": "variables",
    "mysql-status": "mysqladmin",
    "mysql-slave": "slave-status",
    "innodb-status": "innodbstatus1",
    "mysql-processlist": SESSIONS,
}
_DF = re.compile(r"(\S+) +(\d{1,18}) +\d+ +(\d{1,18}) +\d+% +(/.*)")
_CPU = re.compile(r"cpu(\d{1,5}) .*")
MOST_ENTRIES = 100_000
_HEADING = re.compile(r"# (.+?) #{2,}")
_SHORT_NUMBER = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,9})?)([kMGTP]?)")
_STEPS = {"": 0, "k": 10, "M": 20, "G": 30, "T": 40, "P": 50}


def read_directory(path: str) -> PastedFacts:
    """The newest samples in a directory; raises TextError if there are none."""
    files = _files(path)
    if not files.keys() & {"variables", "mysqladmin"}:
        raise TextError(
            f"{path} holds no samples of pt-stalk (*-variables, *-mysqladmin) nor of pt-mysql-summary "
            "(mysql-variables); give the directory that holds them, and of other texts the files themselves"
        )
    parts = {part: os.path.join(path, name) for part, name in files.items()}
    tables = {part: _tables(path, parts.pop(part)) for part in TABLES if part in parts}
    texts: dict[str, str] = {}
    sessions = _tables(path, parts.pop(SESSIONS)).sessions if SESSIONS in parts else None
    logged = read_log(parts.pop(LOG)) if LOG in parts else ""
    written = [table.at for table in tables.values()]
    for part, place in parts.items():
        with open_text(place) as text:
            written.append(text.at)
            texts[part] = innodb_text(text.lines) if part in INNODB else read_all(text)
    variables, counters = (tables.get(part, PastedFacts(path)) for part in TABLES)
    return PastedFacts(
        path,
        variables.variables[:1],
        counters.samples,
        next((texts[part] for part in INNODB if texts.get(part)), ""),
        _host(texts),
        mounts=tuple(_sampled_mounts(texts.get("df", ""))),
        at=max(written),
        counters_lack=counters.counters_lack,
        replicas=replica_rows("".join(texts.get(part, "") for part in REPLICA)),
        sessions=sessions,
        error_log=logged if not isinstance(logged, str) and logged.log.since else None,
    )


def _tables(path: str, place: str) -> PastedFacts:
    with open_text(place) as text:
        return read_plain(path, text.lines, text.at)


def _files(path: str) -> dict[str, str]:
    """The file names by content, for the newest prefix, which is a timestamp."""
    try:
        with os.scandir(path) as entries:
            ours = (entry.name for entry in entries if _STALKED.fullmatch(entry.name) or entry.name in _SAVED)
            names = sorted(islice(ours, MOST_ENTRIES))
    except OSError as error:
        raise TextError(f"{path} can't be read ({error.strerror}); check its owner and mode") from error
    matches = [
        match for match in map(_STALKED.fullmatch, names) if match and match["prefix"] not in ("mysql", "innodb")
    ]
    prefixes = sorted(match["prefix"] for match in matches if match["part"] in ("variables", "mysqladmin"))
    if prefixes:
        return {match["part"]: match[0] for match in matches if match["prefix"] == prefixes[-1]}
    return {part: name for name, part in _SAVED.items() if name in names}


def _host(texts: dict[str, str]) -> Host | None:
    if not texts.keys() & {"meminfo", "sysctl", "procstat"}:
        return None
    root = TextRoot(meminfo=texts.get("meminfo", ""), stat=texts.get("procstat", ""), sysctl=texts.get("sysctl", ""))
    return Host(
        cpu=_sampled_cpu(texts.get("procstat", "")),
        memory=read_memory(root),
        os=read_system(root),
        skipped=(SkippedPart("host", STALK_SOURCE),),
    )


def _sampled_cpu(stat: str) -> Cpu | None:
    numbers = sorted({int(match[1]) for match in map(_CPU.fullmatch, stat.split("\n")) if match})
    if not numbers:
        return None
    return Cpu(logical=len(numbers), online=tuple(numbers), kinds=(), cores=len(numbers), sockets=0)


def _sampled_mounts(text: str) -> Iterator[tuple[Mount, Space]]:
    """Each file system in df -k with its last values, in bytes."""
    last = {match[4]: match for match in map(_DF.fullmatch, text.split("\n")) if match}
    for point, match in last.items():
        yield Mount(point, "", match[1]), Space(int(match[2]) << 10, int(match[3]) << 10)


_SETTINGS = "/proc/sys/"


class TextRoot:
    """Copies of /proc/meminfo and /proc/stat, and /proc/sys from the output of `sysctl -a`."""

    def __init__(self, *, meminfo: str, stat: str, sysctl: str) -> None:
        self.files = {"/proc/meminfo": meminfo, "/proc/stat": stat}
        self.settings = key_values(sysctl, "=")

    def read(self, path: str, limit: int = 0) -> str | None:  # noqa: ARG002 - see Root
        """See Root."""
        if path.startswith(_SETTINGS):
            return self.settings.get(path.removeprefix(_SETTINGS).replace("/", "."))
        return self.files.get(path)

    def names(self, path: str) -> tuple[str, ...]:  # noqa: ARG002
        """See Root."""
        return ()

    def link(self, path: str) -> str | None:  # noqa: ARG002
        """See Root."""
        return None

    def real(self, path: str) -> str | None:  # noqa: ARG002
        """See Root."""
        return None

    def identify(self, path: str) -> FileId | None:  # noqa: ARG002
        """See Root."""
        return None

    def machine(self) -> str | None:
        """See Root."""
        return None

    def space(self, path: str) -> Space | None:  # noqa: ARG002
        """See Root."""
        return None


class SummarySection(NamedTuple):
    """One section: names with their first values, and all lines."""

    named: dict[str, str]
    lines: tuple[str, ...]


NOTHING = SummarySection({}, ())


def sections(text: str) -> dict[str, SummarySection]:
    """The sections of a report by heading; the first of equal headings."""
    by_heading: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.split("\n"):
        heading = _HEADING.fullmatch(line.rstrip())
        if heading:
            lines = by_heading.setdefault(heading[1], []) if heading[1] not in by_heading else []
        else:
            lines.append(line)
    return {title: SummarySection(_named_values(under), tuple(under)) for title, under in by_heading.items()}


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
    "pt-mysql-summary prints a few settings, sizes rounded, and rounded counters, which are skipped: the text of SHOW "
    "GLOBAL VARIABLES and SHOW GLOBAL STATUS has the rest"
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
    values: dict[str, str] = {}
    for title, name, form, variables in _JOINED:
        match = form.fullmatch(parts.get(title, NOTHING).named.get(name, ""))
        for variable, value in zip(variables, match.groups() if match else (), strict=False):
            size = parse_rounded_size(value) if variable.endswith("_size") else None
            values[variable] = value if size is None else str(size)
    return values


SYSTEM_TITLE = "# Percona Toolkit System Summary Report"
_SYSTEM_SECTION = re.compile(r"^# Memory #{9,}\n +Total \| ", re.MULTILINE)  # in a report without its beginning
SUMMARY_SOURCE = "not read: only the rounded facts that pt-summary prints are known"
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
        cpu=_summary_cpu(parts.get("Processor", NOTHING).named.get("Processors", "")),
        memory=_memory(parts.get("Memory", NOTHING).named),
        os=OperatingSystem(
            kernel=system.get("Kernel"),
            hostname=system.get("Hostname"),
            distribution=system.get("Release"),
        ),
        skipped=(SkippedPart("host", SUMMARY_SOURCE),),
    )
    return PastedFacts(path, host=host, mounts=tuple(_summary_mounts(parts.get("Mounted Filesystems", NOTHING))), at=at)


def _summary_cpu(text: str) -> Cpu | None:
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


def _summary_mounts(part: SummarySection) -> Iterator[tuple[Mount, None]]:
    for line in part.lines:
        match = _MOUNT.fullmatch(line.rstrip())
        if match:
            yield Mount(match[6], match[4], match[1], options=tuple(match[5].split(","))), None
