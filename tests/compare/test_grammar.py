"""What a word means as a side."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from advisor.compare.side_names import parse_side
from advisor.compare.values import SideKind
from advisor.core.errors import MycnfError


@pytest.mark.parametrize(
    ("word", "place"),
    [
        ("server", {}),
        ("socket:/run/a.sock", {"socket": "/run/a.sock", "host": None, "port": None}),
        ("tcp:db1", {"socket": None, "host": "db1", "port": 3306}),
        ("tcp:app@db1:3307", {"socket": None, "host": "db1", "port": 3307, "user": "app"}),
        ("db1.example.org:3307", {"socket": None, "host": "db1.example.org", "port": 3307}),
        ("tcp:[::1]:3307", {"socket": None, "host": "::1", "port": 3307}),
        ("defaults:/root/a.cnf", {"socket": None, "host": None, "port": None, "defaults_file": "/root/a.cnf"}),
        ("login:prod", {"socket": None, "host": None, "port": None, "login_path": "prod"}),
        ("group:_two", {"socket": None, "host": None, "port": None, "defaults_group_suffix": "_two"}),
    ],
)
def test_servers(word: str, place: dict[str, object]) -> None:
    """Each word for a server says where it is, over what the connection options say."""
    found = parse_side(word)
    assert found.kind is SideKind.SERVER
    assert dict(found.place) == place


def test_what_lies_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path is what lies there: a socket, a snapshot or an option file, even one with a target's name."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s"))
        assert parse_side(str(tmp_path / "s")).kind is SideKind.SERVER
    (tmp_path / "snap").write_text('{\n "schema": "1.1"}')
    (tmp_path / "persisted.json").write_text('{"Version": 2}')
    (tmp_path / "my.cnf").write_text("[mysqld]\n")
    (tmp_path / "mysql-8.4").write_text("[mysqld]\n")
    monkeypatch.chdir(tmp_path)
    assert [parse_side(n).kind for n in ("snap", "persisted.json", "my.cnf", "mysql-8.4")] == [
        SideKind.SNAPSHOT, SideKind.FILE, SideKind.FILE, SideKind.FILE,
    ]  # fmt: skip
    assert parse_side("default:mysql-8.4").kind is SideKind.DEFAULTS
    assert parse_side("defaults:mariadb-10.11").kind is SideKind.DEFAULTS
    assert parse_side("my.cnf,mysql-8.4").paths == ("my.cnf", "mysql-8.4")
    assert parse_side("-").paths == ("-",)


def test_a_target_of_no_file() -> None:
    """A bare target is its defaults."""
    found = parse_side("mariadb-11.4.5")
    assert (found.kind, str(found.target)) == (SideKind.DEFAULTS, "mariadb-11.4.5")


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("nowhere.cnf", "no such file"),
        ("/tmp", "is a directory"),
        ("mysql-4.1", "unknown target"),
        ("default:8.4", "unknown target"),
        ("tcp:", "is incomplete"),
        ("db1:99999", "is not a TCP port"),
        ("tcp:a b", "is not a host"),
        ("", "no such file"),
        ("a.cnf,b.cnf", "no such file"),
    ],
)
def test_words_that_mean_nothing(word: str, says: str) -> None:
    """Each is one line that says what is wrong, and what to write."""
    with pytest.raises(MycnfError, match=says) as caught:
        parse_side(word)
    assert "\n" not in str(caught.value)
