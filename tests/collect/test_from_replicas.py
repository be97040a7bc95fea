"""`audit --from` on what clients print of real replicas: the rows that the server sends, and the rules' findings."""

from __future__ import annotations

import html
import json
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from client_output import CLIENT, at, output
from hypothesis import given
from hypothesis import strategies as st
from live_server import Live

from advisor.analysis import run_rules
from advisor.analysis.context import build_context
from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.collect.pasted import facts_of_texts
from advisor.collect.pasted.replicas import replica_rows
from rules import all_rules

if TYPE_CHECKING:
    from collections.abc import Iterator

    from real_servers import Start

    from advisor.facts import Facts

PATIENCE = 600.0  # seconds
FORMS = {
    "boxed": ("-t",),
    "batch": ("-B",),
    "vertical": ("-E",),
    "of pt-mysql-summary": ("-ssE",),
    "XML": ("-X",),
    "HTML": ("-H",),
}
RECEIVER = "SELECT SERVICE_STATE FROM performance_schema.replication_connection_status"
CANARY = "kanarienvogel"
ERROR = (
    f"Error 'Duplicate entry '{CANARY}' for key 'PRIMARY'' on query. Default database: 'a'. Query: 'INSERT\n\n{CANARY}'"
)


def words(live: Live) -> tuple[str, str, str]:
    """How the server spells its statements: a replica, its source, and the clause that names the source."""
    if live.name == "mysql-9.7":
        return "REPLICA", "SOURCE", "REPLICATION SOURCE"
    return "SLAVE", "MASTER", "MASTER"


def shows(live: Live) -> str:
    """The statement that lists all of the server's sources."""
    return "SHOW ALL SLAVES STATUS" if live.is_mariadb else f"SHOW {words(live)[0]} STATUS"


@contextmanager
def following(live: Live, port: int, how: str = "", secret: str = CANARY) -> Iterator[None]:
    """The server has a source configured, for the block."""
    replica, source, clause = words(live)
    named = f"{source}_HOST = '127.0.0.1', {source}_PORT = {port}, {source}_USER = 'u', {source}_PASSWORD = '{secret}'"
    live.run(f"CHANGE {clause} TO {named}{how}")
    try:
        yield
    finally:
        live.run(f"STOP {replica}", f"RESET {replica} ALL")


def asked(live: Live) -> Facts:
    """What the server reports itself."""
    return collect_from_account(live.account(), CollectRequest(window=0.0))


def of_replication(facts: Facts) -> set[tuple[str, str]]:
    """What the rules on replication say, and of what."""
    return {
        (f.code, f.message) for f in run_rules(build_context(facts), all_rules()).findings if f.code.startswith("REP")
    }


def printed(live: Live, folder: Path) -> list[str]:
    """Its variables and counters as its client prints them."""
    return [
        output(folder, q[-8:], CLIENT, *at(live), "-B", "-e", q)
        for q in ("SHOW GLOBAL VARIABLES", "SHOW GLOBAL STATUS")
    ]


def test_every_form_of_the_client(live: Live, tmp_path: Path) -> None:
    """A replica's rows are read as the server sends them, in every form, and the rules say the same of it."""
    texts = printed(live, tmp_path)
    with following(live, 1):
        real = asked(live)
        shown = [output(tmp_path, form, CLIENT, *at(live), *how, "-e", shows(live)) for form, how in FORMS.items()]
    for path in shown:
        assert replica_rows(Path(path).read_text()) == real.server.replication.replica_rows, path
    facts = facts_of_texts([*texts, *shown])
    assert of_replication(facts) == of_replication(real)
    assert {"REP015", "REP017"} <= {code for code, _ in of_replication(facts)}


@pytest.mark.servers("mysql-5.7", "mysql-9.7", "mariadb-10.11")
@pytest.mark.parametrize("form", FORMS)
def test_among_other_answers(form: str, live: Live, tmp_path: Path) -> None:
    """In one text with variables and counters, before or behind them, the rows are as the server sends them."""
    with following(live, 1):
        real = asked(live).server.replication.replica_rows
        for asks in (f"SHOW GLOBAL VARIABLES;SHOW GLOBAL STATUS;{shows(live)}", f"{shows(live)};SHOW GLOBAL VARIABLES"):
            facts = facts_of_texts([output(tmp_path, "t", CLIENT, *at(live), *FORMS[form], "-e", asks)])
            assert facts.server.replication.replica_rows == real
            assert facts.server.variables["datadir"] == live.run("SELECT @@datadir")[0][0]


def test_rows_as_json(live: Live, tmp_path: Path) -> None:
    """Rows in JSON are read too, as MySQL Shell prints them and as Ansible's mysql_info sorts them."""
    texts = printed(live, tmp_path)
    with following(live, 1):
        real = asked(live).server.replication.replica_rows
    source = words(live)[1].capitalize()
    keys = [f"{source}_{name}" for name in ("Host", "Port", "User")]
    host, port, user = (real[0][key] for key in keys)
    rest = {name: int(v) if v and v.isdigit() else v for name, v in real[0].items() if name not in keys}
    sorted_ = {"changed": False, "slave_status": {host: {port: {user: rest}}}}
    path = tmp_path / "r"
    for document in (
        json.dumps({"hasData": True, "rows": real}),
        "\n".join(json.dumps(one, indent=4) for one in real),
        f"db1 | SUCCESS => {json.dumps(sorted_, indent=4)}\n",
        f"TASK [debug] ****\nok: [db1] => {json.dumps({'found': sorted_}, indent=4)}\n\nPLAY RECAP ****\n",
    ):
        path.write_text(document)
        assert facts_of_texts([*texts, str(path)]).server.replication.replica_rows == real


@pytest.mark.servers("mysql-8.0")
def test_what_pt_stalk_keeps(live: Live, tmp_path: Path) -> None:
    """Of the rounds in its file the last counts; without rows nothing is said, as an unknown statement leaves none."""
    texts = printed(live, tmp_path)
    output(tmp_path, "x-variables", "cat", texts[0])
    output(tmp_path, "x-mysqladmin", "cat", texts[1])
    (tmp_path / "x-slave-status").write_text("\nSHOW SLAVE STATUS\\G\n\n")
    facts = facts_of_texts([str(tmp_path)])
    assert facts.server.replication is None
    assert "SHOW ALL SLAVES STATUS" in facts.reason_missing("server.replication")
    with following(live, 1):
        first = output(tmp_path, "one", CLIENT, *at(live), "-E", "-e", shows(live))
        last = Path(first).read_text()
    rounds = [last.replace("SQL_Running: No", "SQL_Running: Yes"), last]
    (tmp_path / "x-slave-status").write_text("".join(f"\nSHOW SLAVE STATUS\\G\n\n{text}" for text in rounds))
    (row,) = facts_of_texts([str(tmp_path)]).server.replication.replica_rows
    assert row["Slave_SQL_Running"] == "No"
    (tmp_path / "x-slave-status").rename(tmp_path / "x-replica-status")
    assert facts_of_texts([str(tmp_path)]).server.replication.replica_rows == (row,)


@pytest.mark.servers("mysql-9.7")
def test_a_replica_that_runs(live: Live, start: Start, tmp_path: Path) -> None:
    """Of a replica whose threads run nothing is said that the server itself wouldn't lead to say."""
    replica = Live(live.name, start(live.name, arguments=["--server-id=8"], small=True))
    with live.user("u", f"IDENTIFIED BY '{CANARY}'"):
        live.run("GRANT REPLICATION SLAVE ON *.* TO u")
        how = ", SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1"
        with following(replica, live.sandbox.port, how):
            replica.run("START REPLICA IO_THREAD")
            deadline = time.monotonic() + PATIENCE
            while replica.run(RECEIVER) != (("ON",),):
                assert time.monotonic() < deadline
                time.sleep(0.05)
            text = output(tmp_path, "r", CLIENT, *at(replica), "-E", "-e", shows(replica))
            facts = facts_of_texts([*printed(replica, tmp_path), text])
            assert of_replication(facts) == of_replication(asked(replica))
    (row,) = facts.server.replication.replica_rows
    assert (row["Replica_IO_Running"], row["Replica_SQL_Running"], row["Seconds_Behind_Source"]) == ("Yes", "No", None)


def row(**more: str) -> dict[str, str]:
    """A row as MariaDB prints it."""
    usual = {"Connection_name": "", "Master_Host": "a", "Slave_IO_Running": "Yes", "Slave_SQL_Running": "Yes"}
    return usual | more


def vertical(*rows: dict[str, str]) -> str:
    """The form of \\G."""
    stars = "*" * 27
    body = ("".join(f"{name:>30}: {value}\n" for name, value in row.items()) for row in rows)
    return "".join(f"{stars} {i}. row {stars}\n{text}" for i, text in enumerate(body, 1))


def test_a_session_with_other_answers() -> None:
    """Rows stand among other words; what an error quotes is left out, and its empty lines don't end the row."""
    status = row(Last_SQL_Error=ERROR, Retrieved_Gtid_Set="", Executed_Gtid_Set="a:1-5,\nb:1", Using_Gtid="No")
    rows = vertical(status, row(Connection_name="c"))
    text = f"mysql> SHOW ALL SLAVES STATUS\\G\n{rows}2 rows in set (0.00 sec)\n\nmysql> x\n"
    first, second = replica_rows(vertical({"Id": "5", "Last_Name": "x"}) + text) or ()
    assert first == status | {"Last_SQL_Error": first["Last_SQL_Error"]}
    assert CANARY not in json.dumps(first)
    assert second == row(Connection_name="c")
    assert replica_rows(text + vertical(row(Slave_IO_Running="No"))) == (row(Slave_IO_Running="No"), second)


EMPTY_ANSWERS = {
    "mysql> SHOW REPLICA STATUS\\G\nEmpty set (0.00 sec)\n": (),
    "mysql> show slave status;\nEmpty set, 1 warning (0.00 sec)\n": (),
    "MariaDB [(none)]> SHOW ALL SLAVES STATUS\\G\n\nEmpty set (0.000 sec)\n": (),
    "MariaDB [(none)]> SHOW SLAVE STATUS\\G\nEmpty set (0.000 sec)\n": None,
    "mysql> SHOW TABLES;\nEmpty set (0.00 sec)\n": None,
    "\nSHOW SLAVE STATUS\\G\n\n": None,
    '<resultset statement="SHOW ALL SLAVES STATUS\n" xmlns:xsi="x"></resultset>\n': (),
    '<resultset statement="SHOW REPLICA STATUS\n" xmlns:xsi="x"></resultset>\n': None,  # MariaDB knows it too
}


@pytest.mark.parametrize("text", EMPTY_ANSWERS)
def test_no_replica(text: str) -> None:
    """That a server has no source is known by an empty answer on all its sources, and by nothing else."""
    assert replica_rows(text) == EMPTY_ANSWERS[text]


@pytest.mark.parametrize("form", ["vertical", "XML", "HTML"])
def test_cut_off_anywhere(form: str, tmp_path: Path) -> None:
    """Of a row whose end is lacking no value is half of one, and it never means that the server has no source."""
    whole = row(Slave_IO_State="a<b", Seconds_Behind_Master="1234")
    fields = "".join(f'\t<field name="{name}">{html.escape(value)}</field>\n' for name, value in whole.items())
    lines = (("TH", whole.keys()), ("TD", whole.values()))
    cells = [f"<TR>{''.join(f'<{t}>{html.escape(one)}</{t}>' for one in line)}</TR>" for t, line in lines]
    expected = {
        "vertical": vertical(whole),
        "XML": f'<resultset statement="SHOW SLAVE STATUS">\n  <row>\n{fields}  </row>\n</resultset>\n',
        "HTML": f"<TABLE BORDER=1>{''.join(cells)}</TABLE>",
    }[form]
    path = tmp_path / "t"
    counts = set()
    for cut in range(len(expected) + 1):
        path.write_text("Variable_name\tValue\nversion\t8.0.36\n\n" + expected[:cut])
        told_rows = facts_of_texts([str(path)]).server.replication
        counts.add(told_rows and len(told_rows.replica_rows))
        assert told_rows is None or told_rows.replica_rows[0].items() <= whole.items()
    assert counts == {None, 1}


@given(
    st.lists(
        st.sampled_from(
            [
                "*" * 27 + " 1. row " + "*" * 27,
                "Slave_IO_Running: Yes",
                "Slave_SQL_Running: ",
                "\t",
                "| ",
                "mysql> ",
                "\n",
                "Slave_IO_Running\tSlave_SQL_Running",
                "NULL",
                "<row>",
                '<field name="Slave_IO_Running">Yes</field>',
                '<field name="Slave_SQL_Running">Yes</field>',
                "</row>",
                "<TABLE BORDER=1>",
                "<TR>",
                "<TH>Slave_IO_Running</TH><TH>Slave_SQL_Running</TH>",
            ]
        )
    ).map("\n".join)
)
def test_any_text_ends(text: str) -> None:
    """Reading any text ends in rows that have both threads, or in none."""
    assert all({"Slave_IO_Running", "Slave_SQL_Running"} <= found.keys() for found in replica_rows(text) or ())


def test_long_texts_end_too() -> None:
    """Megabytes of what looks like rows are read in one pass: otherwise the test would not end."""
    assert replica_rows("Slave_IO_Running\n" + ("*" * 27 + " 1. row " + "*" * 27 + "\n") * 100_000) is None
    for tag in ("<row>", '<field name="a">', "<TABLE BORDER=1>", "<TR>", "<TABLE BORDER=1><TR><TD>a</TD>"):
        assert replica_rows("Slave_IO_Running\n" + tag * 100_000) is None
    assert len(replica_rows(vertical(row()) + "Slave_IO_Running: x\n" * 200_000) or ()) == 1
