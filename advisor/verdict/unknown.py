"""Names that lead to no option: ambiguous, gone, from elsewhere, mistyped, or a plugin's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.catalog.elsewhere import Presence, known_elsewhere, nearest
from advisor.verdict.outcome import Outcome, Taken

if TYPE_CHECKING:
    from advisor.catalog.load import Catalog
    from advisor.verdict.outcome import Found

SWITCHES = ("skip_", "disable_", "enable_")
FLAVOURS = {"mysql": "MySQL", "mariadb": "MariaDB"}


def missing(written: str, found: Found, catalog: Catalog, loaded: frozenset[str]) -> tuple[Found, Taken]:
    """Why the target knows no such option, with the names that may be meant."""
    if found.candidates:
        return found, _ambiguous(written, found)
    name = found.canonical or bare(written, found)
    if any(name == plugin or name.startswith(plugin) for plugin in loaded):
        why = f"{name} belongs to a plugin that the file loads, so it is expected to be known then."
        return found._replace(canonical=None), Taken(Outcome.ACCEPTED, None, why)
    option = catalog.get(name)
    if option is not None and option.plugin:
        return found._replace(canonical=None), Taken(
            Outcome.UNKNOWN, None, f"{name} belongs to the plugin {option.plugin}, which this file does not load."
        )
    if option is not None and name != written.replace("-", "_").removeprefix("loose_"):
        why = f"The server tells capitals from small letters in option names, and knows {name} only."
        return found._replace(candidates=(name,)), Taken(Outcome.UNKNOWN, None, why)
    presence = known_elsewhere(name) or known_elsewhere(_unswitched(name))
    if presence is None:
        meant = nearest(name, catalog)
        hint = f"; {meant} is near" if meant else ""
        return found._replace(candidates=(meant,) if meant else ()), Taken(
            Outcome.UNKNOWN, None, f"No option of this name exists{hint}."
        )
    return found, _from_elsewhere(presence, catalog)


def bare(written: str, found: Found) -> str:
    """The name as written without a prefix that every option may have."""
    name = written.lower().replace("-", "_")
    return name.removeprefix("loose_") if found.loose else name


def _unswitched(name: str) -> str:
    """The option that a name switches, which is the one that other servers list."""
    prefix = next((prefix for prefix in SWITCHES if name.startswith(prefix)), "")
    return name.removeprefix(prefix)


def _ambiguous(written: str, found: Found) -> Taken:
    some = ", ".join(found.candidates[:4])
    more = len(found.candidates) - 4
    rest = f" and {more} more" if more > 0 else ""
    return Taken(Outcome.AMBIGUOUS, None, f"{written} is short for several options: {some}{rest}.")


def _from_elsewhere(presence: Presence, catalog: Catalog) -> Taken:
    target, successor = catalog.target, presence.replaced_by
    own = presence.span(target.flavour)
    instead = f" Use {successor}." if successor and catalog.get(successor) else ""
    if own is None:
        other = presence.spans[0].flavour if presence.spans else "other"
        return Taken(
            Outcome.UNKNOWN, None, f"Only {FLAVOURS.get(other, 'another server')} knows {presence.name}.{instead}"
        )
    if _version(own.first) > target.version:
        why = f"{presence.name} came with {FLAVOURS[own.flavour]} {own.first}, later than this target."
        return Taken(Outcome.UNKNOWN, None, why)
    if not own.gone and _version(own.last) >= target.version:
        spans = f"{FLAVOURS[own.flavour]} {own.first} to {own.last}"
        why = f"{spans} know {presence.name}, but not this version."
        return Taken(Outcome.UNKNOWN, None, why)
    last = f"in {own.gone}" if own.gone else f"after {own.last}"
    return Taken(Outcome.REMOVED, None, f"{presence.name} was removed {last}.{instead}")


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(n) for n in text.split(".") if n.isdecimal())
