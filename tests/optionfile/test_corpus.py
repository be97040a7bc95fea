"""The reader on option files of the world."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from advisor.optionfile import read, render, resolve
from advisor.optionfile.lines import LineKind
from tests.optionfile.judges import PrintDefaults, Server, foreseen

GROUPS = ("mysqld", "client", "server", "mariadb")


@pytest.fixture(scope="session")
def corpus(shared: Path) -> list[Path]:
    """The files of the corpus."""
    files = sorted((shared / "corpus" / "files").iterdir())
    assert files
    return files


def without_includes(path: Path) -> bytes:
    """The file with its include lines emptied: what they name is on another machine."""
    kept = (b"" if line.lstrip().startswith(b"!include") else line for line in path.read_bytes().split(b"\n"))
    return b"\n".join(kept)


def test_every_file_comes_back(corpus: list[Path]) -> None:
    """Reading and writing gives the bytes of each file."""
    assert [path.name for path in corpus if render(read(str(path))) != path.read_bytes()] == []


def test_my_print_defaults_agrees(corpus: list[Path], print_defaults: PrintDefaults, tmp_path: Path) -> None:
    """my_print_defaults gets the same options out of every file, or refuses it where we say so."""
    assert list(differences(corpus, print_defaults, tmp_path / "f.cnf")) == []


def differences(corpus: list[Path], print_defaults: PrintDefaults, scratch: Path) -> Iterator[str]:
    """The names of the files that my_print_defaults reads in another way."""
    for path in corpus:
        scratch.write_bytes(without_includes(path))
        if foreseen(resolve([str(scratch)], flavour="mariadb"), GROUPS) != print_defaults.arguments(scratch, *GROUPS):
            yield path.name


LOTS = 4  # of files at once: more options than all together than we read


@pytest.mark.parametrize("lot", range(LOTS))
def test_servers_agree(corpus: list[Path], lot: int, server: Server, tmp_path: Path) -> None:
    """Each real server starts with the same options of all files, included one after another."""
    folder = tmp_path / "d"
    folder.mkdir()
    files = corpus[lot::LOTS]
    for path in files:
        (folder / path.name).write_bytes(without_includes(path))
    top = tmp_path / "f.cnf"
    top.write_text(f"!includedir {folder}\n")
    resolved = server.resolved(top)
    assert len(resolved.options) > len(files)
    assert not any("skipped" in problem.message for problem in resolved.problems)
    assert server.foreseen(top) == server.arguments(top)


def test_nothing_is_taken_for_a_template(corpus: list[Path]) -> None:
    """No line of a file that servers were asked about counts as templated."""
    templated = (path.name for path in corpus if any(line.templated for line in read(str(path)).lines))
    assert list(templated) == []


def test_most_lines_are_options_or_comments(corpus: list[Path]) -> None:
    """No file of the corpus holds a line that the reader rejects."""
    rejected = [p.name for p in corpus if any(x.kind is LineKind.REJECTED for x in read(str(p)).lines)]
    assert rejected == []
