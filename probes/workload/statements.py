"""Workloads as data: the statements of a transaction, and the distribution of the rows."""

from __future__ import annotations

from typing import NamedTuple

PARETO_SHAPE = 0.2  # sysbench's --rand-pareto-h: 80 % of the draws fall on the first fifth of the rows


class TransactionStep(NamedTuple):
    """Statements that share one draw of values, sent `times` times per transaction with a new draw each time.

    They may contain {table}, {id}, {end} (the last row of a range of `StatementMix.span`), {k}, {c} and {pad}.
    """

    statements: tuple[str, ...]
    times: int = 1


class StatementMix(NamedTuple):
    """The statements of one transaction, between BEGIN and COMMIT if `bracketed`.

    If `connecting`, each transaction uses a new connection. `script` is the name of sysbench's own script with the
    same statements, None if there is none.
    """

    name: str
    steps: tuple[TransactionStep, ...]
    bracketed: bool = False
    span: int = 100
    script: str | None = None
    connecting: bool = False

    @property
    def queries(self) -> int:
        """Statements per transaction."""
        return sum(len(step.statements) * step.times for step in self.steps) + (2 if self.bracketed else 0)

    @property
    def updates(self) -> int:
        """UPDATE statements per transaction; each changes one row."""
        return sum(step.times for step in self.steps for text in step.statements if text.startswith("UPDATE"))


class Access(NamedTuple):
    """The distribution of rows.

    `kind` is uniform or pareto; `keys_file` contains the only keys to use, one per line.
    """

    kind: str = "uniform"
    keys_file: str | None = None


_RANGE = "WHERE id BETWEEN {id} AND {end}"
POINT = "SELECT c FROM {table} WHERE id={id}"
SIMPLE_RANGE = "SELECT c FROM {table} WHERE id BETWEEN {id} AND {end}"
_READS = (
    TransactionStep((POINT,), 10),
    TransactionStep((SIMPLE_RANGE,)),
    TransactionStep(("SELECT SUM(k) FROM {table} WHERE id BETWEEN {id} AND {end}",)),
    TransactionStep(("SELECT c FROM {table} WHERE id BETWEEN {id} AND {end} ORDER BY c",)),
    TransactionStep(("SELECT DISTINCT c FROM {table} WHERE id BETWEEN {id} AND {end} ORDER BY c",)),
)
_INDEX_UPDATE = TransactionStep(("UPDATE {table} SET k=k+1 WHERE id={id}",))
_OTHER_UPDATE = TransactionStep(("UPDATE {table} SET c='{c}' WHERE id={id}",))
_REPLACE = TransactionStep(
    ("DELETE FROM {table} WHERE id={id}", "INSERT INTO {table} (id, k, c, pad) VALUES ({id}, {k}, '{c}', '{pad}')")
)

OLTP: dict[str, StatementMix] = {
    workload.name: workload._replace(script=workload.name)
    for workload in (
        StatementMix("oltp_read_write", (*_READS, _INDEX_UPDATE, _OTHER_UPDATE, _REPLACE), bracketed=True),
        StatementMix("oltp_read_only", _READS, bracketed=True),
        StatementMix("oltp_write_only", (_INDEX_UPDATE, _OTHER_UPDATE, _REPLACE), bracketed=True),
        StatementMix("oltp_point_select", (TransactionStep((POINT,)),)),
        StatementMix("oltp_update_index", (_INDEX_UPDATE,)),
        StatementMix("oltp_update_non_index", (_OTHER_UPDATE,)),
    )
}


# A new connection for each SELECT of one row.
CONNECT_SELECT = OLTP["oltp_point_select"]._replace(name="connect_select", script=None, connecting=True)


def simple_ranges(span: int) -> StatementMix:
    """Ranges of that many rows by primary key without a transaction; none of sysbench's bundled scripts does that."""
    return StatementMix(f"simple_ranges_{span}", (TransactionStep((SIMPLE_RANGE,)),), span=span)


def sorts(span: int) -> StatementMix:
    """Sorts of that many rows by a text of 120 bytes.

    Only the last row is returned, so that the sort dominates the cost.
    """
    text = f"SELECT id FROM {{table}} {_RANGE} ORDER BY c LIMIT {span - 1}, 1"  # noqa: S608 - numbers of our own
    return StatementMix(f"sorts_{span}", (TransactionStep((text,)),), span=span)


def joins(span: int, inner: int) -> StatementMix:
    """Joins of that many rows with the first `inner` rows on columns without an index."""
    text = (
        "SELECT COUNT(*) FROM {table} AS a STRAIGHT_JOIN {table} AS b "  # noqa: S608 - numbers of our own
        f"WHERE a.id BETWEEN {{id}} AND {{end}} AND b.id <= {inner} AND a.c = b.pad"
    )
    return StatementMix(f"joins_{span}", (TransactionStep((text,)),), span=span)


def sorts_and_groups(*spans: int) -> StatementMix:
    """A sort and a temporary table for each of these numbers of rows, in one transaction."""
    texts = [(span, text) for span in spans for of in (sorts, groups) for text in of(span).steps[0].statements]
    steps = tuple(TransactionStep((text.replace("{end}", f"{{id}} + {span - 1}"),)) for span, text in texts)
    return StatementMix("sorts_and_groups", steps, span=max(spans))


def groups(span: int) -> StatementMix:
    """Temporary tables of that many rows, each with a text of 120 bytes or more; one row is returned."""
    text = f"SELECT CONCAT(id, c) AS g, COUNT(*) FROM {{table}} {_RANGE} GROUP BY g ORDER BY NULL LIMIT 1"  # noqa: S608
    return StatementMix(f"groups_{span}", (TransactionStep((text,)),), span=span)
