"""Reading from a directory or a tar: inside its bounds, with any content."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import tarfile
from typing import TYPE_CHECKING

import pytest

from advisor.collect.host import ArchiveError, open_root, read_host
from advisor.collect.host.archive import MAX_UNPACKED
from advisor.collect.host.root import MAX_READ, DirectoryRoot, LiveRoot
from advisor.core.errors import MycnfError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from advisor.collect.host.root import Root

    Make = Callable[[dict[str, str]], Root]

LINKS = {
    "/sys/devices/x/size": "8\n",
    "/sys/block/x": "-> ../devices/x",
    "/sys/dev/8:0": "-> ../block/x",
    "/top": "-> /sys/devices",
    "/sys/deep/absolute": "-> /sys/devices/x",
    "/circle": "-> /circle",
    "/ping": "-> pong/a",
    "/pong": "-> ping/b",
    "/lost": "-> nowhere",
}


def tarred(files: dict[str, str]) -> bytes:
    """A plain tar of paths and texts; "-> " makes a link."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            if text.startswith("-> "):
                member.type, member.linkname = tarfile.SYMTYPE, text[3:]
                archive.addfile(member)
            else:
                member.size = len(text.encode())
                archive.addfile(member, io.BytesIO(text.encode()))
    return out.getvalue()


@pytest.fixture(params=["directory", "tar"])
def make(request: pytest.FixtureRequest, tree: Make, tmp_path: Path) -> Make:
    """Make a root of either kind."""
    if request.param == "directory":
        return tree

    def pack(files: dict[str, str]) -> Root:
        path = tmp_path / "host.tar"
        path.write_bytes(tarred({"./proc/version": "x", **{"." + name: text for name, text in files.items()}}))
        return open_root(str(path))

    return pack


def test_links_are_followed_inside_the_root(make: Callable[[dict[str, str]], Root]) -> None:
    """Relative links, links to links and absolute links lead to files of the root, and a link reports its target."""
    root = make(LINKS)
    assert root.read("/sys/dev/8:0/size") == "8\n"
    assert root.read("/top/x/size") == "8\n"
    assert root.read("/sys/deep/absolute/size") == "8\n"
    assert root.real("/sys/dev/8:0") == "/sys/devices/x"
    assert root.link("/sys/block/x") == "../devices/x"
    assert root.link("/sys/devices/x/size") is None
    assert root.names("/sys/dev/8:0") == ("size",)


@pytest.mark.parametrize(
    "path", ["/circle", "/ping", "/lost", "/sys/devices/x/size/more", "/no", "/a\0b", "/" + "x" * 5000]
)
def test_path_that_leads_nowhere_is_absent(make: Callable[[dict[str, str]], Root], path: str) -> None:
    """Circles, missing targets and impossible names are simply not there."""
    root = make(LINKS)
    assert (root.read(path), root.names(path), root.real(path)) == (None, (), None)


@pytest.mark.parametrize(
    "path", ["/../../../../etc/hostname", "/up/etc/hostname", "/abs", "/sys/../../../etc/hostname", "/upfile"]
)
def test_nothing_outside_the_root_is_read(make: Callable[[dict[str, str]], Root], path: str) -> None:
    """Dots and links that climb stop at the root: the file that they find is the root's own, or none."""
    root = make(
        {"/up": "-> ../../../../../../../..", "/abs": "-> /etc/hostname", "/upfile": "-> ../../../../../etc/hostname"}
    )
    assert root.read(path) is None
    inside = make({"/etc/hostname": "inside\n"} | {"/up2": "-> /.."})
    assert inside.read("/../../etc/hostname") == "inside\n"
    assert inside.read("/up2/etc/hostname") == "inside\n"


def test_directory_reads_regular_files_only(tmp_path: Path) -> None:
    """A FIFO doesn't hang, and a FIFO, socket or directory is no text."""
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    root = DirectoryRoot(str(tmp_path))
    assert (root.read("/fifo"), root.read("/folder")) == (None, None)
    assert LiveRoot().read("/dev/zero") is None


def test_large_or_binary_file_is_cut_and_decoded(tmp_path: Path) -> None:
    """100 MB are read no further than the bound, and bytes that are no text become marks."""
    with open(tmp_path / "large", "wb") as file:
        file.truncate(100 << 20)
        file.write(b"\xff\xfe\x00 text")
    (tmp_path / "binary").write_bytes(b"\xff\x80abc\0\0\0")
    root = DirectoryRoot(str(tmp_path))
    assert len(root.read("/large")) <= MAX_READ
    assert root.read("/binary") == "\ufffd\ufffdabc"


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_file_is_absent(tree: Callable[[dict[str, str]], Root], tmp_path: Path) -> None:
    """What may not be read is not there."""
    root = tree({"/secret": "x"})
    (tmp_path / "secret").chmod(0)
    assert root.read("/secret") is None


def test_root_is_chosen_by_what_stands_at_the_path(tmp_path: Path) -> None:
    """/ is this machine, a directory its copy, anything else must be a tar."""
    assert type(open_root("/")) is LiveRoot
    assert type(open_root(str(tmp_path))) is DirectoryRoot


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
@pytest.mark.parametrize("top", ["", "./", "host-1/", "/"])
def test_tar_is_read_packed_or_not_and_under_a_directory_of_its_own(
    tmp_path: Path, pack: Callable[[bytes], bytes], top: str
) -> None:
    """Plain, gzip and xz; with the tree at the top or under one directory."""
    path = tmp_path / "host.tar"
    path.write_bytes(pack(tarred({f"{top}proc/meminfo": "MemTotal: 4 kB\n", f"{top}sys/a": "-> ../proc/meminfo"})))
    root = open_root(str(path))
    assert read_host(root).memory.total == 4096
    assert root.read("/sys/a") == "MemTotal: 4 kB\n"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no tar",
        b"\x1f\x8b",
        b"\xfd7zXZ\0rubbish",
        b"BZh9rubbish",
        tarred({"etc/passwd": "x"}),
        tarred({"../proc/x": "x"}),
    ],
    ids=["empty", "text", "cut-gzip", "bad-xz", "bad-bzip2", "no-host", "climbing"],
)
def test_what_is_no_tar_of_a_host_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    """Anything else is one clear line that names the file."""
    path = tmp_path / "host.tar"
    path.write_bytes(content)
    with pytest.raises(ArchiveError) as refused:
        open_root(str(path))
    assert isinstance(refused.value, MycnfError)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_tar_that_unpacks_without_end_is_given_up(tmp_path: Path) -> None:
    """A few hundred kB that unpack to more than any host's files are refused, not unpacked to the end."""
    path = tmp_path / "host.tar.gz"
    member = tarfile.TarInfo("proc/cpuinfo")
    member.size = 1 << 40
    with gzip.open(path, "wb", compresslevel=1) as packed:
        packed.write(member.tobuf())
        for _ in range(MAX_UNPACKED >> 20):
            packed.write(bytes(1 << 20))
    with pytest.raises(ArchiveError, match="unpacks to more"):
        open_root(str(path))


def test_tar_with_paths_as_no_host_has_takes_no_memory(tmp_path: Path) -> None:
    """A path of many directories is left out, and a tar of too many is refused: each would be kept with its path."""
    path = tmp_path / "host.tar"
    deep = "proc/" + "a/" * 4000
    path.write_bytes(tarred({deep + "b": "x", "proc/stat": "cpu"}))
    assert open_root(str(path)).names("/proc") == ("stat",)
    path.write_bytes(tarred({f"proc/{n}/" + "a/" * 2000 + "b": "x" for n in range(40)}))
    with pytest.raises(ArchiveError, match="more directories than a host"):
        open_root(str(path))


def test_missing_tar_is_refused(tmp_path: Path) -> None:
    """A path that doesn't exist is reported as such."""
    with pytest.raises(ArchiveError, match="No such file"):
        open_root(str(tmp_path / "absent.tar"))


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
@pytest.mark.parametrize("share", [0.3, 0.7, 0.9])
def test_tar_cut_short_is_refused(tmp_path: Path, pack: Callable[[bytes], bytes], share: float) -> None:
    """A copy that broke off is not taken for a host with fewer files."""
    whole = pack(tarred({f"proc/{n}/status": f"Name: process {n}\n" * 50 for n in range(50)}))
    path = tmp_path / "host.tar"
    path.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(ArchiveError):
        open_root(str(path))


def test_devices_and_climbing_names_in_a_tar_are_left_out(tmp_path: Path) -> None:
    """Only files, links and directories of the host are taken; a hard link is the file that it names."""
    path = tmp_path / "host.tar"
    with tarfile.open(path, "w") as archive:
        for name, kind, target in (
            ("proc/a", tarfile.REGTYPE, ""),
            ("proc/b", tarfile.LNKTYPE, "proc/a"),
            ("proc/null", tarfile.CHRTYPE, ""),
            ("proc/../../x", tarfile.REGTYPE, ""),
        ):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, target
            member.size = 3 if kind == tarfile.REGTYPE else 0
            archive.addfile(member, io.BytesIO(b"abc"))
    root = open_root(str(path))
    assert root.names("/proc") == ("a", "b")
    assert root.read("/proc/b") == "abc"
