"""Determine an option's kind from the server's metadata, from its declaration, or from the columns of the help."""

from __future__ import annotations

from tables import Row

Facts = dict[str, object]

# Type names in sources (Sys_var_* and MYSQL_SYSVAR_*) and in MariaDB's SYSTEM_VARIABLES: kind and width in bits
# (LP64).
DECLARED = {
    "var_bool": ("bool", 0), "var_mybool": ("bool", 0), "var_bit": ("bool", 0), "BOOL": ("bool", 0),
    "var_ulong": ("uint", 64), "ULONG": ("uint", 64), "var_ulonglong": ("uint", 64), "ULONGLONG": ("uint", 64),
    "var_harows": ("uint", 64), "var_keycache": ("uint", 64), "SIZE_T": ("uint", 64), "UINT64_T": ("uint", 64),
    "var_uint": ("uint", 32), "UINT": ("uint", 32),
    "var_long": ("int", 64), "LONG": ("int", 64), "LONGLONG": ("int", 64),
    "var_int": ("int", 32), "INT": ("int", 32), "var_int32": ("int", 32),
    "var_double": ("double", 64), "DOUBLE": ("double", 64),
    "var_enum": ("enum", 0), "ENUM": ("enum", 0), "var_gtid_mode": ("enum", 0), "var_enforce_gtid_consistency": ("enum", 0),
    "var_tx_isolation": ("enum", 0), "var_transaction_isolation": ("enum", 0), "var_slave_parallel_mode": ("enum", 0),
    "var_set": ("set", 0), "var_flagset": ("flagset", 0),
    "var_charptr": ("string", 0), "var_lexstring": ("string", 0), "STR": ("string", 0),
}  # fmt: skip
TOLD = {
    "BOOLEAN": ("bool", 0), "Boolean": ("bool", 0),
    "BIGINT UNSIGNED": ("uint", 64), "INT UNSIGNED": ("uint", 32), "BIGINT": ("int", 64), "INT": ("int", 32),
    "DOUBLE": ("double", 64), "Numeric": ("double", 64),
    "ENUM": ("enum", 0), "Enumeration": ("enum", 0), "SET": ("set", 0), "Set": ("set", 0), "FLAGSET": ("flagset", 0),
    "VARCHAR": ("string", 0), "String": ("string", 0),
}  # fmt: skip
PLUGIN_STATES = ("OFF", "ON", "FORCE", "FORCE_PLUS_PERMANENT")


def reported_kind(row: Row) -> Facts:
    """Kind and width that the server reported; `Integer` (MySQL) has neither width nor sign."""
    kind, bits = TOLD.get(row.get("variable_type") or row.get("data_type") or "", ("", 0))
    return _facts(kind, bits)


def declared_kind(row: Row) -> Facts:
    """Kind and width that a source declares."""
    return _facts(*DECLARED.get(row["type"], ("", 0)))


def printed_kind(row: Row, value: str | None) -> Facts:
    """The kind from the columns of the help: a placeholder # is a number, a printed TRUE or FALSE a boolean."""
    if row["argument"] == "none":
        return {"kind": "bool" if value in ("TRUE", "FALSE") else "flag"}
    if row["argument"] == "optional" and value in PLUGIN_STATES:
        return {"kind": "enum", "values": list(PLUGIN_STATES)}
    if value in ("TRUE", "FALSE"):
        return {"kind": "bool"}
    if row["placeholder"] != "#":
        return {"kind": "string"}
    if value and "." in value:
        return _facts("double", 64)
    return _facts("int" if (value or "").startswith("-") else "uint", 64)


def _facts(kind: str, bits: int) -> Facts:
    found: Facts = {"kind": kind} if kind else {}
    return found | ({"bits": bits} if bits else {})
