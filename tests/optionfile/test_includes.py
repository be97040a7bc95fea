"""Which files are read, in which order, and what is reported about those that aren't."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from advisor.optionfile import OptionFileError, resolve
from tests.optionfile.judges import PrintDefaults, Server, foreseen

Tree = Callable[[dict[str, str]], Path]


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """Writes files; {} in a text means their folder. Gives the path of the file `my.cnf`."""

    def write(files: dict[str, str]) -> Path:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace("{}", str(tmp_path)))
        return tmp_path / "my.cnf"

    return write


TREES = {
    "file": {"my.cnf": "[mysqld]\na=1\n!include {}/b.cnf\na=3\n", "b.cnf": "[mysqld]\na=2\n"},
    "odd_spelling": {"my.cnf": " ! \tinclude\t {}/b.cnf \t\r\n", "b.cnf": "[mysqld]\na=2\n"},
    "comment_behind": {"my.cnf": "[mysqld]\n!include {}/b.cnf # c\na=1\n", "b.cnf": "[mysqld]\na=2\n"},
    "comment_attached": {"my.cnf": "[mysqld]\n!include {}/b.cnf#c\na=1\n", "b.cnf": "[mysqld]\na=2\n"},
    "comment_in_quotes": {
        "my.cnf": '!include {}/\'b # c\n!include {}/b # c\n!include {}/"b#"\n',
        **{name: f"[mysqld]\nf={at}\n" for at, name in enumerate(["'b", "'b # c", "b", "b # c", '"b#"', '"b'])},
    },
    "directory_comment": {"my.cnf": "!include {}/x#y/b.cnf\n[mysqld]\na=1\n", "x#y/b.cnf": "[mysqld]\nb=1\n"},
    "quotes": {"my.cnf": '[mysqld]\n!include "{}/b.cnf"\na=1\n', "b.cnf": "[mysqld]\na=2\n"},
    "group_goes_on": {"my.cnf": "[mysqld]\n!include {}/b.cnf\na=3\n", "b.cnf": "[client]\na=2\n"},
    "group_begins_anew": {
        "my.cnf": "[mysqld]\na=1\n!include {}/b.cnf\na=3\n",
        "b.cnf": "a=2\n[mysqld]\nb=1\n",
    },
    "before_any_group": {"my.cnf": "!include {}/b.cnf\n[mysqld]\na=1\n", "b.cnf": "[mysqld]\nb=1\n"},
    "missing": {"my.cnf": "[mysqld]\n!include {}/b.cnf\na=3\n"},
    "a_directory": {"my.cnf": "[mysqld]\n!include {}/d\na=3\n", "d/b.cnf": "[mysqld]\nb=1\n"},
    "rejected_within": {
        "my.cnf": "[mysqld]\n!include {}/b.cnf\na=3\n",
        "b.cnf": "[mysqld]\nb=1\n[oops\nc=1\n",
    },
    "directory": {
        "my.cnf": "[mysqld]\na=1\n!includedir {}/d\nb=1\n",
        **{f"d/{n}": f"[mysqld]\nf={n}\n" for n in ("b.cnf", "a.cnf", "B.cnf", "10.cnf", "9.cnf", "é.cnf", "x y.cnf")},
        **{f"d/{n}": f"[mysqld]\nf={n}\n" for n in (".cnf", ".h.cnf", "a.b.cnf", "a.cnf~", "a.CNF", "a.ini", "cnf")},
    },
    "directory_with_slash": {"my.cnf": "!includedir {}/d/\n", "d/b.cnf": "[mysqld]\nb=1\n"},
    "directory_named_so": {"my.cnf": "[mysqld]\n!includedir {}/d\na=1\n", "d/x.cnf/b.cnf": "[mysqld]\nb=1\n"},
    "empty_directory": {"my.cnf": "[mysqld]\n!includedir {}/d\na=1\n", "d/readme": ""},
    "twice": {
        "my.cnf": "!include {}/b.cnf\n[mysqld]\na=2\n!include {}/b.cnf\n",
        "b.cnf": "[mysqld]\na=1\nb=1\n",
    },
    "nested": {
        "my.cnf": "!include {}/1.cnf\n",
        **{f"{n}.cnf": f"[mysqld]\na={n}\n!include {{}}/{n + 1}.cnf\nb={n}\n" for n in range(1, 14)},
    },
    "file_behind_depth": {
        "my.cnf": "!include {}/1.cnf\n",
        **{f"{n}.cnf": f"[mysqld]\n!foo\na={n}\n!include {{}}/{n + 1}.cnf\n" for n in range(1, 12)},
    },
}


@pytest.mark.parametrize("name", TREES)
def test_my_print_defaults_agrees(name: str, tree: Tree, print_defaults: PrintDefaults) -> None:
    """my_print_defaults follows the same files in the same order; the last of equal options counts."""
    path = tree(TREES[name])
    ours = foreseen(resolve([str(path)], flavour="mariadb"), ("mysqld",))
    assert ours == last_ones(print_defaults.arguments(path, "mysqld"))


@pytest.mark.parametrize("name", TREES)
def test_servers_agree(name: str, tree: Tree, server: Server) -> None:
    """Each real server follows the same files in the same order."""
    path = tree(TREES[name])
    theirs = server.arguments(path)
    assert theirs is not None
    assert server.foreseen(path) == last_ones(theirs.replace(b" --", b" \n--") + b"\n").replace(b"\n", b"")


def last_ones(arguments: bytes | None) -> bytes | None:
    """The arguments, each at its last place."""
    if arguments is None:
        return None
    lines = arguments.splitlines(keepends=True)
    return b"".join(a for at, a in enumerate(lines) if a not in lines[at + 1 :])


def test_a_cycle_ends_as_it_does_for_servers(tree: Tree, print_defaults: PrintDefaults) -> None:
    """Files that include each other are reported once each, and the options come in the servers' last order."""
    path = tree(
        {
            "my.cnf": "[mysqld]\na=1\n!include {}/b.cnf\nz=1\n",
            "b.cnf": "[mysqld]\na=2\n!include {}/my.cnf\nz=2\n",
        }
    )
    resolved = resolve([str(path)], flavour="mariadb")
    assert foreseen(resolved, ("mysqld",)) == last_ones(print_defaults.arguments(path, "mysqld"))
    assert [p.name for p in resolved.problems].count("include-cycle") == 2


def test_a_bush_of_cycles_ends(tree: Tree) -> None:
    """A file that includes itself many times is reported and left, where a server would read it for hours."""
    path = tree({"my.cnf": "[mysqld]\na=1\n" + "!include {}/my.cnf\n" * 20})
    resolved = resolve([str(path)])
    assert {"include-cycle", "too-many-includes"} <= {p.name for p in resolved.problems}
    assert [p.line.name for p in resolved.options] == ["a"]


def test_the_last_byte(tree: Tree, server: Server) -> None:
    """Where the file ends right behind an include path, servers before 9.7 drop the path's last byte."""
    path = tree({"my.cnf": "!include {}/b.cnf", "b.cnf": "[mysqld]\nwhole=1\n", "b.cn": "[mysqld]\ncut=1\n"})
    resolved = server.resolved(path)
    arguments = server.arguments(path)
    assert server.foreseen(path) == arguments
    assert ("cut-include" in {p.name for p in resolved.problems}) == (arguments == b"--cut=1 ")


def test_the_slash_behind_a_directory_may_be_cut(tree: Tree, server: Server) -> None:
    """The directory is the same without the slash that old servers drop at the end of a file: nothing to report."""
    path = tree({"my.cnf": "!includedir {}/d/", "d/a.cnf": "[mysqld]\nread=1\n"})
    assert server.foreseen(path) == server.arguments(path) == b"--read=1 "
    assert server.resolved(path).problems == ()


def problems(path: Path | str, **options: object) -> list[tuple[int, str]]:
    """Line and name of each problem."""
    return [(p.line, p.name) for p in resolve([str(path)], **options).problems]


def test_what_is_missing_is_reported(tree: Tree) -> None:
    """Missing files and directories are problems of their line, and the rest of the file counts."""
    path = tree({"my.cnf": "!include {}/b.cnf\n!includedir {}/d\n!foo\n[mysqld]\na=1\n"})
    assert problems(path) == [(1, "missing-include"), (2, "missing-includedir"), (3, "unknown-directive")]
    assert [p.line.name for p in resolve([str(path)]).options] == ["a"]


def test_a_binary_include_is_reported(tree: Tree, tmp_path: Path) -> None:
    """An included file that is none is a problem of the line that names it."""
    path = tree({"my.cnf": "!include {}/b.cnf\n[mysqld]\na=1\n"})
    (tmp_path / "b.cnf").write_bytes(bytes(range(256)))
    assert problems(path) == [(1, "unreadable-include")]


def test_an_included_fifo_does_not_hold_us(tree: Tree, tmp_path: Path) -> None:
    """A FIFO in a directory is reported, and its other end is not waited for."""
    path = tree({"my.cnf": "!includedir {}/d\n", "d/a.cnf": "[mysqld]\na=1\n"})
    os.mkfifo(tmp_path / "d" / "b.cnf")
    assert problems(path) == [(1, "unreadable-include")]


def test_root_maps_absolute_paths(tree: Tree, tmp_path: Path) -> None:
    """Absolute include paths are looked for below the root."""
    path = tree({"my.cnf": "!includedir /etc/mysql/conf.d/\n!include /etc/x.cnf\n"})
    tree({"r/etc/mysql/conf.d/a.cnf": "[mysqld]\na=1\n", "r/etc/x.cnf": "[mysqld]\nb=1\n"})
    resolved = resolve([str(path)], root=str(tmp_path / "r"))
    assert [(p.line.name, p.path) for p in resolved.options] == [
        ("a", str(tmp_path / "r/etc/mysql/conf.d/a.cnf")),
        ("b", str(tmp_path / "r/etc/x.cnf")),
    ]
    assert resolved.problems == ()


def test_relative_paths(
    tree: Tree, tmp_path: Path, print_defaults: PrintDefaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A relative path is taken from where we stand, as servers do, and else from beside the file."""
    path = tree({"s/my.cnf": "!include b.cnf\n", "s/b.cnf": "[mysqld]\nbeside=1\n", "w/b.cnf": "[mysqld]\nhere=1\n"})
    path = tmp_path / "s" / "my.cnf"
    monkeypatch.chdir(tmp_path)
    assert [p.line.name for p in resolve([str(path)]).options] == ["beside"]
    monkeypatch.chdir(tmp_path / "w")
    assert [p.line.name for p in resolve([str(path)]).options] == ["here"]
    assert print_defaults.arguments(path, "mysqld", cwd=tmp_path / "w") == b"--here=1\n"
    assert problems(path) == [(1, "relative-include")]


def test_home(tree: Tree, tmp_path: Path, print_defaults: PrintDefaults, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path below ~ is one below the home directory."""
    path = tree({"my.cnf": "!include ~/b.cnf\n", "b.cnf": "[mysqld]\na=1\n"})
    monkeypatch.setenv("HOME", str(tmp_path))
    assert [p.line.name for p in resolve([str(path)]).options] == ["a"]
    assert print_defaults.arguments(path, "mysqld") == b"--a=1\n"


def test_world_writable(tree: Tree, tmp_path: Path, print_defaults: PrintDefaults) -> None:
    """A world-writable file is reported, and on the server's host it counts as empty."""
    path = tree({"my.cnf": "[mysqld]\na=1\n!include {}/b.cnf\n", "b.cnf": "[mysqld]\nb=1\n"})
    (tmp_path / "b.cnf").chmod(0o666)
    assert problems(path) == [(0, "world-writable")]
    assert [p.line.name for p in resolve([str(path)]).options] == ["a", "b"]
    ours = foreseen(resolve([str(path)], on_host=True), ("mysqld",))
    assert ours == print_defaults.arguments(path, "mysqld") == b"--a=1\n"


def test_world_writable_for_servers(tree: Tree, server: Server) -> None:
    """Every real server ignores a world-writable file."""
    path = tree({"my.cnf": "[mysqld]\na=1\n"})
    path.chmod(0o666)
    assert server.foreseen(path, on_host=True) == server.arguments(path) == b""


def test_several_files_are_read_as_one(tree: Tree, tmp_path: Path) -> None:
    """Files are read one after another, each beginning outside any group."""
    tree({"a.cnf": "[mysqld]\na=1\n", "b.cnf": "b=1\n[mysqld]\na=2\n"})
    resolved = resolve([str(tmp_path / "a.cnf"), str(tmp_path / "b.cnf")])
    assert [(p.line.group, p.line.name, p.line.value) for p in resolved.options] == [
        *(("mysqld", "a", "1"), (None, "b", "1"), ("mysqld", "a", "2")),
    ]


def test_files_from_elsewhere() -> None:
    """A loader and a lister replace the file system, and what they don't hold is reported."""
    held = {"my.cnf": b"!includedir /d\n!include /e.cnf\n!includedir /none\n", "/d/a.cnf": b"[mysqld]\na=1\n"}

    def load(path: str) -> bytes:
        if path not in held:
            raise FileNotFoundError(path)
        return held[path]

    def names(folder: str) -> list[str]:
        found = [path.removeprefix(folder + "/") for path in held if path.startswith(folder + "/")]
        if not found:
            raise FileNotFoundError(folder)
        return found

    resolved = resolve(["my.cnf"], loader=load, lister=names)
    assert [(p.path, p.line.name) for p in resolved.options] == [("/d/a.cnf", "a")]
    assert [(p.line, p.name) for p in resolved.problems] == [
        (2, "missing-include"),
        (3, "missing-includedir"),
    ]


def test_a_named_file_that_is_missing_is_an_error() -> None:
    """A file that was named is not ignored, wherever it should have come from."""

    def load(path: str) -> bytes:
        raise FileNotFoundError(path)

    with pytest.raises(OptionFileError, match=r"gone\.cnf: can't be read"):
        resolve(["gone.cnf"], loader=load)
    with pytest.raises(OptionFileError, match=r"gone\.cnf: can't be read"):
        resolve(["/gone.cnf"])
