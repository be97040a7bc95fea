"""`audit --from` on process lists: waiting sessions are judged, transactions are unknown, no statement is kept."""

from __future__ import annotations

import html
import json
import threading
import tracemalloc
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pymysql
import pytest
from client_output import CLIENT, at, output
from live_server import number_of

from advisor.analysis import run_rules
from advisor.analysis.context import build_context
from advisor.collect.pasted import facts_of_texts
from advisor.collect.pasted import text as text_module
from advisor.collect.pasted.facts import TextError
from advisor.collect.pasted.process_list import ProcessListReader
from advisor.core.model import Confidence, Severity
from advisor.facts.workload import ServerSession
from rules import all_rules

if TYPE_CHECKING:
    from collections.abc import Callable

    from live_server import Live

    from advisor.core.model import Finding
    from advisor.facts import Facts

CANARY = "kanarienvogel"
LOCK = "Waiting for table metadata lock"
STATEMENT = f"ALTER TABLE t\n ADD c INT, -- | 7 | {CANARY} | x\n| 8 | in a statement"
# Connection id, user, host, database, command, seconds, state and statement.
ROWS = (
    ("5", "event_scheduler", "localhost", "NULL", "Daemon", "99", "Waiting on empty queue", "NULL"),
    ("10", "app", "10.0.0.5:51000", "shop", "Sleep", "300", "", "NULL"),
    ("11", "report", "10.0.0.6:51001", "shop", "Query", "250", "Sending data", "SELECT 1"),
    ("12", "root", "localhost", "shop", "Query", "120", LOCK, STATEMENT),
    ("13", "app", "10.0.0.5:51002", "shop", "Query", "90", LOCK, f"SELECT '{CANARY}'"),
    ("14", "repl", "10.0.0.9:51003", "NULL", "Binlog Dump", "5000", "Master has sent all binlog to slave", "NULL"),
)
NAMES = ("Id", "User", "Host", "db", "Command", "Time", "State", "Info")
VARIABLES = "Variable_name\tValue\nversion\t{}\nversion_comment\tx\nperformance_schema\tON\nread_only\tOFF\n"


def boxed() -> str:
    """The form of an interactive client."""
    border = "+----+---------+\n"
    rows = "".join(f"| {' | '.join(f'{cell:<4}' for cell in row)} |\n" for row in (NAMES, *ROWS))
    head, _, body = rows.partition("\n")
    return f"{border}{head}\n{border}{body}{border}{len(ROWS)} rows in set (0.00 sec)\n"


def tabbed() -> str:
    """The form of batch mode."""
    return "".join("\t".join(row).replace("\n", "\\n") + "\n" for row in (NAMES, *ROWS))


def vertical() -> str:
    """The form of \\G, and of pt-stalk."""
    stars = "*" * 27
    each = (
        f"{stars} {i}. row {stars}\n" + "".join(f"{n:>7}: {c}\n" for n, c in zip(NAMES, row, strict=True))
        for i, row in enumerate(ROWS, 1)
    )
    return "".join(each)


def xml() -> str:
    """The form of -X."""
    rows = "".join(f"  <row>\n{''.join(map(_field, NAMES, row))}  </row>\n\n" for row in ROWS)
    return (
        f'<?xml version="1.0"?>\n\n<resultset statement="SHOW FULL PROCESSLIST\n" xmlns:xsi="x">\n{rows}</resultset>\n'
    )


def _field(name: str, value: str) -> str:
    return (
        f'\t<field name="{name}" xsi:nil="true" />\n'
        if value == "NULL"
        else f'\t<field name="{name}">{html.escape(value)}</field>\n'
    )


def in_html() -> str:
    """The form of -H: all on one line, but for the lines of statements."""
    heads = "".join(f"<TH>{name}</TH>" for name in NAMES)
    cells = ("".join(f"<TD>{html.escape(cell)}</TD>" for cell in row) for row in ROWS)
    rows = "".join(f"<TR>{row}</TR>" for row in cells)
    return f"<TABLE BORDER=1><TR>{heads}</TR>{rows}</TABLE>"


def in_csv(separator: str = ",") -> str:
    """The form of exports: every cell quoted, statements over several lines."""
    rows = (NAMES, *ROWS)
    return "".join(separator.join('"{}"'.format(c.replace('"', '""')) for c in row) + "\n" for row in rows)


def unquoted() -> str:
    """CSV in which only statements are quoted, with the decimal comma's separator."""
    return "".join(";".join(row[:-1]) + ';"{}"\n'.format(row[-1].replace('"', '""')) for row in (NAMES, *ROWS))


def boxed_rows() -> str:
    """The form of -tN: a box without headings."""
    border, _, _, rows = boxed().split("\n", 3)
    return f"{border}\n{rows}"


def html_rows() -> str:
    """The form of -HN."""
    before, _, after = in_html().partition("<TR><TH>")
    return before + after.partition("</TR>")[2]


def below_first_line(text: str) -> str:
    """A text without its headings, as of -BN."""
    return text.partition("\n")[2]


def in_json() -> str:
    """The form of MySQL Shell with --json: an object with all rows, numbers as numbers."""
    return json.dumps({"hasData": True, "rows": [_object(row) for row in ROWS]})


def by_row() -> str:
    """The form of MySQL Shell with --result-format=json/raw: an object on each line."""
    return "".join(f"{json.dumps(_object(row))}\n" for row in ROWS)


def _object(row: tuple[str, ...]) -> dict[str, object]:
    typed = (None if cell == "NULL" else int(cell) if cell.isdecimal() else cell for cell in row)
    return dict(zip(NAMES, typed, strict=True))


FORMS: dict[str, Callable[[], str]] = {
    "boxed": boxed,
    "tabbed": tabbed,
    "vertical": vertical,
    "XML": xml,
    "HTML": in_html,
    "CSV": in_csv,
    "CSV with semicolons": lambda: in_csv(";"),
    "CSV without quotes": unquoted,
    "boxed without headings": boxed_rows,
    "tabbed without headings": lambda: below_first_line(tabbed()),
    "HTML without headings": html_rows,
    "CSV without headings": lambda: below_first_line(in_csv()),
}
JSON_FORMS = {"JSON": in_json, "JSON by row": by_row}
# The same rows as JSON, by a statement.
AS_OBJECT = "JSON_OBJECT({})".format(", ".join(f"'{name}', {name.upper()}" for name in NAMES))
CLIENT_FORMS = {
    "boxed": ("-t", "SHOW FULL PROCESSLIST"),
    "batch": ("-B", "SHOW FULL PROCESSLIST"),
    "vertical": ("-E", "SHOW FULL PROCESSLIST"),
    "XML": ("-X", "SHOW FULL PROCESSLIST"),
    "HTML": ("-H", "SHOW FULL PROCESSLIST"),
    "boxed without headings": ("-tN", "SHOW FULL PROCESSLIST"),
    "batch without headings": ("-BN", "SHOW FULL PROCESSLIST"),
    "HTML without headings": ("-HN", "SHOW FULL PROCESSLIST"),
    "table in XML": ("-X", "SELECT * FROM information_schema.PROCESSLIST"),
    "table in HTML": ("-H", "SELECT * FROM information_schema.PROCESSLIST"),
    "JSON": ("-BNr", f"SELECT JSON_ARRAYAGG({AS_OBJECT}) FROM information_schema.PROCESSLIST"),  # noqa: S608
    "JSON by row": ("-BNr", f"SELECT {AS_OBJECT} FROM information_schema.PROCESSLIST"),  # noqa: S608
}


def facts_of(folder: Path, text: str, version: str = "10.11.6-MariaDB") -> Facts:
    """The facts in a text together with a few variables."""
    file, variables = folder / "processes.txt", folder / "variables.txt"
    file.write_text(text)
    variables.write_text(VARIABLES.format(version))
    return facts_of_texts([str(variables), str(file)])


def found(facts: Facts) -> dict[str, Finding]:
    """The findings of all rules, by code."""
    return {finding.code: finding for finding in run_rules(build_context(facts), all_rules()).findings}


@pytest.mark.parametrize("form", FORMS)
def test_sessions_that_wait(form: str, tmp_path: Path) -> None:
    """Sessions that wait and long statements are read in every form, regardless of what their statements contain."""
    _check_sessions(facts_of(tmp_path, f"mysql> SHOW FULL PROCESSLIST;\n{FORMS[form]()}"))


@pytest.mark.parametrize("form", JSON_FORMS)
def test_sessions_in_json(form: str, tmp_path: Path) -> None:
    """Objects with the columns of a process list are sessions, also beside variables in the same text."""
    _check_sessions(facts_of(tmp_path, JSON_FORMS[form]()))
    variables = json.dumps([{"Variable_name": "version", "Value": "10.11.6-MariaDB"}])
    _check_sessions(facts_of(tmp_path, f"{variables}\n{JSON_FORMS[form]()}"))


def _check_sessions(facts: Facts) -> None:
    blocking = facts.server.blocking
    assert blocking is not None
    assert blocking.sessions == (
        ServerSession(12, "root@localhost", "Query", 120, LOCK),
        ServerSession(13, "app@10.0.0.5", "Query", 90, LOCK),
        ServerSession(11, "report@10.0.0.6", "Query", 250, "Sending data"),
    )
    assert facts.server.lock_waits == {LOCK: 2}
    assert not blocking.transactions_read
    assert CANARY not in repr(facts)


@pytest.mark.parametrize("form", FORMS)
def test_the_last_of_several_lists_counts(form: str, tmp_path: Path) -> None:
    """Of several process lists in one text the last is used, also among variables and counters."""
    again = FORMS[form]().replace("Sending data", LOCK)
    facts = facts_of(tmp_path, f"{FORMS[form]()}\nVariable_name\tValue\nUptime\t9\nThreads_connected\t6\n\n{again}")
    assert facts.server.lock_waits == {LOCK: 3}


def test_rows_that_are_no_sessions(tmp_path: Path) -> None:
    """Rows of other tables without headings are no sessions, nor are the lines of a quoted statement in CSV."""
    other = "7\tapp\th\tshop\tInnoDB\t9\tWaiting for x lock\ty\n8,app,h,shop,Query,soon,Waiting for x lock,y\n"
    table = f"{html_rows().replace('Query', 'InnoDB').replace('Daemon', 'InnoDB').replace('Sleep', '')}\n"
    facts = facts_of(tmp_path, f"{other}{table.replace('Binlog Dump', 'InnoDB')}Variable_name\tValue\nport\t1\n\n")
    assert facts.server.blocking is None
    row = '9,x,h,NULL,Query,99,Waiting for x lock,""y""'
    _check_sessions(facts_of(tmp_path, in_csv().replace("SELECT 1", f"SELECT 1\n{row}\n{row}\n")))


@pytest.mark.parametrize("form", JSON_FORMS)
def test_the_last_list_in_json_counts(form: str, tmp_path: Path) -> None:
    """A repeated connection id begins another list where each row is an object of its own."""
    again = JSON_FORMS[form]().replace("Sending data", LOCK)
    assert facts_of(tmp_path, f"{JSON_FORMS[form]()}\n{again}").server.lock_waits == {LOCK: 3}


@pytest.mark.parametrize("form", [*FORMS, *JSON_FORMS])
def test_the_same_findings_in_every_form(form: str, tmp_path: Path) -> None:
    """The rules report the same for every form of a list."""
    of_table = found(facts_of(tmp_path, boxed()))
    assert found(facts_of(tmp_path, {**FORMS, **JSON_FORMS}[form]())) == of_table
    assert "BLK004" in of_table


ENTITIES = "".join('<!ENTITY e{} "{}">\n'.format(n, f"&e{n - 1};" * 10) for n in range(1, 10))
HOSTILE = {
    "entities": f'<?xml version="1.0"?>\n<!DOCTYPE r [\n<!ENTITY e0 "x">\n{ENTITIES}]>\n{xml()}'.replace(
        ">shop<", ">&e9;<"
    ),
    "a table that does not end": xml().replace("</resultset>", "") + "<resultset " * 9,
    "rows in rows": xml().replace("<row>", "<row>" * 9),
    "endless headings": in_html().replace("</TH></TR>", "</TH>{}</TR>".format("<TH>x</TH>" * 10_000)),
}


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_markup(hostile: str, tmp_path: Path) -> None:
    """Entities that a text defines are not expanded, and unbalanced tags change no session."""
    _check_sessions(facts_of(tmp_path, HOSTILE[hostile]))


@pytest.mark.parametrize(
    "text", [in_json()[:-20], json.dumps({"rows": [{"Id": 1, "User": "a"}]}), "[" * 100_000 + '{"a']
)
def test_json_without_a_list(text: str, tmp_path: Path) -> None:
    """JSON that is cut off, nested too deeply or without these columns is refused in one line."""
    with pytest.raises(TextError, match=r"^[^\n]*is JSON that is cut off[^\n]*$"):
        facts_of(tmp_path, text)


def test_large_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text in JSON has a limit of its own, because it is held as a whole."""
    monkeypatch.setattr("advisor.collect.pasted.WHOLE_JSON", 1 << 10)
    assert text_module.WHOLE_JSON < text_module.WHOLE
    with pytest.raises(TextError, match=r"^[^\n]*is larger than 0 MB; give the part[^\n]*$"):
        facts_of(tmp_path, in_json())


def test_memory_of_endless_markup() -> None:
    """Endless rows, names and statements in markup need no more memory than a few."""
    row = "".join(map(_field, NAMES, ("7", "a", "h", "NULL", "Query", "99", "Waiting for {} lock", "x" * 10_000)))
    lines = ('<resultset statement="x">', *(f"<row>{row}</row>".replace("{}", f"{n}") for n in range(2_000)))
    reader = ProcessListReader()
    tracemalloc.start()
    try:
        for _ in reader.watch((*lines, *repeat("<TH>x</TH>", 10_000))):
            pass
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert reader.sessions is not None
    assert len(reader.sessions.states) <= 128
    assert peak < 8 << 20


def test_what_is_said_of_a_metadata_lock(tmp_path: Path) -> None:
    """The queue is reported with what a process list does not show, and with the statements that show the holder."""
    finding = found(facts_of(tmp_path, boxed()))["BLK004"]
    assert finding.message == (
        "2 sessions wait up to 2 min for a metadata lock on a table. The process list does not show the holder: it may "
        "be an idle session with an open transaction, or connection 11 (report@10.0.0.6), running for 4 min 10 s "
        "(state Sending data)."
    )
    assert (finding.confidence, finding.severity) == (Confidence.LIKELY, Severity.WARNING)
    shown = [action.statement or "" for action in finding.actions]
    assert any("INNODB_TRX ORDER BY trx_started" in statement for statement in shown)
    newer = found(facts_of(tmp_path, boxed(), "8.0.36"))["BLK004"]
    assert any("sys.schema_table_lock_waits" in (action.statement or "") for action in newer.actions)


def test_a_global_read_lock(tmp_path: Path) -> None:
    """A backup's lock is reported, and that its holder is not shown."""
    message = found(facts_of(tmp_path, boxed().replace(LOCK, "Waiting for global read lock")))["BLK005"].message
    assert "2 sessions wait up to 2 min in state Waiting for global read lock." in message
    assert "The process list does not show the session that holds it." in message


def test_rules_about_transactions_are_skipped(tmp_path: Path) -> None:
    """Rules that need transactions say so instead of passing."""
    result = run_rules(build_context(facts_of(tmp_path, tabbed())), all_rules())
    skipped = {skip.code: skip.reason for skip in result.skipped}
    for code in ("BLK001", "BLK002", "BLK008", "BLK010"):
        assert "open transactions, which a process list does not show" in skipped[code]


def test_replicas_are_counted(tmp_path: Path) -> None:
    """Sessions that send the binary log count as connected replicas, where the text shows the replication state."""
    empty = "mysql> SHOW REPLICA STATUS\\G\nEmpty set (0.00 sec)\n\n"
    replication = facts_of(tmp_path, f"{empty}{vertical()}", "8.0.36").server.replication
    assert replication is not None
    assert replication.replicas_connected == 1


def test_pt_stalk(tmp_path: Path) -> None:
    """The process list that pt-stalk saved is read from its directory, the last of its rounds."""
    rounds = (
        f"TS 1700000000.1 2023-11-14 22:13:20\n{vertical().replace(LOCK, 'User lock')}TS 1700000001.1 x\n{vertical()}"
    )
    (tmp_path / "2023_11_14_22_13_20-processlist").write_text(rounds)
    (tmp_path / "2023_11_14_22_13_20-variables").write_text(VARIABLES.format("8.0.36"))
    assert facts_of_texts([str(tmp_path)]).server.lock_waits == {LOCK: 2}


@pytest.mark.servers("mysql-5.7", "mysql-9.7", "mariadb-10.11")
def test_as_the_client_prints_it(live: Live, tmp_path: Path) -> None:
    """A real queue behind LOCK TABLES is found in what the client prints, in each form."""
    live.run("CREATE DATABASE IF NOT EXISTS a", "CREATE TABLE IF NOT EXISTS a.t (i INT)")
    holder, waiter = live.sandbox.connect(autocommit=True), live.sandbox.connect(autocommit=True)
    thread = threading.Thread(target=_wait, args=(waiter,), daemon=True)
    try:
        with holder.cursor() as cursor:
            cursor.execute("LOCK TABLES a.t WRITE")
            thread.start()
            state = f"SELECT STATE FROM information_schema.PROCESSLIST WHERE ID = {number_of(waiter)}"  # noqa: S608
            while live.run(state) != ((LOCK,),):
                pass
            variables = output(tmp_path, "variables", CLIENT, *at(live), "-B", "-e", "SHOW GLOBAL VARIABLES")
            for form, (how, statement) in CLIENT_FORMS.items():
                text = output(tmp_path, form, CLIENT, *at(live), how, "-e", statement)
                server = facts_of_texts([variables, text]).server
                assert server.blocking is not None
                assert [one.id for one in server.blocking.sessions if one.waiting is not None] == [number_of(waiter)]
                assert server.lock_waits == {LOCK: 1}
            cursor.execute("UNLOCK TABLES")
    finally:
        holder.close()
        thread.join()
        waiter.close()


def _wait(connection: pymysql.Connection[Any]) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE a.t ADD j INT")
        cursor.execute("DROP TABLE a.t")
