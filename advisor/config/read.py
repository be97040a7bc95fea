"""Read a configuration file into values, or say in one line what is wrong with it."""

from __future__ import annotations

import os
import re
import stat
import tomllib
from typing import TYPE_CHECKING, Any, NamedTuple

from advisor.catalog.targets import parse_target
from advisor.config import MAX_BYTES, OWN_FILE, PYPROJECT
from advisor.config.shape import Fault, find_faults
from advisor.core.errors import MycnfError
from advisor.core.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rules.policy.house_rule import HouseRule


class Configuration(NamedTuple):
    """What a configuration file says; None where it says nothing. Paths are whole, words as written.

    `per_file` holds a pattern and its words; patterns are relative to `folder`. `house` is None without house rules.
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
    from advisor.config.house import parse_house_rules

    folder = os.path.dirname(os.path.abspath(path))
    return Configuration(
        path=path,
        folder=folder,
        target=_split_names(table.get("target")),
        select=_split_names(table.get("select")),
        ignore=_split_names(table.get("ignore")),
        fail_on=table.get("fail-on"),
        baseline=_relative_to(folder, table.get("baseline")),
        root=_relative_to(folder, table.get("root")),
        format=table.get("format"),
        ram=table.get("ram"),
        cpus=int(table["cpus"]) if "cpus" in table else None,
        disk=table.get("disk"),
        per_file=tuple(
            (pattern, _split_names(words) or ()) for pattern, words in table.get("per-file-ignores", {}).items()
        ),
        house=parse_house_rules(table["house"]) if table.get("house") else None,
    )


def _split_names(said: str | list[str] | None) -> tuple[str, ...] | None:
    """One word or several; one text may hold several with commas between, as on the command line."""
    if said is None:
        return None
    texts = [said] if isinstance(said, str) else said
    return tuple(word.strip() for text in texts for word in text.split(",") if word.strip())


def _relative_to(folder: str, path: str | None) -> str | None:
    return None if path is None else os.path.join(folder, os.path.expanduser(path))


def _value_faults(table: dict[str, Any]) -> Iterator[Fault]:
    """What is wrong with a document of the right shape: names that nothing has, values that contradict each other."""
    for target in _split_names(table.get("target")) or ():
        try:
            parse_target(target)
        except MycnfError as error:
            yield Fault(("target",), str(error))
    for key in ("select", "ignore"):
        yield from _unknown_rules((key,), table.get(key))
    for pattern, words in table.get("per-file-ignores", {}).items():
        yield from _unknown_rules(("per-file-ignores", pattern), words)
    if "ram" in table and not any(digit in "123456789" for digit in table["ram"]):
        yield Fault(("ram",), "memory must not be 0; write it as 64G or 512M")
    if table.get("house"):
        from advisor.config.house import find_house_faults

        yield from find_house_faults(table["house"])


def _unknown_rules(keys: tuple[str, ...], said: str | list[str] | None) -> Iterator[Fault]:
    if said is None:
        return
    from rules import all_rules

    names = {name for rule in all_rules() for name in (rule.code, rule.name, rule.family)}
    known = {name.lower() for name in names}
    for word in _split_names(said) or ():
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
        said = error.strerror if isinstance(error, OSError) else "a path holds no NUL byte"
        raise ConfigError(f"{path}: cannot be read ({said}); check the path, or skip it with --isolated") from error
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
        found: Any = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise ConfigError(f"{path}: invalid TOML: {str(error) or 'nested too deeply'}") from error
    for key in table_prefix(path):
        found = found.get(key) if isinstance(found, dict) else None
    if not isinstance(found, dict):
        raise ConfigError(f"{path}: no table [tool.mycnf]")
    if _overflows(found):
        raise ConfigError(f"{path}: an integer exceeds {MAX_INTEGER_BITS} bits")
    return found


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
