"""What is refused as an option file, and with which words."""

from __future__ import annotations

import gzip
import os
import random
import socket
from pathlib import Path

import pytest

from advisor.core.errors import USAGE
from advisor.optionfile import MAX_BYTES, OptionFileError, read, resolve


def refusal(path: Path | str) -> str:
    """The message of the refusal: one line that begins with the path, and the exit code of wrong usage."""
    with pytest.raises(OptionFileError) as caught:
        read(str(path))
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    assert caught.value.code == USAGE
    return message


def test_a_directory(tmp_path: Path) -> None:
    """A directory is refused as one."""
    assert "a directory" in refusal(tmp_path)


def test_a_fifo(tmp_path: Path) -> None:
    """A FIFO is refused without waiting for its other end."""
    path = tmp_path / "fifo"
    os.mkfifo(path)
    assert "a FIFO" in refusal(path)


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null"])
def test_a_device(path: str) -> None:
    """A device is refused without reading it."""
    assert "a device" in refusal(path)


def test_a_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A socket is refused."""
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind("s")
        assert "a socket" in refusal("s")


def test_a_missing_file(tmp_path: Path) -> None:
    """A file that is not there is reported with the system's words."""
    assert "No such file" in refusal(tmp_path / "gone.cnf")


def test_a_broken_link(tmp_path: Path) -> None:
    """So is a link to nowhere."""
    path = tmp_path / "link.cnf"
    path.symlink_to(tmp_path / "gone.cnf")
    assert "No such file" in refusal(path)


def test_an_odd_path() -> None:
    """A path that no system takes is reported as well."""
    assert "NUL" in refusal("a\0b")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_secret_file(tmp_path: Path) -> None:
    """A file that we may not read is reported with the system's words."""
    path = tmp_path / "my.cnf"
    path.write_text("[mysqld]\n")
    path.chmod(0)
    assert "Permission denied" in refusal(path)


def test_a_huge_file(tmp_path: Path) -> None:
    """100 MB of one line are refused by their size."""
    path = tmp_path / "my.cnf"
    with path.open("wb") as file:
        file.truncate(100 << 20)
    assert "larger than" in refusal(path)


def test_the_largest_file(tmp_path: Path) -> None:
    """A file of the largest size is read, one byte more is too much."""
    path = tmp_path / "my.cnf"
    path.write_bytes(b"#" * (MAX_BYTES - 1) + b"\n")
    assert len(read(str(path)).lines) == 1
    path.write_bytes(b"#" * MAX_BYTES + b"\n")
    assert "larger than" in refusal(path)


def test_what_comes_from_elsewhere_is_held_to_the_same() -> None:
    """Bytes that a loader gives are refused as a file of them is."""
    held = {"large": b"#" * (MAX_BYTES + 1), "odd": bytes(range(256))}
    with pytest.raises(OptionFileError, match="larger"):
        resolve(["large"], loader=held.__getitem__)
    with pytest.raises(OptionFileError, match="binary"):
        resolve(["odd"], loader=held.__getitem__)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-16-le"])
def test_utf16(tmp_path: Path, encoding: str) -> None:
    """A file in UTF-16, marked or not, is refused."""
    path = tmp_path / "my.cnf"
    path.write_bytes("[mysqld]\r\nport=3306\r\n".encode(encoding))
    assert "UTF-16" in refusal(path) or "binary" in refusal(path)


def test_binary_files(tmp_path: Path) -> None:
    """A program and a compressed file are refused as binary."""
    assert "binary" in refusal(os.path.realpath("/bin/sh"))
    path = tmp_path / "my.cnf.gz"
    path.write_bytes(gzip.compress(random.Random(0).randbytes(4000), mtime=0))  # noqa: S311 - no secret
    assert "binary" in refusal(path)


def test_a_stray_nul_is_read(tmp_path: Path) -> None:
    """A text file with a NUL in it is read as servers do: what stands behind it in its line is not seen."""
    path = tmp_path / "my.cnf"
    path.write_bytes(b"[mysqld]\na=1\0 2\nb=2\n")
    assert [line.value for line in read(str(path)).lines[1:]] == ["1", "2"]
