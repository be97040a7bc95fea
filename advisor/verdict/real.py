"""Numbers with a fraction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.redaction.secrets import quoted
from advisor.verdict.outcome import Outcome, Taken

if TYPE_CHECKING:
    from advisor.catalog.load import Option
    from advisor.core.model import Target

DIGITS = "0123456789"


def take_real(text: str, option: Option, target: Target) -> Taken:
    """A number with a fraction for an option of kind double; no suffix is known here."""
    if not text and target.is_mysql:
        return Taken(Outcome.INVALID, None, "A number is needed, and the value is empty.")
    number = _parse(text.lstrip(" "))
    if number is None:
        return Taken(Outcome.INVALID, None, f"Invalid number {quoted(text)}: digits and a decimal point only.")
    value = min(number, float(option.max)) if option.max else number
    value = value if option.min is None else max(value, float(option.min))
    printed = f"{value:.10g}" if target.since("mariadb", 11, 8) else f"{value:g}"
    if not text:
        return Taken(Outcome.ADJUSTED, printed, f"The value is empty; the server reads it as {printed}.")
    if value == number:
        return Taken(Outcome.ACCEPTED, printed)
    side = "above the maximum" if number > value else "below the minimum"
    return Taken(Outcome.ADJUSTED, printed, f"The server takes {printed}: {number:g} is {side}.")


def _parse(text: str) -> float | None:
    """Decimal digits with a point and an exponent; the empty text is 0, anything after the number makes it None."""
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
