"""Guesses the server of a file without --target: the flavour by its specific options, and its newest series."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.catalog.load import load
from advisor.catalog.presence import find_presence, vendor_of_option
from advisor.catalog.targets import newest_target
from advisor.commands.read_files import read_carrier, read_resolved
from advisor.core.console import print_notice
from advisor.optionfile import normalise

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from advisor.core.model import Target
    from advisor.optionfile.lines import ResolvedFiles

MARIADB_GROUPS = ("mariadb", "mariadbd", "galera", "client-mariadb", "mariadb-client", "client-server")
UNDECIDED = "no option or group shows whether it is MySQL or MariaDB"
PREFIXES = ("loose_", "skip_", "disable_", "enable_", "maximum_")


def assume_target(paths: Sequence[str], root: str | None, given: Mapping[str, bytes]) -> Target:
    """Guess the target of files that are read together, with a notice on stderr; options do not reveal the series."""
    target, why = _declared_target(paths, given) or guess_target(
        read_resolved(paths, newest_target("mysql"), root, given)
    )
    these = "it is" if len(paths) == 1 else "they are"
    print_notice(f"{', '.join(paths)}: no --target given, so {these} checked for {target.label} ({why})")
    return target


def _declared_target(paths: Sequence[str], given: Mapping[str, bytes]) -> tuple[Target, str] | None:
    """Return the server named by a compose file or similar document."""
    carriers = [carrier for path in paths if (carrier := read_carrier(path, given)) is not None]
    if not carriers:
        return None
    from advisor.commands.carrier_texts import hint_of

    return hint_of(carriers)


def guess_target(resolved: ResolvedFiles) -> tuple[Target, str]:
    """Return the target and the reason, by groups, options of one flavour only, then Galera's; else MySQL."""
    groups = {line.name for f in resolved.files for line in f.lines if line.kind == "group" and line.name}
    named = next(
        (g for g in sorted(groups) if g.startswith(("mariadb", "client-mariadb")) or g in MARIADB_GROUPS), None
    )
    if named:
        return newest_target("mariadb"), f"its group [{named}] is MariaDB's"
    names = sorted({_without_prefix(normalise(o.line.name)) for o in resolved.options if o.line.name})
    only = {flavour: [n for n in names if _flavours(n) == {flavour}] for flavour in ("mysql", "mariadb")}
    if len(only["mariadb"]) > len(only["mysql"]):
        return newest_target("mariadb"), f"{only['mariadb'][0]} is known to MariaDB only"
    if only["mysql"]:
        return newest_target("mysql"), f"{only['mysql'][0]} is known to MySQL only"
    galera = next((name for name in names if name.startswith("wsrep_")), None)
    if galera:  # MySQL builds with Galera have no catalog, and MySQL itself refuses all of these lines
        return newest_target("mariadb"), f"{galera} is known only to builds with Galera"
    return newest_target("mysql"), UNDECIDED


def _flavours(name: str) -> set[str]:
    """Return the flavours with the option in any series or vendor's build; Galera options are ambiguous."""
    if name.startswith("wsrep_"):
        return {"mysql", "mariadb"}
    presence = find_presence(name)
    seen = {span.flavour for span in presence.spans} if presence else set()
    seen |= {flavour for flavour in ("mysql", "mariadb") if load(newest_target(flavour)).get(name)}
    if seen == {"mariadb"}:
        seen |= {"mysql"} if vendor_of_option(name, newest_target("mysql")) else set()
    return seen


def _without_prefix(name: str) -> str:
    prefix = next((p for p in PREFIXES if name.startswith(p)), "")
    return name[len(prefix) :]
