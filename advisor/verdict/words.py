"""Values that are words: booleans, enumerations, flag sets, sql_mode, character sets and collations."""

from __future__ import annotations

from advisor.redaction import quote_value
from advisor.verdict.number import leading_digits
from advisor.verdict.outcome import Outcome, TakenValue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from advisor.catalog import Option
    from advisor.core.model import Target
    from advisor.verdict.outcome import LineVerdict, ValueContext


ON = ("1", "on", "true")
OFF = ("0", "off", "false")
MAX_SHOWN = 10  # members that a message lists at most
SEVERAL = -1
NONE = -2
ALL = "ALL"  # MariaDB's word for every member, unless a member starts with it
UNNAMED_BITS = {"new_mode": 2}  # MariaDB 11.8 takes 8 and 16 in its number, and ignores them


def find_member(text: str, values: Sequence[str], *, whole: bool = False) -> int:
    """Return the index of the member that a text names, else NONE or SEVERAL.

    A unique abbreviation is enough unless `whole` is set; trailing spaces are ignored.
    """
    word = text.upper()
    names = [value.upper() for value in values]
    if word.rstrip(" ") in names:
        return names.index(word.rstrip(" "))
    begun = [place for place, name in enumerate(names) if name.startswith(word)]
    if not begun or not word or whole:
        return NONE
    return begun[0] if len(begun) == 1 else SEVERAL


def parse_enum(text: str, option: Option, target: Target) -> TakenValue:
    """Parse one member of an enumeration; the value is the member's name."""
    if not text and target.is_mysql:
        return TakenValue(Outcome.INVALID, None, "One of the names is required, but the value is empty.")
    place = find_member(text, option.values)
    if place == NONE:
        place = _parse_enum_number(text, len(option.values))
    if place < 0:
        why = "matches several of" if place == SEVERAL else "is none of"
        return TakenValue(Outcome.INVALID, None, f"{quote_value(text)} {why} {', '.join(option.values)}.")
    return TakenValue(Outcome.ACCEPTED, option.values[place])


FLUSH_METHOD = "innodb_flush_method"
# Words of InnoDB that are texts to the option parser of MySQL 5.7, which reads them when it starts.
LATE_WORDS = {
    "innodb_change_buffering": ("none", "inserts", "deletes", "changes", "purges", "all"),
    "innodb_file_format": ("Antelope", "Barracuda"),
    "innodb_file_format_max": ("Antelope", "Barracuda"),
    FLUSH_METHOD: ("fsync", "O_DSYNC", "littlesync", "nosync", "O_DIRECT", "O_DIRECT_NO_FSYNC"),
}
FORMAT_NUMBERS = ("0", "1")


def parse_late_word(case: ValueContext) -> TakenValue | None:
    """Check a word that `--verbose --help` prints whatever it is, and at which a start of MySQL 5.7 may stop.

    MariaDB ignores some of these options: 10.11.19, 11.4.5 and 11.8.9 start with any word.
    """
    name, text = case.option.name, case.text
    words = LATE_WORDS[name]
    if text is None or case.option.ignored or case.target.platform == "windows":
        return None
    if name == FLUSH_METHOD:
        words += ("ALL_O_DIRECT",) if case.target.build in ("percona", "pxc") else ()
        known = text in words  # in this spelling alone
    else:
        known = text.lower() in [word.lower() for word in words] or ("format" in name and text in FORMAT_NUMBERS)
    return None if known else TakenValue(Outcome.STOPS, text, f"{quote_value(text)} is none of {', '.join(words)}.")


def _parse_enum_number(text: str, count: int) -> int:
    number, rest = leading_digits(text)
    if rest or not 0 <= number < count:
        return NONE
    return number


def parse_set(text: str, option: Option, target: Target) -> TakenValue:
    """Parse set members separated by commas, or their number; the value lists them in the server's order."""
    bits = parse_set_bits(text, option.values, equals_ends=target.is_mysql, unnamed=UNNAMED_BITS.get(option.name, 0))
    if bits is None:
        strange = unknown_words(text, option.values, equals_ends=target.is_mysql)
        verb, members_ = ("is", "no member") if len(strange) == 1 else ("are", "no members")
        known = named_members(option.values)
        which = f"none of {', '.join(known)}" if len(known) <= MAX_SHOWN else f"{members_} of {option.name}"
        why = f"{', '.join(map(quote_value, strange))} {verb} {which}."
        return TakenValue(Outcome.INVALID, None, why)
    return TakenValue(Outcome.ACCEPTED, ",".join(members_of_bits(bits, option.values)))


def parse_set_bits(text: str, values: Sequence[str], *, equals_ends: bool, unnamed: int = 0) -> int | None:
    """Return the set as bits, None if invalid; all servers refuse a trailing comma and a space after a comma.

    A number may have so many `unnamed` bits beyond those of the members.
    """
    bits = 0
    for _, place in _find_places(text, values, equals_ends=equals_ends):
        if place < 0:
            every = text.upper() == ALL and not equals_ends
            return (1 << len(values)) - 1 if every else _parse_set_number(text, len(values) + unnamed)
        bits |= 1 << place
    return bits


def unknown_words(text: str, values: Sequence[str], *, equals_ends: bool) -> list[str]:
    """Return the words of a text that name no member."""
    return [word for word, place in _find_places(text, values, equals_ends=equals_ends) if place < 0]


def _find_places(text: str, values: Sequence[str], *, equals_ends: bool) -> Iterator[tuple[str, int]]:
    """Yield the words of a text, each with the index of its member, or NONE or SEVERAL."""
    words = text.replace("=", ",").split(",") if equals_ends else text.split(",")
    for at, word in enumerate(words if text else [], 1):
        # The servers' parser accepts an abbreviation only at the very end; MariaDB stops at an =.
        name, equals, _ = word.partition("=")
        yield word, find_member(name, values, whole=at < len(words) or bool(equals))


def named_members(values: Sequence[str]) -> list[str]:
    """Return the members in use: MySQL keeps placeholders for removed modes."""
    return [value for value in values if value != "," and not value.startswith("NOT_USED")]


def members_of_bits(bits: int, values: Sequence[str]) -> list[str]:
    """Return the members that the bits stand for, in the server's order."""
    return [value for place, value in enumerate(values) if bits >> place & 1]


def _parse_set_number(text: str, count: int) -> int | None:
    number, rest = leading_digits(text)
    return None if rest or not text or not 0 <= number < 1 << count else number


def parse_boolean(text: str | None, option: Option, target: Target) -> TakenValue:
    """Parse a boolean; no value means ON. `--verbose --help` prints TRUE and FALSE."""
    word = "1" if text is None else text.lower()
    if option.arg == "none":
        return _parse_loosely("1" if text is None else text, target)
    if word in ON:
        return TakenValue(Outcome.ACCEPTED, "TRUE")
    if word in OFF:
        return TakenValue(Outcome.ACCEPTED, "FALSE")
    what = f"{quote_value(text)} is not a boolean" if text else "The value is empty"
    return TakenValue(Outcome.ADJUSTED, "FALSE", f"{what}; the server reads it as OFF.")


def _parse_loosely(text: str, target: Target) -> TakenValue:
    """Parse a boolean that officially takes no argument; MariaDB accepts any value that starts with 0 or 1."""
    word = text.lower()
    if word in ON or (target.is_mariadb and word.startswith("1")):
        return TakenValue(Outcome.ACCEPTED, "TRUE")
    if word in OFF or (target.is_mariadb and word.startswith("0")):
        return TakenValue(Outcome.ACCEPTED, "FALSE")
    what = f"{quote_value(text)} is not a boolean" if text else "the value is empty"
    return TakenValue(Outcome.ADJUSTED, None, f"The server ignores this line: {what}.")


def is_switch(line: LineVerdict) -> bool:
    """Whether the line sets a boolean; log_bin is not one, though some servers list it as such."""
    return line.option is not None and line.option.kind == "bool" and line.value in ("TRUE", "FALSE", None)


def is_misread(line: LineVerdict) -> bool:
    """Whether the server reads an invalid boolean or number, or an empty value, as OFF or 0."""
    text, option = line.placed.line.value, line.option
    if line.outcome is not Outcome.ADJUSTED or text is None or option is None:
        return False
    if option.kind == "bool":
        return text.lower() not in (*ON, *OFF) and is_switch(line)
    return option.kind in ("int", "uint", "double") and leading_digits(text)[1] == text


ALL_FLAGS = "default"
SETTINGS = ("off", "on", "default")


def split_flags(text: str) -> dict[str, str]:
    """Return flags as `--verbose --help` prints them, `a=on,b=off`, by name."""
    return dict(part.split("=", 1) for part in text.split(",") if "=" in part)


def parse_flags(text: str, option: Option, before: str | None, target: Target) -> TakenValue:
    """Apply flags to the previous state; setting a flag twice is refused."""
    state, bad = _read_flags(text, option, before, target)
    if bad is not None:
        return TakenValue(
            Outcome.INVALID, None, f"{quote_value(bad)} is not a flag with =on, =off or =default, or is given twice."
        )
    return TakenValue(Outcome.ACCEPTED, _print_flags(state))


def flags_before_error(text: str, option: Option, before: str | None) -> str:
    """Return MariaDB's flags behind loose- if one is invalid: those before the invalid one are set."""
    state, _ = _read_flags(text, option, before, None)
    return _print_flags(state)


def _read_flags(
    text: str, option: Option, before: str | None, target: Target | None
) -> tuple[dict[str, str], str | None]:
    """Return the resulting flags and the first invalid part; `target` None applies MariaDB's rules."""
    defaults = _all_flags(option, option.default)
    changed: dict[str, str] = {}
    whole, bad = False, None
    parts = text.split(",") if text else []
    for at, part in enumerate(parts, 1):
        name, equals, setting = part.partition("=")
        # MySQL accepts abbreviations only at the very end of the text.
        short = target is not None and target.is_mysql and at == len(parts)
        flag = _find_flag(name, defaults, whole=not short or bool(equals))
        if flag == ALL_FLAGS and not equals and not whole:
            whole = True
            continue
        place = find_member(setting, SETTINGS, whole=not short)
        if flag in defaults and flag not in changed and place == SEVERAL and short and setting:
            continue  # MySQL accepts an ambiguous abbreviation at the very end, and ignores it
        if flag is None or flag == ALL_FLAGS or flag in changed or place < 0:
            bad = part
            break
        changed[flag] = SETTINGS[place] if SETTINGS[place] != "default" else defaults[flag]
    state = defaults if whole or before is None else _all_flags(option, before)
    return state | changed, bad


def _all_flags(option: Option, printed: str | None) -> dict[str, str]:
    """Return every flag with its setting; `--verbose --help` omits those after the last that is on."""
    known = split_flags(printed or "")
    names = [name for name in option.values if name.lower() != ALL_FLAGS] or list(split_flags(option.default or ""))
    return {name: known.get(name, "off") for name in names}


def _print_flags(state: dict[str, str]) -> str:
    last = max((place for place, setting in enumerate(state.values(), 1) if setting == "on"), default=0)
    return ",".join([f"{name}={setting}" for name, setting in list(state.items())[:last]])


def _find_flag(name: str, flags: dict[str, str], *, whole: bool) -> str | None:
    names = (*flags, ALL_FLAGS)
    place = find_member(name, names, whole=whole)
    return names[place] if place >= 0 else None


_ANSI = ("REAL_AS_FLOAT", "PIPES_AS_CONCAT", "ANSI_QUOTES", "IGNORE_SPACE")
_OTHERS = ("PIPES_AS_CONCAT", "ANSI_QUOTES", "IGNORE_SPACE", "NO_KEY_OPTIONS", "NO_TABLE_OPTIONS", "NO_FIELD_OPTIONS")
# Values that each server printed for the mode alone; members that a target does not have are dropped.
MODE_EXPANSIONS = {
    "ANSI": _ANSI,
    "TRADITIONAL": (
        "STRICT_TRANS_TABLES",
        "STRICT_ALL_TABLES",
        "NO_ZERO_IN_DATE",
        "NO_ZERO_DATE",
        "ERROR_FOR_DIVISION_BY_ZERO",
        "NO_AUTO_CREATE_USER",
        "NO_ENGINE_SUBSTITUTION",
    ),
    "POSTGRESQL": _OTHERS,
    "ORACLE": (*_OTHERS, "NO_AUTO_CREATE_USER", "SIMULTANEOUS_ASSIGNMENT"),
    "MSSQL": _OTHERS,
    "DB2": _OTHERS,
    "MAXDB": (*_OTHERS, "NO_AUTO_CREATE_USER"),
    "MYSQL323": ("HIGH_NOT_PRECEDENCE",),
    "MYSQL40": ("HIGH_NOT_PRECEDENCE",),
}
# Modes of MySQL 5.7 that 8.0 removed.
REMOVED_MODES = (
    *("DB2", "MAXDB", "MSSQL", "MYSQL323", "MYSQL40", "NO_AUTO_CREATE_USER", "NO_FIELD_OPTIONS", "NO_KEY_OPTIONS"),
    *("NO_TABLE_OPTIONS", "ORACLE", "POSTGRESQL"),
)


def parse_sql_mode(case: ValueContext) -> TakenValue | None:
    """Parse a list of SQL modes; the value includes the modes that combination modes stand for."""
    if not case.option.values:
        return None
    bits = parse_set_bits(case.text or "", case.option.values, equals_ends=case.target.is_mysql)
    if bits is None:
        return _refuse_removed_mode(case)
    values = case.option.values
    return TakenValue(Outcome.ACCEPTED, expand_modes(members_of_bits(bits, values), values, case.target))


def _refuse_removed_mode(case: ValueContext) -> TakenValue | None:
    """Return a refusal if the only unknown modes are those that MySQL 8.0 removed; None otherwise."""
    strange = unknown_words(case.text or "", case.option.values, equals_ends=case.target.is_mysql)
    gone = [mode.strip().upper() for mode in strange]
    if not case.target.is_mysql or not set(gone) <= set(REMOVED_MODES):
        return None
    modes = "the modes" if len(gone) > 1 else "the mode"
    return TakenValue(Outcome.INVALID, None, f"MySQL 8.0 removed {modes} {', '.join(gone)}.")


def expand_modes(given: Sequence[str], values: Sequence[str], target: Target) -> str:
    """Expand combination modes; MySQL's ANSI includes ONLY_FULL_GROUP_BY, MariaDB's does not."""
    names = set(given).union(*(MODE_EXPANSIONS.get(mode, ()) for mode in given))
    if "ANSI" in names and target.is_mysql:
        names.add("ONLY_FULL_GROUP_BY")
    return ",".join([mode for mode in values if mode in names])


# Tested on all six servers as character_set_server.
COMMON = frozenset(
    [
        "armscii8",
        "ascii",
        "big5",
        "binary",
        "cp1250",
        "cp1251",
        "cp1256",
        "cp1257",
        "cp850",
        "cp852",
        "cp866",
        "cp932",
        "dec8",
        "eucjpms",
        "euckr",
        "gb2312",
        "gbk",
        "geostd8",
        "greek",
        "hebrew",
        "hp8",
        "keybcs2",
        "koi8r",
        "koi8u",
        "latin1",
        "latin2",
        "latin5",
        "latin7",
        "macce",
        "macroman",
        "sjis",
        "swe7",
        "tis620",
        "ucs2",
        "ujis",
        "utf16",
        "utf16le",
        "utf32",
        "utf8mb3",
        "utf8mb4",
    ]
)


def known_charsets(target: Target) -> frozenset[str]:
    """Return the known character set names; utf8 is an alias of utf8mb3, which MySQL 9.7 no longer accepts."""
    names = COMMON
    if target.is_mysql:
        names |= {"gb18030"}
    return names if target.since("mysql", 9, 7) else names | {"utf8"}


def parse_charset(case: ValueContext) -> TakenValue | None:
    """Parse a character set name, case-insensitively; the value is printed as written."""
    if case.text is None and case.target.is_mysql:
        return None
    text = case.text or ""
    # Before 9.7 the server uses the first known name of a list.
    several = case.option.name == "character_set_server" and not case.target.since("mysql", 9)
    for name in text.split(",") if several else [text]:
        if name.lower() in known_charsets(case.target):
            return TakenValue(Outcome.ACCEPTED, name)
    hint = ": write utf8mb4, or utf8mb3 for the old one" if text.lower() == "utf8" else ""
    return TakenValue(Outcome.INVALID, text, f"{quote_value(text)} is not a character set of this server{hint}.")


def charset_of(collation: str) -> str:
    """The character set that a collation belongs to."""
    return collation.lower().partition("_")[0]


def full_charset_name(charset: str) -> str:
    """Return the full name of a character set."""
    return "utf8mb3" if charset.lower() == "utf8" else charset.lower()
