"""The prefix maximum- of numeric options on MySQL 8.4 and later: it limits session values and the option's own value.

For 32-bit options too, the server compares and writes 64 bits. The variable that follows in memory is read as the upper
half and is overwritten with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.verdict.number import leading_digits, parse_number
from advisor.verdict.outcome import REFUSED, Outcome, TakenValue

if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.catalog.load import Catalog, Option
    from advisor.core.model import Target
    from advisor.verdict.outcome import LineVerdict

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

    The server first compares with the bound as written; it adjusts the bound to the option's range afterwards. `taken`
    is the bound within that range, `before` the value as the server reads it.
    """
    if option.name.startswith("innodb_"):  # for engine options, maximum- sets the value
        return taken
    aloud = parse_number(value, option._replace(block=0), target)
    bound = leading_digits(_bound_as_written(option, value, taken, target))[0]
    held = min(leading_digits(before)[0], bound)
    if option.bits == WORD and LOWER_MASK < held == bound:
        held &= LOWER_MASK
        return TakenValue(Outcome.ADJUSTED, str(held), f"The server takes {held}: of {bound} it keeps {WORD} bits.")
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
