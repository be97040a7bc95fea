"""Rules about what a crash loses and about the binary log; here, whether and where the server writes one."""

from __future__ import annotations

from advisor.verdict import REFUSED
from rules.core.subject import written_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from advisor.verdict import LineVerdict
    from rules.core.context import RuleContext

SWITCHES = frozenset({"log_bin", "skip_log_bin", "disable_log_bin"})
SWITCHED_OFF = ("skip_", "disable_")
INNODB_ENGINE = "binlog_storage_engine"
ISOLATION = ("transaction_isolation", "tx_isolation")  # MySQL 5.7 and MariaDB before 11.1 have the latter


def writes_binary_log(context: RuleContext) -> bool:
    """Whether a binary log is written: by the server, else by the file, else by the version's default."""
    if context.has("server"):
        return context.settings.on("log_bin") is True
    line = log_bin_line(context)
    return context.target.since("mysql", 8, 0) if line is None else not switches_off(line)


def uses_innodb_binary_log(context: RuleContext) -> bool:
    """Whether the binary log is stored in InnoDB's files, which MariaDB 12.3 and later can do."""
    return context.target.is_mariadb and context.text(INNODB_ENGINE) == "INNODB"


def log_bin_line(context: RuleContext) -> LineVerdict | None:
    """The last line that enables or disables the binary log; in some versions skip_log_bin is a separate option."""
    lines = reversed(context.file_verdict.lines)
    return next((line for line in lines if line.canonical in SWITCHES and line.outcome not in REFUSED), None)


def switches_off(line: LineVerdict) -> bool:
    """Whether the line disables the binary log, as `skip_log_bin` and `disable_log_bin` do."""
    return written_name(line.placed.line).removeprefix("loose_").startswith(SWITCHED_OFF)
