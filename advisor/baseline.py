"""A baseline: the findings of one day, kept in a file, so that later runs show what is new."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from advisor.exits import MycnfError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from advisor.model import Finding

VERSION = 1
LARGEST = 64 << 20
FIELDS = ("path", "code", "group", "option", "value")
Key = tuple[str, str, str | None, str | None, str | None]


class Reading(NamedTuple):
    """The findings of one file with its includes, for one target, and the paths of all files that were read."""

    path: str
    findings: tuple[Finding, ...]
    paths: tuple[str, ...]


class Split(NamedTuple):
    """The findings of one reading that are new, and those that the baseline knows."""

    new: tuple[Finding, ...]
    known: tuple[Finding, ...]


class Baseline(NamedTuple):
    """Findings by path (relative to the baseline's folder), code, group, option and value: how many of each."""

    path: str
    counts: dict[Key, int]


def key_of(finding: Finding, home: str, folder: str) -> Key:
    """What stays the same of a finding while lines move: no line, no message, and no version of the target.

    The option is the one that the server takes it for, so another spelling is no new finding; its value is masked as
    in every report. `home` is the file of a finding without a place.
    """
    path = finding.location.path if finding.location else home
    return (relative(path, folder), finding.code, finding.group, finding.canonical or finding.option, finding.value)


def relative(path: str, folder: str) -> str:
    """A path as a baseline in that folder names it; what is no file, such as <stdin>, by its own name."""
    if path.startswith("<"):
        return path
    return os.path.relpath(os.path.abspath(path), os.path.abspath(folder)).replace(os.sep, "/")


def render(readings: Iterable[Reading], path: str) -> str:
    """The baseline of these findings for a file at `path`: JSON, sorted, a finding a line."""
    folder = os.path.dirname(path) or "."
    counts: dict[Key, int] = {}
    names: dict[str, str] = {}
    for reading in readings:
        names |= {f.code: f.name for f in reading.findings}
        for key, number in _counted(reading, folder).items():
            # Several targets, or a file that is included and named as well, are several readings of one line.
            counts[key] = max(counts.get(key, 0), number)
    lines = [f"  {json.dumps(_entry(key, names[key[1]], counts[key]))}" for key in sorted(counts, key=_order)]
    findings = "[\n" + ",\n".join(lines) + "\n ]" if lines else "[]"
    return f'{{\n "version": {VERSION},\n "findings": {findings}\n}}\n'


def _counted(reading: Reading, folder: str) -> dict[Key, int]:
    counts: dict[Key, int] = {}
    for finding in reading.findings:
        key = key_of(finding, reading.path, folder)
        counts[key] = counts.get(key, 0) + 1
    return counts


def _entry(key: Key, name: str, count: int) -> dict[str, Any]:
    path, code, group, option, value = key
    return {"path": path, "code": code, "name": name, "group": group, "option": option, "value": value, "count": count}


def _order(key: Key) -> tuple[str, ...]:
    return tuple(part or "" for part in key)


def apply(baseline: Baseline, readings: Sequence[Reading]) -> list[Split]:
    """The findings of each reading apart: of those that share a key the first ones are known, the others new."""
    folder = os.path.dirname(baseline.path) or "."
    return [_split(baseline, reading, folder) for reading in readings]


def _split(baseline: Baseline, reading: Reading, folder: str) -> Split:
    left = dict(baseline.counts)
    new: list[Finding] = []
    known: list[Finding] = []
    for finding in reading.findings:
        key = key_of(finding, reading.path, folder)
        left[key] = left.get(key, 0) - 1
        (known if left[key] >= 0 else new).append(finding)
    return Split(tuple(new), tuple(known))


def gone(baseline: Baseline, readings: Iterable[Reading], ran: frozenset[str]) -> int:
    """How many entries are found no longer, of those that this run could have found.

    An entry counts if its file was read, or isn't there any more, and its rule was among those that looked.
    """
    folder = os.path.dirname(baseline.path) or "."
    found: dict[Key, int] = {}
    read_: set[str] = set()
    for reading in readings:
        read_ |= {relative(path, folder) for path in reading.paths}
        for key, number in _counted(reading, folder).items():
            found[key] = max(found.get(key, 0), number)
    return sum(
        key[1] in ran and found.get(key, 0) < count and (key[0] in read_ or _is_lost(key[0], folder))
        for key, count in baseline.counts.items()
    )


def _is_lost(path: str, folder: str) -> bool:
    return not path.startswith("<") and not os.path.lexists(os.path.join(folder, path))


def read(path: str) -> Baseline:
    """The baseline in a file; raises MycnfError, one line, for what can't be read as one."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise MycnfError(f"{path}: no regular file, so no baseline; write one with --write-baseline FILE")
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else "a path holds no NUL byte"
        raise MycnfError(f"{path}: can't be read ({said}); write a baseline with --write-baseline FILE") from error
    try:
        document = json.loads(data.decode("utf-8")) if len(data) <= LARGEST else None
    except (ValueError, RecursionError) as error:
        raise MycnfError(f"{path}: no baseline, for it is no JSON; write one with --write-baseline FILE") from error
    return Baseline(path, _counts(document, path))


def _counts(document: Any, path: str) -> dict[Key, int]:
    version = document.get("version") if isinstance(document, dict) else None
    entries = document.get("findings") if isinstance(document, dict) else None
    if type(version) is int and version > VERSION:
        raise MycnfError(f"{path}: a baseline of version {version}, and this mycnf knows {VERSION}; update mycnf")
    if type(version) is not int or not isinstance(entries, list):
        raise MycnfError(f"{path}: no baseline of mycnf; write one with --write-baseline FILE")
    counts: dict[Key, int] = {}
    for number, entry in enumerate(entries, 1):
        key, count = _parsed(entry, f"{path}: entry {number}")
        counts[key] = counts.get(key, 0) + count
    return counts


def _parsed(entry: Any, where: str) -> tuple[Key, int]:
    if not isinstance(entry, dict):
        raise MycnfError(f"{where} is no finding; write the baseline again with --write-baseline FILE")
    names, rest = [entry.get(f) for f in FIELDS[:2]], [entry.get(f) for f in FIELDS[2:]]
    count = entry.get("count", 1)
    whole = all(isinstance(x, str) for x in names) and all(x is None or isinstance(x, str) for x in rest)
    if not whole or type(count) is not int or count < 1:
        raise MycnfError(f"{where} is damaged; write the baseline again with --write-baseline FILE")
    key: Any = (*names, *rest)
    return key, count
