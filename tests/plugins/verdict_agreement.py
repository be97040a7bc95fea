"""Run real servers with option lines, and compare the result with the verdict."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from advisor.catalog import Catalog
from advisor.optionfile import resolve
from advisor.verdict import REFUSED, FileVerdict, LineVerdict, judge_file
from probes.sandbox import Binary
from probes.sandbox.binary import ask_help, help_values, validate_config

# Options that the tests set on the command line, and variables that depend on the system's limits.
HOST = frozenset(
    [
        "basedir",
        "datadir",
        "tmpdir",
        "plugin_dir",
        "character_sets_dir",
        "lc_messages_dir",
        "secure_file_priv",
        "user",
        "log_error_verbosity",
        "open_files_limit",
        "table_open_cache",
        "table_cache",
        "table_definition_cache",
        "max_connections",
        "innodb_open_files",
        "back_log",
        "table_open_cache_instances",
    ]
)


class Answer(NamedTuple):
    """A server's reaction to a file: whether it stops, the value printed for each option, and its messages."""

    refused: bool
    values: dict[str, str]
    said: str


Ask = Callable[[str], Answer]
Judge = Callable[[str], FileVerdict]


def asker(binary: Binary, folder: Path) -> Ask:
    """A function that runs the server with lines of a [mysqld] group; files are written to the folder."""
    numbers = itertools.count()

    def ask(lines: str) -> Answer:
        file = folder / f"{next(numbers)}.cnf"
        file.write_bytes(f"[mysqld]\n{lines}\n".encode("utf-8", "surrogateescape"))
        answer = _answer(binary, file)
        file.unlink()
        return answer

    return ask


def _answer(binary: Binary, file: Path) -> Answer:
    loud = ["--log-error-verbosity=3"] if binary.target.since("mysql", 8) else []
    done = ask_help(binary, file, placed=True, arguments=["--tmpdir=/tmp", *loud])
    refused = done.returncode != 0 or _engine_stops(done.stderr)
    if not refused and binary.target.since("mysql", 8, 0, 16):
        # With --help these servers report no unknown options.
        refused = bool(re.search(r"\[ERROR\].* unknown ", validate_config(binary, file).stderr))
    values = {name.replace("-", "_").lower(): value for name, value in help_values(done.stdout).items()}
    return Answer(refused, values, done.stderr)


def _engine_stops(message: str) -> bool:
    """Whether an engine stops at an option: an error is reported although the help is printed."""
    return any("[ERROR]" in line and "Unknown locale" not in line for line in message.splitlines())


def judge_lines(lines: str, catalog: Catalog) -> FileVerdict:
    """The verdict on lines of a [mysqld] group."""
    text = f"[mysqld]\n{lines}\n".encode("utf-8", "surrogateescape")
    return judge_file(resolve(["my.cnf"], flavour=catalog.target.flavour, loader=lambda _: text), catalog)


def refused_lines(verdict: FileVerdict) -> list[LineVerdict]:
    """The lines at which the server stops."""
    return [line for line in verdict.lines if line.outcome in REFUSED and not line.loose]


def disagreement(lines: str, answer: Answer, verdict: FileVerdict) -> str | None:
    """How server and verdict differ for the lines; None if they agree."""
    ours = [
        line
        for line in refused_lines(verdict)
        # MySQL 8.0.15 has no --validate-config, and reports no unknown options with --help.
        if verdict.catalog.target.version[:3] != (8, 0, 15) or line.outcome not in ("unknown", "removed")
    ]
    if bool(ours) != answer.refused:
        return f"{lines!r}: refused by the server {answer.refused}, by the verdict {ours}\n{answer.said}"
    if ours:
        return None
    for name, line in verdict.effective.items():
        value = answer.values.get(name, "")
        if name not in HOST and (line.value or "") != value and not _host_name(line):
            return f"{lines!r}: {name} is {value!r} for the server and {line.value!r} for the verdict"
    return None


def _host_name(line: LineVerdict) -> bool:
    return (line.value or "").startswith("(host name)")
