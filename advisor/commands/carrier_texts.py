"""Presents the option sets of documents as option files of the same name."""

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

HCL_ENDINGS = (".tf", ".tofu", ".hcl")
SUPPRESSION = "mycnf:"  # start of a suppression comment


def resolved_of(carrier: Carrier, one: OptionSet, target: Target) -> ResolvedFiles:
    """Return a set as if it were an option file with the document's name."""
    return resolved(carrier, one.read(load(target)))


def resolved_of_one(carrier: Carrier, target: Target) -> ResolvedFiles:
    """Return the only set of a document; raises MycnfError if there are several or none."""
    path = carrier.document.path
    if not carrier.sets:
        raise MycnfError(f"{path}: it has no options of a MySQL or MariaDB server; name another file")
    if len(carrier.sets) > 1:
        labels = ", ".join(one.label for one in carrier.sets)
        raise MycnfError(f"{path}: options of several servers or files ({labels}), which lint reads; name one file")
    return resolved_of(carrier, carrier.sets[0], target)


def join_resolved(parts: Iterable[ResolvedFiles]) -> ResolvedFiles:
    """Join the files, options and problems of several readings, in order."""
    parts = list(parts)
    return ResolvedFiles(
        tuple(file for part in parts for file in part.files),
        tuple(option for part in parts for option in part.options),
        tuple(problem for part in parts for problem in part.problems),
    )


def hint_of(carriers: Iterable[Carrier]) -> tuple[Target, str] | None:
    """Return the server that the documents name, and how it was found."""
    hints = [(one.hint, one.why) for carrier in carriers for one in carrier.sets if one.hint is not None]
    return hints[0] if hints else None


def resolved_text(carrier: Carrier) -> ResolvedFiles:
    """Return the document's lines as option files without options, for suppression comments.

    Without such comments, only the first line of each file is included: thousands of lines would double the memory
    used.
    """
    document = carrier.document
    wanted = range(1, document.lines + 1) if SUPPRESSION in document.text else document.first_lines
    return resolved(carrier, SetReading(tuple(_bare(document, number) for number in wanted), ()))


def _bare(document: Document, number: int) -> Line:
    """Return a line as one of an option file: a comment above a block of Terraform applies to the name in it."""
    text = document.line(number).replace("// mycnf:", "#  mycnf:").replace("//mycnf:", "# mycnf:")
    opens = text.rstrip().endswith("{") and document.path.endswith(HCL_ENDINGS)
    comment = opens or text.lstrip().startswith(("#", ";", "//"))
    kind = LineKind.COMMENT if comment else LineKind.OPTION if text.strip() else LineKind.BLANK
    return Line(kind, number, f"{text}\n", name=text.strip() if kind is LineKind.OPTION else None)


def resolved(carrier: Carrier, reading: SetReading) -> ResolvedFiles:
    """Return the files and options of a reading, each line at its place in its file."""
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
