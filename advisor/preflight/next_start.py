"""What determines each variable at the next start, for remedies of an audit: a line, an argument, a persisted value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.core.model import Location, Origin
from advisor.preflight.sources import judge_start
from advisor.preflight.start_command import next_command
from rules.core.context import ValueSource, source_of_line

if TYPE_CHECKING:
    from advisor.catalog.load import Catalog
    from advisor.facts import Facts

# The server's reported origins, used if the inputs of the next start could not be read.
REPORTED_ORIGINS = {
    "PERSISTED": Origin.PERSISTED,
    "COMMAND_LINE": Origin.COMMAND_LINE,
    "COMMAND-LINE": Origin.COMMAND_LINE,
}
FILES = frozenset({"GLOBAL", "SERVER", "EXPLICIT", "EXTRA", "USER", "LOGIN", "CONFIG"})


class NextStart:
    """All inputs of the next start, judged once; the server's reported origin replaces those that could not be read."""

    def __init__(self, facts: Facts, catalog: Catalog) -> None:
        command = next_command(facts)
        self._start = judge_start(facts, command, catalog)
        self._order = {id(line): number for number, line in enumerate(self._start.verdict.lines)}
        self._origins = facts.server.origins
        self._files_read = facts.files is not None
        self._command_read = command.known
        self._persisted_read = facts.files is not None and facts.files.persisted_options is not None

    def decider(self, variable: str, names: tuple[str, ...]) -> ValueSource | None:
        """Return the source of the variable's value; `names` are the canonical names of its option."""
        effective = self._start.verdict.effective
        lines = [line for name in names if (line := effective.get(name)) is not None]
        last = max(lines, key=lambda line: self._order.get(id(line), -1), default=None)
        reported = self._reported_decider(variable, names)
        if reported is not None and (last is None or self._is_unread(reported.origin)):
            return reported
        return None if last is None else source_of_line(self._start.origin(last), last)

    def _reported_decider(self, variable: str, names: tuple[str, ...]) -> ValueSource | None:
        """Return the origin that the server reports, if that source was not read."""
        for name in (variable, *names):
            origin_reported = self._origins.get(name)
            word = origin_reported.source.upper() if origin_reported else ""
            if word in REPORTED_ORIGINS and self._is_unread(REPORTED_ORIGINS[word]):
                return ValueSource(REPORTED_ORIGINS[word], None, name)
            if origin_reported and word in FILES and not self._files_read:
                return ValueSource(
                    Origin.FILE, Location(origin_reported.path, 0) if origin_reported.path else None, name
                )
        return None

    def _is_unread(self, origin: Origin) -> bool:
        """Whether values of that origin, which override files, could not be read."""
        if origin is Origin.PERSISTED:
            return not self._persisted_read
        return origin is Origin.COMMAND_LINE and not self._command_read
