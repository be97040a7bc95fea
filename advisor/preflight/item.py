"""What a restart does to one variable or line, as values."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from advisor.core.model import Action, Confidence, Location, Origin, Severity, Skipped, Target
    from advisor.facts import Facts
    from advisor.preflight.start_command import StartCommand


class RestartEffect(StrEnum):
    """What becomes of it, worst first."""

    REFUSED = "refused"
    LOST = "lost"
    CHANGED = "changed"


class RestartItem(NamedTuple):
    """One thing that the next start does otherwise than the running server.

    A refused line has `code` and `name` of the rule that says so. Of the others `running` and `following` are the
    value now and then, as SHOW GLOBAL VARIABLES prints them, secrets masked; `following` is None if unknown
    it here. `origin` is where the running value came from (None where the server doesn't tell), `source` where the next
    one does, `location` the place of that. `write_at` is where an action's line belongs: a file, or the file:line to
    replace. `cause` names the variables whose change moves this one along.
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
    """The items worst first, the checks that were skipped, and the command line of the next start."""

    target: Target
    facts: Facts
    items: tuple[RestartItem, ...]
    skipped: tuple[Skipped, ...]
    command: StartCommand

    def of(self, kind: RestartEffect) -> list[RestartItem]:
        """The items of one kind."""
        return [item for item in self.items if item.kind is kind]
