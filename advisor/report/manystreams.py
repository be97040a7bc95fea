"""Reports of many snapshots as they come: each takes one snapshot after the other, and ends with the counts."""

from __future__ import annotations

import json
import tempfile
from typing import IO, TYPE_CHECKING, Any, Protocol

from advisor.exits import MycnfError
from advisor.report.output import Draft, to_stdout
from advisor.report.sarif import SCHEMA

if TYPE_CHECKING:
    from advisor.report import Page
    from advisor.report.many import Told
    from advisor.report.manytally import Tally


class Sink(Protocol):
    """Where a report goes: `take` one snapshot, `end` with the counts of all, or `drop` what was begun."""

    def take(self, told: Told) -> None: ...
    def end(self, tally: Tally) -> None: ...
    def drop(self) -> None: ...


def open_sink(form: str, path: str | None, page: Page) -> Sink:
    """The report in the format of that name, to a file or to stdout. Raises MycnfError where it can't be begun."""
    if form == "parquet":
        from advisor.report.manyparquet import Parquet

        return Parquet(path)
    if form == "prometheus":
        return Families(_Out(path))
    if form in STREAMS:
        return Stream(_Out(path), *STREAMS[form], form)
    return Counts(form, path, page)


class _Out:
    """Stdout, or a file that is whole before it takes its place."""

    def __init__(self, path: str | None) -> None:
        self._draft = None if path in (None, "-") else Draft(path or "")

    def write(self, text: str) -> None:
        if self._draft:
            self._draft.write(text)
        else:
            to_stdout(text)

    def end(self) -> None:
        if self._draft:
            self._draft.keep()

    def drop(self) -> None:
        if self._draft:
            self._draft.drop()


class Stream:
    """A text with a beginning, a piece a snapshot, something between two pieces, and an end."""

    def __init__(self, out: _Out, before: str, between: str, after: str, form: str) -> None:
        self._out, self._between, self._after, self._form = out, between, after, form
        self._count = 0
        out.write(before)

    def take(self, told: Told) -> None:
        piece = _broken(told, self._form) if told.broken else told.pieces[self._form]
        if self._form == "junit":
            piece = piece.replace(' id="0"', f' id="{self._count}"', 1)
        self._out.write(f"{self._between}{piece}" if self._count else piece)
        self._count += bool(piece)

    def end(self, tally: Tally) -> None:  # noqa: ARG002 - every sink is ended alike
        self._out.write(self._after)
        self._out.end()

    def drop(self) -> None:
        self._out.drop()


class Families:
    """Metrics, of which each family must stand together: they wait in files of their own."""

    def __init__(self, out: _Out) -> None:
        self._out = out
        self._waiting: dict[str, IO[str]] = {}
        self._seen: dict[str, int] = {}

    def take(self, told: Told) -> None:
        if told.broken:
            return
        count = self._seen[told.server] = self._seen.get(told.server, 0) + 1
        for name, lines in told.pieces["prometheus"].items():
            self._wait(name, lines if count == 1 else _renamed(lines, count))

    def _wait(self, name: str, lines: str) -> None:
        try:
            if name not in self._waiting:
                self._waiting[name] = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 - it stays open
            self._waiting[name].write(lines)
        except OSError as error:
            raise _no_room(error) from error

    def end(self, tally: Tally) -> None:
        from advisor.report.prometheus import METRICS, Metric, head

        for metric in METRICS:
            if metric.name in self._waiting:
                self._out.write(head(metric))
                self._copy(self._waiting[metric.name])
        unread = Metric("unread_snapshots", "Snapshots that the last report could not read.")
        self._out.write(f"{head(unread)}mycnf_{unread.name} {tally.broken}\n")
        self._out.end()

    def drop(self) -> None:
        self._out.drop()

    def _copy(self, waiting: IO[str]) -> None:
        try:
            waiting.seek(0)  # and what was still to be written is
        except OSError as error:
            raise _no_room(error) from error
        while piece := waiting.read(1 << 20):
            self._out.write(piece)
        waiting.close()


class Counts:
    """A report that tells the counts alone."""

    def __init__(self, form: str, path: str | None, page: Page) -> None:
        self._form, self._path, self._page = form, path, page

    def take(self, told: Told) -> None:
        pass

    def end(self, tally: Tally) -> None:
        from advisor.report.output import write

        write(self._made(tally), self._path)

    def drop(self) -> None:
        pass

    def _made(self, tally: Tally) -> str:
        if self._form == "html":
            from advisor.report.html.many import report

            return report(tally)
        from advisor.report import manyforms

        if self._form == "json":
            return manyforms.as_json(tally)
        return (
            manyforms.markdown(tally) if self._form == "markdown" else manyforms.text(tally, colour=self._page.colour)
        )


# Beginning, what stands between two pieces, and end.
STREAMS = {
    "jsonl": ("", "", ""),
    "concise": ("", "", ""),
    "sarif": (f'{{"$schema": "{SCHEMA}", "version": "2.1.0", "runs": [\n', ",\n", "\n]}\n"),
    "junit": ('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n', "", "</testsuites>\n"),
}


def _broken(told: Told, form: str) -> str:
    """The row of a snapshot that could not be read."""
    if form == "jsonl":
        fields: dict[str, Any] = {"server": None, "target": None, "snapshot": told.path, "broken": told.broken}
        return json.dumps(fields) + "\n"
    if form == "concise":
        from advisor.redact import clean

        return f"{clean(told.path)}: broken: {clean(told.broken)}\n"
    from advisor.report import Page
    from advisor.report.formats import render
    from advisor.report.output import run_time

    whole = render(form, [], Page(broken=((told.path, told.broken),), now=run_time()))
    if form == "junit":
        return whole.partition("<testsuites>\n")[2].rpartition("</testsuites>")[0]
    (run,) = json.loads(whole)["runs"]
    return json.dumps(run)


def _no_room(error: OSError) -> MycnfError:
    return MycnfError(f"can't write temporary files ({error.strerror}); set TMPDIR to a directory with room")


def _renamed(lines: str, count: int) -> str:
    """The lines of a server whose name others have too: their series would be the same."""
    told = []
    for line in lines.splitlines(keepends=True):
        head, quote, rest = line.partition('{server="')
        end = _end_of_label(rest)
        told.append(f"{head}{quote}{rest[:end]} ({count}){rest[end:]}")
    return "".join(told)


def _end_of_label(rest: str) -> int:
    """Where the first quote stands that no backslash escapes."""
    place = 0
    while rest[place] != '"':
        place += 2 if rest[place] == "\\" else 1
    return place
