"""The settings of a running server, each put together when it is first asked for: rules ask for a few of hundreds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.core.model import Setting
from advisor.verdict.settings import LONG, SET, Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from advisor.core.model import Location, Origin

    Source = tuple[Origin, Location | None]


class ServerSettings(Settings):
    """The values that a server says; `source_of` tells where the value of a variable came from, if it is known."""

    __slots__ = ("_source_of", "_values")

    def __init__(self, variables: Mapping[str, str], source_of: Callable[[str], Source]) -> None:
        super().__init__({}, None)  # a running server leaves no default to be looked up
        names = "".join(variables)
        self._values = variables if names == names.lower() else {name.lower(): v for name, v in variables.items()}
        self._source_of = source_of

    def get(self, var: str) -> Setting | None:
        """The variable with its value as the server says it; None where it has none of that name."""
        made = self._given.get(var)
        if made is None and (value := self._values.get(var)) is not None:
            made = self._given[var] = Setting(var, value, *self._source_of(var))
        return made

    def text(self, var: str) -> str | None:
        """The value as text."""
        return self._values.get(var)

    def number(self, var: str) -> int | None:
        """The value as a whole number (bytes, or a count); None where it is none."""
        text = self._values.get(var, "")
        return int(text) if len(text) < LONG and text.isascii() and text.isdigit() else super().number(var)

    def is_set(self, var: str) -> bool:
        """Whether somebody set the variable, in a file, on the command line or at run time."""
        made = self._given.get(var)
        if made is not None:
            return made.origin in SET
        return var in self._values and self._source_of(var)[0] in SET  # for most of them nothing more is asked

    def names(self) -> list[str]:
        """All variables of the server."""
        return sorted(self._values)
