"""What differs from its file, as real servers report it: at run time, persisted, and by the limits of the system."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from advisor.analysis import run_rules
from advisor.analysis.context import build_context
from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.collect.connection.options import Account
from rules import all_rules

if TYPE_CHECKING:
    from pathlib import Path

    from real_servers import Start

    from probes.sandbox import Sandbox

OURS = [rule for rule in all_rules() if rule.code in {"OPT016", "SYS002"}]
# A third of a start of MySQL, and neither rule asks it anything.
QUICKLY = ("--performance-schema=OFF",)


def messages_by_option(server: Sandbox) -> dict[str | None, tuple[str, str]]:
    """The code and the message reported for each option."""
    facts = collect_from_account(Account(user="root", socket=server.socket), CollectRequest(window=0.0))
    return {f.option: (f.code, f.message) for f in run_rules(build_context(facts), OURS).findings}


def set_all(server: Sandbox, *statements: str) -> None:
    """Run statements as root."""
    with server.connect() as connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


@pytest.mark.servers("mysql-8.0", "mysql-9.7")
def test_what_was_persisted_stays(server_name: str, start: Start, tmp_path: Path) -> None:
    """Of values that SET PERSIST set the audit says the same before a start and after; SET GLOBAL lasts till then."""
    file = tmp_path / "my.cnf"
    file.write_text("[mysqld]\nsort_buffer_size = 1M\nmax_connections = 50\nwait_timeout = 600\nlong_query_time = 5\n")
    server = start(server_name, option_file=file, arguments=QUICKLY)
    set_all(server, "SET PERSIST sort_buffer_size = 524288", "SET PERSIST max_connections = 77")
    set_all(server, "SET PERSIST wait_timeout = 700", "SET GLOBAL wait_timeout = 800", "SET GLOBAL long_query_time = 3")
    before = messages_by_option(server)
    for option in ("sort_buffer_size", "max_connections"):
        assert "a persisted value" in before[option][1], before
        assert "overrides this line." in before[option][1], before
    assert "the next start restores the persisted value." in before["wait_timeout"][1], before
    assert "the next start restores this line's value." in before["long_query_time"][1], before
    server.restart()
    assert {option: code for option, (code, _) in messages_by_option(server).items()} == dict.fromkeys(
        ("sort_buffer_size", "max_connections", "wait_timeout"), "OPT016"
    )


@pytest.mark.servers("mysql-5.7", "mysql-8.0")
def test_a_limit_lowered_at_run_time_is_not_the_systems(server_name: str, start: Start, tmp_path: Path) -> None:
    """A limit lowered at run time is no lack of files, on 5.7 too, which doesn't report what was set when."""
    file = tmp_path / "my.cnf"
    file.write_text("[mysqld]\nmax_connections = 100\n")
    server = start(server_name, option_file=file, arguments=QUICKLY)
    set_all(server, "SET GLOBAL max_connections = 60")
    assert {option: code for option, (code, _) in messages_by_option(server).items()} == {"max_connections": "OPT016"}


@pytest.mark.servers("mysql-9.7", "mariadb-11.8", whole="mysql-5.7")
def test_set_over_the_command_line(server_name: str, start: Start, tmp_path: Path) -> None:
    """The next start takes the command line's value, not the line's; a line cannot keep the running one."""
    file = tmp_path / "my.cnf"
    file.write_text("[mysqld]\nmax_connections = 100\nsort_buffer_size = 1M\n")
    words = ("--max-connections=60", "--sort-buffer-size=524288")
    server = start(server_name, option_file=file, arguments=(*QUICKLY, *words))
    set_all(server, "SET GLOBAL max_connections = 80")
    facts = collect_from_account(Account(user="root", socket=server.socket), CollectRequest(window=0.0))
    found = {f.option: f for f in run_rules(build_context(facts), OURS).findings}
    message, help_text = found["max_connections"].message, found["max_connections"].help or ""
    assert message.endswith("the next start uses the command line's value, which overrides this line."), message
    assert "to keep 80, write it there instead" in help_text, help_text
    assert found["sort_buffer_size"].message.endswith(": its command line overrides this line.")
