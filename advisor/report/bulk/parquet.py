"""Findings of many snapshots as Parquet, for the engine that a team has: written a group of rows at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from advisor.core.errors import MycnfError
from advisor.report.bulk.streams import BulkWriter, Sink
from advisor.report.findings_csv import AUDIT, BROKEN, FINDING, rows

if TYPE_CHECKING:
    from advisor.report.bulk.counts import SnapshotSummary, Tally

GROUP = 50_000  # rows


class Parquet(Sink):
    """The file; at most one group of rows is in memory. Raises MycnfError without pyarrow, and where there is no -o."""

    def __init__(self, path: str | None) -> None:
        if path in (None, "-"):
            raise MycnfError("--format parquet cannot be written to a terminal or a pipe; name a file with -o")
        self._arrow, self._parquet = _library()
        self._schema = _schema(self._arrow)
        super().__init__(path)
        self._writer = self._parquet.ParquetWriter(self._draft.file, self._schema, compression="zstd")
        self._rows: list[tuple[Any, ...]] = []

    def take(self, summary: SnapshotSummary) -> None:
        nothing = (None,) * (len(self._schema) - 5)
        self._rows += (
            [(None, summary.path, None, None, *nothing, summary.broken)]
            if summary.broken
            else summary.pieces["parquet"]
        )
        if len(self._rows) >= GROUP:
            self._flush()

    def end(self, tally: Tally) -> None:
        self._flush()
        try:
            self._writer.close()
        except OSError as error:
            raise self._draft.drop_draft(error) from error
        super().end(tally)

    def _flush(self) -> None:
        if not self._rows:
            return
        columns = zip(*([_valid_text(cell) for cell in row] for row in self._rows), strict=True)
        arrays = [self._arrow.array(list(c), type=f.type) for c, f in zip(columns, self._schema, strict=True)]
        try:
            self._writer.write_table(self._arrow.Table.from_arrays(arrays, schema=self._schema))
        except OSError as error:
            raise self._draft.drop_draft(error) from error
        self._rows = []


def _library() -> tuple[Any, Any]:
    from importlib import import_module

    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        words = "--format parquet needs pyarrow: pip install 'mycnf-advisor[parquet]', or use jsonl"
        raise MycnfError(words) from error


def _schema(arrow: Any) -> Any:
    kinds = {"line": arrow.int64(), "evidence": arrow.list_(arrow.string()), "restart": arrow.bool_()}
    return arrow.schema([(name, kinds.get(name, arrow.string())) for name in (*AUDIT, *FINDING, *BROKEN)])


def _valid_text(cell: Any) -> Any:
    """Bytes that were no UTF-8 become marks of their own: Parquet's texts are UTF-8."""
    return cell.encode("utf-8", "backslashreplace").decode() if isinstance(cell, str) else cell


PARQUET = BulkWriter(lambda path, _: Parquet(path), rows)
