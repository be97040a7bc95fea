"""A server that was unpacked anywhere is started by the path of its program alone."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from process_checks import first_row
from real_servers import quickly

from probes.sandbox import Binary, SandboxError, describe_binary, start_server
from probes.sandbox.binary import STARTERS, ServerTree, find_server_tree


# An archive of MySQL, a package and an archive of MariaDB: each is laid out in its own way.
@pytest.mark.servers("mysql-5.7", "mariadb-10.11", "mariadb-11.4")
def test_an_unpacked_server_is_started_by_its_path(
    binary: Binary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its charsets, messages and system tables are found beside it; nothing but the path is said."""
    folder = Path(binary.program).parent
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    if manifest.get("executable") is None:
        pytest.skip("needs a server whose own program can be run (this one runs by a loader of its own)")
    monkeypatch.setenv("LD_LIBRARY_PATH", os.pathsep.join(str(folder / path) for path in manifest["libraries"]))
    by_path = describe_binary(str(folder / manifest["executable"]))
    assert by_path.target == binary.target
    assert by_path.share is not None
    with start_server(by_path, base=tmp_path, small=True, arguments=quickly(by_path)) as sandbox:
        (version,) = first_row(sandbox, "SELECT VERSION()")
    assert str(version).startswith(by_path.target.number)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", sorted(STARTERS))
def test_what_starts_a_server_of_its_own_is_refused_without_being_run(name: str, tmp_path: Path) -> None:
    """Also behind a link that is called as a server is; what it would have made isn't there."""
    script = tmp_path / name
    script.write_text(f"#!/bin/sh\ntouch {tmp_path}/started\n", encoding="utf-8")
    script.chmod(0o755)
    link = tmp_path / "mysqld"
    link.symlink_to(script)
    for program in (script, link):
        with pytest.raises(SandboxError, match=f"is {re.escape(name)}, which starts .* give the mysqld or mariadbd"):
            describe_binary(str(program))
    assert not (tmp_path / "started").exists()


@pytest.mark.servers("mysql-9.7", "mariadb-11.8")
def test_a_link_and_a_script_are_the_server_that_they_run(binary: Binary, tmp_path: Path) -> None:
    """A symbolic link called mysqld, and a script that passes on what it is given."""
    link, script = tmp_path / "mysqld", tmp_path / "run-server"
    script.write_text(f'#!/bin/sh\nexec {binary.program} "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    link.symlink_to(script)
    assert describe_binary(str(script)).target == binary.target
    assert describe_binary(str(link)).target == binary.target


@pytest.mark.parametrize("place", ["lib/private", "lib"])
def test_a_library_beside_a_program_is_named(place: str, tmp_path: Path) -> None:
    """The loader's message about a program whose library is in its tree leads to the variable that helps."""
    (tmp_path / "bin").mkdir()
    (tmp_path / place).mkdir(parents=True)
    (tmp_path / place / "libown.so.1").touch()
    program = tmp_path / "bin" / "mysqld"
    message = "mysqld: error while loading shared libraries: libown.so.1: cannot open shared object file"
    program.write_text(f"#!/bin/sh\necho '{message}' >&2\nexit 127\n", encoding="utf-8")
    program.chmod(0o755)
    with pytest.raises(SandboxError, match=rf"needs libown\.so\.1, .* LD_LIBRARY_PATH={tmp_path / place}$"):
        describe_binary(str(program))
    (tmp_path / place / "libown.so.1").unlink()
    with pytest.raises(SandboxError, match=r"libown\.so\.1"):
        describe_binary(str(program))


def test_a_lone_program_has_no_tree(tmp_path: Path) -> None:
    """Nothing is guessed where charsets aren't beside it."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "share" / "charsets").mkdir(parents=True)
    assert find_server_tree(str(tmp_path / "bin" / "mysqld")) == ServerTree()
    (tmp_path / "share" / "charsets" / "Index.xml").touch()
    assert find_server_tree(str(tmp_path / "bin" / "mysqld")) == ServerTree(
        str(tmp_path), str(tmp_path / "share"), None
    )
