"""Values of a started server that differ from `--verbose --help` in more than notation."""

from __future__ import annotations

from fact import Fact
from tables import canonical, read

# Set on the command line of the queried servers.
GIVEN = {"port", "socket", "skip_networking", "pid_file", "datadir", "basedir", "tmpdir", "secure_file_priv",
         "skip_grant_tables", "event_scheduler"}  # fmt: skip


def _values(name: str) -> dict[str, str]:
    rows = read("servers", name, "global-variables.tsv")
    if rows:
        return {canonical(r["variable_name"]): r["value"] for r in rows}
    return {canonical(r["variable_name"]): r["global_value"] for r in read("servers", name, "variable-metadata.tsv")}


def notation(value: str) -> str:
    """One notation for values from help and SHOW."""
    value = {"TRUE": "ON", "FALSE": "OFF", "(No default value)": "", "NULL": ""}.get(value, value)
    try:
        return str(float(value))
    except ValueError:
        return value.rstrip("/").lower()


def add_running(build: dict[str, dict[str, Fact]], name: str) -> None:
    """Add `running` if an unmodified server has another value than its help."""
    values = _values(name)
    for option, record in build.items():
        value, default = values.get(option), record["default"].value
        if value is None or not isinstance(default, str) or option in GIVEN:
            continue
        if notation(value) != notation(default):
            record["running"] = Fact(value, "asked")
