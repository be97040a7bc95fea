"""Compare a server's reaction with the verdict, setting by setting."""

from __future__ import annotations

import os
import re
from typing import Final, NamedTuple

from answers import Stop
from truth import Truth

from advisor.catalog import load
from advisor.core.model import Target
from advisor.optionfile import resolve
from advisor.verdict import REFUSED, FileVerdict, LineVerdict, Outcome, judge_file

# Set on the command line of the queries, or derived from the host's limits, folders and name.
HOST: Final = """
basedir datadir tmpdir plugin_dir character_sets_dir lc_messages_dir secure_file_priv user log_error_verbosity
open_files_limit table_open_cache table_cache table_definition_cache max_connections innodb_open_files log_error
back_log table_open_cache_instances pid_file thread_stack log_error_services log_bin_index relay_log_index
"""
FINDINGS = {
    Outcome.UNKNOWN: "unknown-option",
    Outcome.REMOVED: "unknown-option",
    Outcome.AMBIGUOUS: "ambiguous-option",
    Outcome.INVALID: "invalid-value",
    Outcome.STOPS: "invalid-value",
    Outcome.MISSING_ARGUMENT: "missing-argument",
    Outcome.UNEXPECTED_ARGUMENT: "unexpected-argument",
}
# Whose faults a start logs, or whose words it drops, and `--verbose --help` does not.
READ_AT_START = {"character_set_collations", "gtid_pos_auto_engines"}
SILENT = (8, 0, 15)  # reports no unknown options with --help, and has no other way to report them
TELLS_LITTLE = (5, 7)
HOST_NAME = os.uname().nodename.partition(".")[0]


class Disagreement(NamedTuple):
    """A setting that the server treats differently than predicted: the position of its line, and the difference."""

    at: int
    what: str
    detail: str


def judge(lines: list[str], target: Target) -> FileVerdict:
    """The verdict on the file."""
    text = "".join(line + "\n" for line in lines).encode("utf-8", "surrogateescape")
    resolved = resolve(["f.cnf"], flavour=target.flavour, version=target.version, loader=lambda _: text)
    return judge_file(resolved, load(target))


def compare(lines: list[str], truth: Truth, target: Target) -> list[Disagreement]:
    """All settings for which the two differ, one entry each."""
    verdict = judge(lines, target)
    disagreements = {
        d.at: d
        for d in [*_values(verdict, truth), *_compare_adjusted(verdict, truth), *_compare_refused(verdict, truth)]
    }
    return [disagreements[at] for at in sorted(disagreements)]


def _at(line: LineVerdict) -> int:
    return line.placed.line.number - 1


def _compare_refused(verdict: FileVerdict, truth: Truth) -> list[Disagreement]:
    ours = {_at(line): line for line in verdict.lines if line.outcome in REFUSED and not _is_passed_over(verdict, line)}
    if verdict.catalog.target.version == SILENT:
        ours = {at: x for at, x in ours.items() if x.outcome not in (Outcome.UNKNOWN, Outcome.REMOVED)}
    only_ours = [at for at in ours if at not in truth.refused and ours[at].outcome is not Outcome.STOPS]
    only_theirs = [at for at in truth.refused if at not in ours]
    for at in [at for at in only_theirs if truth.refused[at].name is None]:
        # A conflict of several options is reported without a name, so it may be attributed to any of them.
        also = next((other for other in (*only_ours, *ours) if ours[other].value is not None), None)
        if also is not None:
            only_ours = [other for other in only_ours if other != also]
            only_theirs.remove(at)
    disagreements = [Disagreement(at, "refused by the server alone", truth.refused[at].said) for at in only_theirs]
    disagreements += [Disagreement(at, "refused by the verdict alone", ours[at].reason) for at in only_ours]
    return disagreements + [
        Disagreement(at, "refused under another name", f"{stop.said} | {ours[at].outcome}")
        for at, stop in truth.refused.items()
        if at in ours and not _same_name(stop, ours[at])
    ]


def _is_passed_over(verdict: FileVerdict, line: LineVerdict) -> bool:
    """Whether loose_ helps here: a start of MySQL goes on without the X Plugin, `--verbose --help` does not."""
    return line.loose and not (line.outcome is Outcome.INVALID and verdict.catalog.target.is_mysql)


def _same_name(stop: Stop, line: LineVerdict) -> bool:
    return not stop.said or stop.kind == FINDINGS[line.outcome]


def _compare_adjusted(verdict: FileVerdict, truth: Truth) -> list[Disagreement]:
    if truth.last is None or verdict.catalog.target.version[:2] == TELLS_LITTLE:
        return []
    ours: dict[str, list[LineVerdict]] = {}
    for line in verdict.lines:
        if line.outcome is Outcome.ADJUSTED:
            ours.setdefault(line.canonical or "", []).append(line)
    disagreements = []
    # `--verbose --help` adjusts values at which a start stops: tests/verdict/test_stops.py asks starts.
    stopped = {line.canonical for line in verdict.lines if line.outcome is Outcome.STOPS}
    for name, moved in truth.last.moved.items():
        if name in stopped:
            continue
        if name not in ours and not any(written_name(line) == name for lines in ours.values() for line in lines):
            disagreements.append(
                Disagreement(_line_of(name, verdict), "adjusted by the server alone", f"{name}: {moved}")
            )
    for name, lines in ours.items():
        last = lines[-1]
        silent = truth.last.values.get(name) not in (None, _requested_number(last))
        told = silent or name in READ_AT_START
        if name not in truth.last.moved and not told and _at(last) not in truth.refused:
            disagreements.append(Disagreement(_at(last), "adjusted by the verdict alone", f"{name}: {last.reason}"))
    return disagreements


def _requested_number(line: LineVerdict) -> str | None:
    """The number that the line requests; None with a prefix such as skip_, which changes the value."""
    switched = written_name(line).removeprefix("loose_").startswith(("skip_", "disable_", "enable_"))
    return None if switched else number(line.placed.line.value)


def written_name(line: LineVerdict) -> str:
    """The name in the file, in lower case with underscores."""
    return (line.placed.line.name or "").lower().replace("-", "_")


def _line_of(name: str, verdict: FileVerdict) -> int:
    named = [_at(line) for line in verdict.lines if line.canonical == name or written_name(line).endswith(name)]
    return named[-1] if named else 0


def number(raw: str | None) -> str | None:
    """A number with its suffix resolved."""
    match = re.fullmatch(r"\s*(-?\d+)\s*([kmgtpe]?)\w*\s*", raw or "", re.IGNORECASE)
    return str(int(match[1]) * 1024 ** " kmgtpe".index(match[2].lower() or " ")) if match else None


def _values(verdict: FileVerdict, truth: Truth) -> list[Disagreement]:
    if truth.last is None:
        return []
    disagreements = []
    for name, line in verdict.effective.items():
        # Spaces before a value cannot be distinguished from those that separate the columns.
        value, foretold = truth.last.values.get(name, ""), (line.value or "").lstrip(" ")
        if _at(line) in truth.refused or name in HOST.split() or foretold == value or _of_host(value, line):
            continue
        disagreements.append(
            Disagreement(_at(line), "another value", f"{name}: server {value!r} verdict {line.value!r}")
        )
    return disagreements


def _of_host(message: str, line: LineVerdict) -> bool:
    """Whether the value depends on the host: its name, or a default that it determines."""
    if line.value is None and line.option is not None and line.option.default is None:
        return True
    if line.canonical == "query_cache_size" and message == "0":
        return True  # there is not enough memory
    return os.path.basename(message).startswith(HOST_NAME) and (line.value or "").startswith("(host name)")
