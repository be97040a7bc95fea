"""Options that MySQL does not start with, because of each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.verdict.effects import is_binary_log_on, parse_digits
from advisor.verdict.startup import StartupSettings
from advisor.verdict.startup.spelling import gtid_consistency

if TYPE_CHECKING:
    from advisor.catalog.load import Catalog
    from advisor.core.model import Target
    from advisor.verdict.effects import Lines
    from advisor.verdict.outcome import Values

MODE, CONSISTENT = "gtid_mode", "enforce_gtid_consistency"


def find_clashes(values: Values, catalog: Catalog, lines: Lines) -> dict[str, str]:
    """The options that the server stops at, with the reason; nothing is said of one whose value is a template."""
    found = _replication_clashes(values, catalog.target, lines)
    gtid = next((name for name in (CONSISTENT, MODE) if name in values), None)
    if gtid and _gtid_clash(values, catalog, lines):
        found[gtid] = f"{MODE}=ON needs {CONSISTENT}=ON."
    if values.get("log_bin_index", "").endswith("/") and _logs_by_default(values, catalog.target, lines):
        found["log_bin_index"] = "It is the name of a directory: write a file's name."
    return found


def _logs_by_default(values: Values, target: Target, lines: Lines) -> bool:
    return is_binary_log_on(values, lines) if "log_bin" in values else target.since("mysql", 8)


def _replication_clashes(values: Values, target: Target, lines: Lines) -> dict[str, str]:
    found = {}
    modern = target.since("mysql", 8)
    bits = parse_digits(values.get("server_id_bits"))
    server_id = parse_digits(values.get("server_id"))
    if bits is not None and (int(modern) if server_id is None else server_id) >> bits:
        found["server_id_bits"] = f"The server's id does not fit into {bits} bits."
    updates = values.get("log_slave_updates", values.get("log_replica_updates", "TRUE" if modern else "FALSE"))
    logged = _logs_by_default(values, target, lines)
    if values.get("replicate_same_server_id") == updates == "TRUE" and logged and not target.since("mysql", 8, 4):
        found["replicate_same_server_id"] = "With log_slave_updates its own events would return endlessly."
    writeset = values.get("binlog_transaction_dependency_tracking", "").startswith("WRITESET")
    extraction = values.get("transaction_write_set_extraction", "XXHASH64" if modern else "OFF")
    if writeset and extraction == "OFF":
        why = "WRITESET needs transaction_write_set_extraction=XXHASH64."
        found["binlog_transaction_dependency_tracking"] = why
    return found


def _gtid_clash(values: Values, catalog: Catalog, lines: Lines) -> bool:
    start = StartupSettings(values, dict(lines), catalog)
    known = all(name in values or name not in lines for name in (MODE, CONSISTENT))
    return known and start.text(MODE) == "ON" and gtid_consistency(start, CONSISTENT) != "ON"
