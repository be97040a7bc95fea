"""What is reported about defaults, compared with untouched servers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.preflight.next_values import SESSION_DEFAULTS, parse_whole_number

if TYPE_CHECKING:
    from probes.sandbox import Sandbox


def test_switches_that_no_option_sets(any_server: Sandbox) -> None:
    """Every server starts with these values of the variables that only statements set."""
    with any_server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SHOW GLOBAL VARIABLES")
        real = {name.lower(): value for name, value in cursor.fetchall()}
    known = {name: value for name, value in SESSION_DEFAULTS.items() if name in real}
    assert len(known) >= 10
    assert known == {name: real[name] for name in known}


def test_numbers_that_servers_hold() -> None:
    """What is longer than any server's number, signed or no ASCII digit is none."""
    assert [parse_whole_number(text) for text in ("0", "18446744073709551615")] == [0, 18446744073709551615]
    assert {parse_whole_number(text) for text in (None, "", "-1", "1.5", "²", "9" * 21)} == {None}
