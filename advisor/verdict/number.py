"""Parses numbers: suffixes, signs, overflow per flavour, bounds and block size, and the prefix maximum-."""

from __future__ import annotations

from advisor.redaction import quote_value
from advisor.verdict.outcome import REFUSED, Outcome, TakenValue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.catalog import Catalog, Option
    from advisor.core.model import Target
    from advisor.verdict.outcome import LineVerdict


SUFFIXES = {"k": 10, "m": 20, "g": 30, "t": 40, "p": 50, "e": 60}
LARGEST = {"int": (1 << 63) - 1, "uint": (1 << 64) - 1}
SPACES = " \t\n\v\f\r"
PORT = "3306"  # the default of port, also used where its value is not a number
MAX_DIGITS = 20  # digits of the largest 64-bit number


class UnreadableNumber(Exception):  # noqa: N818 - the value is invalid for the server, not an error in mycnf
    """The server cannot read the text as a number; the message gives its reason."""


def parse_number(text: str, option: Option, target: Target) -> TakenValue:
    """Parse a whole number for an option of kind int or uint."""
    if not text and target.is_mysql:
        return TakenValue(Outcome.INVALID, None, "A number is required, but the value is empty.")
    if option.kind == "uint" and target.is_mysql and text.lstrip(SPACES).startswith("-"):
        low = _apply_limits(int(option.min or 0), option)
        return TakenValue(
            Outcome.ADJUSTED,
            str(low),
            f"The server takes {low}: the option is unsigned, so a negative number becomes the minimum.",
        )
    try:
        number = _read_number(text, option, target)
    except UnreadableNumber as why:
        return TakenValue(Outcome.INVALID, None, str(why))
    taken = limit_number(number, option)
    if not number and leading_digits(text)[1] == text:
        what = f"{quote_value(text)} is not a number" if text else "The value is empty"
        after = "" if taken.value == "0" else f" and takes {taken.value} instead"
        return TakenValue(Outcome.ADJUSTED, taken.value, f"{what}; the server reads it as 0{after}.")
    return taken


def limit_number(number: int, option: Option) -> TakenValue:
    """Apply the option's maximum, block size and minimum to a parsed number."""
    value = _apply_limits(number, option)
    if value == number:
        return TakenValue(Outcome.ACCEPTED, str(value))
    return TakenValue(
        Outcome.ADJUSTED, str(value), f"The server takes {value}: {_limit_reason(number, value, option)}."
    )


def _apply_limits(number: int, option: Option) -> int:
    """Apply the maximum, round towards zero, then apply the minimum: all servers use this order, and it matters."""
    most = int(option.max or 0) or LARGEST[option.kind]
    number = min(number, most, (1 << (option.bits or 64) - (option.kind == "int")) - 1)
    if option.block > 1:
        number = abs(number) // option.block * option.block * (-1 if number < 0 else 1)
    return number if option.min is None else max(number, int(option.min))


def _limit_reason(number: int, value: int, option: Option) -> str:
    if option.min is not None and value == option.min and number < option.min:
        return f"{number} is below the minimum"
    if option.block > 1 and abs(number - value) < option.block:
        return f"{number} is rounded down to a multiple of {option.block}"
    return f"{number} is above the maximum" if number > value else f"{number} is below the minimum"


def _read_number(text: str, option: Option, target: Target) -> int:
    digits, rest = leading_digits(text)
    if target.is_mariadb:
        return _read_mariadb_number(text, digits, rest, option)
    number = _check_range(text, digits, option)
    if not rest:
        return number
    modern = target.since("mysql", 8, 0, 14)
    factor = _suffix_factor(text, rest, "kmgtpe" if modern else "kmg")
    if modern:
        return _check_range(text, number * factor, option)
    return _wrap_64_bits(number * factor, option)


def _read_mariadb_number(text: str, digits: int, rest: str, option: Option) -> int:
    if option.kind == "uint":
        if text.startswith("-"):
            raise UnreadableNumber(f"Invalid number {quote_value(text)}: the option accepts no negative numbers.")
        if abs(digits) > LARGEST["uint"]:
            raise UnreadableNumber(f"Invalid number {quote_value(text)}: it does not fit into 64 bits.")
    else:
        digits = _check_range(text, digits, option)
    return _wrap_64_bits(digits * _suffix_factor(text, rest, "kmgtpe"), option)


def leading_digits(text: str) -> tuple[int, str]:
    """Parse as C's strtoll: return the leading number (0 if none) and the rest of the text."""
    at = len(text) - len(text.lstrip(SPACES))
    start = at + 1 if text[at : at + 1] in ("+", "-") and text[at:] else at
    end = start
    while text[end : end + 1] and text[end] in "0123456789":
        end += 1
    if end == start:
        return 0, text
    return (-1 if text[at] == "-" else 1) * int(text[start : min(end, start + 400)]), text[end:]


def _suffix_factor(text: str, rest: str, known: str) -> int:
    """Return the factor of the first character after the digits; servers ignore the characters after it."""
    if not rest:
        return 1
    suffix = rest[0].lower()
    if suffix not in known:
        letters = ", ".join(known.upper())
        raise UnreadableNumber(
            f"Invalid number {quote_value(text)}: only {letters} may follow the digits."
            if rest != text
            else f"Invalid number {quote_value(text)}."
        )
    return int(1 << SUFFIXES[suffix])


def _check_range(text: str, number: int, option: Option) -> int:
    low = -(1 << 63) if option.kind == "int" else 0
    if not low <= number <= LARGEST[option.kind]:
        raise UnreadableNumber(f"Invalid number {quote_value(text)}: it does not fit into 64 bits.")
    return number


def _wrap_64_bits(number: int, option: Option) -> int:
    """Truncate a product to 64 bits: the server multiplies without an overflow check."""
    number &= LARGEST["uint"]
    return number - (1 << 64) if option.kind == "int" and number >> 63 else number


DIGITS = "0123456789"


def parse_real(text: str, option: Option, target: Target) -> TakenValue:
    """Parse a number with a fraction for an option of kind double; suffixes are not supported."""
    if not text and target.is_mysql:
        return TakenValue(Outcome.INVALID, None, "A number is required, but the value is empty.")
    number = _parse_decimal(text.lstrip(" "))
    if number is None:
        return TakenValue(
            Outcome.INVALID, None, f"Invalid number {quote_value(text)}: digits and a decimal point only."
        )
    value = min(number, float(option.max)) if option.max else number
    value = value if option.min is None else max(value, float(option.min))
    printed = f"{value:.10g}" if target.since("mariadb", 11, 8) else f"{value:g}"
    if not text:
        return TakenValue(Outcome.ADJUSTED, printed, f"The value is empty; the server reads it as {printed}.")
    if value == number:
        return TakenValue(Outcome.ACCEPTED, printed)
    side = "above the maximum" if number > value else "below the minimum"
    why = f"The server takes {value:.10g}: {number:.10g} is {side}."
    return TakenValue(Outcome.ADJUSTED, printed, why)


def _parse_decimal(text: str) -> float | None:
    """Parse a decimal with an optional exponent; empty text is 0, trailing characters give None."""
    if not text:
        return 0.0
    mantissa, _, exponent = text.lower().partition("e")
    whole, _, fraction = mantissa.lstrip("+-").partition(".")
    digits = whole + fraction
    if not digits or digits.strip(DIGITS) or len(mantissa) - len(mantissa.lstrip("+-")) > 1:
        return None
    if "e" in text.lower() and (not exponent.lstrip("+-") or exponent.lstrip("+-").strip(DIGITS)):
        return None
    number = float(text)
    return None if number in (float("inf"), float("-inf")) else number


def parse_digits(text: str | None) -> int | None:
    """Return a plain number with at most the digits of 64 bits, else None."""
    return int(text) if text and len(text) <= MAX_DIGITS and text.isascii() and text.isdigit() else None


def number_behind_loose(option: Option, text: str) -> str:
    """Return the number that MariaDB uses for an invalid one behind loose-: 0, except for log_warnings and port."""
    if option.name == "log_warnings":
        return log_warnings_level(text)
    return PORT if option.name == "port" else "0"


def log_warnings_level(text: str) -> str:
    """Return log_warnings as MariaDB keeps it: the lower 32 bits of the number, with their sign, printed as 64 bits."""
    number = max(min(leading_digits(text)[0], LARGEST["int"]), -LARGEST["int"] - 1) & 0xFFFFFFFF
    return str(number + (1 << 64) - (1 << 32) if number >> 31 else number)


WORD = 32
LOWER_MASK = (1 << WORD) - 1
# 32-bit options and the variable that follows each in memory; after other 32-bit options there are only zeros.
NEXT_IN_MEMORY = {
    "cte_max_recursion_depth": "histogram_generation_max_mem_size",
    "eq_range_index_dive_limit": "cte_max_recursion_depth",
    "innodb_log_spin_cpu_pct_hwm": "innodb_log_spin_cpu_abs_lwm",
}


def reads_64_bits(option: Option, target: Target) -> bool:
    """Whether maximum- before this option also reads the variable that follows it in memory."""
    return option.name in NEXT_IN_MEMORY and option.maximum == "sets" and target.is_mysql


def wide_value(option: Option, values: Mapping[str, str], catalog: Catalog) -> str:
    """Return the 64 bits that the server reads as the option's value; `values` come from the lines before."""
    behind = _number(NEXT_IN_MEMORY[option.name], values, catalog) & LOWER_MASK
    return str(behind << WORD | _number(option.name, values, catalog))


def apply_bound(option: Option, value: str, taken: TakenValue, target: Target, before: str) -> TakenValue:
    """Return the option's value, limited by its maximum- line.

    The server first compares with the bound as written; it adjusts the bound to the option's range afterwards. MySQL
    5.7 and 8.0 adjust it first. `taken` is the bound within that range, `before` the value as the server reads it.
    """
    if option.name.startswith("innodb_"):  # for engine options, maximum- sets the value
        return taken
    aloud = parse_number(value, option._replace(block=0), target)
    bound = leading_digits(_bound_as_written(option, value, taken, target))[0]
    bound = bound if target.is_mariadb or target.since("mysql", 8, 1) else max(bound, int(option.min or 0))
    held = min(leading_digits(before)[0], bound)
    if option.bits == WORD and LOWER_MASK < held == bound:
        held &= LOWER_MASK
        return TakenValue(
            Outcome.ADJUSTED, str(held), f"The server takes {held}: it keeps only {WORD} bits of {bound}."
        )
    held &= LOWER_MASK if option.bits == WORD else held
    return (taken if aloud.outcome is Outcome.ADJUSTED else aloud)._replace(value=str(held))


def overwrite_neighbour(lines: list[LineVerdict], values: dict[str, str], catalog: Catalog) -> None:
    """Set the variable that follows in memory to the upper half of the bound, if the last line is a 64-bit maximum-.

    `values` holds the values before that line; `lines` and `values` are changed in place.
    """
    last = lines[-1]
    option, written = last.option, last.placed.line.value
    if option is None or last.outcome in REFUSED or not reads_64_bits(option, catalog.target) or not is_bound(last):
        return
    taken = parse_number(written or "", option, catalog.target)
    bound = leading_digits(_bound_as_written(option, written or "", taken, catalog.target))[0]
    name = NEXT_IN_MEMORY[option.name]
    if int(wide_value(option, values, catalog)) <= bound:
        return
    upper = _number(name, values, catalog) >> WORD << WORD
    values[name] = str(upper | bound >> WORD)
    why = f"The server takes {values[name]}: maximum-{option.name}, which comes later, overwrites it."
    for at, line in enumerate(lines):
        if line.canonical == name and line.outcome not in REFUSED and line.value != values[name]:
            lines[at] = line._replace(value=values[name], outcome=Outcome.ADJUSTED, reason=why)


def is_bound(line: LineVerdict) -> bool:
    """Whether the option name has the prefix `maximum-`."""
    name = (line.placed.line.name or "").replace("-", "_")
    return name.split("loose_")[-1].startswith("maximum_")


def _bound_as_written(option: Option, value: str, taken: TakenValue, target: Target) -> str:
    """Return the bound before the option's range applies; a negative bound becomes the minimum at once."""
    if value.lstrip().startswith("-"):
        return taken.value or "0"
    return parse_number(value, option._replace(min=None, max=None, block=0, bits=0), target).value or "0"


def _number(name: str, values: Mapping[str, str], catalog: Catalog) -> int:
    option = catalog.get(name)
    return leading_digits(values.get(name) or (option.default if option else None) or "0")[0]
