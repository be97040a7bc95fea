"""A server's reaction to an option file: the error that stops it, adjustments with a message, and printed values."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from probes.sandbox import Binary
from probes.sandbox.binary import help_values, placement_options, run_briefly, user_option

# Patterns of servers' messages that reject an option, and the corresponding outcome.
ERRORS = (
    ("unknown-option", r"unknown (?:variable|option) '(?:--)?(?P<name>[^'=]*)(?:=(?P<value>.*?))?'\.?$"),
    ("ambiguous-option", r"ambiguous option '(?:--)?(?P<name>[^'=]*)(?:=(?P<value>.*?))?'"),
    ("ambiguous-option", r"variable prefix '(?P<name>[^'=]*)(?:=(?P<value>.*?))?' is not unique"),
    ("missing-argument", r"option '(?:--)?(?P<name>[^'=]*)' requires an argument"),
    ("unexpected-argument", r"option '(?:--)?(?P<name>[^'=]*)' cannot take an argument"),
    ("invalid-value", r"Maximum value of '(?P<name>[^']*)' cannot be set"),
    ("invalid-value", r"Empty value for '(?P<name>[^']*)' specified"),
    ("invalid-value", r"Error while setting value '(?P<value>.*)' to '(?P<name>[^']*)'"),
)
UNSET = re.compile(ERRORS[-1][1])
SILENT = "character_set|_format$"  # rejected without a line that is marked as an error
# Later checks name no option, or only its value: the options that each of their messages may be about.
ABOUT = (
    (r"Unknown collation", "collation_server"),
    (r"Unknown locale", "lc_"),
    (r"Unknown character set", SILENT),
    (r"table rule", "replicate_"),
    (r"replicate-rewrite-db", "rewrite_db"),
    (r"date/time format", "_format$"),
    (r"tls-version", "tls_version"),
    (r"cipher", "cipher"),
    (r"redirect_url", "redirect_url"),
    (r"session_track_system_variables", "session_track_system_variables"),
    (r"log-basename", "log_basename"),
    (r"ft-boolean-syntax", "ft_boolean_syntax"),
)
MOVED = re.compile(r"option '(?P<name>[^']*)': (?:un)?signed value (?P<was>\S+) adjusted to (?P<now>\S+?)\.?$")
MOVED_REAL = re.compile(r"option '(?P<name>[^']*)': value (?P<was>\S+) adjusted to (?P<now>\S+?)\.?$")
NO_BOOLEAN = re.compile(r"option '(?P<name>[^']*)': boolean value '(?P<was>.*)' (?:was not|wasn't) recognized")
STAMP = re.compile(r"^\S+ +(?:\S+ )??\d+ (?=\[)")
# Without these, options in the file could suppress the server's messages.
LOUD = ["--log-error-verbosity=3", "--log-error-services=log_filter_internal; log_sink_internal"]
# These follow an error, or are followed by the error that names the option in full.
NOISE = re.compile(r" Aborting\.?$|Unknown suffix|Incorrect \w+ value")


class Stop(NamedTuple):
    """The error that stops a server: its kind, and the option and value that it names, None if it names none.

    `about` is a pattern for the names of the options that an error without a name may be about.
    """

    kind: str
    name: str | None
    value: str | None
    said: str
    about: str = ""


class Answer(NamedTuple):
    """A server's reaction to a file; `moved` are the values that it adjusted with a message, by option, in order."""

    stop: Stop | None
    values: dict[str, str]
    moved: dict[str, list[str]]
    said: str


def ask(binary: Binary, path: str, empty: str, goes_on: Callable[[Stop], bool]) -> Answer:
    """Run the server with the file; `empty` is an empty folder for its data directory.

    `goes_on` returns whether the server only reports an error and continues.
    """
    target = binary.target
    command = [
        binary.program,
        f"--defaults-file={path}",
        *placement_options(binary),
        f"--datadir={empty}",
        "--tmpdir=/tmp",
    ]
    loud = LOUD if target.since("mysql", 8) else []
    done = run_briefly([*command, *loud, "--verbose", "--help"], cwd=empty)
    stop = _stop(done.stderr, done.returncode != 0, goes_on)
    if stop is None and target.since("mysql", 8, 0, 16):
        # With --help these servers report no unknown options.
        printed = run_briefly([*command, LOUD[1], *user_option(), "--validate-config"], cwd=empty).stderr
        unknown = [line for line in printed.splitlines() if re.search("unknown (var|opt)", line)]
        stop = _stop("\n".join(unknown), bool(unknown), goes_on)
    values = {name.replace("-", "_").lower(): value for name, value in help_values(done.stdout).items()}
    return Answer(stop, values, _moved_values(done.stderr), done.stderr)


def _stop(message: str, failed: bool, goes_on: Callable[[Stop], bool]) -> Stop | None:
    """The error that stopped the server: the last one after which it does not continue."""
    # An engine that cannot parse its options is disabled: the help continues without it, and reports its options as
    # unknown.
    message, engine_failed, _ = message.partition("Parsing options for plugin")
    if not failed and not engine_failed:
        return None
    lines = message.splitlines()[: -1 if engine_failed else None]
    stops = [_read(line) for line in lines if "[ERROR]" in line and not NOISE.search(line)]
    last = next((stop for stop in reversed(stops) if not goes_on(stop)), None)
    return last or Stop("invalid-value", None, None, "", SILENT)


def _read(line: str) -> Stop:
    message = STAMP.sub("", line)
    for kind, pattern in ERRORS:
        match = re.search(pattern, line)
        if match:
            fields = match.groupdict()
            return Stop(kind, _name(fields["name"]), fields.get("value"), message)
    return Stop(
        "invalid-value", None, None, message, next((names for words, names in ABOUT if re.search(words, line)), "")
    )


def _name(text: str) -> str:
    return text.replace("-", "_").lower()


def _moved_values(message: str) -> dict[str, list[str]]:
    moved: dict[str, list[str]] = {}
    for line in message.splitlines():
        if match := MOVED.search(line) or MOVED_REAL.search(line):
            moved.setdefault(_name(match["name"]), []).append(match["now"])
        elif match := NO_BOOLEAN.search(line):
            moved.setdefault(_name(match["name"]), []).append("FALSE")
        elif match := UNSET.search(line):
            moved.setdefault(_name(match["name"]), []).append("0")  # with loose_, or the server would have stopped
    return moved
