"""Where probes measure by default: beside the data directory, on a disk, never inside it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from advisor.commands import probe_place
from advisor.core.errors import MycnfError
from probes.safety.neighbours import OtherServer


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data directory of a server that runs on this host."""
    path = tmp_path / "lib" / "mysql"
    path.mkdir(parents=True)
    monkeypatch.setattr(probe_place, "find_other_servers", lambda: (OtherServer(1, "mysqld", str(path)),))
    return path


def _device(monkeypatch: pytest.MonkeyPatch, *same: Path) -> None:
    """Only these directories are on the data directory's device."""
    monkeypatch.setattr(probe_place, "_same_device", lambda one, _: os.path.realpath(one) in map(str, same))


def test_the_temporary_directory_serves_on_the_same_device(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is where scratch files are expected."""
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(data.parents[1]))
    _device(monkeypatch, data.parents[1], data.parent)
    assert probe_place.choose_directory(None) == probe_place.ProbeDirectory(
        str(data.parents[1]), f"on the file system of {data}"
    )


def test_else_the_nearest_directory_above_it(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It lies beside the data directory, not in it."""
    _device(monkeypatch, data.parent, data)
    assert probe_place.choose_directory(None).path == str(data.parent)


def test_else_another_disk_with_a_word(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where nothing beside it may be written, a message says that another disk may be measured."""
    _device(monkeypatch, data)
    assert probe_place.choose_directory(None).path != str(data)
    assert f"no writable directory on the file system of {data}" in capsys.readouterr().err


def test_memory_is_no_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory for temporary files that is in memory is skipped for one that isn't, or said to be in memory."""
    monkeypatch.setattr(probe_place, "find_other_servers", tuple)
    monkeypatch.setattr("tempfile.gettempdir", lambda: "/dev/shm")
    kinds = {"/dev/shm": "tmpfs", "/var/tmp": "ext4"}
    monkeypatch.setattr(probe_place, "file_system", lambda path: kinds[path])
    assert probe_place.choose_directory(None).path == "/var/tmp"
    kinds["/var/tmp"] = "tmpfs"
    assert probe_place.choose_directory(None) == probe_place.ProbeDirectory(
        "/dev/shm", "in memory; name a directory on a disk with --dir"
    )


def test_what_is_named_is_taken(data: Path, tmp_path: Path) -> None:
    """A named directory is the one, without its links; what is not a directory is refused."""
    (tmp_path / "link").symlink_to(tmp_path / "lib")
    assert probe_place.choose_directory(str(tmp_path / "link")) == probe_place.ProbeDirectory(str(tmp_path / "lib"))
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "none"):
        with pytest.raises(MycnfError, match=f"--dir {path} is not a directory"):
            probe_place.choose_directory(str(path))


@pytest.mark.parametrize("path", ["/proc", "/dev/shm", "/"])
def test_the_kernel_reports_the_file_system(path: str) -> None:
    """The type is that of the mount which holds the path."""
    longest = max(
        (line.split() for line in Path("/proc/self/mounts").read_text("utf-8").splitlines()),
        key=lambda mount: len(mount[1]) if f"{path}/".startswith(f"{mount[1].rstrip('/')}/") else -1,
    )
    assert probe_place.file_system(path) == longest[2]


@pytest.mark.servers
def test_a_server_program_is_found_by_path(binary: object) -> None:
    """The program that was named is asked what it is, and is the only one."""
    program = binary.program  # type: ignore[attr-defined]
    (found,) = probe_place.make_environment("/", [program], print).binaries
    assert found.program == os.path.abspath(program)
    assert found.target == binary.target  # type: ignore[attr-defined]
