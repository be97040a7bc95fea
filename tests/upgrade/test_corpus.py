"""What is reported about lines of real files, compared with the recorded effect on real servers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from advisor.catalog import load
from advisor.catalog.targets import parse_target
from advisor.core.model import Severity
from advisor.optionfile import resolve
from advisor.upgrade.change import LineChange, LineEffect
from advisor.upgrade.move import changed_lines
from advisor.verdict import FileVerdict, judge_file
from advisor.verdict.outcome import LineVerdict, Outcome

# The patches that were asked.
SERVERS = {
    "mysql-5.7": "mysql-5.7.22", "mysql-9.7": "mysql-9.7.4", "mariadb-10.11": "mariadb-10.11.19",
    "mariadb-11.4": "mariadb-11.4.5", "mariadb-11.8": "mariadb-11.8.9",
}  # fmt: skip
WAYS = [
    ("mysql-5.7", "mysql-9.7"),
    ("mysql-5.7", "mariadb-10.11"),
    ("mariadb-10.11", "mariadb-11.8"),
    ("mariadb-11.4", "mysql-9.7"),
]
REFUSALS = ("unknown", "ambiguous", "invalid", "suffix", "noarg")
STOPS = frozenset({LineEffect.REMOVED, LineEffect.RENAMED, LineEffect.REFUSED, LineEffect.STILL_REFUSED})
# Given on the command line when the servers were asked, or decided by the host that they were asked on.
PLACED = {
    "back_log", "basedir", "character_sets_dir", "datadir", "general_log_file", "innodb_data_home_dir",
    "innodb_open_files", "language", "lc_messages_dir", "log_bin_index", "log_error", "log_error_verbosity",
    "master_password", "max_connections", "open_files_limit", "performance_schema", "pid_file", "plugin_dir",
    "relay_log_index", "report_password", "secure_file_priv", "slow_query_log_file", "table_cache",
    "table_definition_cache", "table_open_cache", "table_open_cache_instances", "tmpdir", "user", "wsrep_sst_auth",
}  # fmt: skip
# Before 8.4 help prints ON for a plugin in any state, and MySQL cuts its copy of an instrument's value.
ARTEFACTS = {"federated", "performance_schema_instrument"}
PLUGIN = re.compile(rb"^\s*(?:loose[-_])?(?:early[-_])?plugin[-_]load", re.IGNORECASE | re.MULTILINE)


def judged(path: Path, server: str) -> FileVerdict:
    """The verdict on a file without its includes."""
    target = parse_target(SERVERS[server])
    data = re.sub(rb"(?m)^\s*!include.*$", b"", path.read_bytes())
    resolved = resolve([path.name], flavour=target.flavour, version=target.version, loader=lambda _: data)
    return judge_file(resolved, load(target))


def names(change: LineChange) -> set[str]:
    """An option as it is written, and as the servers call it."""
    written = (change.placed.line.name or "").lower().replace("-", "_")
    return {written, *(v.canonical for v in (change.before, change.after) if v and v.canonical)}


def at_its_start(line: LineVerdict | None) -> bool:
    """Whether the server stops at the line at its real start alone, of which help, that was recorded, knows nothing."""
    return line is not None and line.outcome is Outcome.STOPS


def refused(recorded: dict[str, Any]) -> set[str]:
    """The options that a server refused, one after the other."""
    return {name for kind in REFUSALS for name in recorded.get(kind, ())}


def plain(value: str) -> object:
    """One spelling for values in the notations of both flavours."""
    text = {"TRUE": "1", "ON": "1", "FALSE": "0", "OFF": "0", "(No default value)": ""}.get(value, value)
    text = text.lower().rstrip("/")
    try:
        return float(text)
    except ValueError:
        return frozenset(text.split(",")) if "," in text else text


@pytest.fixture(scope="module")
def recorded(shared: Path) -> dict[str, dict[str, Any]]:
    """The recorded verdicts by file and server; files that load plugins are left out, as installed ones are unknown."""
    folder = shared / "corpus"
    verdicts: dict[str, dict[str, Any]] = json.loads((folder / "verdicts.json").read_text())
    return {name: v for name, v in verdicts.items() if not PLUGIN.search((folder / "files" / name).read_bytes())}


def cases(
    recorded: dict[str, dict[str, Any]], before: str, after: str
) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """The files for which both servers named what they refuse, or took all."""
    both = [(name, v[before], v[after]) for name, v in sorted(recorded.items()) if before in v and after in v]
    return [case for case in both if not any(v.get("rc") for v in case[1:])]


class Compared(NamedTuple):
    """A file on one way: its recorded effect on either server, both verdicts, and the changes reported."""

    name: str
    old: dict[str, Any]
    new: dict[str, Any]
    verdicts: tuple[FileVerdict, FileVerdict]
    changes: list[LineChange]


@pytest.fixture(scope="module", params=WAYS, ids="-".join)
def compared(request: pytest.FixtureRequest, recorded: dict[str, dict[str, Any]], shared: Path) -> list[Compared]:
    """All files on one way."""
    before, after = request.param
    found = []
    for name, old, new in cases(recorded, before, after):
        path = shared / "corpus" / "files" / name
        verdicts = judged(path, before), judged(path, after)
        found.append(Compared(name, old, new, verdicts, list(changed_lines(*verdicts, (name,)))))
    return found


def test_every_refusal_of_the_new_server_is_reported(compared: list[Compared]) -> None:
    """The lines reported to stop the new server are those that it refused; those of the old one are told apart."""
    wrong = {}
    for name, old, new, _, changes in compared:
        stops = [c for c in changes if c.kind in STOPS and c.severity is Severity.ERROR and not at_its_start(c.after)]
        missing = {option for option in refused(new) if not any(option in names(c) for c in stops)}
        extra = {min(names(c)) for c in stops if not names(c) & refused(new)}
        apart = [(c, bool(names(c) & refused(old))) for c in stops if not at_its_start(c.before)]
        confused = {min(names(c)) for c, before in apart if (c.kind is LineEffect.STILL_REFUSED) != before}
        if missing or extra or confused:
            wrong[name] = (missing, extra, confused)
    assert wrong == {}


def test_every_value_that_differs_is_reported(compared: list[Compared]) -> None:
    """Of the options that both servers take, those with another value are reported, and no others."""
    wrong = {}
    for name, old, new, verdicts, changes in compared:
        kinds = {option: c.kind for c in changes for option in names(c)}
        for option in verdicts[0].effective.keys() & verdicts[1].effective.keys() - PLACED - ARTEFACTS:
            was, is_now = (v.get("values", {}).get(option) for v in (old, new))
            if was is None or is_now is None or "=on" in was or option in refused(old) | refused(new):
                continue
            lines = [v.effective[option] for v in verdicts]
            if any(line.running is not None or at_its_start(line) for line in lines) or "vm" in (was[:2], is_now[:2]):
                continue  # help prints something else than what runs, or the recording host's name
            if (plain(was) != plain(is_now)) != (
                kinds.get(option) in (LineEffect.VALUE, LineEffect.ADJUSTED, LineEffect.IGNORED)
            ):
                wrong[name, option] = (was, is_now, kinds.get(option))
    assert wrong == {}
