"""Reports of many snapshots, written while the snapshots are read: one after the other, then the counts."""

from __future__ import annotations

import json
import tempfile
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from advisor.core.errors import MycnfError
from advisor.report import findings_csv
from advisor.report.bulk import counts
from advisor.report.findings_json import VERSION, dumps
from advisor.report.lint.sarif import SCHEMA
from advisor.report.output import Draft

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from advisor.analysis.audited import AuditResult
    from advisor.report import LintWriter, Page
    from advisor.report.bulk.counts import SnapshotSummary, Tally
    from advisor.report.document import Document
    from advisor.report.output import Paper

    DocumentWriter = Callable[[Document, Paper], str]


class Sink:
    """Where a report goes: `take` one snapshot, `end` with the counts of all, or `drop` what was begun.

    The report is whole before it takes the place of a file at `path`; None and - are stdout.
    """

    def __init__(self, path: str | None) -> None:
        self._draft = Draft(path)

    def take(self, summary: SnapshotSummary) -> None:
        """What the report has of one snapshot; nothing where the counts suffice."""

    def end(self, tally: Tally) -> None:  # noqa: ARG002 - every sink is ended alike
        """What stands behind the snapshots."""
        self._draft.keep()

    def drop(self) -> None:
        """Leave the old file as it was."""
        self._draft.drop()


class BulkWriter(NamedTuple):
    """How a format reports many snapshots.

    `open` begins a report to a file, or to stdout; it raises MycnfError where that fails. `piece` makes what the report
    needs of one snapshot, in the process that judged it; None where the counts suffice.
    """

    open: Callable[[str | None, Page], Sink]
    piece: Callable[[str, AuditResult, Page], Any] | None = None


class Frame(NamedTuple):
    """What stands around the pieces of a text: its beginning, what is between two of them, and its end.

    `broken` makes the piece of a snapshot that could not be read, of its path and the reason.
    """

    before: str
    between: str
    after: str
    broken: Callable[[str, str], str]


class Stream(Sink):
    """A text with a piece a snapshot."""

    def __init__(self, path: str | None, form: str, frame: Frame) -> None:
        super().__init__(path)
        self._form, self._frame = form, frame
        self._count = 0
        self._draft.write(frame.before)

    def take(self, summary: SnapshotSummary) -> None:
        piece = self._frame.broken(summary.path, summary.broken) if summary.broken else summary.pieces[self._form]
        if self._form == "junit":
            piece = piece.replace(' id="0"', f' id="{self._count}"', 1)
        self._draft.write(f"{self._frame.between}{piece}" if self._count else piece)
        self._count += bool(piece)

    def end(self, tally: Tally) -> None:
        self._draft.write(self._frame.after)
        super().end(tally)


class Families(Sink):
    """Metrics, of which each family must stand together: they wait in files of their own."""

    def __init__(self, path: str | None) -> None:
        super().__init__(path)
        self._waiting: dict[str, IO[str]] = {}
        self._seen: dict[str, int] = {}

    def take(self, summary: SnapshotSummary) -> None:
        if summary.broken:
            return
        count = self._seen[summary.server] = self._seen.get(summary.server, 0) + 1
        for name, lines in summary.pieces["prometheus"].items():
            self._wait(name, lines if count == 1 else _number_server(lines, count))

    def _wait(self, name: str, lines: str) -> None:
        try:
            if name not in self._waiting:
                self._waiting[name] = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 - it stays open
            self._waiting[name].write(lines)
        except OSError as error:
            raise _no_room(error) from error

    def end(self, tally: Tally) -> None:
        from advisor.report.audit.prometheus import METRICS, Metric, head

        for metric in METRICS:
            if metric.name in self._waiting:
                self._draft.write(head(metric))
                self._copy(self._waiting[metric.name])
        unread = Metric("unread_snapshots", "Snapshots that the last report could not read.")
        self._draft.write(f"{head(unread)}mycnf_{unread.name} {tally.broken}\n")
        super().end(tally)

    def _copy(self, waiting: IO[str]) -> None:
        try:
            waiting.seek(0)  # and what was still to be written is
        except OSError as error:
            raise _no_room(error) from error
        while piece := waiting.read(1 << 20):
            self._draft.write(piece)
        waiting.close()


class Counts(Sink):
    """A report of the counts alone, written once all are known."""

    def __init__(self, write: Callable[[Tally, Page], str], path: str | None, page: Page) -> None:
        super().__init__(path)
        self._write, self._page = write, page

    def end(self, tally: Tally) -> None:
        self._draft.write(self._write(tally, self._page))
        super().end(tally)


def _no_room(error: OSError) -> MycnfError:
    return MycnfError(f"can't write temporary files ({error.strerror}); set TMPDIR to a directory with free space")


def _number_server(lines: str, count: int) -> str:
    """The lines of a server whose name others have too: their series would be the same."""
    parts = []
    for line in lines.splitlines(keepends=True):
        head, quote, rest = line.partition('{server="')
        end = _end_of_label(rest)
        parts.append(f"{head}{quote}{rest[:end]} ({count}){rest[end:]}")
    return "".join(parts)


def _end_of_label(rest: str) -> int:
    """Where the first quote stands that no backslash escapes."""
    place = 0
    while rest[place] != '"':
        place += 2 if rest[place] == "\\" else 1
    return place


def _broken_object(path: str, why: str) -> str:
    fields: dict[str, Any] = {"server": None, "target": None, "snapshot": path, "broken": why}
    return json.dumps(fields) + "\n"


def _broken_line(path: str, why: str) -> str:
    from advisor.redaction import escape_text

    return f"{escape_text(path)}: broken: {escape_text(why)}\n"


def _broken_run(path: str, why: str) -> str:
    from advisor.report.lint.sarif import report

    (run,) = json.loads(_nothing_but(report, path, why))["runs"]
    return json.dumps(run)


def _broken_suite(path: str, why: str) -> str:
    from advisor.report.lint.junit import report

    return counts.inside_suites(_nothing_but(report, path, why))


def _nothing_but(write: LintWriter, path: str, why: str) -> str:
    """A whole report of lint that only says why this could not be read."""
    from advisor.report import Page
    from advisor.report.output import run_time

    return write([], Page(broken=((path, why),), now=run_time()))


def _stream_writer(form: str, piece: Callable[[str, AuditResult, Page], str], frame: Frame) -> BulkWriter:
    return BulkWriter(lambda path, _: Stream(path, form, frame), piece)


def _tally_writer(write: Callable[[Tally, Page], str]) -> BulkWriter:
    return BulkWriter(lambda path, page: Counts(write, path, page))


def tables_in(write: DocumentWriter) -> BulkWriter:
    """The counts as tables, in a format of documents."""

    def report(tally: Tally, page: Page) -> str:
        from advisor.report.bulk.tables import document
        from advisor.report.output import Paper

        return write(document(tally), Paper(colour=page.colour))

    return _tally_writer(report)


def _page_of_counts(tally: Tally, page: Page) -> str:  # noqa: ARG001 - every format is called alike
    from advisor.report.bulk.tables import page as document
    from advisor.report.output import Paper
    from advisor.report.render.html import write

    return write(document(tally), Paper())


def counts_as_json(tally: Tally, page: Page) -> str:  # noqa: ARG001 - every format is called alike
    """For programs: the fields of schemas/report.schema.json."""
    servers = [
        {"server": s.server, "target": s.target, "snapshot": s.path, "errors": s.errors, "warnings": s.warnings,
         "notes": s.notes}
        for s in tally.worst
    ]  # fmt: skip
    incomplete = {"incomplete": tally.lost} if tally.lost else {}
    return dumps(
        {
            "version": VERSION,
            "snapshots": {"read": tally.read, "broken": tally.broken, "clean": tally.clean, **incomplete},
            "findings": dict(tally.severities),
            "rules": list(_rule_counts(tally)),
            "servers": servers,
            "targets": dict(tally.versions),
            "broken": [{"snapshot": path, "why": why} for path, why in tally.reasons],
        }
    )


def _rule_counts(tally: Tally) -> Iterator[dict[str, Any]]:
    for r in tally.rules:
        examples = [{"server": server, "about": about} for server, about in r.examples]
        yield {"code": r.code, "name": r.name, "severity": r.severity, "servers": r.servers, "findings": r.findings,
               "examples": examples}  # fmt: skip


RUNS = f'{{"$schema": "{SCHEMA}", "version": "2.1.0", "runs": [\n'
SUITES = '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n'
WRITERS = {
    "concise": _stream_writer("concise", counts.concise, Frame("", "", "", _broken_line)),
    "json": _tally_writer(counts_as_json),
    "jsonl": _stream_writer("jsonl", counts.jsonl, Frame("", "", "", _broken_object)),
    "csv": _stream_writer("csv", findings_csv.snapshot, Frame(findings_csv.heads(), "", "", findings_csv.unread_row)),
    "sarif": _stream_writer("sarif", counts.sarif, Frame(RUNS, ",\n", "\n]}\n", _broken_run)),
    "junit": _stream_writer("junit", counts.junit, Frame(SUITES, "", "</testsuites>\n", _broken_suite)),
    "html": _tally_writer(_page_of_counts),
    "prometheus": BulkWriter(lambda path, _: Families(path), counts.prometheus),
}
