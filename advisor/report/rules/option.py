"""An option as a page for people: what it does and takes, its default in every series, and which rules speak of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.catalog.descriptions import describe_option
from advisor.catalog.targets import catalog_for
from advisor.report.words import wrap

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from advisor.catalog.elsewhere import KnownSpan, Presence
    from advisor.catalog.load import Option
    from advisor.core.model import Target
    from rules.core.rule import Rule

KINDS = {
    "bool": "boolean",
    "int": "whole number",
    "uint": "whole number",
    "double": "number",
    "enum": "one word of a list",
    "set": "words of a list",
    "flagset": "switches of a list",
    "string": "text",
    "flag": "switch without a value",
}
LONG = 60  # a list that is longer than a line of the table is broken at its commas
ARGUMENTS = {"none": "takes no value", "optional": "value optional", "required": "value required"}


def page(
    name: str,
    everywhere: Mapping[Target, Option | None],
    rules: Sequence[Rule],
    *,
    here: Option | None = None,
    target: Target | None = None,
    presence: Presence | None = None,
    width: int = 80,
) -> str:
    """The page; `here` is the option of the target that was asked about, None where it has none or none was named.

    `presence` tells which versions knew it, of an option that the target lacks, or all supported series.
    """
    newest = next((t for t, option in reversed(list(everywhere.items())) if option is not None), None)
    shown = here or (everywhere[newest] if newest else None)
    details = _before(presence) if shown is None else _details(shown, width)
    does = wrap(describe_option(name, shown), width=width)
    blocks = [name, does, *_asked_about(here, target, newest, presence), details, _defaults(everywhere, width)]
    if rules:
        spoken = "\n".join(wrap(f"{r.code} {r.name}: {r.summary}", "  ", "    ", width) for r in rules)
        blocks.append(f"Rules about it\n{spoken}")
    return "\n\n".join(block for block in blocks if block) + "\n"


def _asked_about(
    here: Option | None, target: Target | None, newest: Target | None, presence: Presence | None
) -> Iterator[str]:
    """Of which version the details are; of one that lacks it, who had it, and that the details are another's."""
    if target is not None and here is None:
        yield _lacks(target)
        yield _before(presence) if newest else ""
    teller = target if here else newest
    if target is not None and teller is not None:
        yield f"As {teller.label} knows it"


def _lacks(target: Target) -> str:
    """Which version lacks the option: for a target beyond the catalogs, the one by which it is read."""
    read_as = catalog_for(target)
    if read_as == target:
        return f"{target.label} has no such option."
    return f"{read_as.label}, by which mycnf reads {target.label}, has no such option."


def _before(presence: Presence | None) -> str:
    names = {"mysql": "MySQL", "mariadb": "MariaDB"}
    spans = presence.spans if presence else ()
    lines = [f"  known to {names[s.flavour]}{_history(s)}" for s in spans]
    lines += [f"  replaced by {presence.replaced_by}"] if presence and presence.replaced_by else []
    return "\n".join(lines)


def _history(span: KnownSpan) -> str:
    """What the manuals say of the option's past."""
    came = f"introduced in {' and '.join(span.came)}" if span.came else ""
    said = [*([came] if came else []), *([f"removed in {span.gone}"] if span.gone else [])]
    return f" ({', '.join(said)})" if said else ""


def _details(option: Option, width: int) -> str:
    kind = f"{KINDS.get(option.kind, option.kind)}, {ARGUMENTS.get(option.arg, option.arg)}"
    facts = [
        ("takes", kind),
        ("values", ", ".join(option.values)),
        ("range", _range(option)),
        ("variable", _variable(option)),
        ("since", option.since or "" if "since" in option.documented else ""),
        ("deprecated", _deprecated(option)),
        ("plugin", option.plugin or ""),
        ("another name of", option.alias_of or ""),
        ("note", "accepted, and does nothing" if option.ignored else ""),
    ]
    return "\n".join(wrap(text, f"  {title}: ", "    ", width) for title, text in facts if text)


def _range(option: Option) -> str:
    if option.min is None and option.max is None:
        return ""
    low = "no lower bound" if option.min is None else f"{option.min:,}"
    high = "no upper bound" if option.max is None else f"{option.max:,}"
    return f"{low} to {high}" + (f", in steps of {option.block:,}" if option.block > 1 else "")


def _variable(option: Option) -> str:
    if option.variable is None:
        return "none: an option of the command line and of files only"
    change = {True: "can be changed while the server runs", False: "needs a restart"}.get(bool(option.dynamic), "")
    scope = {"both": "global and of sessions"}.get(option.scope or "", option.scope or "")
    return ", ".join(part for part in (option.variable, scope, change) if part)


def _deprecated(option: Option) -> str:
    instead = f", use {option.replaced_by}" if option.replaced_by else ""
    since = f"since {option.deprecated}" if "deprecated" in option.documented else "yes"
    return f"{since}{instead}" if option.deprecated else ""


def _defaults(everywhere: Mapping[Target, Option | None], width: int) -> str:
    rows = []
    for target, option in everywhere.items():
        rows.append(wrap(_default(option), f"  {target.label:<18}", " " * 20, width))
    return "\n".join(["Default", *rows])


def _default(option: Option | None) -> str:
    if option is None:
        return "no such option"
    if option.ignored:
        return "accepted, and does nothing"
    shown = option.default if option.default is not None else "depends on the host" if option.host else "not known"
    if len(shown) > LONG:
        shown = shown.replace(",", ", ")
    return shown + (f" (running: {option.running})" if option.running is not None else "")
