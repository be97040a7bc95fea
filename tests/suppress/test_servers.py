"""Where a suppression is understood, the real servers see a comment; where it is not, they see a value."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.analysis.suppress import read_suppressions
from advisor.optionfile.lines import dialect_of
from advisor.optionfile.reader import parse
from tests.optionfile.conftest import server as _each_server
from tests.optionfile.judges import Server

server = _each_server
WHY = "mycnf: ignore[BUF001] measured on 2026-03-02"
LINES = [
    f"port=3306 # {WHY}",
    f"port=3306# {WHY}",
    f"tmpdir='/a b' ## {WHY}",
    f"skip-name-resolve # large # {WHY}",
    f"port = 3306 ; {WHY}",
    f"tmpdir = 'a # {WHY}",
    f'tmpdir = "a # {WHY}"',
    f"[mysqld] # {WHY}",
    f"# {WHY}",
    f"  ; {WHY}",
    f"##{WHY}",
]


@pytest.mark.parametrize("line", LINES)
def test_the_server_sees_a_comment_where_we_do(line: str, server: Server, tmp_path: Path) -> None:
    """A line with a suppression that is well placed gives the server what the line without it gives, and only then."""
    path = tmp_path / "x.cnf"
    path.write_text(f"[mysqld]\n{line}\n")
    (found,) = read_suppressions(
        parse(path.read_bytes(), str(path), dialect_of(server.target.flavour, server.target.version))
    )
    with_it = server.arguments(path)
    assert with_it is not None
    seen = b"mycnf:" in with_it
    assert seen is bool(found.wrong), with_it
    if not found.wrong:
        path.write_text(f"[mysqld]\n{line.partition('mycnf:')[0].rstrip(' #;')}\n")
        assert server.arguments(path) == with_it
