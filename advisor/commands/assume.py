"""Which server a file is for, when nobody said: a flavour by what only it knows, in its newest series."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.catalog.load import load
from advisor.catalog.targets import newest
from advisor.commands.reading import read_resolved
from advisor.narration import narrate
from advisor.optionfile import normalise

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.model import Target
    from advisor.optionfile.lines import Resolved

MARIADB_GROUPS = ("mariadb", "mariadbd", "galera", "client-mariadb", "mariadb-client", "client-server")
PREFIXES = ("loose_", "skip_", "disable_", "enable_", "maximum_")


def assume_target(path: str, root: str | None, data: bytes | None = None) -> Target:
    """Guess the target of a file, and say so on stderr; a series is never guessed from the options."""
    target, why = guess(read_resolved([path], newest("mysql"), root, data))
    narrate(f"{path}: no --target given, so it is judged for {target.label} ({why})")
    return target


def guess(resolved: Resolved) -> tuple[Target, str]:
    """The target and the reason, by groups first, then by options of one flavour only; MySQL where undecided."""
    groups = {line.name for f in resolved.files for line in f.lines if line.kind == "group" and line.name}
    named = next(
        (g for g in sorted(groups) if g.startswith(("mariadb", "client-mariadb")) or g in MARIADB_GROUPS), None
    )
    if named:
        return newest("mariadb"), f"its group [{named}] is MariaDB's"
    names = {normalise(o.line.name) for o in resolved.options if o.line.name}
    mysql, mariadb = newest("mysql"), newest("mariadb")
    only_mysql, only_mariadb = _known_only(names, mysql, mariadb), _known_only(names, mariadb, mysql)
    if len(only_mariadb) > len(only_mysql):
        return mariadb, f"{only_mariadb[0]} is known to MariaDB only"
    if only_mysql:
        return mysql, f"{only_mysql[0]} is known to MySQL only"
    return mysql, "nothing in it tells MySQL from MariaDB"


def _known_only(names: Iterable[str], here: Target, there: Target) -> list[str]:
    from advisor.catalog.elsewhere import known_elsewhere

    ours = load(here)
    found = []
    for name in sorted(names):
        plain = _bare(name)
        if ours.get(plain) is None or load(there).get(plain) is not None:
            continue
        presence = known_elsewhere(plain)
        if presence is None or there.flavour not in presence.flavours:
            found.append(plain)
    return found


def _bare(name: str) -> str:
    prefix = next((p for p in PREFIXES if name.startswith(p)), "")
    return name[len(prefix) :]
