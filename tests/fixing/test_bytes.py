"""Bytes of any kind that need not change stay."""

from __future__ import annotations

import pytest
from fix_text import findings, fixed, mended

TARGET = "mysql-8.4"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"[mysqld]\r\nnet_buffer_length=1\r\nport=1\r\n", b"[mysqld]\r\nnet_buffer_length=1024\r\nport=1\r\n"),
        (b"[mysqld]\r\nport=1\r\nport=2\r\n", b"[mysqld]\r\nport=2\r\n"),
        (b"[mysqld]\r\nport=1\nport=2", b"[mysqld]\r\nport=2"),
        (b"[mysqld]\nmax_allowed_packet=64MB", b"[mysqld]\nmax_allowed_packet=64M"),
        (b"[mysqld]\nport=2\n[mysqld]\nport=3\nignored", b"[mysqld]\n[mysqld]\nport=3\nignored"),
        (b"# \xff\xfe \xe9\n[mysqld]\nport=1 # \xe9\nport=2\n", b"# \xff\xfe \xe9\n[mysqld]\n# \xe9\nport=2\n"),
        (
            "# ä\n[mysqld]\n\tmax_allowed_packet\t= 64MB\t# ü\n".encode(),
            "# ä\n[mysqld]\n\tmax_allowed_packet\t= 64M\t# ü\n".encode(),
        ),
        (b"[mysqld]\n  port=1   # why\n port=2\n", b"[mysqld]\n  # why\n port=2\n"),
        (b"[mysqld]\nport=1 # mycnf: ignore[SEC001] for now\nport=2\n", b"[mysqld]\nport=2\n"),
        (b"[mysqld]\n\n\nport=1\n\n; old\nport=2\n\n", b"[mysqld]\n\n\n\n; old\nport=2\n\n"),
        (b"[mysqld]\nmax_allowed_packet='64MB' # 'a # b\n", b"[mysqld]\nmax_allowed_packet=64M # 'a # b\n"),
    ],
)
def test_only_what_must_change_does(before: bytes, after: bytes) -> None:
    """Line ends, a missing last one, comments, spaces, blank lines and bytes that are no UTF-8 stay."""
    assert fixed(before, TARGET) == after


def test_a_byte_order_mark_stays() -> None:
    """A file that begins with a byte order mark keeps it: what it does to servers is the reader's to report."""
    text = b"\xef\xbb\xbf[mysqld]\nmax_allowed_packet=64MB\nport=1\nport=2\n"
    assert fixed(text, TARGET, unsafe=True).startswith(b"\xef\xbb\xbf[mysqld]\n")


def test_a_line_that_servers_read_as_several_keeps_its_parts() -> None:
    """Before 8.0.27 a line of more than 4094 bytes counts as several: taking one out would take the others too."""
    padding = b" " * (4094 - len(b"max_connections=1"))
    text = b"[mysqld]\nmax_connections=1" + padding + b"port=3307\nmax_connections=2\n"
    assert fixed(text, "mysql-8.0.15") == text
    assert b"port=3307" in fixed(text, "mysql-8.0.15", unsafe=True)


@pytest.mark.parametrize(
    "text",
    [
        b"[mysqld]\nport = {{ port }}\nport = 3306\n",
        b"[mysqld]\nslave_net_timeout = {{ t }}\n",
        b"[mysqld]\n{% if a %}\nport=1\n{% else %}\nport=2\n{% endif %}\n",
        b"[mysqld]\n<% if @a %>\nnet_buffer_length=1\n<% end %>\nport=1\nport=2\n",
    ],
)
def test_what_a_template_fills_in_is_not_edited(text: bytes) -> None:
    """Templated lines, and all of a file whose statements decide which lines count, are not edited."""
    outcome = mended(text, "mysql-9.7.4", unsafe=True)
    assert outcome.changes == ()
    offered = any(kind != "-" for _, kind in findings(text, "mysql-9.7.4"))
    assert any("template" in line for line in outcome.unchanged) is offered


def test_plain_lines_beside_templated_ones_are_fixed() -> None:
    """A file with values to be filled in, and no statements, is fixed where its lines are plain."""
    before = b"[mysqld]\nport = {{ port }}\nnet_buffer_length=1\n"
    assert fixed(before, TARGET) == b"[mysqld]\nport = {{ port }}\nnet_buffer_length=1024\n"


def test_an_empty_file() -> None:
    """Nothing is made of nothing."""
    assert fixed(b"", TARGET, unsafe=True) == b""
