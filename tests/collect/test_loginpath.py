"""Login paths; the recorded file was written by mysql_config_editor of MySQL 9.7.4, with invented passwords."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from advisor.collect.connection.options import login_lines
from advisor.core.errors import ConnectError

RECORDED = Path(__file__).parent / "files" / "mylogin.cnf"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A login path file of our own, as mysql_config_editor leaves it."""
    path = tmp_path / "mylogin.cnf"
    shutil.copyfile(RECORDED, path)
    path.chmod(0o600)
    monkeypatch.setenv("MYSQL_TEST_LOGIN_FILE", str(path))
    return path


def test_a_recorded_file_is_read(file: Path) -> None:
    """Groups, options and values are those that mysql_config_editor was given, odd characters included."""
    assert login_lines("prod") == [
        ("client", "user", "reader"),
        ("client", "password", "plain"),
        ("client", "host", "localhost"),
        ("prod", "user", "audit"),
        ("prod", "password", "we\"ird \\ pass#word'ä"),
        ("prod", "host", "db1.example"),
        ("prod", "socket", "/run/x.sock"),
        ("prod", "port", "3307"),
        ("nopw", "user", "just"),
    ]


def test_a_missing_login_path_is_said(file: Path) -> None:
    """A login path that isn't in the file ends with one line that says how to see what is."""
    with pytest.raises(ConnectError, match=r"--login-path other is not in .*mysql_config_editor print --all"):
        login_lines("other")


def test_no_file_matters_only_when_asked_for(file: Path) -> None:
    """Without a file there are no lines, unless a login path was asked for."""
    file.unlink()
    assert login_lines(None) == []
    with pytest.raises(ConnectError, match="does not exist"):
        login_lines("prod")


@pytest.mark.parametrize("cut", [26, 30, 60, 375])
def test_a_damaged_file_is_one_line(file: Path, cut: int) -> None:
    """A file cut off within a line is one clear message with the remedy."""
    file.write_bytes(RECORDED.read_bytes()[:cut])
    with pytest.raises(ConnectError, match=r"^[^\n]* is damaged [^\n]*mysql_config_editor$"):
        login_lines(None)


def test_a_file_of_nothing_but_a_key_says_nothing(file: Path) -> None:
    """A file that no login path was ever put into is read as empty."""
    file.write_bytes(RECORDED.read_bytes()[:24])
    assert login_lines(None) == []


def test_a_file_open_to_others_is_refused(file: Path) -> None:
    """MySQL ignores a login file that others may read; we say so instead."""
    file.chmod(0o644)
    with pytest.raises(ConnectError, match="chmod 600"):
        login_lines(None)
