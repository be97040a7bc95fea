"""Formulas and functions in values of Amazon's parameter groups: `{DBInstanceClassMemory*3/4}`, `LEAST(…)`.

Written after "Specifying DB parameters" in the user guide of Amazon RDS: quotients and products are truncated to whole
numbers, `log` has base 2, names of variables are case-sensitive, those of functions are not. `log` is rounded: only so
does the default of max_connections equal the values in Aurora's user guide for its instance classes. Its argument keeps
its fraction, because it is less than 1 on small classes.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

from advisor.core.errors import MycnfError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FUNCTIONS: dict[str, Callable[[list[float]], float]] = {"GREATEST": max, "LEAST": min, "SUM": sum}
# The last three are in the default groups of RDS, but not in its manual.
VARIABLES = (
    "AllocatedStorage", "DBInstanceClassHugePagesDefault", "DBInstanceClassMemory", "DBInstanceVCPU", "EndPointPort",
    "TrueIfReplica", "TrueIfClusterReplica", "ServerId",
)  # fmt: skip
MAX_LENGTH = 1000  # characters; RDS's own formulas have some hundred
MAX_DEPTH = 20
_TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d+)?)|([A-Za-z_]\w*)|([{}()*/,+-]))")


class FormulaError(MycnfError):
    """A text that is no valid formula; the message says where and why."""


class Instance(NamedTuple):
    """What formulas read: memory and storage in bytes, processors, the port; None if unknown.

    `memory` is an upper limit of DBInstanceClassMemory: the service subtracts what its own processes need.
    """

    memory: int | None = None
    processors: int | None = None
    storage: int | None = None
    port: int | None = 3306
    replica: bool | None = None

    def value(self, name: str) -> float | None:
        """Return the value of a formula variable; None if it is unknown."""
        replica = None if self.replica is None else int(self.replica)
        return {
            "AllocatedStorage": self.storage,
            "DBInstanceClassMemory": self.memory,
            "DBInstanceVCPU": self.processors,
            "EndPointPort": self.port,
            "TrueIfReplica": replica,
            "TrueIfClusterReplica": replica,
        }.get(name)


def is_formula(value: str) -> bool:
    """Whether a value is meant as a formula: it begins with a brace or with the name of a function."""
    return re.match(rf"\s*(?:\{{|(?:{'|'.join(FUNCTIONS)}|IF)\s*\()", value, re.IGNORECASE) is not None


def evaluate_formula(text: str, instance: Instance) -> int | None:
    """Return the whole number that a formula results in; None if it needs a variable that is unknown.

    Raises FormulaError for a text that is no formula.
    """
    if len(text) > MAX_LENGTH:
        raise FormulaError(f"the formula has more than {MAX_LENGTH} characters")
    try:
        reader = _Reader(text, instance)
        value = reader.item(0)
    except OverflowError as error:
        raise FormulaError("a number in it is too large") from error
    if reader.token is not None:
        raise FormulaError(f"{reader.token!r} is left over at the end")
    return None if value is None else math.trunc(value)


class _Reader:
    """Reads a formula from left to right; `token` is the next token, None at the end."""

    def __init__(self, text: str, instance: Instance) -> None:
        self._tokens = _tokens(text)
        self._instance = instance
        self.token: str | None = next(self._tokens, None)

    def item(self, depth: int) -> float | None:
        """Read a whole number, a formula in braces or a function of these."""
        if depth > MAX_DEPTH:
            raise FormulaError("the functions are nested too deeply")
        if self.token == "{":  # noqa: S105 - a brace, no secret
            self._next()
            value = self._product(depth)
            self._expect("}")
            return value
        if self.token is not None and self.token.upper() in FUNCTIONS:
            return self._function(self._next().upper(), depth)
        return self._number()

    def _function(self, name: str, depth: int) -> float | None:
        self._expect("(")
        values = [self.item(depth + 1)]
        while self.token == ",":  # noqa: S105 - a comma
            self._next()
            values.append(self.item(depth + 1))
        self._expect(")")
        known = [value for value in values if value is not None]
        return FUNCTIONS[name](known) if len(known) == len(values) else None

    def _product(self, depth: int, *, whole: bool = True) -> float | None:
        """Read factors; a quotient is truncated to a whole number, except within log."""
        value = self._factor(depth)
        while self.token in ("*", "/"):
            operator = self._next()
            value = _apply(operator, value, self._factor(depth), whole=whole)
        return value

    def _factor(self, depth: int) -> float | None:
        word = self.token or ""
        if word.lower() == "log" and depth <= MAX_DEPTH:
            self._next()
            self._expect("(")
            value = self._product(depth + 1, whole=False)
            self._expect(")")
            if value is None:
                return None
            if value <= 0:
                raise FormulaError("the logarithm of 0 has no value")
            return round(math.log2(value))
        if word in VARIABLES:
            return self._instance.value(self._next())
        if word[:1].isalpha():
            from advisor.core.suggestions import did_you_mean

            raise FormulaError(f"no formula variable is called {word!r}{did_you_mean(word, VARIABLES)}")
        return self._number()

    def _number(self) -> float:
        if self.token is None or not self.token[0].isdigit():
            raise FormulaError(f"a number or a formula in braces must stand where {self.token or 'the text ends'!r} is")
        text = self._next()
        return float(text) if "." in text else int(text)

    def _expect(self, mark: str) -> None:
        if self.token != mark:
            raise FormulaError(f"{mark!r} is missing before {self.token or 'the end'!r}")
        self._next()

    def _next(self) -> str:
        token = self.token or ""
        self.token = next(self._tokens, None)
        return token


def _apply(operator: str, value: float | None, other: float | None, *, whole: bool) -> float | None:
    if operator == "/" and other == 0:
        raise FormulaError("it divides by 0")
    if value is None or other is None:
        return None
    if operator == "*":
        return value * other
    if whole and isinstance(value, int) and isinstance(other, int):
        return value // other
    return value / other


def _tokens(text: str) -> Iterator[str]:
    """Yield numbers, names and marks; raises FormulaError for any other character."""
    at, text = 0, text.strip()
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise FormulaError(f"{text[at]!r} cannot be part of a formula")
        yield found[1] or found[2] or found[3]
        at = found.end()
