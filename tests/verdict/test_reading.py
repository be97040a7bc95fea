"""How values are read, kind by kind, without a server."""

from __future__ import annotations

import pytest

from advisor.catalog import Option
from advisor.core.model import Target
from advisor.verdict.number import limit_number, parse_number, parse_real
from advisor.verdict.outcome import Outcome
from advisor.verdict.words import parse_boolean, parse_enum, parse_flags, parse_set

MYSQL57 = Target("mysql", (5, 7, 22))
MYSQL80 = Target("mysql", (8, 0, 15))
MARIADB = Target("mariadb", (10, 11, 19))
A, J, I = Outcome.ACCEPTED, Outcome.ADJUSTED, Outcome.INVALID  # noqa: E741 - three columns of a table


def option(kind: str, **facts: object) -> Option:
    """An option of that kind with little else known of it."""
    blank = dict.fromkeys(Option._fields)
    given = {"name": "x", "arg": "optional", "kind": kind, "bits": 64, "block": 1, "values": (), "shown": True}
    return Option(**{**blank, **given, **facts})


UINT = option("uint", min=8192, max=2147479552, block=4096)
INT = option("int", min=-5, max=1000)


@pytest.mark.parametrize(
    ("text", "kind", "target", "outcome", "value"),
    [
        ("8192", UINT, MYSQL80, A, "8192"),
        ("10000", UINT, MYSQL80, J, "8192"),
        ("1", UINT, MYSQL80, J, "8192"),
        ("10gigs", UINT, MYSQL80, J, "2147479552"),
        ("-1", UINT, MYSQL80, J, "8192"),
        (" -1", UINT, MARIADB, J, "2147479552"),
        ("-1", UINT, MARIADB, I, None),
        ("", UINT, MYSQL80, I, None),
        ("", UINT, MARIADB, J, "8192"),
        ("1T", UINT, MYSQL57, I, None),
        ("1T", UINT, MYSQL80, J, "2147479552"),
        ("20E", UINT, MYSQL80, I, None),
        ("20E", UINT, MARIADB, J, "2147479552"),
        ("17179869184G", UINT, MYSQL57, J, "8192"),
        ("99999999999999999999", UINT, MARIADB, I, None),
        ("99999999999999999999", UINT, MYSQL80, I, None),
        ("0x10", UINT, MYSQL80, I, None),
        ("1.5G", UINT, MARIADB, I, None),
        ("-7", INT, MYSQL80, J, "-5"),
        ("-7", INT, MARIADB, J, "-5"),
        ("+7", INT, MARIADB, A, "7"),
        ("2K", INT, MYSQL57, J, "1000"),
        ("-9223372036854775809", INT, MARIADB, I, None),
        ("8388608T", INT, MARIADB, J, "-5"),
    ],
)
def test_numbers(text: str, kind: Option, target: Target, outcome: Outcome, value: str | None) -> None:
    """Suffix, sign and overflow are read as the flavour reads them; then come maximum, block and minimum."""
    taken = parse_number(text, kind, target)
    assert (taken.outcome, taken.value) == (outcome, value)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (10000, "The server takes 8192: 10000 is rounded down to a multiple of 4096."),
        (1, "The server takes 8192: 1 is below the minimum."),
        (1 << 40, "The server takes 2147479552: 1099511627776 is above the maximum."),
        (4097, "The server takes 8192: 4097 is below the minimum."),
    ],
)
def test_reasons_of_numbers(number: int, words: str) -> None:
    """An adjustment says what the server takes and which limit did it."""
    assert limit_number(number, UINT).reason == words


def test_a_number_without_limits_is_bounded_by_its_width() -> None:
    """Where no maximum is known the width of the number is the limit."""
    assert limit_number(1 << 40, option("uint", bits=32)).value == "4294967295"
    assert limit_number(-7, option("int", bits=32, block=4)).value == "-4"
    assert limit_number(-7, option("int", bits=32, block=4)).reason.endswith("rounded down to a multiple of 4.")


@pytest.mark.parametrize(
    ("text", "target", "outcome", "value"),
    [
        ("1e2", MYSQL80, A, "100"),
        (".5", MYSQL80, A, "0.5"),
        ("5.", MARIADB, A, "5"),
        (" 5", MARIADB, A, "5"),
        ("-1", MYSQL80, J, "0"),
        ("1e9", MYSQL80, J, "3.1536e+07"),
        ("1e9", Target("mariadb", (11, 8, 9)), J, "31536000"),
        ("1.23456789", MYSQL80, A, "1.23457"),
        ("1e400", MYSQL80, I, None),
        ("1e", MYSQL80, I, None),
        ("--5", MYSQL80, I, None),
        (".", MYSQL80, I, None),
        ("1.5s", MARIADB, I, None),
        ("inf", MARIADB, I, None),
        ("", MARIADB, J, "0"),
        ("", MYSQL80, I, None),
    ],
)
def test_reals(text: str, target: Target, outcome: Outcome, value: str | None) -> None:
    """Decimal numbers know an exponent and no suffix, and are printed with six digits, on MariaDB 11.8 with ten."""
    taken = parse_real(text, option("double", min=0, max=31536000), target)
    assert (taken.outcome, taken.value) == (outcome, value)


def test_reals_without_limits() -> None:
    """A double with no limits is taken unchanged."""
    assert parse_real("-7.5", option("double"), MYSQL80).value == "-7.5"


@pytest.mark.parametrize(
    ("text", "arg", "target", "outcome", "value"),
    [
        (None, "optional", MYSQL80, A, "TRUE"),
        ("On", "optional", MYSQL80, A, "TRUE"),
        ("false", "optional", MARIADB, A, "FALSE"),
        ("maybe", "optional", MYSQL80, J, "FALSE"),
        ("", "optional", MARIADB, J, "FALSE"),
        ("maybe", "none", MYSQL80, J, None),
        ("1abc", "none", MYSQL80, J, None),
        ("1abc", "none", MARIADB, A, "TRUE"),
        ("0abc", "none", MARIADB, A, "FALSE"),
        ("OFF", "none", MYSQL80, A, "FALSE"),
        (None, "none", MYSQL80, A, "TRUE"),
    ],
)
def test_booleans(text: str | None, arg: str, target: Target, outcome: Outcome, value: str | None) -> None:
    """An unreadable word is OFF, or ignored where the option officially takes none."""
    taken = parse_boolean(text, option("bool", arg=arg), target)
    assert (taken.outcome, taken.value) == (outcome, value)


FORMATS = option("enum", values=("MIXED", "STATEMENT", "ROW", "ROWS"))


@pytest.mark.parametrize(
    ("text", "target", "value"),
    [
        ("row", MYSQL80, "ROW"),
        ("s", MYSQL80, "STATEMENT"),
        ("ro", MYSQL80, None),
        ("2", MYSQL80, "ROW"),
        ("4", MYSQL80, None),
        ("-1", MYSQL80, None),
        ("row  ", MYSQL80, "ROW"),
        (" row", MYSQL80, None),
        ("", MYSQL80, None),
        ("", MARIADB, "MIXED"),
        ("bogus", MARIADB, None),
    ],
)
def test_enumerations(text: str, target: Target, value: str | None) -> None:
    """A member is taken by name, by the beginning of one name alone, or by number; None means a refusal."""
    taken = parse_enum(text, FORMATS, target)
    assert taken.value == value
    assert taken.outcome is (A if value else I)


MODES = option("set", values=("FILE", "TABLE", "NONE"))


@pytest.mark.parametrize(
    ("text", "target", "value"),
    [
        ("table,file", MYSQL80, "FILE,TABLE"),
        ("file,ta", MYSQL80, "FILE,TABLE"),
        ("fi,table", MYSQL80, None),
        ("file, table", MYSQL80, None),
        ("file,", MARIADB, None),
        ("file=table", MYSQL80, "FILE,TABLE"),
        ("file=table", MARIADB, "FILE"),
        ("5", MYSQL80, "FILE,NONE"),
        ("8", MYSQL80, None),
        ("", MYSQL80, ""),
    ],
)
def test_sets(text: str, target: Target, value: str | None) -> None:
    """Members are separated by commas; only the last may be short, and a number means all of them."""
    taken = parse_set(text, MODES, target)
    assert taken.value == value
    assert taken.outcome is (I if value is None else A)


SWITCH = option("flagset", default="a=on,b=off,c=on", values=("a", "b", "c", "d", "default"))


@pytest.mark.parametrize(
    ("text", "before", "target", "value"),
    [
        ("b=on", None, MYSQL80, "a=on,b=on,c=on"),
        ("b=on", "a=off,b=off,c=on", MYSQL80, "a=off,b=on,c=on"),
        ("c=off", None, MYSQL80, "a=on"),
        ("d=on", None, MARIADB, "a=on,b=off,c=on,d=on"),
        ("default,a=off", "a=off,b=on", MARIADB, "a=off,b=off,c=on"),
        ("b=on,a=default", "a=off", MYSQL80, "a=on,b=on"),
        ("a=of", None, MYSQL80, "a=off,b=off,c=on"),
        ("a=of", None, MARIADB, None),
        ("def", None, MYSQL80, "a=on,b=off,c=on"),
        ("def", None, MARIADB, None),
        ("a=on,a=off", None, MYSQL80, None),
        ("default,default", None, MYSQL80, None),
        ("a", None, MYSQL80, None),
        ("bogus=on", None, MYSQL80, None),
        ("a=on, b=on", None, MYSQL80, None),
        ("", "a=off,b=on", MYSQL80, "a=off,b=on"),
    ],
)
def test_flags(text: str, before: str | None, target: Target, value: str | None) -> None:
    """Flags change what was there; help prints them up to the last that is on."""
    taken = parse_flags(text, SWITCH, before, target)
    assert taken.value == value
    assert taken.outcome is (I if value is None else A)
