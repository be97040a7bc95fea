"""Types for the effect of a restart on one variable or line."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from advisor.core.model import Action, Confidence, Location, Origin, Severity, Skipped, Target
    from advisor.facts import Facts
    from advisor.preflight.start_command import StartCommand


class RestartEffect(StrEnum):
    """The effect, worst first."""

    REFUSED = "refused"
    LOST = "lost"
    CHANGED = "changed"


class RestartItem(NamedTuple):
    """One difference between the next start and the running server.

    For a refused line, `code` and `name` identify the rule. Otherwise `running` and `following` are the values before
    and after, as SHOW GLOBAL VARIABLES prints them, with secrets masked; `following` is None if unknown. `origin` is
    the source of the running value (None if the server does not report it), `source` that of the next one and
    `location` its place. `write_at` is where to write an action's line: a file, or the file:line to replace. `cause`
    names the variables whose change causes this one.
    """

    kind: RestartEffect
    severity: Severity
    confidence: Confidence
    message: str
    variable: str | None = None
    option: str | None = None
    running: str | None = None
    following: str | None = None
    origin: Origin | None = None
    source: Origin | None = None
    location: Location | None = None
    help: str = ""
    actions: tuple[Action, ...] = ()
    write_at: str = ""
    cause: tuple[str, ...] = ()
    code: str = ""
    name: str = ""
    value: str | None = None


class Preflight(NamedTuple):
    """The items, worst first, the skipped checks, and the command line of the next start."""

    target: Target
    facts: Facts
    items: tuple[RestartItem, ...]
    skipped: tuple[Skipped, ...]
    command: StartCommand

    def of(self, kind: RestartEffect) -> list[RestartItem]:
        """Return the items of one kind."""
        return [item for item in self.items if item.kind is kind]
