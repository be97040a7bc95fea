"""Reads a configuration: its settings, and its house rules."""

from __future__ import annotations

import os
import re
import stat
import tomllib

from advisor.catalog import load
from advisor.catalog.presence import nearest_option
from advisor.catalog.targets import SERIES, parse_target
from advisor.config import MAX_BYTES, OWN_FILE, PYPROJECT
from advisor.config.shape import Fault, find_faults
from advisor.core import NamedTuple
from advisor.core.errors import MycnfError, did_you_mean
from advisor.core.model import Severity, Target
from advisor.verdict import REFUSED, judge_value
from advisor.verdict.names import find_name
from rules.policy.house_rule import NUMBER_KINDS, HouseRule, find_option, meets_rules, parse_number, root_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from advisor.catalog import Catalog, Option
    from advisor.config.shape import Keys


LARGEST = 1 << 64  # no option holds a number beyond it
NamedRule = tuple["Keys", HouseRule]


def parse_house_rules(table: dict[str, Any]) -> tuple[HouseRule, ...]:
    """The rules of a `house` table that has the right shape."""
    return tuple(rule for _, rule in _named_rules(table))


def find_house_faults(table: dict[str, Any]) -> Iterator[Fault]:
    """What is wrong with such a table: options that no series knows, values that none takes, contradictions."""
    named = list(_named_rules(table))
    clear = True
    for keys, rule in named:
        for fault in _name_faults(keys, rule) or _house_value_faults(keys, rule):
            clear = False
            yield fault
    if clear:
        yield from _contradictions(named)


def _named_rules(table: dict[str, Any]) -> Iterator[NamedRule]:
    for name, given in table.items():
        for entry in given if isinstance(given, list) else [given]:
            yield ("house", name), _rule(name, entry)


def _rule(name: str, given: dict[str, Any]) -> HouseRule:
    targets = given.get("targets", [])
    return HouseRule(
        option=name.strip().lower().replace("-", "_"),
        required=given.get("required", False),
        forbidden=given.get("forbidden", False),
        minimum=_text(given["minimum"]) if "minimum" in given else None,
        maximum=_text(given["maximum"]) if "maximum" in given else None,
        allowed=tuple(map(_text, given.get("allowed", ()))),
        message=given.get("message", "").strip(),
        severity=Severity(given.get("severity", Severity.WARNING)),
        targets=tuple(map(_span, [targets] if isinstance(targets, str) else targets)),
    )


def _text(value: str | bool | float) -> str:
    """A value of TOML as an option file would hold it."""
    if isinstance(value, bool):
        return "ON" if value else "OFF"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip()


def _span(text: str) -> tuple[str, tuple[int, ...]]:
    flavour, _, version = text.strip().partition("-")
    return flavour, tuple(int(part) for part in version.split(".")) if version else ()


def _catalogs(rule: HouseRule) -> Iterator[Catalog]:
    """The catalogs of the versions that a rule is meant for, the newest series of each flavour first."""
    for flavour, series in SERIES.items():
        for name, patch in sorted(series.items(), reverse=True):
            exact = [v for f, v in rule.targets if f == flavour and v[:2] == name and len(v) > len(name)]
            targets = [Target(flavour, v) for v in exact] or [Target(flavour, patch)]
            yield from (load(t) for t in targets if rule.concerns(t))


def _options_in_catalogs(rule: HouseRule) -> Iterator[tuple[Option, Catalog]]:
    """The option in each catalog that has it; loaded one by one, for the first is mostly enough."""
    for catalog in _catalogs(rule):
        option = find_option(rule.option, catalog)
        if option is not None:
            yield option, catalog


def _name_faults(keys: Keys, rule: HouseRule) -> list[Fault]:
    """Why no catalog leads from the name to an option; empty where one does."""
    if next(_options_in_catalogs(rule), None) is not None:
        return []
    catalogs = list(_catalogs(rule))
    if not catalogs:
        return [Fault((*keys, "targets"), "none of the targets is a supported series")]
    for catalog in catalogs:
        led = find_name(rule.option, catalog, has_value=True, short=False)
        if led.canonical and led.prefix:
            why = f"{rule.option} sets {led.canonical}; write the rule for that option and its values"
            return [Fault(keys, why)]
    meant = next((near for catalog in catalogs if (near := nearest_option(rule.option, catalog))), None)
    scope = "of its targets " if rule.targets else ""
    hint = f"; did you mean {meant}?" if meant else ""
    return [Fault(keys, f"no supported series {scope}has an option {rule.option}{hint}")]


def _house_value_faults(keys: Keys, rule: HouseRule) -> list[Fault]:
    """Bounds that are no number to the option, and values that no version takes."""
    faults = []
    for key, bound in (("minimum", rule.minimum), ("maximum", rule.maximum)):
        if bound is not None and not any(_is_number(bound, option.kind) for option, _ in _options_in_catalogs(rule)):
            why = "it is not numeric" if not _holds_number(rule) else f"{bound} is not a number that it accepts"
            faults.append(Fault((*keys, key), f"{rule.option} can't have this {key}: {why}"))
    strange = [given for given in rule.allowed if not _is_accepted(given, rule)]
    why = f"for {rule.option}{_accepted_values_hint(rule)}" if strange else ""
    return faults + [Fault((*keys, "allowed"), f"no supported server accepts {given!r} {why}") for given in strange]


def _is_accepted(given: str, rule: HouseRule) -> bool:
    """Whether some version takes the value; those that list what they take outweigh those that believe everything.

    A series of which no server was examined does not count, because nothing is refused there.
    """
    knowing = list(_options_in_catalogs(rule))
    listing = [(option, catalog) for option, catalog in knowing if option.values and catalog.whole] or knowing
    return any(judge_value(option.name, given, catalog).outcome not in REFUSED for option, catalog in listing)


def _holds_number(rule: HouseRule) -> bool:
    return any(option.kind in NUMBER_KINDS for option, _ in _options_in_catalogs(rule))


def _is_number(text: str, kind: str) -> bool:
    given = parse_number(text, kind) if kind in NUMBER_KINDS else None
    return given is not None and abs(given) <= LARGEST


def _accepted_values_hint(rule: HouseRule) -> str:
    values = next((option.values for option, _ in _options_in_catalogs(rule) if option.values), ())
    return f"; valid values: {', '.join(values)}" if values else ""


def _contradictions(named: list[NamedRule]) -> Iterator[Fault]:
    """Rules that no value can meet on some series, each reported once."""
    roots = {rule: root_name(option) for _, rule in named for option, _ in [next(_options_in_catalogs(rule))]}
    reported: set[str] = set()
    for target in (Target(flavour, patch) for flavour, series in SERIES.items() for patch in series.values()):
        together: dict[str, list[NamedRule]] = {}
        for keys, rule in named:
            if rule.concerns(target):
                together.setdefault(roots[rule], []).append((keys, rule))
        for name, several in together.items():
            why = _contradiction([rule for _, rule in several]) if name not in reported else ""
            if why:
                reported.add(name)
                yield Fault(several[-1][0], why)


def _contradiction(rules: list[HouseRule]) -> str:
    """What contradicts what, empty if a value can meet all of the rules."""
    if any(r.forbidden for r in rules):
        asks = any(r.required or r.minimum or r.maximum or r.allowed for r in rules)
        return "it is forbidden, and another rule sets a condition for it" if asks else ""
    kind = next(_options_in_catalogs(rules[0]))[0].kind
    low = max((r.minimum for r in rules if r.minimum), key=lambda text: parse_number(text, kind) or 0, default=None)
    high = min((r.maximum for r in rules if r.maximum), key=lambda text: parse_number(text, kind) or 0, default=None)
    if low and high and (parse_number(low, kind) or 0) > (parse_number(high, kind) or 0):
        return f"the minimum {low} is above the maximum {high}"
    named = [value for r in rules for value in r.allowed]
    if named and not any(meets_rules(rules, o, value, c) for o, c in _options_in_catalogs(rules[0]) for value in named):
        return f"none of the allowed values ({', '.join(named)}) satisfies all rules"
    return ""


class Configuration(NamedTuple):
    """What a configuration file says; None where it says nothing. Paths are whole, words as written.

    `per_file` holds a pattern and its words; patterns are relative to `folder`. `house` is None without house rules,
    and `ended` has a line for each entry of `ignore` and `per_file` that is left out, as its last day is past.
    """

    path: str
    folder: str
    target: tuple[str, ...] | None = None
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] | None = None
    fail_on: str | None = None
    baseline: str | None = None
    root: str | None = None
    format: str | None = None
    ram: str | None = None
    cpus: int | None = None
    disk: str | None = None
    per_file: tuple[tuple[str, tuple[str, ...]], ...] = ()
    house: tuple[HouseRule, ...] | None = None
    ended: tuple[str, ...] = ()


def read_configuration(path: str) -> Configuration:
    """The configuration of a file; raises ConfigError, one line with file, line and key, for what can't be used."""
    text = read_text(path)
    table = parse_table(text, path)
    for fault in find_faults(table):
        raise _config_error(path, text, fault)
    for fault in _value_faults(table):
        raise _config_error(path, text, fault)
    return _build_configuration(path, table)


def _config_error(path: str, text: str, fault: Fault) -> ConfigError:
    line = find_line(text, table_prefix(path) + fault.keys) if fault.keys else None
    where = f"{path}:{line}" if line else path
    return ConfigError(f"{where}: {'.'.join((*table_prefix(path), *fault.keys)) or 'the document'}: {fault.message}")


def _build_configuration(path: str, table: dict[str, Any]) -> Configuration:
    folder = os.path.dirname(os.path.abspath(path))
    ignored = _ignored_now(table.get("ignore"))
    per_file = {pattern: _ignored_now(words) for pattern, words in table.get("per-file-ignores", {}).items()}
    dated = {"ignore": ignored} | {f"per-file-ignores.{pattern}": now for pattern, now in per_file.items()}
    ended = [(key, entry) for key, now in dated.items() for entry in now.ended]
    return Configuration(
        path=path,
        folder=folder,
        target=_split_names(table.get("target")),
        select=_split_names(table.get("select")),
        ignore=ignored.words if table.get("ignore") is not None else None,
        fail_on=table.get("fail-on"),
        baseline=_relative_to(folder, table.get("baseline")),
        root=_relative_to(folder, table.get("root")),
        format=table.get("format"),
        ram=table.get("ram"),
        cpus=int(table["cpus"]) if "cpus" in table else None,
        disk=table.get("disk"),
        per_file=tuple((pattern, now.words) for pattern, now in per_file.items()),
        house=parse_house_rules(table["house"]) if table.get("house") else None,
        ended=tuple(f"{path}: {key}: {e.words} ended on {e.day} and no longer applies" for key, e in ended),
    )


def _split_names(written: str | list[str] | None) -> tuple[str, ...] | None:
    """One word or several; one text may hold several with commas between, as on the command line."""
    if written is None:
        return None
    texts = [written] if isinstance(written, str) else written
    return tuple(word.strip() for text in texts for word in text.split(",") if word.strip())


class DatedEntry(NamedTuple):
    """An entry of `ignore` or `per-file-ignores`: its names, and the date after `until` with what is wrong with it."""

    words: str
    day: str = ""
    fault: str = ""


class IgnoredNow(NamedTuple):
    """The names that a key ignores today, and the entries whose last day is past."""

    words: tuple[str, ...]
    ended: tuple[DatedEntry, ...]


def _dated_entries(written: str | list[str] | None) -> list[DatedEntry]:
    """The entries of a key, each with its names and its last day, as in `BUF001 until 2027-01-31 see OPS-1234`."""
    return [_dated_entry(text) for text in ([written] if isinstance(written, str) else written or [])]


def _dated_entry(text: str) -> DatedEntry:
    match = re.fullmatch(r"(.*?)\s+(until\b.*)", text.strip(), re.DOTALL | re.IGNORECASE)
    if match is None:
        return DatedEntry(text)
    from advisor.analysis.suppress import SAMPLE_DAY, read_expiry

    expiry = read_expiry(match[2])
    written = expiry.wrong or match[2][len("until") :].strip()
    fault = f"{written!r} is not a date; write {match[1]} until {SAMPLE_DAY}, year first"
    return DatedEntry(match[1], expiry.day, "" if expiry.day else fault)


def _ignored_now(written: str | list[str] | None) -> IgnoredNow:
    """What a key ignores on the day of this run."""
    entries = _dated_entries(written)
    if not any(entry.day for entry in entries):
        return IgnoredNow(_split_names([entry.words for entry in entries]) or (), ())
    from advisor.analysis.suppress import is_over
    from advisor.report.output import today

    now = today()
    ended = tuple(entry for entry in entries if is_over(entry.day, now))
    return IgnoredNow(_split_names([entry.words for entry in entries if entry not in ended]) or (), ended)


def _relative_to(folder: str, path: str | None) -> str | None:
    return None if path is None else os.path.join(folder, os.path.expanduser(path))


def _value_faults(table: dict[str, Any]) -> Iterator[Fault]:
    """What is wrong with a document of the right shape: names that nothing has, values that contradict each other."""
    for target in _split_names(table.get("target")) or ():
        try:
            parse_target(target)
        except MycnfError as error:
            yield Fault(("target",), str(error))
    yield from _unknown_rules(("select",), table.get("select"))
    yield from _ignored_faults(("ignore",), table.get("ignore"))
    for pattern, words in table.get("per-file-ignores", {}).items():
        yield from _ignored_faults(("per-file-ignores", pattern), words)
    if "ram" in table and not any(digit in "123456789" for digit in table["ram"]):
        yield Fault(("ram",), "memory must not be 0; write it as 64G or 512M")
    if table.get("house"):
        yield from find_house_faults(table["house"])


def _ignored_faults(keys: tuple[str, ...], written: str | list[str] | None) -> Iterator[Fault]:
    entries = _dated_entries(written)
    yield from (Fault(keys, entry.fault) for entry in entries if entry.fault)
    if entries:
        yield from _unknown_rules(keys, [entry.words for entry in entries])


def _unknown_rules(keys: tuple[str, ...], written: str | list[str] | None) -> Iterator[Fault]:
    if written is None:
        return
    from rules import all_rules

    names = {name for rule in all_rules() for name in (rule.code, rule.name, rule.family)}
    known = {name.lower() for name in names}
    for word in _split_names(written) or ():
        if word.lower() not in known:
            hint = did_you_mean(word, names, "`mycnf rules` lists them")
            yield Fault(keys, f"unknown rule, name or family {word!r}{hint}")


TABLE = ("tool", "mycnf")
MAX_INTEGER_BITS = 64  # bits of a whole number
_KEY = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_PATH = rf"{_KEY}(?:[ \t]*\.[ \t]*{_KEY})*"
_HEADER = rf"[ \t]*\[\[?[ \t]*({_PATH})[ \t]*\]"
_SETS = rf"[ \t]*({_PATH})[ \t]*="


class ConfigError(MycnfError):
    """A configuration that can't be used; the message names the file, the line where it is known, and the key."""


def read_text(path: str) -> str:
    """The text of a configuration file; raises ConfigError for what can't be read as one."""
    try:
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode):
            raise ConfigError(f"{path}: not a regular file; name a {OWN_FILE} or {PYPROJECT} with --config")
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "a path cannot contain a NUL byte"
        raise ConfigError(f"{path}: cannot be read ({reason}); check the path, or skip it with --isolated") from error
    if len(data) > MAX_BYTES:
        raise ConfigError(f"{path}: larger than {MAX_BYTES >> 20}M, the limit for a configuration file")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 at byte {error.start + 1}; save it as UTF-8") from error


def parse_table(text: str, path: str) -> dict[str, Any]:
    """Our table of a configuration: the whole of mycnf.toml, [tool.mycnf] of a pyproject.toml.

    Raises ConfigError for what is no TOML, and for a pyproject.toml without our table.
    """
    try:
        table: Any = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise ConfigError(f"{path}: invalid TOML: {str(error) or 'nested too deeply'}") from error
    for key in table_prefix(path):
        table = table.get(key) if isinstance(table, dict) else None
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: no table [tool.mycnf]")
    if _overflows(table):
        raise ConfigError(f"{path}: an integer exceeds {MAX_INTEGER_BITS} bits")
    return table


def _overflows(value: Any) -> bool:
    """Whether a number is so long that Python doesn't even print it; TOML itself promises 64 bits."""
    if isinstance(value, dict | list):
        return any(map(_overflows, value.values() if isinstance(value, dict) else value))
    return isinstance(value, int) and value.bit_length() > MAX_INTEGER_BITS


def table_prefix(path: str) -> tuple[str, ...]:
    """The tables around ours in a file of that name."""
    return TABLE if os.path.basename(path) == PYPROJECT else ()


def find_line(text: str, keys: tuple[str, ...]) -> int | None:
    """The line of the last of these nested keys, or of the innermost that is written out; None where none is found.

    A search in the text, for messages: the parser keeps no lines. Of an array of tables it names the first.
    """
    best, depth = None, 0
    for number, written in _keys(text):
        if depth < len(written) <= len(keys) and keys[: len(written)] == written:
            best, depth = number, len(written)
    return best


def _keys(text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Each header and key with its line, keys with the header that they stand under."""
    header: tuple[str, ...] = ()
    for number, line in enumerate(text.split("\n"), 1):
        if match := re.match(_HEADER, line):
            header = _split(match[1])
            yield number, header
        elif match := re.match(_SETS, line):
            yield number, header + _split(match[1])


def _split(path: str) -> tuple[str, ...]:
    return tuple(key.strip("\"'") for key in re.findall(_KEY, path))
