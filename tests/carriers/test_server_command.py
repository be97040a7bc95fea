"""Command lines, compared with what each real server prints for exactly these arguments."""

from __future__ import annotations

import json
import re
from subprocess import CompletedProcess

import pytest
from real_servers import Start

from advisor.catalog import load
from advisor.optionfile.lines import OptionFile, PlacedLine, ResolvedFiles
from advisor.verdict import REFUSED, judge_file
from probes.sandbox import Binary, SandboxError, ask_help, help_values, validate_config
from tests.carriers.conftest import Carried

# Parted as a list's items are; each is given to the servers as it stands.
COMMANDS = [
    ["--port=3307"],
    ["--port", "3307"],
    ["--max_allowed_packet", " 16M"],
    ["-P", "3307"],
    ["-aP3308"],
    ["-x"],
    ["---port=1"],
    ["--_port=1"],
    ["--port='7'"],
    ["--port==5"],
    ["--sort-buffer-size=1.5G"],
    ["--sort-buffer-size="],
    ["--sort-buffer-size", "--port=1"],
    ["--general-log", "OFF"],
    ["--skip-name-resolve", "--", "stray"],
    ["stray"],
    [""],
    ["--loose-nonsense=5"],
    ["--nonsense"],
    ["--init-connect=a#b"],
    ["--init-connect", "a b"],
    ["--init-connect=\\n'x'"],
    ["--default-week-format=99"],
    ["--port=1", "--defaults-file=/x"],
    ["--flush-time", "5", "--flush-time=6"],
    ["--sql-mode=nope"],
    ["--sort-buf=64M"],
    ["--skip-flush-time", "5"],
]
STRAY = [["--general-log", "OFF"], ["--skip-name-resolve", "--", "stray"], ["stray"], [""]]
STRAY += [["--skip-flush-time", "5"]]
UNKNOWN = [["-x"], ["---port=1"], ["--_port=1"], ["--nonsense"], ["--sort-buf=64M"]]
UNKNOWN += [["--port=1", "--defaults-file=/x"]]
COMPARED = frozenset(
    (
        *("port", "max_allowed_packet", "sort_buffer_size", "general_log", "init_connect", "default_week_format"),
        "flush_time",
    )
)


def refuses(binary: Binary, words: list[str], printed: CompletedProcess[str], start: Start) -> bool:
    """Whether the server stops at its arguments; some report it only where asked whether they would start, or started.

    `printed` is what it says to them under --verbose --help.
    """
    counts_when_started = binary.target.since("mysql", 8) and words in STRAY
    if counts_when_started or (binary.target.version[:3] == (8, 0, 15) and words in UNKNOWN):
        with pytest.raises(SandboxError, match=r"Too many arguments|unknown (?:option|variable)"):
            start(binary.name, arguments=["--performance-schema=OFF", *words], small=True)
        return True
    if binary.target.since("mysql", 8, 0, 16):
        errors = validate_config(binary, arguments=words).stderr
        return bool(re.search(r"\[ERROR\].*(?:unknown|requires|while setting|Unknown suffix|Empty value)", errors))
    return printed.returncode != 0


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_servers_agree(words: list[str], binary: Binary, start: Start) -> None:
    """What is refused here is refused by the server, and the values are those that it prints."""
    document = Carried(json.dumps({"image": "mysql", "command": ["mysqld", *words]}), "x.json")
    catalog = load(binary.target)
    reading = document.carrier.sets[0].read(catalog)
    options = tuple(PlacedLine("x", line) for line in reading.order)
    verdict = judge_file(ResolvedFiles((OptionFile("x", reading.lines),), options, ()), catalog)
    ours = any(line.outcome in REFUSED and not line.loose for line in verdict.lines)
    answer = ask_help(binary, arguments=words)
    assert (ours or any(stray.fatal for stray in reading.strays)) == refuses(binary, words, answer, start)
    if ours or reading.strays:
        return
    printed = {k.replace("-", "_"): v for k, v in help_values(answer.stdout).items()}
    set_here = {name: line.value for name, line in verdict.effective.items() if name in COMPARED}
    assert set_here == {name: printed[name] for name in set_here}
