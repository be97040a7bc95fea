"""The formats of lint by name, and which report goes where."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.exits import MycnfError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from advisor.report import Checked, Page

FORMATS = ("text", "concise", "json", "jsonl", "sarif", "github", "gitlab", "junit", "markdown")
# Where no file could be read, these print nothing: stderr has said why.
SILENT = frozenset({"text", "concise"})


def render(name: str, checked: Sequence[Checked], page: Page) -> str:
    """The report in the format of that name, one of FORMATS; only its module is imported. ValueError for another."""
    match name:
        case "text":
            from advisor.report.text import report as write
        case "concise":
            from advisor.report.text import concise as write
        case "json":
            from advisor.report.jsonform import report as write
        case "jsonl":
            from advisor.report.jsonl import report as write
        case "sarif":
            from advisor.report.sarif import report as write
        case "github":
            from advisor.report.github import report as write
        case "gitlab":
            from advisor.report.gitlab import report as write
        case "junit":
            from advisor.report.junit import report as write
        case "markdown":
            from advisor.report.markdown import report as write
        case _:
            raise ValueError(f"lint has no format {name!r}")
    return write(checked, page)


def pair(given: Iterable[tuple[str, str]], default: str = "text") -> list[tuple[str, str | None]]:
    """Formats with the files that they go to (None: stdout), from --format and -o in the order they were given.

    `given` holds ("format", NAME) and ("output", FILE). A file belongs to the format before it, or to the one after it
    where that has a file already. Raises MycnfError where a file is left over, or two reports would go to one place.
    """
    pairs: list[tuple[str, str | None]] = []
    waiting: list[str] = []
    for kind, word in given:
        if kind == "format":
            pairs.append((word, waiting.pop(0) if waiting else None))
        elif pairs and pairs[-1][1] is None:
            pairs[-1] = (pairs[-1][0], word)
        else:
            waiting.append(word)
    if not pairs:
        pairs = [(default, waiting.pop(0) if waiting else None)]
    if waiting:
        raise MycnfError(f"-o {waiting[0]} has no --format of its own; give one --format for each -o")
    _refuse_shared([path or "-" for _, path in pairs])
    return pairs


def _refuse_shared(paths: list[str]) -> None:
    for path in paths:
        if paths.count(path) > 1:
            where = "stdout" if path == "-" else path
            raise MycnfError(f"two reports would go to {where}; give each --format a file of its own with -o")


def write_reports(pairs: Sequence[tuple[str, str | None]], checked: Sequence[Checked], page: Page) -> None:
    """Make every report, then write each to its file or to stdout; MycnfError where a file can't be written.

    Colour is for stdout alone.
    """
    from advisor.report.output import write

    made = [(render(name, checked, _for(path, page)), path) for name, path in pairs if checked or name not in SILENT]
    for text, path in made:
        write(text, path)


def _for(path: str | None, page: Page) -> Page:
    return page if path in (None, "-") else page._replace(colour=False)
