"""Options whose value the server treats in a way of their own, beside what their kind says."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from advisor.verdict.outcome import Outcome, Taken

if TYPE_CHECKING:
    from advisor.catalog.load import Option
    from advisor.model import Target

Handler = Callable[[str | None, "Option", "Target"], Taken]


def _always_on(text: str | None, option: Option, target: Target) -> Taken:
    if text in (None, "1"):
        return Taken(Outcome.ACCEPTED, "TRUE")
    return Taken(Outcome.ADJUSTED, "TRUE", f"The server takes ON: {option.name} is switched on by being there, whatever its value.")


MYSQL: dict[str, Handler] = {
    "skip_name_resolve": _always_on,
}
MARIADB: dict[str, Handler] = {}


def handler(name: str, target: Target) -> Handler | None:
    """What reads the value of that option on that flavour, where it isn't the option's kind alone."""
    return (MARIADB if target.is_mariadb else MYSQL).get(name)
