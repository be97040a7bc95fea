"""One text that holds several answers of a real client, in every form: which are variables and which counters."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from client_output import CLIENT, at, output

from advisor.collect.pasted import facts_of_texts
from advisor.redaction import redact_value

if TYPE_CHECKING:
    from live_server import Live

VARIABLES, COUNTERS = "SHOW GLOBAL VARIABLES", "SHOW GLOBAL STATUS"
FORMS = {
    "boxed": ("-t",),
    "boxed, bare": ("-tN",),
    "batch": ("-B",),
    "batch, bare": ("-BN",),
    "raw": ("-B", "--raw"),
    "raw, bare": ("-BN", "--raw"),
    "vertical": ("-E",),
    "vertical, bare": ("-EN",),
    "verbose": ("-t", "-vv"),
    "XML": ("-X",),
    "HTML": ("-H",),
    "HTML, bare": ("-HN",),
}
MOVING = re.compile(r"timestamp|gtid_(binlog_pos|binlog_state|current_pos)|innodb_buffer_pool_dump_now")
KEYS = {"caching_sha2_password_rsa_public_key", "rsa_public_key"}  # of many lines, which bare boxes don't keep apart


@pytest.mark.parametrize("order", [(VARIABLES, COUNTERS), (COUNTERS, VARIABLES)], ids=["variables first", "last"])
@pytest.mark.parametrize("form", FORMS)
def test_both_in_one_text(form: str, order: tuple[str, str], live: Live, tmp_path: Path) -> None:
    """With any separator and in any order, variables are the server's variables and none is more."""
    server = facts_of_texts([output(tmp_path, "t", CLIENT, *at(live), *FORMS[form], "-e", ";".join(order))]).server
    truth = {name.lower(): redact_value(name.lower(), value) for name, value in live.run(VARIABLES)}
    assert {n: v for n, v in server.variables.items() if not MOVING.fullmatch(n)} == {
        n: v for n, v in truth.items() if not MOVING.fullmatch(n)
    }
    assert server.status.keys() | KEYS == {name.lower() for name, _ in live.run(COUNTERS)} | KEYS
    assert server.counter("uptime") is not None
    assert not [value for value in server.status.values() if value == "-----BEGIN PUBLIC KEY-----"]


@pytest.mark.parametrize("form", ["batch", "batch, bare", "vertical", "XML"])
def test_two_rounds_in_one_text(form: str, live: Live, tmp_path: Path) -> None:
    """A name that comes again begins another answer: two rounds are a window, once the clock went on between them."""
    rounds = f"{VARIABLES};{COUNTERS};SELECT SLEEP(1.1);{COUNTERS}"
    facts = facts_of_texts([output(tmp_path, "t", CLIENT, *at(live), *FORMS[form], "-e", rounds)])
    assert facts.workload.seconds >= 1
    assert facts.workload.delta("questions") >= 1


def test_tables_of_the_server(live: Live, tmp_path: Path) -> None:
    """The tables that hold both are read as well, in capitals without headings too, as far as they go."""
    schema = "performance_schema" if live.name.startswith("mysql") else "information_schema"
    asked = f"TABLE {schema}.global_variables;TABLE {schema}.global_status".replace("TABLE", "SELECT * FROM")
    read = [
        facts_of_texts([output(tmp_path, f"t{i}", CLIENT, *at(live), *form, "-e", asked)]).server
        for i, form in enumerate((["-B"], ["-BN"], ["-X"], ["-H"]))
    ]
    names = {name.lower() for name, _ in live.run(VARIABLES)}
    assert all(server.variables.keys() == names for server in read)
    assert all("uptime" in server.status and "version" not in server.status for server in read)


@pytest.mark.parametrize("form", [("-B",), ("-BN",)], ids=["headed", "bare"])
def test_blanks_for_tabs(form: tuple[str, ...], live: Live, tmp_path: Path) -> None:
    """What a terminal made of the tabs is read whole, but for names with blanks in them."""
    path = Path(output(tmp_path, "t", CLIENT, *at(live), *form, "-e", f"{VARIABLES};{COUNTERS}"))
    path.write_text("".join(f"{line.expandtabs()}\n" for line in path.read_text().split("\n")[:-1]))
    server = facts_of_texts([str(path)]).server
    truth = {name.lower(): redact_value(name.lower(), value) for name, value in live.run(VARIABLES)}
    assert {n: v for n, v in server.variables.items() if not MOVING.fullmatch(n)} == {
        n: v for n, v in truth.items() if not MOVING.fullmatch(n)
    }
    asked = {name.lower() for name, _ in live.run(COUNTERS)}
    assert {name for name in asked - server.status.keys() if not name.startswith("option_tracker")} == set()
    assert server.status.keys() <= asked


def test_of_one_session(live: Live, tmp_path: Path) -> None:
    """Without GLOBAL a client prints its own session's: that is reported, and its counters aren't the server's."""
    for _ in range(40):
        live.run("SELECT 1")
    facts = facts_of_texts([output(tmp_path, "t", CLIENT, *at(live), "-B", "-e", "SHOW VARIABLES; SHOW STATUS")])
    assert "one session" in facts.reason_missing("server.variables")
    assert "one session" in facts.reason_missing("server.status")
    assert "com_select" not in facts.server.status
    assert facts.server.counter("connections") > 0
