"""Texts that are not whole: cut off, of differences alone. What is read of them is right, and what lacks is said."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from client_output import CLIENT, at, output

from advisor.collect.pasted import facts_of_texts
from advisor.collect.pasted.facts import TextError
from advisor.collect.pasted.samples import NO_FIRST
from advisor.redaction import redact_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from live_server import Live

ASKED = "SHOW GLOBAL VARIABLES;SHOW GLOBAL STATUS"
FORMS = {"boxed": ("-t",), "batch": ("-B",), "bare": ("-BN",), "vertical": ("-E",), "XML": ("-X",), "HTML": ("-H",)}
MOVING = re.compile(r"timestamp|gtid_(binlog_pos|binlog_state|current_pos)|innodb_buffer_pool_dump_now")
CUTS = 40
WHOLE = "Variable_name\tValue\nversion\t8.0.36\ndatadir\t/d/\nport\t3306\n\n"
FIRST = {
    "Connections": 50,
    "Innodb_page_size": 16384,
    "Questions": 1000,
    "Rsa_public_key": 0,
    "Threads_connected": 5,
    "Uptime": 400,
}
LATER = {
    "Connections": 1,
    "Innodb_page_size": 0,
    "Questions": 70,
    "Rsa_public_key": 0,
    "Threads_connected": -2,
    "Uptime": 10,
}


def boxed(rows: Mapping[str, object]) -> str:
    """A round of mysqladmin."""
    line = f"+{'-' * 32}+{'-' * 12}+\n"
    body = "".join(f"| {name:<30} | {value!s:<10} |\n" for name, value in rows.items())
    return f"{line}| {'Variable_name':<30} | {'Value':<10} |\n{line}{body}{line}\n"


@pytest.mark.servers("mysql-8.0", "mariadb-11.4")
@pytest.mark.parametrize("form", FORMS)
def test_cut_off_anywhere(form: str, live: Live, tmp_path: Path) -> None:
    """Wherever a text ends, each value is the server's, never the first half of one; and what isn't there is said."""
    text = (tmp_path / output(tmp_path, "t", CLIENT, *at(live), *FORMS[form], "-e", ASKED)).read_text()
    truth = {name.lower(): redact_value(name.lower(), value) for name, value in live.run(ASKED.partition(";")[0])}
    uptime = int(dict(live.run("SHOW GLOBAL STATUS LIKE 'Uptime'"))["Uptime"])
    for cut in range(1, CUTS):
        path = tmp_path / str(cut)
        path.write_text(text[: len(text) * cut // CUTS - cut % 7])
        try:
            facts = facts_of_texts([str(path)])
        except TextError as error:
            assert re.search("cut off|tells? of a server|contains the server's version", str(error))  # noqa: PT017
            continue
        read = {name: value for name, value in facts.server.variables.items() if not MOVING.fullmatch(name)}
        assert read.items() <= truth.items()
        assert ("wait_timeout" in read) or "not all" in facts.reason_missing("server.variables")
        assert facts.reason_missing("server.status")
        assert facts.server.uptime is None or facts.server.uptime <= uptime


@pytest.mark.parametrize("form", FORMS)
def test_whole_texts_lack_nothing(form: str, live: Live, tmp_path: Path) -> None:
    """Of a complete answer nothing is reported missing, for any version of the server."""
    facts = facts_of_texts([output(tmp_path, "t", CLIENT, *at(live), *FORMS[form], "-e", ASKED)])
    assert {"server.variables", "server.status"}.isdisjoint(one.part for one in facts.unavailable)


def test_differences_are_added_up(tmp_path: Path) -> None:
    """The rounds of mysqladmin -r are a window, and its counters those of the last round."""
    path = tmp_path / "t"
    path.write_text(WHOLE + boxed(FIRST) + boxed(LATER) + boxed(LATER))
    facts = facts_of_texts([str(path)])
    assert facts.workload.seconds == 20
    assert facts.workload.delta("questions") == 140
    counted = [facts.server.counter(name) for name in ("questions", "threads_connected", "uptime", "innodb_page_size")]
    assert counted == [1140, 1, 420, 16384]
    assert "rsa_public_key" not in facts.server.status  # -r prints a zero for texts


def test_differences_without_their_beginning(tmp_path: Path) -> None:
    """Differences never replace counters since the server's start."""
    path = tmp_path / "t"
    path.write_text(WHOLE + boxed(LATER) + boxed(LATER))
    facts = facts_of_texts([str(path)])
    assert (facts.server.status, facts.workload) == ({}, None)
    assert facts.reason_missing("server.status") == NO_FIRST


OLDER = {"Connections": 442, "Last_query_cost": "0.000000", "Queries": 4416, "Questions": 3416, "Uptime": 2880}


@pytest.mark.parametrize(("more", "of_session"), [({}, False), ({"Com_group_replication_start": 0}, True)])
def test_what_older_servers_report_for_the_whole(more: Mapping[str, int], *, of_session: bool, tmp_path: Path) -> None:
    """Before MySQL 5.7 the whole server reports, as zeros, what later only sessions have."""
    path = tmp_path / "t"
    path.write_text("Variable_name\tValue\nversion\t5.1.61\n\n" + boxed({**OLDER, **more}))
    facts = facts_of_texts([str(path)])
    assert ("questions" not in facts.server.status) == of_session
    assert ("one session" in facts.reason_missing("server.status")) == of_session


@pytest.mark.servers("mysql-5.7")
def test_threads_of_older_servers(live: Live, tmp_path: Path) -> None:
    """MySQL 5.1 reports for the whole server which thread it pretends to be: none."""
    path = tmp_path / "t"
    whole = Path(output(tmp_path, "v", CLIENT, *at(live), "-B", "-e", "SHOW GLOBAL VARIABLES")).read_text()
    for thread, reason in (("0", ""), ("7", "one session")):
        path.write_text(f"{whole}pseudo_thread_id\t{thread}\n")
        why = {one.part: one.reason for one in facts_of_texts([str(path)]).unavailable}.get("server.variables", "")
        assert reason in why
        assert bool(why) == bool(reason)


@pytest.mark.parametrize("end", ["134217", "134217728", "134217728\t"])
def test_a_last_line_without_its_end(tmp_path: Path, end: str) -> None:
    """A value that the end of a text may have halved is left out, whole or not."""
    path = tmp_path / "t"
    path.write_text(WHOLE.rstrip("\n") + "\ninnodb_buffer_pool_size\t" + end)
    found = facts_of_texts([str(path)]).server.variables
    assert found == {"version": "8.0.36", "datadir": "/d/", "port": "3306"}
