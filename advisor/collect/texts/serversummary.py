"""What pt-mysql-summary prints of a server: its version and a few settings, the sizes rounded."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from advisor.collect.texts.sections import NOTHING, rounded, sections
from advisor.collect.texts.told import Told

if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.collect.texts.sections import Section

TITLE = "# Percona Toolkit MySQL Summary Report"
LACKS = (
    "pt-mysql-summary prints a few settings, sizes rounded, and rounded counters that are left out: "
    "the text of SHOW GLOBAL VARIABLES and SHOW GLOBAL STATUS tells the rest"
)
_REPORT = "Report On Port"
_OWN = re.compile(rf"^# {_REPORT} \S+ #{{2,}}", re.MULTILINE)  # of a report whose beginning was left out
# Heading, name in the report, variable; values as the server prints them.
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
# Heading, name, the form of the value, the variables in it; those that end in _size are rounded.
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
    """Whether pt-mysql-summary printed it."""
    return TITLE in text or bool(_OWN.search(text))


def read_server_summary(path: str, text: str, at: float) -> Told:
    """The settings that the report prints, and the time that the server had been up."""
    parts = sections(text[max(0, text.find(TITLE)) :])
    heading = next((title for title in parts if title.startswith(_REPORT)), "")
    parts[_REPORT] = parts.get(heading, NOTHING)
    port = heading.removeprefix(_REPORT).strip()
    logs = parts.get("Binary Logging", NOTHING).named.get("Binlogs", "")
    variables = {
        **({"log_bin": "ON"} if logs.isdecimal() else {}),
        **_exact(parts),
        **_sizes(parts),
        **_joined(parts),
        **({"port": port} if port.isdecimal() else {}),
    }
    up = _UP.fullmatch(parts[_REPORT].named.get("Started", ""))
    days, hours, minutes, seconds = (int(n[:9]) for n in up.groups()) if up else (0, 0, 0, 0)
    uptime = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    return Told(path, (variables,), ({"uptime": str(uptime)},) if up else (), lacks=LACKS, at=at)


def _exact(parts: Mapping[str, Section]) -> dict[str, str]:
    told = {variable: parts.get(title, NOTHING).named.get(name, "") for title, name, variable in _EXACT}
    return {variable: value for variable, value in told.items() if value}  # empty is what no such variable gives, too


def _sizes(parts: Mapping[str, Section]) -> dict[str, str]:
    told = {name: rounded(parts.get(title, NOTHING).named.get(shown, "")) for title, shown, name in _ROUNDED}
    return {name: str(size) for name, size in told.items() if size is not None}


def _joined(parts: Mapping[str, Section]) -> dict[str, str]:
    found: dict[str, str] = {}
    for title, name, form, variables in _JOINED:
        match = form.fullmatch(parts.get(title, NOTHING).named.get(name, ""))
        for variable, value in zip(variables, match.groups() if match else (), strict=False):
            size = rounded(value) if variable.endswith("_size") else None
            found[variable] = value if size is None else str(size)
    return found
