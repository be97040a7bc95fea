"""Infer an option's kind, range, block size and members from the values that the server printed."""

from __future__ import annotations

import math
import re

Printed = dict[str, str | None]  # value set -> value printed, None if the server rejected it

LEAST, MOST, SIGNED_MOST = "-9223372036854775808", "18446744073709551615", "9223372036854775807"
SMALL = ("0", "1", "2", "3")
PADDED = "01"  # a number prints it as 1, a string unchanged
ENDS = (MOST, SIGNED_MOST, "-1", LEAST)


def is_number(text: str | None) -> bool:
    """Whether a printed value is an integer or decimal number."""
    return text is not None and re.fullmatch(r"-?\d+(\.\d+)?", text) is not None


def kind(printed: Printed, messages: list[str]) -> str:  # noqa: PLR0911 - one return a kind
    """The kind that the answers show; empty if they show none (the option's own handler rejects them)."""
    at_zero, at_one, word = printed.get("0"), printed.get("1"), printed.get("zzz")
    if at_one is None or at_zero is None:
        return ""
    if {at_zero, at_one} == {"TRUE", "FALSE"}:
        return "bool"
    if word == "zzz" or printed.get(PADDED) == PADDED:
        return "string"
    if word is not None:
        return ""
    if is_number(at_one) and is_number(at_zero):
        if any("." in (v or "") for v in printed.values()):
            return "double"
        if is_signed(printed, messages):
            return "int"
        if is_unsigned(printed, messages) or printed.get(MOST) is not None:
            return "uint"
        return "int" if printed.get(SIGNED_MOST) is not None else ""  # beyond the signed range it is rejected
    at_two, at_three = printed.get("2"), printed.get("3")
    if at_zero in ("", "OFF") and at_two and at_three == f"{at_one},{at_two}":
        return "set"
    return "enum" if at_zero and at_one and at_zero != at_one and not is_number(at_zero) else ""


def is_signed(printed: Printed, messages: list[str]) -> bool:
    """Whether the number is signed: it prints negative values, or a message about an adjustment says so."""
    negative = any((p or "").startswith("-") for v, p in printed.items() if v.startswith("-") and is_number(p))
    return (negative or any(" signed value" in m for m in messages)) and not wraps(printed)


def wraps(printed: Printed) -> bool:
    """Whether an unsigned 32-bit number is printed as a signed one: the maximum is shown as -1."""
    return printed.get(MOST) == "-1" or printed.get(SIGNED_MOST) == "-1"


def is_unsigned(printed: Printed, messages: list[str]) -> bool:
    """Whether the number is unsigned.

    It is if it prints a value beyond the signed range, or a message about an adjustment says so.
    """
    large = any(int(v) > int(SIGNED_MOST) for v in printed.values() if v and v.isdigit())
    return large or wraps(printed) or any("unsigned value" in m for m in messages)


def span(printed: Printed, number_kind: str) -> tuple[str, str]:
    """The minimum and maximum that the server accepts, as it prints them."""
    low = [
        printed[v]
        for v in ((LEAST, "-1", "0") if number_kind in ("int", "double") else ("0",))
        if is_number(printed.get(v))
    ]
    high = [
        printed[v]
        for v in ((SIGNED_MOST,) if number_kind == "int" else (MOST, SIGNED_MOST))
        if is_number(printed.get(v))
    ]
    if wraps(printed):
        high = ["4294967295"]
    return (low[0] or "") if low else "", (high[0] or "") if high else ""


def trials(low: int, high: int) -> list[str]:
    """Odd numbers distributed over a range, to find out how they are rounded."""
    width = high - low
    points = (low + width * p // 101 for p in (3, 17, 29, 47, 61, 83, 97))
    near = (low + n for n in (1, 7, 1021, 4099, 65537, 1048583) if low + n < high)
    return [str(n | 1) for n in sorted({*points, *near}) if low < n | 1 < high]


def block(printed: Printed) -> int:
    """The block size to which numbers in the range are rounded down; 1 if they are unchanged."""
    pairs = [(int(v), int(p)) for v, p in printed.items() if p and re.fullmatch(r"\d+", v) and p.isdigit()]
    if not pairs:
        return 0
    if all(v == p for v, p in pairs):
        return 1
    size = math.gcd(*(p for _, p in pairs))
    return size if all(v - v % size == p for v, p in pairs) else 0


def members(printed: list[str]) -> list[str]:
    """The names of enumeration or set members, from the values printed for each number.

    Some members of sql_mode also print the members that they imply; the member itself is the one never printed alone.
    """
    alone = {p for p in printed if "," not in p}
    return [p if p == "," else next((m for m in p.split(",") if m not in alone), p) for p in printed]
