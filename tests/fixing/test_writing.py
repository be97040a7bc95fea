"""Files are written whole or not at all, and keep what they are beside their bytes."""

from __future__ import annotations

import contextlib
import errno
import os
import resource
import stat
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from fix_text import looks
from mycnf_command import CHECKOUT

from advisor import fixing
from advisor.__main__ import main
from advisor.core.errors import MycnfError
from advisor.fixing import FileChangedError, HalfWrittenError, fix_files, read_attributes, replace_text

OLD, NEW = b"[mysqld]\nport=1\nport=2\n", b"[mysqld]\nport=2\n"
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: files of other owners, mounts")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file with something to fix, alone in its folder."""
    folder = tmp_path / "etc"
    folder.mkdir()
    made = folder / "my.cnf"
    made.write_bytes(OLD)
    return made


def with_attribute(file: Path, name: str, value: bytes) -> None:
    """Set an extended attribute, or skip by name where the file system has none."""
    try:
        os.setxattr(file, name, value)
    except OSError as error:
        pytest.skip(f"no extended attributes of this kind here: {name} ({error.strerror})")


def access_list(*entries: tuple[int, int, int]) -> bytes:
    """An access list as Linux keeps it: version 2, then tag, rights and id of each entry."""
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


ANYONE = 0xFFFFFFFF
READER = access_list((1, 6, ANYONE), (2, 4, 1234), (4, 4, ANYONE), (16, 4, ANYONE), (32, 0, ANYONE))


def alone(file: Path) -> bool:
    """Whether nothing was left beside the file."""
    return os.listdir(file.parent) == [file.name]


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o640, 0o4755, 0o666])
def test_the_mode_stays(file: Path, mode: int) -> None:
    """All bits of the mode are as before, with any umask."""
    file.chmod(mode)
    assert replace_text(str(file), OLD, NEW) == ""
    assert stat.S_IMODE(file.stat().st_mode) == mode
    assert file.read_bytes() == NEW
    assert alone(file)


@needs_root
def test_the_owner_stays(file: Path) -> None:
    """Who owned the file still does."""
    os.chown(file, 1234, 4321)
    file.chmod(0o640)
    replace_text(str(file), OLD, NEW)
    assert (file.stat().st_uid, file.stat().st_gid, stat.S_IMODE(file.stat().st_mode)) == (1234, 4321, 0o640)


def test_extended_attributes_stay(file: Path) -> None:
    """What users keep beside the text is there afterwards."""
    with_attribute(file, "user.origin", b"ansible \xff")
    replace_text(str(file), OLD, NEW)
    assert os.getxattr(file, "user.origin") == b"ansible \xff"
    assert file.read_bytes() == NEW


def test_access_lists_stay(file: Path) -> None:
    """A right that one account has by an access list it still has."""
    with_attribute(file, "system.posix_acl_access", READER)
    before = read_attributes(str(file))
    replace_text(str(file), OLD, NEW)
    assert read_attributes(str(file)) == before
    assert "system.posix_acl_access" in (before or {})


def test_the_folders_default_access_list_adds_nothing(file: Path) -> None:
    """A file without an access list gets none from its folder by being written again."""
    with_attribute(file.parent, "system.posix_acl_default", READER)
    file.chmod(0o600)
    replace_text(str(file), OLD, NEW)
    assert "system.posix_acl_access" not in (read_attributes(str(file)) or {})
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_link_stays_a_link(file: Path, tmp_path: Path) -> None:
    """Debian's /etc/mysql/my.cnf: a link to a link to a file; the links stay, and the file is written."""
    middle, top = tmp_path / "alternatives", tmp_path / "my.cnf"
    middle.symlink_to(file)
    top.symlink_to("alternatives")
    outcome = fix_files([str(top)], looks([str(top)], "mysql-8.4"))
    assert len(outcome.changes) == 1
    assert os.readlink(top) == "alternatives"
    assert os.readlink(middle) == str(file)
    assert file.read_bytes() == NEW
    assert alone(file)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a link to another account")
def test_a_strangers_link_in_a_shared_directory_is_not_followed(file: Path, tmp_path: Path) -> None:
    """In a directory such as /tmp it may lead to any file: the fix is not written, as Linux forbids to follow it."""
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    (shared / "my.cnf").symlink_to(file)
    os.lchown(shared / "my.cnf", 54321, 54321)
    with pytest.raises(MycnfError, match="link of another user"):
        replace_text(str(shared / "my.cnf"), OLD, NEW)
    assert file.read_bytes() == OLD


def test_hard_links_stay_and_are_reported(file: Path, tmp_path: Path) -> None:
    """Every name of the file shows the new text."""
    other = tmp_path / "other"
    os.link(file, other)
    note = replace_text(str(file), OLD, NEW)
    assert "hard links" in note
    assert other.read_bytes() == file.read_bytes() == NEW
    assert file.stat().st_nlink == 2
    assert alone(file)


def test_a_file_that_changed_meanwhile_is_not_written(file: Path) -> None:
    """What another process wrote since is not lost."""
    file.write_bytes(b"# mine\n")
    with pytest.raises(FileChangedError, match="changed it in the meantime"):
        replace_text(str(file), OLD, NEW)
    assert file.read_bytes() == b"# mine\n"
    assert alone(file)


AS_NOBODY = """
import os, sys
sys.path.insert(0, {checkout!r})
from advisor.fixing import replace_text
from advisor.core.errors import MycnfError
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    print(replace_text({path!r}, {old!r}, {new!r}))
except MycnfError as error:
    print(error)
"""


def as_nobody(file: Path) -> str:
    """The message that an account without rights of its own gets when it writes."""
    code = AS_NOBODY.format(checkout=str(CHECKOUT), path=str(file), old=OLD, new=NEW)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


@pytest.fixture
def reachable() -> Iterator[Path]:
    """A file in a folder that every account can reach."""
    with tempfile.TemporaryDirectory(prefix="mycnf-reachable-", dir="/tmp") as folder:
        os.chmod(folder, 0o711)  # noqa: S103 - other accounts must get at the file
        made = Path(folder) / "my.cnf"
        made.write_bytes(OLD)
        yield made


@needs_root
def test_a_folder_that_may_not_be_written_to(reachable: Path) -> None:
    """One line says that nothing was written."""
    reachable.chmod(0o666)
    assert as_nobody(reachable) == f"{reachable}: cannot be written (Permission denied); it is unchanged"
    assert reachable.read_bytes() == OLD


@needs_root
def test_a_file_that_may_not_be_written_to(reachable: Path) -> None:
    """The right to rename in a folder is no right to replace a file that is not writable."""
    reachable.parent.chmod(0o777)
    assert "cannot be written (Permission denied)" in as_nobody(reachable)
    assert reachable.read_bytes() == OLD
    assert alone(reachable)


@needs_root
def test_another_accounts_file_is_written_in_place(reachable: Path) -> None:
    """An account that may write to a file but not give it away leaves its owner unchanged."""
    reachable.parent.chmod(0o777)
    reachable.chmod(0o666)
    assert "its owner and attributes" in as_nobody(reachable)
    assert reachable.read_bytes() == NEW
    assert reachable.stat().st_uid == 0
    assert alone(reachable)


@needs_root
def test_a_file_that_is_mounted_by_itself(file: Path, tmp_path: Path) -> None:
    """A single file that a container was given can't be replaced, and is written in place."""
    source = tmp_path / "source"
    source.write_bytes(OLD)
    mounted = subprocess.run(["mount", "--bind", source, file], capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"no mounts here: {mounted.stderr.strip()}")
    try:
        assert "mounted by itself" in replace_text(str(file), OLD, NEW)
        assert source.read_bytes() == NEW
    finally:
        subprocess.run(["umount", file], check=True)
    assert alone(file)


@needs_root
def test_a_full_disk(tmp_path: Path) -> None:
    """Where the new text has no room, the old one stays whole, and one line says so."""
    folder = tmp_path / "small"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", folder], check=False).returncode:
        pytest.skip("no mounts here")
    try:
        file = folder / "my.cnf"
        file.write_bytes(OLD)
        (folder / "ballast").write_bytes(b"x" * 40000)
        with pytest.raises(MycnfError, match=r"No space left on device.*it is unchanged"):
            replace_text(str(file), OLD, NEW + b"#" * 40000)
        assert file.read_bytes() == OLD
        os.link(file, folder / "other")
        with pytest.raises(MycnfError, match=r"No space left on device.*it is unchanged"):
            replace_text(str(file), OLD, NEW + b"#" * 40000)
        assert file.read_bytes() == OLD
        assert sorted(os.listdir(folder)) == ["ballast", "my.cnf", "other"]
    finally:
        subprocess.run(["umount", folder], check=True)


@contextlib.contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    """A limit on the size of files, which a write meets as it meets a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("links", [1, 2])
def test_a_limit_on_the_size_of_files(file: Path, tmp_path: Path, links: int) -> None:
    """A write that breaks off half way leaves the old text, and nothing beside it."""
    if links > 1:
        os.link(file, tmp_path / "other")
    with file_size_limit(100), pytest.raises(MycnfError, match=os.strerror(errno.EFBIG)):
        replace_text(str(file), OLD, b"#" * 4096)
    assert file.read_bytes() == OLD
    assert alone(file)


def test_no_room_for_the_second_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first file keeps its fix, the second and a third that has room are told apart, and the exit code is 2."""
    fixable = b"[mysqld]\nmax_binlog_size=4000\n"
    first, second, third = (tmp_path / f"{name}.cnf" for name in ("first", "second", "third"))
    for file in (first, third):
        file.write_bytes(fixable)
    second.write_bytes(fixable + b"# a line of its owner\n" * 40)
    before = second.read_bytes()
    with file_size_limit(400):
        words = ["lint", "--isolated", "--target", "mysql-8.4", "--fix", *map(str, (first, second, third))]
        assert main(words) == 2
    printed = capsys.readouterr().err
    assert f"{first}: fixed 1" in printed
    assert f"{second}: cannot be written (File too large); it is unchanged" in printed
    assert f"{third}: fixed 1" in printed
    assert second.read_bytes() == before
    assert first.read_bytes() == third.read_bytes() != fixable
    assert sorted(os.listdir(tmp_path)) == ["first.cnf", "second.cnf", "third.cnf"]


def test_the_old_text_cannot_be_put_back(file: Path) -> None:
    """Where writing in place fails, and writing the old text back too, the message names the copy of it."""
    copy = file.with_name(".my.cnf.mycnf-01234567")
    copy.write_bytes(OLD)
    with file_size_limit(10), pytest.raises(HalfWrittenError) as caught:
        fixing._overwrite(str(file), str(file), str(copy), OLD, NEW)
    assert str(caught.value) == f"{file}: writing failed halfway (File too large); its old text is {copy}"
    assert copy.read_bytes() == OLD


KILLED = """
import os, signal, sys
sys.path.insert(0, {checkout!r})
from advisor import fixing
left = {calls}
def counted(real):
    def call(*given, **named):
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*given, **named)
    return call
class Dying:
    # The os module, in which the process dies at one of the calls.
    def __getattr__(self, name):
        found = getattr(os, name)
        return counted(found) if name in ("open", "close", "stat", "fsync", "replace", "unlink") else found
fixing.os = Dying()
real_fill = fixing._fill
def fill(file, text):
    # A write that is cut in the middle, as a kill may cut it.
    if left <= 0:
        file.seek(0); file.write(text[:5]); file.flush()
        os.kill(os.getpid(), signal.SIGKILL)
    real_fill(file, text)
fixing._fill = fill
fixing.replace_text({path!r}, {old!r}, {new!r})
"""


@pytest.mark.parametrize("links", [1, 2])
def test_a_kill_at_any_moment_loses_nothing(file: Path, tmp_path: Path, links: int) -> None:
    """The process is killed at each step of writing in turn: the old or the new text is there whole each time."""
    if links > 1:
        os.link(file, tmp_path / "other")
    for calls in range(40):
        for name in os.listdir(file.parent):
            if name != file.name:
                (file.parent / name).unlink()
        file.write_bytes(OLD)
        code = KILLED.format(checkout=str(CHECKOUT), calls=calls, path=str(file), old=OLD, new=NEW)
        ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=False)
        texts = [(file.parent / name).read_bytes() for name in os.listdir(file.parent)]
        assert OLD in texts or NEW in texts
        assert links > 1 or file.read_bytes() in (OLD, NEW)
        if ended.returncode == 0:
            break
        assert ended.returncode == -9, ended.stderr
    assert calls > 4, "the process was not killed at every step"
    assert file.read_bytes() == NEW
    assert alone(file)
