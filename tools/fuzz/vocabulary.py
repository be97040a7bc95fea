"""The options for generated settings: those that a server prints, with kinds and ranges from the catalog's data.

The verdict is not used: names come from the servers' own help, kinds and ranges are read as plain data.
"""

from __future__ import annotations

import functools
import json
import os
from typing import Any, Final, NamedTuple

from probes.sandbox import Binary
from probes.sandbox.binary import ask_help, help_values

DATA = os.path.join(os.path.dirname(__file__), "..", "..", "advisor", "catalog", "data")
NUMBERS = ("int", "uint")
# Options that end the program, change its task, or write outside its scratch directory.
NEVER: Final = """
help verbose version bootstrap initialize daemonize chroot debug print_defaults defaults_ no_defaults standalone console
user init_file gdb core_file install remove upgrade validate_config datadir basedir tmpdir lc_messages_dir
character_sets_dir plugin_dir secure_file_priv log_error_verbosity keyring_migration innodb_dedicated_server
no_dd_upgrade no_monitor early_plugin_load plugin_load stack_trace language
"""
# These need what a host may lack (a library mode, a network), or use up the memory for printing.
NOT_HERE = ("ssl_fips_mode", "wsrep", "max_session_mem_used", "server_memory")


class Entry(NamedTuple):
    """One option: `kind` as in the catalog's data, `where` is known, hidden, plugin or elsewhere."""

    name: str
    kind: str
    where: str
    low: int
    high: int
    block: int
    values: tuple[str, ...]
    printed: str
    alias: bool


def _entry(name: str, raw: dict[str, Any], where: str, printed: str) -> Entry:
    kind = raw.get("kind") or ("uint" if printed.isdigit() else "string")
    values = tuple(raw.get("values", ()))
    if kind == "flagset" and not values:
        values = tuple(part.partition("=")[0] for part in (raw.get("default") or printed).split(","))
    return Entry(
        name,
        kind,
        where,
        int(raw.get("min") or 0),
        int(raw.get("max") or (1 << 32) - 1),
        int(raw.get("block") or 1),
        values,
        printed or str(raw.get("default") or ""),
        bool(raw.get("alias_of")),
    )


@functools.cache
def _data(series: str) -> dict[str, dict[str, Any]]:
    with open(os.path.join(DATA, f"{series}.json"), encoding="utf-8") as f:
        options: dict[str, dict[str, Any]] = json.load(f)["options"]
    return options


def vocabulary(binary: Binary) -> list[Entry]:
    """All options for settings: the server's own, hidden ones, those of plugins, and those of other series."""
    help_text = ask_help(binary, placed=True).stdout
    printed = {name.replace("-", "_"): value for name, value in help_values(help_text).items()}
    heads = [line.split()[0].lstrip("-") for line in help_text.splitlines() if line.startswith("  --")]
    listed = {head.partition("=")[0].partition("[")[0].replace("-", "_") for head in heads}
    own = _data(f"{binary.target.flavour}-{binary.target.series}")
    entries = {}
    for name in sorted({*printed, *listed, *own}):
        raw = own.get(name, {})
        known = name in printed or name in listed
        where = "known" if known else "plugin" if raw.get("plugin") else "hidden"
        entries[name] = _entry(name, raw, where, printed.get(name, ""))
    for file in sorted(os.listdir(DATA)):
        for name, raw in _data(file.removesuffix(".json")).items() if file.startswith(("mysql-", "mariadb-")) else ():
            if name not in entries:
                entries[name] = _entry(name, raw, "elsewhere", "")
    return [entry for name, entry in entries.items() if not name.startswith((*NEVER.split(), *NOT_HERE))]
