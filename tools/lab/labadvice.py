"""Apply an audit's advice to an option file: the option lines of all actions, and nothing else."""

from __future__ import annotations

from typing import Any, NamedTuple

from labfolder import LabError

from advisor.catalog import Catalog
from advisor.optionfile import normalise, parse, resolve
from advisor.optionfile.lines import Line, LineKind
from advisor.verdict import REFUSED, FileVerdict, judge_file, judge_value

GROUP = "mysqld"


class Advice(NamedTuple):
    """An audit's advice: the option lines to write, and the findings without any, as `CODE name`."""

    lines: tuple[str, ...]
    left: tuple[str, ...]


def advice_of(report: dict[str, Any]) -> Advice:
    """The advice in the output of `audit --format json`.

    Statements are ignored, because the server is restarted with the lines. Raises LabError if two findings set an
    option to different values, which must not happen.
    """
    lines: dict[str, str] = {}
    left = []
    for finding in report["findings"]:
        option_lines = [action["option_line"] for action in finding["actions"] if action["option_line"]]
        for line in option_lines:
            name = normalise(line.partition("=")[0].strip())
            if lines.setdefault(name, line) != line:
                raise LabError(f"the audit contradicts itself: {lines[name]!r} and {line!r}")
        if not option_lines:
            left.append(f"{finding['code']} {finding['name']}")
    return Advice(tuple(lines.values()), tuple(dict.fromkeys(left)))


def apply(data: bytes, advice: Advice, catalog: Catalog) -> bytes:
    """The option file with the lines applied.

    Each line replaces the option's own line; new ones are added at the group's end.
    """
    rows = parse(data, "my.cnf").lines
    own = {_name(row, catalog) for row in rows}
    wanted = {_canonical(line, catalog): f"{line}\n" for line in advice.lines}
    added = [line for name, line in wanted.items() if name not in own]
    last = max((n for n, row in enumerate(rows) if GROUP in (row.group, row.name)), default=len(rows) - 1)
    kept: list[str] = []
    placed: set[str] = set()
    for number, row in enumerate(rows):
        name = _name(row, catalog)
        if name not in placed:
            kept.append(wanted.get(name, row.text))
        if name in wanted:
            placed.add(name)
        if number == last and added:
            kept += [*([] if kept[-1].endswith("\n") else ["\n"]), *added]
    return "".join(kept).encode()


def refusals(data: bytes, catalog: Catalog) -> list[str]:
    """What the server would reject in an option file, one sentence per line."""
    return [
        f"{line.placed.line.name}: {line.reason or line.outcome.value}"
        for line in judge_text(data, catalog).lines
        if line.outcome in REFUSED
    ]


def judge_text(data: bytes, catalog: Catalog) -> FileVerdict:
    """The verdict on an option file."""
    return judge_file(resolve(["my.cnf"], flavour=catalog.target.flavour, loader=lambda _: data), catalog)


def _canonical(line: str, catalog: Catalog) -> str:
    name, _, value = line.partition("=")
    return judge_value(name.strip(), value.strip(), catalog).canonical or normalise(name.strip())


def _name(row: Line, catalog: Catalog) -> str:
    """The canonical name of a server's option line, empty for all other lines."""
    if row.kind is not LineKind.OPTION or row.group != GROUP or row.name is None:
        return ""
    return judge_value(row.name, row.value, catalog).canonical or normalise(row.name)
