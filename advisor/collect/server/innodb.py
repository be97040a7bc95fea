"""Read InnoDB's redo position, metrics, data sizes, and its status text without quoted SQL."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from advisor.collect.connection.session import ask, whole_number
from advisor.collect.connection.statements import DATA_SIZES, INNODB_STATUS, METRICS_MARIADB, METRICS_MYSQL
from advisor.facts.server import DataSizes

if TYPE_CHECKING:
    from advisor.collect.connection.session import Notes, Session

# Status counters of the redo position in MySQL 8.0.30 and later, and in MariaDB.
_LSN_COUNTERS = ("innodb_redo_log_current_lsn", "innodb_lsn_current")
_SECTION = re.compile(r"^-{3,}\n(?P<title>[A-Z][A-Z /&]+)\n-{3,}\n", re.MULTILINE)
# The sections that contain only numbers. The others quote statements, and thus users' data.
_KEPT_SECTIONS = (
    "BACKGROUND THREAD",
    "FILE I/O",
    "INSERT BUFFER AND ADAPTIVE HASH INDEX",
    "LOG",
    "BUFFER POOL AND MEMORY",
    "ROW OPERATIONS",
)


def innodb_status(session: Session, notes: Notes) -> str:
    """SHOW ENGINE INNODB STATUS without the sections that quote SQL; empty if not available."""
    answer = ask(session, INNODB_STATUS, "server.innodb_status", notes)
    return without_sql(answer.rows[0][-1] or "") if answer and answer.rows else ""


def without_sql(text: str) -> str:
    """The sections of an InnoDB status that contain only numbers, each once."""
    parts = _SECTION.split(text)
    # A quoted statement may look like a section heading; the real heading comes after all sections that quote
    # statements.
    bodies = dict(zip(parts[1::2], parts[2::2], strict=False))
    return "".join(f"---\n{title}\n---\n{bodies[title]}" for title in _KEPT_SECTIONS if title in bodies)


def redo_position(status: dict[str, str], innodb_text: str) -> int | None:
    """The redo position in bytes: from a counter if the server has one, else from the status text."""
    counted = [at for counter in _LSN_COUNTERS if (at := whole_number(status.get(counter))) is not None]
    told = re.search(r"^Log sequence number\s+(\d+)", innodb_text, re.MULTILINE)
    return counted[0] if counted else whole_number(told[1] if told else None)


def has_lsn_counter(status: dict[str, str]) -> bool:
    """Whether a status counter has the redo position, so that the status text is not needed for it."""
    return any(counter in status for counter in _LSN_COUNTERS)


def innodb_metrics(session: Session, notes: Notes, *, mariadb: bool) -> dict[str, int]:
    """InnoDB's enabled metrics since they were enabled."""
    answer = ask(session, METRICS_MARIADB if mariadb else METRICS_MYSQL, "server.innodb_metrics", notes)
    rows = answer.rows if answer else ()
    return {name: value for name, text in rows if name and (value := whole_number(text)) is not None}


def data_sizes(session: Session, notes: Notes) -> DataSizes | None:
    """Bytes of InnoDB data and indexes, from the server's statistics."""
    answer = ask(session, DATA_SIZES, "server.data", notes)
    if not answer or not answer.rows:
        return None
    tables, total, clustered, rows, largest = (whole_number(text) or 0 for text in answer.rows[0])
    return DataSizes(
        innodb_bytes=total, innodb_tables=tables, clustered_bytes=clustered, rows=rows, largest_bytes=largest
    )
