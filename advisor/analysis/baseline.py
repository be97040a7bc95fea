"""A baseline: findings saved in a file, so that later runs report only new ones."""

from __future__ import annotations

import json
import os

from advisor.core import NamedTuple
from advisor.core.errors import MycnfError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from advisor.core.model import Finding

VERSION = 1
MAX_BYTES = (
    16 << 20
)  # bytes; enough for a hundred thousand findings, and invalid JSON of that size takes 25 times the memory
FIELDS = ("path", "code", "group", "option", "value")
SERVER = "<server>"  # the file of an audit's finding without one
OUTSIDE = os.pardir + os.sep
UNTIL = "until"  # begins a reason that has a last day
Key = tuple[str, str, str | None, str | None, str | None]


class BaselineReading(NamedTuple):
    """The findings of one file with its includes, for one target, and the paths of all files read."""

    path: str
    findings: tuple[Finding, ...]
    paths: tuple[str, ...]


class BaselineSplit(NamedTuple):
    """The findings of one reading that are new, and those in the baseline."""

    new: tuple[Finding, ...]
    known: tuple[Finding, ...]


class Baseline(NamedTuple):
    """The number of findings by path (relative to the baseline's directory), code, group, option and value.

    `reasons` holds the reasons given for suppressing them.
    """

    path: str
    counts: dict[Key, int]
    reasons: dict[Key, str]


def key_of(finding: Finding, home: str, folder: str) -> Key:
    """Return the parts of a finding that do not change when lines move: no line, message or target version.

    The option is the canonical one, so another spelling is not a new finding; its value is masked as in every report.
    `home` is the file of a finding without a location, SERVER in an audit: paths of the server's host stay as they are,
    wherever the baseline is.
    """
    path = finding.location.path if finding.location else home
    return (
        path if home == SERVER else relative_path(path, folder),
        finding.code,
        finding.group,
        finding.canonical or finding.option,
        finding.value,
    )


def relative_path(path: str, folder: str) -> str:
    """Return a path relative to the baseline's directory; pseudo files such as <stdin> stay as they are.

    A file that only seems to lie elsewhere, because one of the two directories is named by a link, counts as within.
    """
    if path.startswith("<"):
        return path
    path, folder = os.path.abspath(path), os.path.abspath(folder)
    relative = os.path.relpath(path, folder)
    if relative.startswith(OUTSIDE):
        real = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        within = os.path.relpath(real, os.path.realpath(folder))
        relative = relative if within.startswith(OUTSIDE) else within
    return relative.replace(os.sep, "/")


def render_baseline(readings: Iterable[BaselineReading], path: str) -> str:
    """Return the baseline of these findings for a file at `path`: sorted JSON with one finding per line."""
    folder = os.path.dirname(path) or "."
    counts: dict[Key, int] = {}
    names: dict[str, str] = {}
    for reading in readings:
        names |= {f.code: f.name for f in reading.findings}
        for key, number in _count_findings(reading, folder).items():
            # Several targets, or a file that is both named and included, are several readings of one line.
            counts[key] = max(counts.get(key, 0), number)
    lines = [f"  {json.dumps(_entry(key, names[key[1]], counts[key]))}" for key in sorted(counts, key=_sort_key)]
    findings = "[\n" + ",\n".join(lines) + "\n ]" if lines else "[]"
    return f'{{\n "version": {VERSION},\n "findings": {findings}\n}}\n'


def amend_baseline(path: str, finding: Finding, home: str, reason: str) -> str:
    """Return the baseline with one more finding and its reason; without a reason, with one less.

    Other entries stay unchanged. Raises MycnfError if the file is not a baseline.
    """
    key = key_of(finding, home, os.path.dirname(path) or ".")
    baseline = read_baseline(path)
    with open(path, encoding="utf-8") as file:
        entries = json.load(file)["findings"]
    others = [entry for entry in entries if tuple(entry.get(field) for field in FIELDS) != key]
    known = sum(entry.get("count", 1) for entry in entries if tuple(entry.get(field) for field in FIELDS) == key)
    if count := max(0, known + (1 if reason else -1)):
        reason = reason or baseline.reasons.get(key, "")
        others.append(_entry(key, finding.name, count) | ({"reason": reason} if reason else {}))
    others.sort(key=lambda entry: tuple(entry.get(field) or "" for field in FIELDS))
    lines = ",\n".join(f"  {json.dumps(entry)}" for entry in others)
    return f'{{\n "version": {VERSION},\n "findings": [\n{lines}\n ]\n}}\n' if lines else render_baseline((), path)


def _count_findings(reading: BaselineReading, folder: str) -> dict[Key, int]:
    counts: dict[Key, int] = {}
    for finding in reading.findings:
        key = key_of(finding, reading.path, folder)
        counts[key] = counts.get(key, 0) + 1
    return counts


def _entry(key: Key, name: str, count: int) -> dict[str, Any]:
    path, code, group, option, value = key
    return {"path": path, "code": code, "name": name, "group": group, "option": option, "value": value, "count": count}


def _sort_key(key: Key) -> tuple[str, ...]:
    return tuple(part or "" for part in key)


def without_expired(baseline: Baseline, today: str) -> tuple[Baseline, dict[Key, str]]:
    """Return the baseline without the entries whose last day is before `today`, and these days by key.

    The day begins the reason: `until 2027-01-31 see OPS-1234`. Raises MycnfError for one that is not a date.
    """
    dated = {key: reason for key, reason in baseline.reasons.items() if reason[:5].lower() == UNTIL}
    if not dated:
        return baseline, {}
    from advisor.analysis.suppress import is_over, read_expiry, reason_fault

    ended = {}
    for key, reason in dated.items():
        expiry = read_expiry(reason)
        if expiry.wrong:
            raise MycnfError(f"{baseline.path}: reason of {key[1]}: {reason_fault(reason, today)}")
        if is_over(expiry.day, today):
            ended[key] = expiry.day
    return baseline._replace(counts={k: count for k, count in baseline.counts.items() if k not in ended}), ended


def apply_baseline(baseline: Baseline, readings: Sequence[BaselineReading]) -> list[BaselineSplit]:
    """Split the findings of each reading: of those with the same key the first ones are known, the others new."""
    folder = os.path.dirname(baseline.path) or "."
    return [_split(baseline, reading, folder) for reading in readings]


def _split(baseline: Baseline, reading: BaselineReading, folder: str) -> BaselineSplit:
    left = dict(baseline.counts)
    new: list[Finding] = []
    known: list[Finding] = []
    for finding in reading.findings:
        key = key_of(finding, reading.path, folder)
        left[key] = left.get(key, 0) - 1
        (known if left[key] >= 0 else new).append(finding)
    return BaselineSplit(tuple(new), tuple(known))


def count_gone(baseline: Baseline, readings: Iterable[BaselineReading], ran: frozenset[str]) -> int:
    """Count the entries that are not found any more, among those that this run could find.

    An entry counts if its file was read or no longer exists, and if its rule ran.
    """
    folder = os.path.dirname(baseline.path) or "."
    counts: dict[Key, int] = {}
    read_: set[str] = set()
    for reading in readings:
        read_ |= {relative_path(path, folder) for path in reading.paths}
        for key, number in _count_findings(reading, folder).items():
            counts[key] = max(counts.get(key, 0), number)
    return sum(
        key[1] in ran and counts.get(key, 0) < count and (key[0] in read_ or _is_missing(key[0], folder))
        for key, count in baseline.counts.items()
    )


def _is_missing(path: str, folder: str) -> bool:
    return not path.startswith("<") and not os.path.lexists(os.path.join(folder, path))


def read_baseline(path: str) -> Baseline:
    """Read a baseline; raises MycnfError, in one line, if the file is not one."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise MycnfError(f"{path}: not a regular file, so not a baseline; write one with --write-baseline FILE")
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "a path cannot contain a NUL byte"
        raise MycnfError(f"{path}: can't be read ({reason}); write a baseline with --write-baseline FILE") from error
    if len(data) > MAX_BYTES:
        reason = f"larger than {MAX_BYTES >> 20} MB"
        raise MycnfError(f"{path}: {reason}, so not a baseline; write one with --write-baseline FILE")
    try:
        document = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise MycnfError(f"{path} is not a baseline: it is not JSON; write one with --write-baseline FILE") from error
    counts = _parse_counts(document, path)
    describe_known = (entry for entry in document["findings"] if isinstance(entry.get("reason"), str))
    return Baseline(path, counts, {_parse_entry(entry, path)[0]: entry["reason"] for entry in describe_known})


def describe_known(baseline: Baseline, finding: Finding, home: str) -> str:
    """Return a sentence about a finding in the baseline: the file, and the reason if there is one."""
    reason = baseline.reasons.get(key_of(finding, home, os.path.dirname(baseline.path) or "."))
    return f"it is in {baseline.path}" + (f": {reason}" if reason else "")


def _parse_counts(document: Any, path: str) -> dict[Key, int]:
    version = document.get("version") if isinstance(document, dict) else None
    entries = document.get("findings") if isinstance(document, dict) else None
    if type(version) is int and version > VERSION:
        raise MycnfError(
            f"{path}: a baseline of version {version}, but this mycnf supports version {VERSION}; update mycnf"
        )
    if type(version) is not int or not isinstance(entries, list):
        raise MycnfError(f"{path} is not a baseline of mycnf; write one with --write-baseline FILE")
    counts: dict[Key, int] = {}
    for number, entry in enumerate(entries, 1):
        key, count = _parse_entry(entry, f"{path}: entry {number}")
        counts[key] = counts.get(key, 0) + count
    return counts


def _parse_entry(entry: Any, where: str) -> tuple[Key, int]:
    if not isinstance(entry, dict):
        raise MycnfError(f"{where} is not a finding; write the baseline again with --write-baseline FILE")
    names, rest = [entry.get(f) for f in FIELDS[:2]], [entry.get(f) for f in FIELDS[2:]]
    count = entry.get("count", 1)
    whole = all(isinstance(x, str) for x in names) and all(x is None or isinstance(x, str) for x in rest)
    if not whole or type(count) is not int or count < 1:
        raise MycnfError(f"{where} is damaged; write the baseline again with --write-baseline FILE")
    key: Any = (*names, *rest)
    return key, count
