"""Option files as a tree, and the notes on each line: includes, overrides, findings."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from app_files_screen import OF_DEMO, RECORDED, SERVER, TUNING, read, view_of
from msgspec.structs import replace
from real_servers import Start

from advisor.analysis.context import build_context
from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.collect.connection.options import Account
from advisor.facts import FileCopy, OptionFiles, PersistedOption, VariableOrigin
from advisor.tui.screens.files.model import (
    COMMAND_LINE,
    NodeState,
    build_model,
    build_tree,
    find_line,
    node_lines,
    parse_files,
)
from advisor.tui.screens.files.text import line_notes


def tree_of(files: OptionFiles) -> list[tuple[str, int, NodeState]]:
    """Name, depth and state of each node."""
    found = build_tree(files, parse_files(files, build_context(replace(RECORDED, files=files))))
    return [(os.path.basename(node.path), node.depth, node.state) for node in found]


def test_includes_stand_under_the_file_that_names_them(tmp_path: Path) -> None:
    """A file of a file stands two deep, a directory's files in the servers' order, a missing one says so."""
    folder = tmp_path / "conf.d"
    folder.mkdir()
    (tmp_path / "my.cnf").write_text(f"!include {tmp_path}/one.cnf\n!includedir {folder}\n!include {tmp_path}/no.cnf\n")
    (tmp_path / "one.cnf").write_text(f"!include {tmp_path}/two.cnf\n")
    (tmp_path / "two.cnf").write_text("[mysqld]\n")
    for name in ("b.cnf", "a.cnf", "a.txt"):
        (folder / name).write_text("[mysqld]\n")
    assert tree_of(read(tmp_path / "my.cnf")) == [
        ("my.cnf", 0, NodeState.READ),
        ("one.cnf", 1, NodeState.READ),
        ("two.cnf", 2, NodeState.READ),
        ("a.cnf", 1, NodeState.READ),
        ("b.cnf", 1, NodeState.READ),
        ("no.cnf", 1, NodeState.ABSENT),
    ]


def test_files_that_include_each_other_end(tmp_path: Path) -> None:
    """A file on the way to itself is left out, so that a circle is a tree."""
    (tmp_path / "a.cnf").write_text(f"[mysqld]\n!include {tmp_path}/b.cnf\n")
    (tmp_path / "b.cnf").write_text(f"[mysqld]\n!include {tmp_path}/a.cnf\n")
    assert tree_of(read(tmp_path / "a.cnf")) == [("a.cnf", 0, NodeState.READ), ("b.cnf", 1, NodeState.READ)]


def test_ignored_files_and_what_they_include(tmp_path: Path) -> None:
    """A file that everybody may write to is ignored, and so is what it alone includes; both say so."""
    (tmp_path / "my.cnf").write_text(f"[mysqld]\nport=1\n!include {tmp_path}/more.cnf\n")
    (tmp_path / "more.cnf").write_text("[mysqld]\nport=2\n")
    (tmp_path / "my.cnf").chmod(0o666)
    files = read(tmp_path / "my.cnf")
    assert tree_of(files) == [("my.cnf", 0, NodeState.IGNORED), ("more.cnf", 1, NodeState.IGNORED)]
    view = view_of(replace(RECORDED, files=files))
    found = build_model(view)
    notes = [line_notes(view, found, node, 2, 75).plain for node in found.nodes]
    assert "This file is world-writable (mode 0666" in notes[0]
    assert "a file that the server ignores includes it" in notes[1]


def test_a_file_that_cannot_be_read_says_so() -> None:
    """Mode and owner are shown, with who could read it; it has no lines."""
    files = OptionFiles((FileCopy("/etc/my.cnf", None, 0o600, 27, 27, changed=1.0),))
    view = view_of(replace(RECORDED, files=files))
    (node,) = build_model(view).nodes
    assert node.state is NodeState.CLOSED
    assert node_lines(node, files) == []
    assert "mode 0600, owner uid 27). Run mycnf as root" in line_notes(view, build_model(view), node, 1, 200).plain


def test_persisted_and_spoken_options_come_last_and_outrank_files() -> None:
    """They stand behind all files; a line whose option they set is overridden by them, and says by which."""
    options = (PersistedOption("max_connections", "2000", section="mysql_server"),)
    origins = dict(RECORDED.server.origins) | {
        "max_connections": VariableOrigin("PERSISTED"),
        "sort_buffer_size": VariableOrigin("COMMAND-LINE"),
    }
    command = ("mariadbd", "--user=mysql", "--sort-buffer-size=256M")
    files = replace(OF_DEMO, persisted="/data/mysqld-auto.cnf", persisted_options=options, command_line=command)
    found = build_model(view_of(replace(RECORDED, files=files, server=replace(RECORDED.server, origins=origins))))
    assert [node.path for node in found.nodes][-2:] == ["/data/mysqld-auto.cnf", COMMAND_LINE]
    assert node_lines(found.nodes[-2], files) == ["max_connections = 2000"]
    assert node_lines(found.nodes[-1], files) == ["--user=mysql", "--sort-buffer-size=256M"]
    assert found.mark(TUNING, 17).overridden_by == "mysqld-auto.cnf"
    assert found.mark(TUNING, 13).overridden_by == "the command line"
    assert [f.canonical for f in found.mark(COMMAND_LINE, 2).findings] == ["sort_buffer_size"]


@pytest.mark.servers("mysql-8.0", "mysql-9.7")
def test_what_a_real_server_persists_is_shown(server_name: str, start: Start, tmp_path: Path) -> None:
    """The argument of SET PERSIST is under mysqld-auto.cnf, and overrides the file, before a restart and after."""
    path = tmp_path / "my.cnf"
    path.write_text("[mysqld]\nmax_connections = 50\n")
    server = start(server_name, small=True, option_file=path)
    with server.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("SET PERSIST max_connections = 77")
    for again in (False, True):
        if again:
            server.restart()
        facts = collect_from_account(Account("root", b"", socket=server.socket), CollectRequest(window=0))
        found = build_model(view_of(facts))
        persisted = next(node for node in found.nodes if node.state is NodeState.PERSISTED)
        assert node_lines(persisted, facts.files) == ["max_connections = 77"]
        assert found.mark(str(path), 2).overridden_by == "mysqld-auto.cnf"


def test_every_finding_with_a_line_is_in_the_margin() -> None:
    """None is lost and none is shown twice; a suppressed one is left out."""
    view = view_of()
    placed = [f for f in view.audited.findings if f.location is not None]
    found = build_model(view)
    shown = [f for marks in found.marks.values() for mark in marks.values() for f in mark.findings]
    assert len(placed) > 10
    assert sorted(map(id, shown)) == sorted(map(id, placed))


def test_a_line_that_a_later_file_sets_again_names_it() -> None:
    """The earlier line names the place of the one that counts; the later one has no such word."""
    found = build_model(view_of())
    assert found.mark(SERVER, 75).overridden_by == f"{TUNING}:43"
    assert found.mark(TUNING, 43).overridden_by == ""


@pytest.mark.parametrize(
    ("here", "step", "goal"),
    [
        (("a", 1), 1, ("a", 5)),
        (("a", 5), 1, ("b", 2)),
        (("b", 2), 1, ("a", 5)),
        (("b", 2), -1, ("a", 5)),
        (("a", 1), -1, ("b", 2)),
        (("a", 5), 0, ("a", 5)),
        (("a", 6), 0, ("b", 2)),
    ],
)
def test_the_next_of_some_lines(here: tuple[str, int], step: int, goal: tuple[str, int]) -> None:
    """Forwards, backwards, or from here on, through all files and round the end."""
    assert find_line([("b", 2), ("a", 5)], ["a", "b"], here, step) == goal
    assert find_line([], ["a", "b"], here, step) is None
