"""Pairs of options that MySQL does not start with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.verdict.effects import number_of
from advisor.verdict.special import HOST_BINLOG, NOTHING

if TYPE_CHECKING:
    from advisor.model import Target
    from advisor.verdict.outcome import Values


def clashes(values: Values, target: Target) -> dict[str, str]:
    """The options that stand against another one, with the reason."""
    found = {}
    modern = target.since("mysql", 8)
    bits = number_of(values.get("server_id_bits"))
    server_id = number_of(values.get("server_id"))
    if bits is not None and (int(modern) if server_id is None else server_id) >> bits:
        found["server_id_bits"] = f"The server's id does not fit into {bits} bits."
    updates = values.get("log_slave_updates", values.get("log_replica_updates", "TRUE" if modern else "FALSE"))
    logged = values.get("log_bin", HOST_BINLOG if modern else NOTHING) not in ("0", NOTHING)
    if values.get("replicate_same_server_id") == updates == "TRUE" and logged and not target.since("mysql", 8, 4):
        found["replicate_same_server_id"] = "With log_slave_updates its own events would come back for ever."
    writeset = values.get("binlog_transaction_dependency_tracking", "").startswith("WRITESET")
    extraction = values.get("transaction_write_set_extraction", "XXHASH64" if modern else "OFF")
    if writeset and extraction == "OFF":
        why = "WRITESET needs transaction_write_set_extraction=XXHASH64."
        found["binlog_transaction_dependency_tracking"] = why
    return found
