"""Read a text with variables, status counters, a replica's or InnoDB's status, or sessions, in any client format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.collect.pasted.completeness import SESSION_COUNTERS, is_session_status, without_session_counters
from advisor.collect.pasted.facts import SAME, PastedFacts
from advisor.collect.pasted.json import cloud_document_message, is_formula, rows_in, values_in
from advisor.collect.pasted.lines import without_quote_marks
from advisor.collect.pasted.process_list import ProcessListReader
from advisor.collect.pasted.replicas import ReplicaSources, replicas_in
from advisor.collect.pasted.samples import NO_FIRST, DifferenceRounds, InnodbStatusReader, add_sample
from advisor.collect.pasted.tables import tables

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.collect.pasted.classify import ServerAnswer, Table

_OWN = ("pt-summary-internal", "internal::")  # added by pt-mysql-summary to the variables that it saves
MOST_SERVERS = 10  # maximum number of tables from different servers; two are refused already


def read_json(path: str, text: str, at: float) -> PastedFacts:
    """The facts in JSON texts; raises TextError if they are not from a server."""
    values = tuple(values_in(text))
    watched = _Watched()
    return _facts_of_answers(path, rows_in(path, values), at, watched)._replace(replicas=replicas_in(values))


def read_plain(path: str, lines: Iterable[str], at: float) -> PastedFacts:
    """The facts in the tables of a text, with the status of a replica and of InnoDB and a process list if present.

    Texts with thousands of tables need no more memory than short ones: of the samples only those for a window are
    kept, of the variables the first table and the later ones merged into one.
    """
    watched = _Watched()
    return _facts_of_answers(path, tables(watched.lines(without_quote_marks(lines))), at, watched)


class _Watched:
    """What is read from the lines of a text beside its tables of names and values."""

    def __init__(self) -> None:
        self.monitor = InnodbStatusReader()
        self.sources = ReplicaSources()
        self.processes = ProcessListReader()

    def lines(self, lines: Iterable[str]) -> Iterable[str]:
        """The lines unchanged."""
        return self.processes.watch(self.sources.watch(self.monitor.watch(lines)))


def _facts_of_answers(path: str, answers: Iterable[ServerAnswer], at: float, watched: _Watched) -> PastedFacts:
    variables: list[Table] = []
    samples: tuple[Table, ...] = ()
    rounds, of_session = DifferenceRounds(), False
    for one in answers:
        found = {name.lower(): value for name, value in one.rows.items() if not name.startswith(_OWN)}
        if any(map(is_formula, found.values())):
            raise cloud_document_message(path, "a parameter group of Amazon RDS")
        if one.counters:
            whole = rounds.taken(found)
            of_session = of_session or is_session_status(whole or {})
            samples = add_sample(samples, whole) if whole else samples
        elif len(variables) > 1 and _is_of_same_server(variables[-1], found):
            variables[-1] |= found
        elif len(variables) < MOST_SERVERS:
            variables.append(found)
    samples = tuple(without_session_counters(one) if of_session else rounds.told(one) for one in samples)
    lacks = SESSION_COUNTERS if of_session else NO_FIRST if rounds.no_first and not samples else ""
    return PastedFacts(
        path,
        tuple(variables),
        samples,
        watched.monitor.text,
        at=at,
        replicas=watched.sources.rows,
        counters_lack=lacks,
        sessions=watched.processes.sessions,
    )


def _is_of_same_server(one: Table, other: Table) -> bool:
    return all(one.get(name, other.get(name)) == other.get(name, one.get(name)) for name in SAME)
