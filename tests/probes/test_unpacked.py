"""A server that was unpacked anywhere is started by the path of its program alone."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from running import first_row
from servers_plugin import quickly

from probes.sandbox import Binary, describe, start
from probes.sandbox.tree import Tree, tree_of


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
    by_path = describe(str(folder / manifest["executable"]))
    assert by_path.target == binary.target
    assert by_path.share is not None
    with start(by_path, base=tmp_path, small=True, arguments=quickly(by_path)) as sandbox:
        (version,) = first_row(sandbox, "SELECT VERSION()")
    assert str(version).startswith(by_path.target.number)
    assert list(tmp_path.iterdir()) == []


def test_a_program_by_itself_has_no_tree(tmp_path: Path) -> None:
    """Nothing is guessed where charsets aren't beside it."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "share" / "charsets").mkdir(parents=True)
    assert tree_of(str(tmp_path / "bin" / "mysqld")) == Tree()
    (tmp_path / "share" / "charsets" / "Index.xml").touch()
    assert tree_of(str(tmp_path / "bin" / "mysqld")) == Tree(str(tmp_path), str(tmp_path / "share"), None)
