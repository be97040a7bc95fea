"""Which option files a server reads, by how it was started; my own files replace a server's /proc entry."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from advisor.collect import files
from advisor.collect.files import read_files, readable_to, start_options_of
from advisor.facts import FileCopy, OptionFiles
from advisor.optionfile import resolve
from advisor.redaction import MASK


@pytest.fixture(autouse=True)
def _no_files_of_this_host(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The places that every build reads are in the test's own directory."""
    monkeypatch.setattr(files, "COMMON_OPTION_FILES", (str(tmp_path / "etc.cnf"), str(tmp_path / "etc-mysql.cnf")))


def process(tmp_path: Path, *arguments: str, **environment: str) -> str:
    """A /proc that has one process, 7, with this command line and environment."""
    folder = tmp_path / "proc" / "7"
    folder.mkdir(parents=True)
    (folder / "cmdline").write_bytes(b"".join(os.fsencode(a) + b"\0" for a in arguments))
    (folder / "environ").write_bytes(b"".join(os.fsencode(f"{k}={v}") + b"\0" for k, v in environment.items()))
    return str(tmp_path / "proc")


def write(path: Path, text: str, mode: int = 0o644) -> str:
    """An option file."""
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return str(path)


def test_options_about_files_count_only_in_front(tmp_path: Path) -> None:
    """--defaults-file and its kind are obeyed right behind the program's name, a loader or not; later they aren't."""
    proc = process(
        tmp_path, "/lib/ld.so", "--library-path", "/x", "/usr/sbin/mysqld", "--defaults-file=my.cnf",
        "--defaults-group-suffix=_two", "--datadir=/d", "--defaults-extra-file=/late", PWD="/srv",  # noqa: S106
    )  # fmt: skip
    start = start_options_of(7, proc)
    assert (start.defaults_file, start.group_suffix, start.extra_file) == ("/srv/my.cnf", "_two", "")


def test_a_server_without_defaults_reads_nothing(tmp_path: Path) -> None:
    """--no-defaults means no file, and that is known, not concluded."""
    write(tmp_path / "etc.cnf", "[mysqld]\n")
    found = read_files(7, [], str(tmp_path), process(tmp_path, "mysqld", "--no-defaults"))
    assert found.files == ()
    assert not found.inferred


def test_the_usual_places_are_read_in_order(tmp_path: Path) -> None:
    """Global files, that of MYSQL_HOME, the extra file and the home's, in the servers' order; it says how it knows."""
    (tmp_path / "own").mkdir()
    wanted = [
        write(tmp_path / "etc.cnf", "[mysqld]\n"),
        write(tmp_path / "own" / "my.cnf", "[mysqld]\n"),
        write(tmp_path / "extra.cnf", "[mysqld]\n"),
        write(tmp_path / ".my.cnf", "[mysqld]\n"),
    ]
    extra = f"--defaults-extra-file={tmp_path}/extra.cnf"
    proc = process(tmp_path, "mariadbd", extra, HOME=str(tmp_path), MYSQL_HOME=f"{tmp_path}/own")
    found = read_files(7, [], str(tmp_path), proc)
    assert list(found.main_files) == wanted
    assert found.inferred


def test_files_that_the_server_names_are_read_too(tmp_path: Path) -> None:
    """A file in a place that was compiled in shows by the server naming it; an included one isn't read twice."""
    (tmp_path / "conf.d").mkdir()
    included = write(tmp_path / "conf.d" / "x.cnf", "[mysqld]\nport=1\n")
    main = write(tmp_path / "etc.cnf", f"[mysqld]\n!includedir {tmp_path}/conf.d\n")
    odd = write(tmp_path / "odd.cnf", "[mysqld]\nport=2\n")
    found = read_files(7, ["", included, odd, str(tmp_path / "gone.cnf")], str(tmp_path), process(tmp_path, "mysqld"))
    assert [(copy.path, copy.included) for copy in found.files] == [(main, False), (included, True), (odd, False)]


def test_secrets_stay_behind(tmp_path: Path) -> None:
    """Passwords in files and on the command line are masked, the lines they were on are listed."""
    write(tmp_path / "etc.cnf", "[client]\npassword=hunter2\n[mysqld]\nport=1\n", 0o640)
    found = read_files(7, [], str(tmp_path), process(tmp_path, "mysqld", "--report-password=hunter2"))
    assert "hunter2" not in repr(found)
    assert found.files[0].secret_lines == (2,)
    assert found.files[0].mode == 0o640
    assert found.command_line == ("mysqld", f"--report-password={MASK}")


def test_a_closed_directory_is_noticed(tmp_path: Path) -> None:
    """Whatever the mode of a file, others read it only if they can enter each directory; a link changes nothing."""
    with tempfile.TemporaryDirectory(dir="/tmp") as top:  # whose directories above are open to all
        folder = Path(top)
        (folder / "own").mkdir()
        file = write(folder / "own" / "my.cnf", "[client]\npassword=hunter2\n")
        (folder / "link.cnf").symlink_to(file)
        closed = {}
        for at, (above, own) in enumerate([(0o755, 0o755), (0o755, 0o750), (0o700, 0o755)]):
            folder.chmod(above)
            (folder / "own").chmod(own)
            for named in (file, str(folder / "link.cnf")):
                proc = process(tmp_path / f"{at}-{Path(named).name}", "mysqld", f"--defaults-file={named}")
                closed[at, named] = read_files(7, [], str(tmp_path), proc).files[0].closed
        folder.chmod(0o700)
    for named in (file, str(folder / "link.cnf")):
        assert [closed[at, named] for at in range(3)] == [False, True, True]


def test_what_cannot_be_read_is_listed(tmp_path: Path) -> None:
    """A directory or a binary file in a usual place is in the list without a text."""
    (tmp_path / "etc.cnf").mkdir()
    (tmp_path / "etc-mysql.cnf").write_bytes(bytes(range(256)) * 64)
    found = read_files(7, [], str(tmp_path), process(tmp_path, "mysqld"))
    assert [copy.text for copy in found.files] == [None, None]


def test_persisted_values_are_noted(tmp_path: Path) -> None:
    """The file of persisted values is named where there is one, and isn't taken for an option file."""
    proc = process(tmp_path, "mysqld")
    assert read_files(7, [], str(tmp_path), proc).persisted == ""
    auto = write(tmp_path / "mysqld-auto.cnf", "{}")
    found = read_files(7, [auto], str(tmp_path), proc)
    assert found.persisted == auto
    assert found.files == ()


def test_a_process_that_is_gone_gives_no_files(tmp_path: Path) -> None:
    """A process that ended meanwhile leaves nothing to read, and no error."""
    assert read_files(8, [], str(tmp_path), str(tmp_path)).command_line == ()


def test_a_collection_resolves_like_the_files(tmp_path: Path) -> None:
    """Files that were copied resolve elsewhere as they did on their host, directories included."""
    (tmp_path / "conf.d").mkdir()
    write(tmp_path / "conf.d" / "b.cnf", "[mysqld]\nport=2\n")
    write(tmp_path / "conf.d" / "a.cnf", "[mysqld]\nport=1\n")
    (tmp_path / "empty.d").mkdir()
    includes = "".join(f"!includedir {tmp_path}/{folder}\n" for folder in ("conf.d", "empty.d/", "none.d"))
    main = write(tmp_path / "etc.cnf", f"[mysqld]\n{includes}socket=/s\n")
    copied = read_files(7, [], str(tmp_path), process(tmp_path, "mysqld"))
    there = resolve([main])
    for path in (tmp_path / "conf.d").iterdir():
        path.unlink()
    (tmp_path / "empty.d").rmdir()
    here = resolve(copied.main_files, loader=copied.read, lister=copied.names)
    assert here.options == there.options
    assert here.problems == there.problems


def test_a_world_writable_file_counts_for_nothing() -> None:
    """Servers ignore a file that everybody may write to: its text is kept, but reads as empty."""
    held = OptionFiles((FileCopy("/etc/my.cnf", "[mysqld]\nport=1\n", 0o666),))
    assert held.read("/etc/my.cnf") == b""
    with pytest.raises(FileNotFoundError):
        held.read("/etc/other.cnf")


def test_files_that_a_stranger_names(tmp_path: Path) -> None:
    """For another user's process, root reads what that user can read; once it has ended, what all users can read."""
    if os.geteuid() != 0:
        pytest.skip("needs root")
    with tempfile.TemporaryDirectory(dir="/tmp") as top:  # whose directories above are open to all
        folder = Path(top)
        folder.chmod(0o755)
        for name, mode in (("secret.cnf", 0o600), ("group.cnf", 0o640), ("open.cnf", 0o644)):
            (folder / name).write_text(f"[mysqld]\nport = 33{mode:o}\n")
            (folder / name).chmod(mode)
        os.chown(folder / "group.cnf", 0, 54322)
        (folder / "open.cnf").write_text(f"[mysqld]\nport = 1\n!include {folder}/secret.cnf\n")
        texts = {}
        for user in (54321, 0):
            for name in ("secret.cnf", "group.cnf", "open.cnf"):
                proc = process(tmp_path / f"{user}-{name}", "mysqld", f"--defaults-file={folder / name}")
                (Path(proc) / "7" / "status").write_text("Name:\tmysqld\nGid:\t54321\t1\t1\t1\nGroups:\t54322 3\n")
                os.chown(Path(proc) / "7", user, user)
                found = read_files(7, [], str(tmp_path), proc)
                texts[user, name] = [(Path(copy.path).name, copy.text is not None) for copy in found.files]
        ended = readable_to(7, str(tmp_path / "ended"))
        assert [ended(str(folder / name)) for name in ("secret.cnf", "open.cnf")] == [False, True]
    assert texts[54321, "secret.cnf"] == [("secret.cnf", False)]
    assert texts[54321, "group.cnf"] == [("group.cnf", True)]
    assert texts[54321, "open.cnf"] == [("open.cnf", True), ("secret.cnf", False)]
    assert texts[0, "secret.cnf"] == [("secret.cnf", True)]
