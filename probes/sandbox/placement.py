"""Options that a server needs if it is not installed where it was built for."""

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
    """Options for the locations of the server's parts; empty if it finds them by itself.

    The server's compiled-in defaults are read first: options whose defaults work are not set.
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
        # A server refuses to start if its secure_file_priv directory is missing or inaccessible.
        options.append("--secure-file-priv=NULL")
    return tuple(options)


@functools.lru_cache(maxsize=32)
def share_folder(binary: Binary) -> str:
    """The folder with a server's charsets, messages and system tables."""
    if binary.share:
        return binary.share
    return os.path.dirname(printed_defaults(binary).get("character-sets-dir", "").rstrip("/"))


@functools.lru_cache(maxsize=32)
def printed_defaults(binary: Binary) -> dict[str, str]:
    """The server's compiled-in values from `--verbose --help`, by printed name."""
    with empty_folder() as empty:
        told = run_briefly([binary.program, "--no-defaults", f"--datadir={empty}", "--verbose", "--help"])
    values = help_values(told.stdout)
    if not values:
        raise explain_log(f"{binary.name} did not print its options", told.stderr)
    return values


def help_values(text: str) -> dict[str, str]:
    """The table of values at the end of `--verbose --help`: printed names and values."""
    _, line, table = text.partition("\n---")
    rows = table.partition("\n\n")[0].splitlines()[1:] if line else []
    pairs = (re.match(r"(\S+)(?: +(.*))?$", row) for row in rows)
    return {pair[1]: pair[2] or "" for pair in pairs if pair}
