"""No command prints a password that it read, in any of its formats: all commands and formats there are, walked."""

from __future__ import annotations

import argparse
import itertools
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from planted_secrets import CARRIERS, canary, option_file, out_of, snapshot

from advisor.__main__ import main
from advisor.cli.parser import COMMANDS, build_parser
from advisor.fleet.run_directory import HOSTS, HostRow, Status, prepare_directory, snapshot_name, write_row
from advisor.redaction import MASK
from advisor.report.formats import names


class Ground(NamedTuple):
    """A folder with planted files and nothing else, which a user works in."""

    place: Path
    inputs: frozenset[Path]

    def written(self) -> Iterator[Path]:
        """The files that were made there since."""
        return (path for path in self.place.rglob("*") if path.is_file() and path not in self.inputs)


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ground:
    """The folder, with home, state and temporary files in it."""
    for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "TMPDIR"):
        folder = tmp_path / name
        folder.mkdir()
        monkeypatch.setenv(name, str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.cnf").write_text(option_file())
    (tmp_path / "other.cnf").write_text(option_file("max_connections = 77"))
    for name, text in CARRIERS.items():
        (tmp_path / name).write_text(text)
    snapshot(tmp_path / "now.json")
    snapshot(tmp_path / "before.json", init_connect=f"SELECT '{canary('earlier')}'", max_connections="7")
    (tmp_path / "variables.txt").write_text(_shown())
    _fleet(tmp_path / "fleet")
    return Ground(tmp_path, frozenset(path for path in tmp_path.rglob("*") if path.is_file()))


def _shown() -> str:
    """What a consultant is sent: the text of SHOW GLOBAL VARIABLES."""
    rows = {"version": "10.11.19-MariaDB", "hostname": "db1", "aria_pagecache_buffer_size": "134217728"}
    rows |= {"report_password": canary("shown"), "init_connect": f"SET PASSWORD = '{canary('shownsql')}'"}
    return "Variable_name\tValue\n" + "".join(f"{name}\t{value}\n" for name, value in rows.items())


def _fleet(folder: Path) -> None:
    """A run of mycnf fleet that is kept: one server, and two that could not be asked."""
    prepare_directory(str(folder), resume=False)
    (folder / HOSTS).write_text('["db1", "db2", "db3"]')
    snapshot(folder / snapshot_name("db1"))
    write_row(str(folder), HostRow(name="db1", status=Status.AUDITED, snapshot=snapshot_name("db1")))
    write_row(
        str(folder), HostRow(name="db2", status=Status.DENIED, reason=f"the address was x://u:{canary('row')}@db2")
    )
    write_row(str(folder), HostRow(name="db3", status=Status.FAILED, reason=f"ran mysql -uroot -p{canary('ran')}"))


# How each command is called in that folder, its formats and -o left out; the first way is walked in every format.
FILES = ("my.cnf", *CARRIERS)
WALK: dict[str, tuple[tuple[str, ...], ...]] = {
    "lint": (
        *(("--isolated", "--target", target, *FILES) for target in ("mysql-8.4", "mariadb-10.11", "mariadb-12.3")),
        ("--isolated", "my.cnf", "--select", "OPT"),
    ),
    "show": (("my.cnf", "--target", "mysql-8.0"), ("my.cnf", "--target", "mariadb-10.11")),
    "upgrade": (
        ("--from", "mysql-5.7", "--to", "mysql-9.7", "my.cnf"),
        ("--from", "mariadb-10.6", "--to", "mariadb-11.8", "my.cnf", "--all"),
    ),
    "audit": (
        ("--isolated", "--snapshot", "now.json", "--since", "before.json"),
        ("--isolated", "--from", "variables.txt"),
    ),
    "preflight": (("--snapshot", "now.json"),),
    "diff": (
        ("now.json", "before.json", "--isolated"),
        ("now.json", "my.cnf", "--isolated", "--all"),
        ("my.cnf", "other.cnf", "--target", "mariadb-10.11", "--isolated"),
        ("my.cnf", "mariadb-10.11", "--isolated", "--all"),
    ),
    "report": (("--isolated", "--jobs", "1", "now.json", "before.json", "missing.json"), ("--isolated", "now.json")),
    "history": (("--isolated",),),
    "sample": (("--list",), ("--print-timer",)),
    "probe": (("results",),),
    "fleet": (("--isolated", "--from", "fleet"),),
    "suggest": (("--ram", "8G", "--cpus", "4", "--target", "mysql-8.4", "--write-diff", "my.cnf"),),
    "explain": (("report_password",), ("OPT001",)),
    "rules": ((),),
    "grants": (("--target", "mysql-8.4"),),
    "completion": (("bash",),),
}
FOR_ALL = ("", "text", "json")
# Lines whose fix moves or rewrites their value.
FIXED = {
    "misplaced.cnf": f"[mysqld_safe]\nreport_password = {canary('moved')}\n[mysqld]\nreport_user = r\n",
    "unclosed.cnf": f'[mysqld]\nreport_password = "{canary("unclosed")}\n',
    "typographic.cnf": f"[mysqld]\nreport_password = \u201c{canary('typographic')}\u201d\n",
}
# What asks a server of its own, and is walked where one runs: tests/secrets/test_real_server.py.
ASK = {"collect"}


def parser_of(command: str) -> argparse.ArgumentParser:
    """The words of one command."""
    commands = next(a for a in build_parser(command)._actions if isinstance(a, argparse._SubParsersAction))
    parser: argparse.ArgumentParser = commands.choices[command]
    return parser


def formats_of(command: str) -> tuple[str, ...]:
    """The formats of a command on the command line; one empty name where it has none."""
    found = [action.choices for action in parser_of(command)._actions if "--format" in action.option_strings]
    return tuple(found[0]) if found else ("",)


def ways(command: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each format with words of a call: those for people and programs with all calls, the others with the first."""
    first, *others = WALK[command]
    yield from ((form, first) for form in formats_of(command))
    yield from itertools.product([form for form in formats_of(command) if form in FOR_ALL], others)


def test_every_command_is_walked() -> None:
    """A new command needs an entry for its call here, so that no output is forgotten."""
    assert WALK.keys() | ASK == COMMANDS.keys()
    assert not WALK.keys() & ASK
    assert "html" in formats_of("audit")


@pytest.mark.parametrize("command", WALK)
def test_no_password_in_any_format(command: str, ground: Ground, capsys: pytest.CaptureFixture[str]) -> None:
    """What is printed, said and written holds none of them, and something is printed each time."""
    if command == "history":
        assert main(["history", "add", "before.json", "now.json"]) == 0
    numbers, masked = itertools.count(), 0
    for form, words in ways(command):
        asked = [command, *words, *(["--format", form] if form else [])]
        number = next(numbers)
        place = f"out{number}" if _has_output(command) and (number % 2 or form == "parquet") else None
        if form == "parquet":
            pytest.importorskip("pyarrow")
        code = main([*asked, *(["-o", place] if place else [])])
        printed = capsys.readouterr()
        written = _text(Path(place)) if place and Path(place).exists() else printed.out
        assert code in (0, 1, 2, 3), asked
        assert "internal error" not in printed.err, printed.err
        assert written.strip() or code in (0, 2), asked  # nothing found, or no such format of this
        assert out_of(written) == out_of(printed.err) == [], asked
        masked += written.count(MASK)
    assert masked or command not in {"lint", "show", "diff", "audit", "report", "preflight", "history", "fleet"}
    assert _found_in(ground) == {}


def _has_output(command: str) -> bool:
    return any("-o" in action.option_strings for action in parser_of(command)._actions)


def _text(path: Path) -> str:
    """What any reader gets from a file."""
    data = path.read_bytes()
    if data[:4] == b"PAR1":
        return str(pytest.importorskip("pyarrow.parquet").read_table(path).to_pylist())
    return data.decode("utf-8", "replace")


def _found_in(ground: Ground) -> dict[str, list[str]]:
    """The files that were written with a password in them."""
    return {str(path): found for path in ground.written() if (found := out_of(_text(path)))}


@pytest.mark.parametrize(
    "words",
    [
        ("--diff",),
        ("--diff", "--unsafe-fixes"),
        ("--statistics",),
        ("--write-baseline", "known.json"),
    ],
)
def test_lint_in_other_ways(words: tuple[str, ...], ground: Ground, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither in a diff with its lines around, in counts, nor in a baseline."""
    for target, files in (("mysql-8.4", FILES), ("mariadb-10.11", FILES[:-1])):  # MariaDB has no persisted variables
        assert main(["lint", "--isolated", "--target", target, *words, *files]) in (0, 1)
        printed = capsys.readouterr()
        assert printed.out + printed.err
        assert out_of(printed.out + printed.err) == []
    assert _found_in(ground) == {}


@pytest.mark.parametrize("form", names("lint"))
@pytest.mark.parametrize("target", ["mysql-8.4", "mariadb-10.11"])
def test_no_password_in_a_fix(form: str, target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Edits are part of reports: none is offered that would write a password to another place or in another way."""
    for name, text in FIXED.items():
        (tmp_path / name).write_text(text)
    paths = [str(tmp_path / name) for name in FIXED]
    assert main(["lint", "--isolated", "--target", target, "--format", form, *paths]) == 1
    printed = capsys.readouterr()
    assert "misplaced.cnf" in printed.out
    assert out_of(printed.out + printed.err) == []


@pytest.mark.parametrize("form", names("lint"))
@pytest.mark.parametrize("words", [("--report-pasword",), ("-p",), ("--nonsense", "--master-password")])
def test_the_word_after_a_mistyped_option(
    words: tuple[str, ...], form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a command a server reads it as no option and stops; what is said of it is not the password."""
    command = json.dumps([*words, canary("stray")])
    (tmp_path / "compose.yaml").write_text(f"services:\n  db:\n    image: mysql:8.4\n    command: {command}\n")
    assert main(["lint", "--isolated", "--format", form, str(tmp_path / "compose.yaml")]) == 1
    printed = capsys.readouterr()
    assert "belongs to no option" in printed.out
    assert out_of(printed.out + printed.err) == []


def test_audit_in_other_ways(ground: Ground, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither in a baseline of a server, in the lines that keep old defaults, nor in one server's history."""
    assert main(["audit", "--isolated", "--snapshot", "now.json", "--write-baseline", "known.json"]) == 0
    assert main(["audit", "--isolated", "--snapshot", "now.json", "--keep", "--format", "text"]) in (0, 1)
    assert main(["upgrade", "--from", "mysql-5.7", "--to", "mysql-9.7", "my.cnf", "--keep-lines"]) in (0, 1)
    capsys.readouterr()
    assert main(["history", "--isolated"]) == 0
    name = capsys.readouterr().out.split()[0]
    main(["history", "--isolated", name])
    printed = capsys.readouterr()
    assert out_of(printed.out + printed.err) == []
    assert _found_in(ground) == {}


def test_what_is_left_of_a_defect(
    ground: Ground, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report of a defect holds places in our code, and nothing of what was being read."""

    def broken(*arguments: object) -> None:
        raise RuntimeError(f"while it read {canary('defect')} of {arguments!r} and {option_file()}")

    monkeypatch.setattr("advisor.commands.show.run", broken)
    assert main(["show", "my.cnf"]) == 2
    printed = capsys.readouterr()
    assert "internal error: RuntimeError" in printed.err
    assert out_of(printed.err) == []
    (crash,) = (path for path in ground.written() if path.name.startswith("mycnf-crash-"))
    assert "in broken" in crash.read_text()
    assert out_of(crash.read_text()) == []
    assert os.stat(crash).st_mode & 0o777 == 0o600


TYPED: dict[str, Callable[[str], tuple[str, ...]]] = {
    "equals": lambda secret: ("audit", f"--password={secret}"),
    "apart": lambda secret: ("audit", "--password", secret),
    "short": lambda secret: ("audit", f"-p{secret}"),
    "short, apart": lambda secret: ("audit", "-p", secret),
    "as a port": lambda secret: ("audit", "-P", secret),
    "in an address": lambda secret: ("audit", "--host", f"mysql://root:{secret}@db.invalid"),
    "as a side": lambda secret: ("diff", f"tcp:root:{secret}@(db.invalid:1)", "mysql-8.4"),
    "in an inventory": lambda secret: ("fleet", "-i", f"/no/such/x://u:{secret}@h"),
    "in a name of a file": lambda secret: ("lint", f"/no/such/mysql://u:{secret}@h"),
}


@pytest.mark.parametrize("way", TYPED)
def test_a_password_on_the_command_line(way: str, ground: Ground, capsys: pytest.CaptureFixture[str]) -> None:
    """Who gives one there sees one line, and not the password: what cron runs is mailed, and logs are kept."""
    words = TYPED[way](canary("typed"))
    try:
        code = main(list(words))
    except SystemExit as left:
        code = int(left.code or 0)
    printed = capsys.readouterr()
    assert code in (2, 3)
    assert len(printed.err.splitlines()) == 1
    assert out_of(printed.out + printed.err) == []
    if words[1].startswith(("--password", "-p")):
        assert "use --ask-password, or an option file" in printed.err
