"""Values by kind of option: each class of values is a cell of the grid that a run must cover."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

from vocabulary import NUMBERS, Entry

Make = Callable[[Entry, random.Random], str | None]


class Class(NamedTuple):
    """A class of values: a function that generates one, and whether it is a known trap.

    `harsh` means that servers reject most of these: each rejection costs another query, so a file has only a few.
    """

    make: Make
    trap: bool = False
    harsh: bool = False


def _one_of(*texts: str | None) -> Make:
    return lambda _, chance: chance.choice(texts)


def _ordinary(entry: Entry, chance: random.Random) -> str:
    low, high = entry.low, max(entry.low, min(entry.high, 1 << 40))
    number = int(low + (high - low) * chance.random() ** 4)
    return str(number // entry.block * entry.block)


def _beyond(entry: Entry, chance: random.Random) -> str:
    return str(entry.high + chance.choice([1, 1, 1000, entry.high]))


NUMBER: dict[str, Class] = {
    "zero": Class(_one_of("0", "00")),
    "one": Class(_one_of("1")),
    "minimum": Class(lambda e, _: str(e.low)),
    "below the minimum": Class(lambda e, c: str(e.low - c.choice([1, 1, 7]))),
    "maximum": Class(lambda e, _: str(e.high)),
    "above the maximum": Class(_beyond, trap=True),
    "in range": Class(_ordinary),
    "off the block": Class(lambda e, c: str(int(_ordinary(e, c)) + c.randrange(1, 4096))),
    "suffix": Class(lambda _, c: f"{c.randrange(1, 700)}{c.choice('KMGkmg')}"),
    "high suffix": Class(lambda _, c: f"{c.randrange(1, 20)}{c.choice('TPEtpe')}", trap=True),
    "word after the suffix": Class(
        lambda _, c: f"{c.choice([1, 10, 64])}{c.choice(['GB', 'gigs', 'Mb', 'kB'])}", trap=True
    ),
    "fraction": Class(_one_of("1.5G", "0.5", "1.5", ".5M", "2.0"), trap=True, harsh=True),
    "negative": Class(
        lambda e, c: c.choice(["-1", "-5", "-0", f"-{e.high}", "-9223372036854775808", "-1K", "-2G"]), trap=True
    ),
    "overflow": Class(
        _one_of(
            *("2147483648", "4294967295", "4294967296", "9223372036854775807", "9223372036854775808"),
            *("18446744073709551615", "18446744073709551616", "99999999999999999999999"),
        ),
        trap=True,
    ),
    "hexadecimal": Class(_one_of("0x10", "0xFF", "0X1", "0x"), trap=True, harsh=True),
    "exponent": Class(_one_of("1e3", "1E6", "2e"), trap=True, harsh=True),
    "sign and space": Class(_one_of("+5", '"+ 5"', '" 12"', '"12 "', "+8192", '"16 M"')),
    "junk": Class(_one_of("abc", "12x", "1_000", "1,000", "1 000", "5s", "5%", "--1"), trap=True, harsh=True),
    "a word": Class(_one_of("ON", "OFF", "default", "auto", "yes", "NULL", "max"), harsh=True),
    "empty": Class(_one_of("", '""'), harsh=True),
    "none": Class(_one_of(None), harsh=True),
}
REAL: dict[str, Class] = {
    "whole": Class(_one_of("0", "1", "10", "75", "100", "1000")),
    "fraction": Class(_one_of("0.5", "1.5", ".25", "10.000001", "99.999", "5.", "0.0000012")),
    "above the maximum": Class(lambda e, c: str(e.high + c.choice([1, 1000])), trap=True),
    "exponent": Class(_one_of("1e2", "1E-3", "1e", "1e400"), trap=True, harsh=True),
    "negative": Class(_one_of("-1", "-0.5", "-0"), trap=True),
    "suffix": Class(_one_of("10s", "1K", "5%"), trap=True, harsh=True),
    "junk": Class(_one_of("abc", "1,5", "0x10", "ON"), trap=True, harsh=True),
    "empty": Class(_one_of("", '""'), harsh=True),
    "none": Class(_one_of(None), harsh=True),
}
BOOLEAN: dict[str, Class] = {
    "on": Class(_one_of("1", "ON", "on", "TRUE", "true", "On")),
    "off": Class(_one_of("0", "OFF", "off", "FALSE", "false", "oFF")),
    "no boolean": Class(_one_of("yes", "no", "maybe", "2", "-1", "enabled", "ONN", "t", "/var/log/x.log"), trap=True),
    "begins with a digit": Class(_one_of("1abc", "0x1", "10", "01", "00", "1.5"), trap=True),
    "padded": Class(_one_of('"ON "', '" 1"', "' off'", '"0 "'), trap=True),
    "empty": Class(_one_of("", '""')),
    "none": Class(_one_of(None)),
}


def _member(entry: Entry, chance: random.Random) -> str:
    return chance.choice(entry.values) if entry.values else entry.printed or "ON"


def _cut(entry: Entry, chance: random.Random) -> str:
    word = _member(entry, chance)
    return word[: chance.randrange(1, max(2, len(word)))]


def _recase_entry(entry: Entry, chance: random.Random) -> str:
    return chance.choice([str.lower, str.upper, str.title])(_member(entry, chance))


def _some(entry: Entry, chance: random.Random, between: str = ",") -> str:
    return between.join(_recase_entry(entry, chance) for _ in range(chance.randrange(2, 5)))


ENUM: dict[str, Class] = {
    "a member": Class(_recase_entry),
    "by number": Class(lambda e, c: str(c.randrange(0, max(1, len(e.values)))), trap=True),
    "a number too high": Class(lambda e, c: str(len(e.values) + c.choice([0, 1, 7])), trap=True, harsh=True),
    "a strange number": Class(
        _one_of("-1", "+1", "01", "1.0", "1K", "0x1", "18446744073709551616"), trap=True, harsh=True
    ),
    "the beginning of one": Class(_cut, trap=True, harsh=True),
    "padded": Class(lambda e, c: c.choice(['"{} "', '" {}"', '"{}  "']).format(_member(e, c)), trap=True),
    "another word": Class(_one_of("maybe", "abc", "ON", "OFF", "TRUE", "default", "none"), harsh=True),
    "two members": Class(_some, harsh=True),
    "empty": Class(_one_of("", '""'), harsh=True),
    "none": Class(_one_of(None)),
}
SET: dict[str, Class] = {
    "a member": Class(_recase_entry),
    "several": Class(_some),
    "the beginning of the last": Class(lambda e, c: f"{_member(e, c)},{_cut(e, c)}", trap=True),
    "the beginning of the first": Class(lambda e, c: f"{_cut(e, c)},{_member(e, c)}", trap=True, harsh=True),
    "by number": Class(lambda e, c: str(c.randrange(0, 1 << min(len(e.values), 40))), trap=True),
    "a strange number": Class(
        lambda e, c: c.choice(["-1", "1K", "0x3", str(1 << len(e.values)), "1,2"]), trap=True, harsh=True
    ),
    "a comma too many": Class(
        lambda e, c: c.choice(["{},", ",{}", "{},,{}"]).format(*[_member(e, c)] * 2), trap=True, harsh=True
    ),
    "a space": Class(lambda e, c: f'"{_some(e, c, ", ")}"', trap=True, harsh=True),
    "default": Class(
        lambda e, c: c.choice(["default", "DEFAULT", f"default,{_member(e, c)}", "ALL", "NONE"]), trap=True, harsh=True
    ),
    "equals": Class(lambda e, c: f"{_member(e, c)}={_member(e, c)}", trap=True, harsh=True),
    "junk": Class(_one_of("abc", "ON", "OFF"), harsh=True),
    "empty": Class(_one_of("", '""')),
    "none": Class(_one_of(None)),
}


def _flag(entry: Entry, chance: random.Random) -> str:
    return f"{_member(entry, chance)}={chance.choice(['on', 'off', 'default', 'ON', 'Off'])}"


FLAGS: dict[str, Class] = {
    "one flag": Class(_flag, trap=True),
    "several": Class(lambda e, c: ",".join(_flag(e, c) for _ in range(c.randrange(2, 5))), trap=True),
    "default": Class(lambda e, c: c.choice(["default", f"default,{_flag(e, c)}", f"{_flag(e, c)},default"]), trap=True),
    "the same twice": Class(lambda e, c: "{0}=on,{0}=off".format(_member(e, c)), trap=True, harsh=True),
    "beginnings": Class(
        lambda e, c: c.choice([f"{_member(e, c)}=o", f"{_member(e, c)}=d", f"{_cut(e, c)}=on", f"{_member(e, c)}=of"]),
        trap=True,
        harsh=True,
    ),
    "a space": Class(lambda e, c: f'"{_flag(e, c)}, {_flag(e, c)}"', trap=True, harsh=True),
    "no flag": Class(_one_of("on", "off", "abc=on", "abc", "1", "0", "=on", "-1"), trap=True, harsh=True),
    "a member alone": Class(_member, trap=True, harsh=True),
    "empty": Class(_one_of("", '""'), trap=True),
    "none": Class(_one_of(None)),
}
TEXT: dict[str, Class] = {
    "as printed": Class(lambda e, _: "x" if "(No" in e.printed else e.printed),
    "a word": Class(_one_of("abc", "InnoDB", "utf8mb4", "x_1", "ROW", "ALL")),
    "a path": Class(_one_of("/var/lib/none/x.log", "relative/x", "/none/a.b.c", "./x", "/none/")),
    "a number": Class(_one_of("0", "1", "-5", "3306", "1M")),
    "a boolean": Class(_one_of("ON", "OFF", "true", "FALSE")),
    "quoted": Class(_one_of('"a b"', "'a#b'", '"a;b"', "'it\"s'", '"a=b"', '"  x "', "''"), trap=True),
    "escaped": Class(_one_of("a\\sb", "C:\\\\none", "a\\tb", "\\\\\\s", '"a\\"b"', "a\\qb", "x\\"), trap=True),
    "a comment behind": Class(_one_of("/none/a#b", "abc # c", "abc ; d", '"a # b" # c'), trap=True),
    "not ASCII": Class(_one_of("\u00e9t\u00e9", "\u65e5\u672c"), trap=True),
    "a list": Class(_one_of("a,b,c", "1062,1032", "a:b", "a;b", "*", "a.b,c.d")),
    "empty": Class(_one_of("", '""')),
    "none": Class(_one_of(None)),
}
FLAG: dict[str, Class] = {
    "none": Class(_one_of(None)),
    "an argument": Class(_one_of("1", "0", "ON", "abc"), trap=True, harsh=True),
    "empty": Class(_one_of(""), harsh=True),
}
KINDS = {"bool": BOOLEAN, "enum": ENUM, "set": SET, "flagset": FLAGS, "double": REAL, "flag": FLAG, "string": TEXT}


def classes(entry: Entry) -> dict[str, Class]:
    """The classes of values for an option of that kind."""
    return NUMBER if entry.kind in NUMBERS else KINDS[entry.kind]
