"""Judges one option with its value: finds the option, applies prefixes, and reads the value by the option's kind."""

from __future__ import annotations

from advisor.verdict import special
from advisor.verdict.names import LONG, find_name
from advisor.verdict.number import number_behind_loose, parse_number
from advisor.verdict.outcome import REFUSED, Argument, NameMatch, Outcome, TakenValue, ValueContext
from advisor.verdict.words import parse_boolean, parse_enum, parse_set

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.catalog import Catalog, Option
    from advisor.core.model import Target

NEGATIVE = ("skip", "disable")
ENABLED = Argument("1", implied=True)
NUMBERS = ("int", "uint", "double")
WORDS = ("enum", "set", "flagset")
READERS = {"int": parse_number, "uint": parse_number, "enum": parse_enum, "set": parse_set}
# The options that MariaDB sizes with autoset-; with any other it stops, and behind loose- it crashes.
AUTOSIZED = frozenset(
    {
        "back_log",
        "host_cache_size",
        "open_files_limit",
        "tcp_keepalive_interval",
        "tcp_keepalive_probes",
        "tcp_keepalive_time",
    }
)
# Initial values of options that MariaDB derives from max_connections unless a line sets them.
COMPILED = {"back_log": "150", "host_cache_size": "128"}
LEFT_TO_SERVER = "-1"  # until max_connections is known
# If the catalog lists no members, any value is accepted.
LISTED = (parse_enum, parse_set)


def judge_option(
    written: str,
    value: str | None,
    catalog: Catalog,
    before: Mapping[str, str],
    loaded: frozenset[str] = frozenset(),
    *,
    short: bool = True,
) -> tuple[NameMatch, TakenValue]:
    """Return the option that the name refers to and how the server takes the value.

    `before` holds the options' values before this line, as `--verbose --help` prints them; `loaded` the plugins that
    the file loads; `short` says whether MariaDB accepts abbreviations.
    """
    match, taken = _judge_option(written, value, catalog, before, loaded, short=short)
    if catalog.of_other_build:
        from advisor.verdict.unknown import hedge_refusal

        taken = hedge_refusal(taken, catalog)
    return match, taken


def _judge_option(
    written: str, value: str | None, catalog: Catalog, before: Mapping[str, str], loaded: frozenset[str], *, short: bool
) -> tuple[NameMatch, TakenValue]:
    """Judge the option as the server does whose facts are used."""
    match = find_name(written, catalog, has_value=value is not None, short=short)
    option = None if match.canonical is None else catalog.get(match.canonical)
    if option is None or (option.plugin and option.plugin not in loaded):
        # Imported lazily: reading what other servers know is needed for unknown names only.
        from advisor.verdict.unknown import explain_missing

        return explain_missing(written, match, catalog, loaded)
    was = before.get(option.alias_of or option.name)
    if match.prefix == "maximum":
        from advisor.verdict.number import reads_64_bits, wide_value

        was = wide_value(option, before, catalog) if reads_64_bits(option, catalog.target) else was
    taken = _take_cached(option, match, value, catalog, was)
    if match.cache:
        taken = taken._replace(value=None)
    implied = match.prefix and match.prefix != "maximum"
    if implied and taken.outcome is Outcome.ADJUSTED and taken.value == "0" and value and not value.strip("0"):
        taken = TakenValue(Outcome.ACCEPTED, "0")
    if match.loose and catalog.target.is_mariadb and taken.outcome is Outcome.INVALID and taken.value is None:
        taken = _ignore_bad_value(option, match, taken, value or "", was)
    late = taken.outcome is Outcome.STOPS
    word = late or option.kind in WORDS or (option.kind == "string" and not catalog.whole)
    if (late or taken.outcome is Outcome.INVALID) and word and value and not match.prefix:
        from advisor.verdict.unknown import judge_unknown_word

        taken = judge_unknown_word(option, value, taken, catalog)
    return match, taken


def _take_cached(
    option: Option, match: NameMatch, value: str | None, catalog: Catalog, before: str | None
) -> TakenValue:
    """Return the cached result for the value, or judge it."""
    key = ("take", match, value, before)
    known: TakenValue | None = catalog.kept.get(key)
    if known is None:
        known = _take(option, match, value, catalog.target, before)
        if len(value or "") + len(before or "") < LONG:
            catalog.keep(key, known)
    return known


def _take(option: Option, match: NameMatch, value: str | None, target: Target, before: str | None) -> TakenValue:
    if match.prefix == "maximum" and _has_argument(option, target):
        return _take_maximum(option, match, value, target, before)
    if match.prefix == "autoset" and _has_argument(option, target):
        return _take_autoset(option, value)
    argument = _apply_prefix(match.prefix, value)
    if option.kind == "string" and argument == ENABLED and option.arg != "none":
        argument = Argument(None)
    needed = option.arg == "required" or (target.is_mariadb and option.name in special.CRASHES_WITHOUT_VALUE)
    if needed and argument.text is None and not match.prefix:
        return TakenValue(Outcome.MISSING_ARGUMENT, None, f"{option.name} needs a value.")
    handler = special.handler_for(option, target)
    taken = handler(ValueContext(argument, option, target, before)) if handler else None
    return taken or _read_by_kind(argument, option, target, before)


def _apply_prefix(prefix: str, value: str | None) -> Argument:
    """skip- and disable- replace the value by 0, enable- by 1; with the value 0 each does the opposite."""
    if prefix in NEGATIVE:
        return Argument("1" if value == "0" else "0", implied=True)
    if prefix == "enable":
        return Argument("0" if value == "0" else "1", implied=True)
    return Argument(value)


def _read_by_kind(argument: Argument, option: Option, target: Target, before: str | None) -> TakenValue:
    """Read the value as options of that kind do."""
    if option.arg == "none" and option.kind != "bool" and argument.text is not None:
        why = ", and a prefix counts as one" if argument.implied else ""
        return TakenValue(Outcome.UNEXPECTED_ARGUMENT, None, f"{option.name} takes no value{why}.")
    if option.kind == "string":
        return _take_text(argument.text, target)
    if option.kind == "bool":
        return parse_boolean(argument.text, option, target)
    text = "1" if argument.text is None else argument.text
    return TakenValue(Outcome.ACCEPTED) if option.kind == "flag" else _read_text_kind(text, option, target, before)


def _take_text(text: str | None, target: Target) -> TakenValue:
    """Read a string; without a value MySQL keeps the previous one, MariaDB empties it."""
    if text is None:
        return TakenValue(Outcome.ACCEPTED, None if target.is_mysql else "")
    return TakenValue(Outcome.ACCEPTED, text)


def _read_text_kind(text: str, option: Option, target: Target, before: str | None) -> TakenValue:
    """Read the value of a kind for which no value means 1."""
    if option.kind == "flagset":
        from advisor.verdict.words import parse_flags

        return parse_flags(text, option, before, target)
    if option.kind == "double":
        from advisor.verdict.number import parse_real

        return parse_real(text, option, target)
    reader = READERS[option.kind]
    return (
        TakenValue(Outcome.ACCEPTED, text) if reader in LISTED and not option.values else reader(text, option, target)
    )


def _has_argument(option: Option, target: Target) -> bool:
    """Whether the option takes a value; MariaDB sets the others before it looks at a prefix."""
    return option.arg != "none" or target.is_mysql


def _take_maximum(
    option: Option, match: NameMatch, value: str | None, target: Target, before: str | None
) -> TakenValue:
    """maximum- limits session values and leaves the option's own value alone; engine options use it as the value."""
    from advisor.verdict.number import apply_bound, reads_64_bits

    if option.arg == "required" and value is None:
        return TakenValue(Outcome.MISSING_ARGUMENT, None, f"maximum-{option.name} needs a value.")
    if option.maximum is None and option.shown:
        return TakenValue(Outcome.INVALID, None, f"{option.name} has no maximum that can be set.")
    taken = _take(option, match._replace(prefix=""), value, target, before)
    if taken.outcome not in REFUSED and (option.maximum == "bounds" or reads_64_bits(option, target)):
        return apply_bound(option, value or "1", taken, target, before or option.default or "0")
    return taken if option.maximum == "sets" or taken.outcome in REFUSED else taken._replace(value=None)


def _take_autoset(option: Option, value: str | None) -> TakenValue:
    if value is not None:
        return TakenValue(Outcome.UNEXPECTED_ARGUMENT, None, f"autoset-{option.name} takes no value.")
    if option.name not in AUTOSIZED:
        return TakenValue(
            Outcome.INVALID, None, f"The server does not size {option.name} by itself: remove the prefix autoset-."
        )
    return TakenValue(Outcome.ACCEPTED, LEFT_TO_SERVER if option.name in COMPILED else None)


def _ignore_bad_value(
    option: Option, match: NameMatch, taken: TakenValue, value: str, before: str | None
) -> TakenValue:
    """MariaDB starts with an invalid value behind loose-.

    A number becomes 0 regardless of its minimum; of flags, those before the invalid one are set; other kinds keep their
    value.
    """
    if option.name in special.CRASHES_AT_0 or not option.shown or match.prefix == "autoset":
        return taken
    if match.prefix == "maximum" and option.maximum != "sets":
        return _ignore_bad_bound(option, taken, before)
    if option.kind in NUMBERS:
        low = number_behind_loose(option, value)
        return TakenValue(
            Outcome.ADJUSTED, low, f"{taken.reason} Because of loose- the server continues, and uses {low}."
        )
    if option.kind == "flagset":
        from advisor.verdict.words import flags_before_error

        why = f"{taken.reason} Because of loose- the server continues, and uses the flags before it."
        return TakenValue(Outcome.ADJUSTED, flags_before_error(value, option, before), why)
    if option.kind == "set":
        why = f"{taken.reason} Because of loose- the server continues, and uses none of them."
        return TakenValue(Outcome.ADJUSTED, special.NO_MEMBER.get(option.name, ""), why)
    return TakenValue(Outcome.ADJUSTED, None, f"{taken.reason} Because of loose- the server continues without it.")


def _ignore_bad_bound(option: Option, taken: TakenValue, before: str | None) -> TakenValue:
    """An unreadable maximum- behind loose-: the option keeps its value, but sessions are limited to 0."""
    if option.maximum is None:
        value = COMPILED.get(option.name) if before in (None, LEFT_TO_SERVER) else None
        size = f", and no longer sizes {option.name} by itself" if value else ""
        return TakenValue(
            Outcome.ACCEPTED, value, f"{taken.reason} Because of loose- the server continues without it{size}."
        )
    left = "continues without it" if option.kind == "enum" else "continues, and no session may set more than 0"
    return TakenValue(Outcome.ADJUSTED, None, f"{taken.reason} Because of loose- the server {left}.")
