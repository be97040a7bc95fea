"""What documents carry, as if it stood in option files of their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.carriers.sets import SetReading
from advisor.catalog.load import load
from advisor.core.errors import MycnfError
from advisor.optionfile.lines import Line, LineKind, OptionFile, PlacedLine, ResolvedFiles

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.carriers.document import Document
    from advisor.carriers.sets import Carrier, OptionSet
    from advisor.core.model import Target

SUPPRESSION = "mycnf:"  # how a comment begins that asks to leave a finding out


def resolved_of(carrier: Carrier, one: OptionSet, target: Target) -> ResolvedFiles:
    """A set as if it were an option file of the document's name."""
    return resolved(carrier, one.read(load(target)))


def resolved_of_one(carrier: Carrier, target: Target) -> ResolvedFiles:
    """The one set of a document; MycnfError where it holds several, or none."""
    path = carrier.document.path
    if not carrier.sets:
        raise MycnfError(f"{path}: it has no options of a MySQL or MariaDB server; name another file")
    if len(carrier.sets) > 1:
        labels = ", ".join(one.label for one in carrier.sets)
        raise MycnfError(f"{path}: options of several servers or files ({labels}), which lint reads; name one file")
    return resolved_of(carrier, carrier.sets[0], target)


def join_resolved(parts: Iterable[ResolvedFiles]) -> ResolvedFiles:
    """What was read one after another, as one."""
    parts = list(parts)
    return ResolvedFiles(
        tuple(file for part in parts for file in part.files),
        tuple(option for part in parts for option in part.options),
        tuple(problem for part in parts for problem in part.problems),
    )


def hint_of(carriers: Iterable[Carrier]) -> tuple[Target, str] | None:
    """The server that documents name, and how."""
    hints = [(one.hint, one.why) for carrier in carriers for one in carrier.sets if one.hint is not None]
    return hints[0] if hints else None


def resolved_text(carrier: Carrier) -> ResolvedFiles:
    """The document's lines as those of option files without options, for comments that speak to mycnf.

    Where none does, the first line of each file stands for all: thousands of them take as much memory as all the rest.
    """
    document = carrier.document
    wanted = range(1, document.lines + 1) if SUPPRESSION in document.text else document.first_lines
    return resolved(carrier, SetReading(tuple(_bare(document, number) for number in wanted), ()))


def _bare(document: Document, number: int) -> Line:
    text = document.line(number)
    kind = LineKind.COMMENT if text.lstrip()[:1] in ("#", ";") else LineKind.OPTION if text.strip() else LineKind.BLANK
    return Line(kind, number, f"{text}\n", name=text.strip() if kind is LineKind.OPTION else None)


def resolved(carrier: Carrier, reading: SetReading) -> ResolvedFiles:
    """The files and options of a reading, each line where it stands."""
    document = carrier.document
    files: dict[str, list[Line]] = {document.path: []}
    for line in reading.lines:
        path, number = document.file_line(line.number)
        files.setdefault(path, []).append(line._replace(number=number))
    options = []
    for line in reading.order:
        path, number = document.file_line(line.number)
        options.append(PlacedLine(path, line._replace(number=number)))
    read = tuple(OptionFile(path, tuple(lines)) for path, lines in files.items())
    return ResolvedFiles(read, tuple(options), reading.problems)
