"""What replaces an option file is refused in one line, and what a file leads to doesn't hang a command."""

from __future__ import annotations

import os
import random
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from advisor.collect.files import OptionFileReader, reread_files
from advisor.core.errors import CONNECTION, USAGE
from advisor.facts import OptionFiles
from advisor.optionfile import resolve
from tests.hostile.conftest import Alone, ended_well

TARGET = ("--target", "mysql-8.0")
COMMANDS: dict[str, Callable[[Path], tuple[str | Path, ...]]] = {
    "lint": lambda path: ("lint", *TARGET, path),
    "lint --fix": lambda path: ("lint", "--fix", *TARGET, path),
    "show": lambda path: ("show", *TARGET, path),
    "upgrade": lambda path: ("upgrade", "--from", "mysql-5.7", "--to", "mysql-8.0", path),
    "diff": lambda path: ("diff", path, "mysql-8.0"),
    "audit --snapshot": lambda path: ("audit", "--isolated", "--format", "text", "--snapshot", path),
    "audit --from": lambda path: ("audit", "--isolated", "--format", "text", "--from", path),
    "report": lambda path: ("report", path),
    "lint --baseline": lambda path: ("lint", *TARGET, "--baseline", path, path.parent / "good.cnf"),
    "lint --config": lambda path: ("lint", *TARGET, "--config", path, path.parent / "good.cnf"),
}


def _loop(path: Path) -> None:
    other = path.with_suffix(".other")
    path.symlink_to(other)
    other.symlink_to(path)


def _socket(path: Path) -> None:
    folder = os.open(path.parent, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind(f"/proc/self/fd/{folder}/{path.name}")  # however long the way to it is
    os.close(folder)


def _linked(path: Path) -> None:
    other = path.with_suffix(".fifo")
    os.mkfifo(other)
    path.symlink_to(other)


ODD: dict[str, Callable[[Path], object]] = {
    "a loop of links": _loop,
    "a link to nowhere": lambda path: path.symlink_to("nowhere"),
    "a link to zeros": lambda path: path.symlink_to("/dev/zero"),
    "a link to this process's memory": lambda path: path.symlink_to("/proc/self/mem"),
    "a FIFO": os.mkfifo,
    "a link to a FIFO": _linked,
    "a socket": _socket,
    "zeros": lambda path: path.write_bytes(bytes(100_000)),
    "random bytes": lambda path: path.write_bytes(random.Random(0).randbytes(100_000)),  # noqa: S311 - no secret
}


@pytest.fixture
def odd(tmp_path: Path) -> Callable[[str], Path]:
    """Something odd at the place of a file, with a good file beside it."""
    (tmp_path / "good.cnf").write_text("[mysqld]\nmax_connections = 200\n")

    def make(kind: str) -> Path:
        path = tmp_path / f"{kind.replace(' ', '-')}.cnf"
        ODD[kind](path)
        return path

    return make


@pytest.mark.parametrize("kind", ODD)
def test_what_is_no_file_is_refused_by_every_command(odd: Callable[[str], Path], alone: Alone, kind: str) -> None:
    """Loops of links, FIFOs, devices, sockets, bytes: each command ends with one line that names the path."""
    path = odd(kind)
    for name, words in COMMANDS.items():
        ended = alone(*words(path))
        server = (CONNECTION,) if name == "diff" and kind == "a socket" else ()  # which is how diff is given a server
        assert ended.code in (USAGE, *server), (name, ended)
        assert str(path) in ended_well(ended, USAGE, *server)
        assert len(ended.err.splitlines()) == 1


@pytest.mark.parametrize("kind", ODD)
def test_what_is_no_file_is_ignored_as_an_include(odd: Callable[[str], Path], alone: Alone, kind: str) -> None:
    """The same in the place of an included file costs that file alone."""
    path = odd(kind)
    main = path.with_name("main.cnf")
    main.write_text(f"[mysqld]\nno_such_thing = 1\n!include {path}\n!includedir {path}\n")
    assert "no_such_thing" in alone("lint", *TARGET, "--format", "concise", main).out
    ended_well(alone("show", *TARGET, main), 0, 1)


@pytest.mark.skipif(os.geteuid() != 0, reason="the kernel's log is root's: needs root")
def test_a_file_that_makes_its_reader_wait_is_not_waited_for(alone: Alone) -> None:
    """The kernel's log is a regular file that has no end: it is taken for what it has at once."""
    ended_well(alone("lint", *TARGET, "/proc/kmsg"), 0, 1, 2)


@pytest.fixture
def growing(tmp_path: Path) -> Iterator[Path]:
    """A file that another process writes all the while."""
    path, over = tmp_path / "growing.cnf", threading.Event()
    path.write_text("[mysqld]\n")

    def grow() -> None:
        with path.open("a") as file:
            while not over.wait(0.0001):
                file.write("max_connections = 200\n" * 10)
                file.flush()

    thread = threading.Thread(target=grow)
    thread.start()
    yield path
    over.set()
    thread.join()


def test_a_file_that_grows_is_read_as_far_as_it_goes(growing: Path, alone: Alone) -> None:
    """Reading ends where the file ends at that moment, or where it is too large."""
    for _ in range(3):
        ended_well(alone("lint", *TARGET, "--format", "concise", growing), 0, 1, 2)


def test_a_file_that_is_included_again_and_again_is_left(tmp_path: Path) -> None:
    """A large file that is included a thousand times, and a folder of thousands: the rest is left out, and reported."""
    big, folder, main = tmp_path / "big.cnf", tmp_path / "d", tmp_path / "main.cnf"
    big.write_text("#\n" * 20_000 + "[mysqld]\na=1\n")
    main.write_text(f"!include {big}\n" * 1000)
    again = resolve([str(main)])
    assert "too-many-includes" in {problem.name for problem in again.problems}
    assert [placed.line.name for placed in again.options] == ["a"]
    folder.mkdir()
    for number in range(2100):
        (folder / f"{number}.cnf").write_text("[mysqld]\na=1\n")
    main.write_text(f"!includedir {folder}\n")
    many = resolve([str(main)])
    assert "too-many-includes" in {problem.name for problem in many.problems}
    assert len(many.files) <= 2001


def test_a_folder_of_folders_and_links_is_listed(tmp_path: Path, alone: Alone) -> None:
    """A folder that holds itself, links to it, FIFOs and sockets in the place of option files."""
    folder = tmp_path / "d"
    folder.mkdir()
    (folder / "a.cnf").symlink_to(folder)
    (folder / "b.cnf").symlink_to("b.cnf")
    os.mkfifo(folder / "c.cnf")
    (folder / "d.cnf").write_text(f"[mysqld]\nno_such_thing = 1\n!includedir {folder}\n")
    (tmp_path / "main.cnf").write_text(f"!includedir {folder}\n")
    ended = alone("lint", *TARGET, "--format", "concise", tmp_path / "main.cnf")
    ended_well(ended, 1)
    assert "no_such_thing" in ended.out


def test_a_server_gets_no_file_read_that_is_no_option_file(tmp_path: Path) -> None:
    """Of the files that a server says values came from, only those that look like option files are read."""
    real, other = tmp_path / "real.cnf", tmp_path / "shadow"
    real.write_text(" [mysqld]\nport=3307\n")
    other.write_text("root:$6$secret:19000:0:99999:7:::\n")
    named = (str(real), str(other), "/etc/\0passwd", str(tmp_path), "/dev/zero")
    read = reread_files(OptionFiles(), (), named, OptionFileReader("mysql", (8, 0, 36)))
    assert str(real) in {copy.path for copy in read.files}
    assert {str(other), *named[2:]}.isdisjoint(copy.path for copy in read.files)
