"""Presents the option sets of documents as option files, and lines of option files as lines of documents."""

from __future__ import annotations

import re

from advisor.carriers.document import SetReading
from advisor.catalog import load
from advisor.core.errors import MycnfError
from advisor.optionfile import normalise
from advisor.optionfile.lines import Line, LineKind, OptionFile, PlacedLine, ResolvedFiles
from rules.core.context import REMOVE_LINE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from advisor.carriers.document import Carrier, Document, OptionSet
    from advisor.core.model import Finding, Target
    from advisor.verdict.declared import DeclaredOption, DeclaredSet

HCL_ENDINGS = (".tf", ".tofu", ".hcl", ".nomad")
SUPPRESSION = "mycnf:"  # start of a suppression comment
# An option and its value as texts for users have them; a comma or a semicolon may follow.
_ASSIGNMENT = re.compile(r"(?<![\w.-])([a-z][a-z0-9]*(?:[_-][a-z0-9]+)+) = (\S+?)(?=[,;]?(?:\s|$))")


def resolved_of(carrier: Carrier, option_set: OptionSet, target: Target) -> ResolvedFiles:
    """Return a set as if it were an option file with the document's name."""
    return place_reading(carrier, option_set.read(load(target)))


def sets_named(carrier: Carrier, name: str | None) -> tuple[OptionSet, ...]:
    """Return the sets of a document with a name, all without one; raises MycnfError if there are none."""
    path = carrier.document.path
    if not carrier.sets:
        why = carrier.empty or "it has no options of a MySQL or MariaDB server; name another file"
        raise MycnfError(f"{path}: {why}")
    sets = tuple(one for one in carrier.sets if name in (None, one.label))
    if not sets:
        raise MycnfError(f"{path}: it has no set {name!r}; write --set with one of {_labels(carrier)}")
    return sets


def only_set(carrier: Carrier, name: str | None) -> OptionSet:
    """Return the only set of a document, or the only one with a name; raises MycnfError if there are several or none.

    A name is ignored in a document with one set: it chooses a set of another document.
    """
    sets = sets_named(carrier, name if len(carrier.sets) > 1 else None)
    if len(sets) > 1:
        remedy = f"write --set NAME with one of {_labels(carrier)}"
        raise MycnfError(f"{carrier.document.path}: {len(sets)} sets of options: {remedy}")
    return sets[0]


def _labels(carrier: Carrier) -> str:
    return ", ".join(one.label for one in carrier.sets)


def join_resolved(parts: Iterable[ResolvedFiles]) -> ResolvedFiles:
    """Join the files, options and problems of several readings, in order."""
    parts = list(parts)
    return ResolvedFiles(
        tuple(file for part in parts for file in part.files),
        tuple(option for part in parts for option in part.options),
        tuple(problem for part in parts for problem in part.problems),
    )


def hint_of(carriers: Iterable[Carrier], set_name: str | None = None) -> tuple[Target, str] | None:
    """Return the server that the documents name, for the sets of a name if there are any, and how it was found."""
    sets = [one for carrier in carriers for one in carrier.sets]
    named = [one for one in sets if one.label == set_name] or sets
    hints = [(one.hint, one.why) for one in named if one.hint is not None]
    return hints[0] if hints else None


def resolved_text(carrier: Carrier) -> ResolvedFiles:
    """Return the document's lines as option files without options, for suppression comments.

    Without such comments, only the first line of each file is included: thousands of lines would double the memory
    used.
    """
    document = carrier.document
    wanted = range(1, document.lines + 1) if SUPPRESSION in document.text else document.first_lines
    return place_reading(carrier, SetReading(tuple(_option_file_line(document, number) for number in wanted), ()))


def _option_file_line(document: Document, number: int) -> Line:
    """Return a line as one of an option file: a comment above a block of Terraform applies to the name in it."""
    text = document.line(number).replace("// mycnf:", "#  mycnf:").replace("//mycnf:", "# mycnf:")
    opens = text.rstrip().endswith("{") and document.path.endswith(HCL_ENDINGS)
    comment = opens or text.lstrip().startswith(("#", ";", "//"))
    kind = LineKind.COMMENT if comment else LineKind.OPTION if text.strip() else LineKind.BLANK
    return Line(kind, number, f"{text}\n", name=text.strip() if kind is LineKind.OPTION else None)


def place_reading(carrier: Carrier, reading: SetReading) -> ResolvedFiles:
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


def in_document_terms(
    finding: Finding, declared: DeclaredSet, value_of: Callable[[str, str], str] = lambda _, value: value
) -> Finding:
    """Return a finding whose advice has the names and the notation of the document.

    `value_of` returns the value that the document has for a name and a value of an option file.
    """
    option = _declared_at(finding, declared)
    written = normalise(option.written) if option and option.prefix else finding.option
    alone = len(_ASSIGNMENT.findall(finding.help)) == 1

    def line(text: str, *, is_only: bool) -> str:
        name, _, value = text.partition(" = ")
        there = option if option and name in (option.name, finding.option, finding.canonical) else None
        return line_of(name, value_of(name, value), declared, there, is_only=is_only)

    help_ = _ASSIGNMENT.sub(lambda match: line(match[0], is_only=alone), finding.help)
    lines = [None if a.option_line is None else line(a.option_line, is_only=True) for a in finding.actions]
    actions = tuple(a._replace(option_line=text) for a, text in zip(finding.actions, lines, strict=True))
    return finding._replace(option=written, help=help_, actions=actions)


def in_argument_terms(finding: Finding) -> Finding:
    """Return a finding whose advice has arguments of a command line in place of lines of an option file."""

    def argument(text: str) -> str:
        return _ASSIGNMENT.sub(lambda match: f"--{match[1].replace('_', '-')}={match[2]}", text)

    actions = tuple(a._replace(option_line=a.option_line and argument(a.option_line)) for a in finding.actions)
    return finding._replace(help=argument(finding.help.replace(REMOVE_LINE, "remove the argument")), actions=actions)


def _declared_at(finding: Finding, declared: DeclaredSet) -> DeclaredOption | None:
    """Return the option of the document that a finding is about, by its place."""
    at = finding.location
    if at is None:
        return None
    places = ((one, one.name_place) for one in declared.options)
    return next((one for one, place in places if (place.line, place.column) == (at.line, at.column)), None)


def line_of(
    name: str, value: str, declared: DeclaredSet, there: DeclaredOption | None = None, *, is_only: bool = False
) -> str:
    """Return how the document sets an option; `there` is the one that it has already.

    `is_only` means that a place of the option is known, so that its name need not be repeated beside the value.
    """
    like = there or _similar_option(name, declared)
    if like is None or (like.prefix and like.name != normalise(name) and there is None):
        return f"{name} = {value}"  # a role may have no variable for it
    name = like.written if there or like.name == normalise(name) else name
    if declared.notation == "terraform":
        pair = f'{name} = "{value}"' if like.is_key else f'name = "{name}", value = "{value}"'
        short = f'value = "{value}"'
    elif declared.notation == "json":
        pair = f'"{name}": "{value}"' if like.is_key else f'"{value}" as the value of {name}'
        short = f'"{value}" as its value'
    elif declared.notation == "yaml":
        pair = f'{name}: "{value}"' if like.is_key else f'name: {name}, value: "{value}"'
        short = f'value: "{value}"'
    else:
        return f"{name} = {value}"
    return short if there and is_only and not like.is_key else pair


def _similar_option(name: str, declared: DeclaredSet) -> DeclaredOption | None:
    """Return the document's option of that name, else its first one, which shows how it writes options."""
    same = (one for one in declared.options if normalise(one.name) == normalise(name))
    return next(same, declared.options[0] if declared.options else None)
