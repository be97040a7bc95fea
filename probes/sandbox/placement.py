"""The few options without which a server can't live where it stands."""

from __future__ import annotations

import functools
import os
import re

from probes.sandbox.binary import Binary, run_briefly
from probes.sandbox.errors import explain_log
from probes.sandbox.scratch import empty_folder

UNSET = "(No default value)"


@functools.lru_cache(maxsize=32)
def placement_options(binary: Binary) -> tuple[str, ...]:
    """Options for where the server's own parts stand, none where it finds them by itself.

    The server is asked first: options whose defaults already work are not set.
    """
    values = printed_defaults(binary)
    options: list[str] = []
    charsets = values.get("character-sets-dir", "").rstrip("/")
    if binary.share and os.path.realpath(charsets) != os.path.realpath(f"{binary.share}/charsets"):
        options += [f"--lc-messages-dir={binary.share}", f"--character-sets-dir={binary.share}/charsets"]
        if binary.basedir:
            options.insert(0, f"--basedir={binary.basedir}")
    if binary.plugins and os.path.realpath(values.get("plugin-dir", "")) != os.path.realpath(binary.plugins):
        options.append(f"--plugin-dir={binary.plugins}")
    exports = values.get("secure-file-priv", UNSET)
    if exports not in ("", "NULL", UNSET) and not os.access(exports, os.R_OK | os.W_OK | os.X_OK):
        # A server whose export folder is missing or closed to this user refuses to start.
        options.append("--secure-file-priv=NULL")
    return tuple(options)


@functools.lru_cache(maxsize=32)
def share_folder(binary: Binary) -> str:
    """The folder that holds a server's charsets, messages and system tables."""
    if binary.share:
        return binary.share
    return os.path.dirname(printed_defaults(binary).get("character-sets-dir", "").rstrip("/"))


@functools.lru_cache(maxsize=32)
def printed_defaults(binary: Binary) -> dict[str, str]:
    """The server's compiled-in values as `--verbose --help` prints them, keyed by the name it prints."""
    with empty_folder() as empty:
        told = run_briefly([binary.program, "--no-defaults", f"--datadir={empty}", "--verbose", "--help"])
    values = help_values(told.stdout)
    if not values:
        raise explain_log(f"{binary.name} did not print its options", told.stderr)
    return values


def help_values(text: str) -> dict[str, str]:
    """The table of values at the end of `--verbose --help`: name as printed → value as printed."""
    _, line, table = text.partition("\n---")
    rows = table.partition("\n\n")[0].splitlines()[1:] if line else []
    pairs = (re.match(r"(\S+)(?: +(.*))?$", row) for row in rows)
    return {pair[1]: pair[2] or "" for pair in pairs if pair}
