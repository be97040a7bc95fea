"""Texts that went through other programs: exports, mails, tickets, terminals; and those that describe no server."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.collect.pasted import facts_of_texts
from advisor.collect.pasted.facts import TextError
from advisor.collect.pasted.tables import tables

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

VARIABLES = {
    "basedir": "/usr/",
    "ft_boolean_syntax": '+ -><()~*:""&|',
    "init_connect": "",
    "sql_mode": "STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION",
    "version": "8.0.36",
    "version_comment": 'a; "b", c',
}
COUNTERS = {"Aborted_clients": "0", "Connections": "3", "Questions": "17", "Uptime": "1000"}
HEAD = ("Variable_name", "Value")


def separated(rows: Mapping[str, str], bar: str = ",", quoting: int = csv.QUOTE_MINIMAL) -> str:
    """What programs with windows write into files of commas or semicolons."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=bar, quoting=quoting, lineterminator="\r\n")
    writer.writerows([HEAD, *rows.items()])
    return out.getvalue()


def objects(rows: Mapping[str, str]) -> list[dict[str, str]]:
    """Rows as objects."""
    return [dict(zip(HEAD, row, strict=True)) for row in rows.items()]


def boxed(rows: Mapping[str, str], edge: str = "|") -> str:
    """A table in Markdown, whose columns programs pad or not."""
    lines = [f"{edge} {name} | {value} |\n" for name, value in rows.items()]
    return f"| Variable_name | Value |\n|---|:--|\n{''.join(lines)}\n"


def batch(rows: Mapping[str, str]) -> str:
    """What mysql -B prints."""
    return "".join(f"{name}\t{value}\n" for name, value in [HEAD, *rows.items()])


def copied(value: str) -> str:
    """A value as Workbench quotes it."""
    return value.replace("\\", "\\\\").replace("'", "\\'")


BOTH = {**VARIABLES, **COUNTERS}
EXPORTS = {
    "commas": separated(VARIABLES) + separated(COUNTERS),
    "commas, with a mark": "\ufeff" + separated(VARIABLES) + separated(COUNTERS),
    "semicolons": separated(VARIABLES, ";") + separated(COUNTERS, ";"),
    "semicolons and quotes": separated(VARIABLES, ";", csv.QUOTE_ALL) + separated(COUNTERS, ";", csv.QUOTE_ALL),
    "the second without a heading": separated(BOTH),
    "quotes without headings": separated(BOTH, ";", csv.QUOTE_ALL).partition("\n")[2],
    "Markdown": boxed(VARIABLES) + boxed(COUNTERS),
    "Markdown, compact": (boxed(VARIABLES) + boxed(COUNTERS)).replace("| ", "|"),
    "columns of DBeaver": "".join(
        f"{HEAD[0]:30}|{HEAD[1]:60}|\n{'-' * 30}+{'-' * 60}+\n" + "".join(f"{n:30}|{v:60}|\n" for n, v in rows.items())
        for rows in (VARIABLES, COUNTERS)
    ),
    "JSON": json.dumps([objects(VARIABLES), objects(COUNTERS)]),
    "JSON, an object a row": "".join(json.dumps(row, indent=4) + "\n" for row in objects(BOTH)),
    "JSON of MySQL Shell": json.dumps({"hasData": True, "rows": objects(BOTH), "warningCount": 0}),
    "a mail": "".join(f"> {line}\n" for line in (batch(VARIABLES) + "\n" + batch(COUNTERS)).split("\n")),
    "a mail within a mail": "".join(f">> {line}\n" for line in (batch(VARIABLES) + batch(COUNTERS)).split("\n")),
    "an indented part": "".join(f"    {line}\n" for line in (batch(VARIABLES) + batch(COUNTERS)).split("\n")),
    "blanks for tabs": (batch(VARIABLES) + "\n" + batch(COUNTERS)).replace("\t", "    "),
    "blanks at the ends": batch(VARIABLES).replace("\n", "  \n") + batch(COUNTERS).replace("\n", "  \n"),
    "tabs at the ends": (batch(VARIABLES) + batch(COUNTERS)).replace("\n", "\t\t\n"),
    "a copy of Workbench": "".join(
        "# Variable_name, Value\n" + "".join(f"'{n}', '{copied(v)}'\n" for n, v in rows.items()) + "\n"
        for rows in (VARIABLES, COUNTERS)
    ),
    "a copy of Workbench without quotes": "".join(
        "# Variable_name, Value\n" + "".join(f"{n}, {v}\n" for n, v in rows.items()) + "\n"
        for rows in (VARIABLES, COUNTERS)
    ),
    "a terminal's colours": batch(VARIABLES).replace("\n", "\x1b[0m\n") + "\x1b(B\x1b[m" + batch(COUNTERS),
}


@pytest.mark.parametrize("export", EXPORTS)
def test_exports(export: str, tmp_path: Path) -> None:
    """What other programs made of both tables is read as they are."""
    path = tmp_path / "t"
    path.write_text(EXPORTS[export], newline="")
    server = facts_of_texts([str(path)]).server
    assert server.variables == VARIABLES
    assert server.status == {name.lower(): value for name, value in COUNTERS.items()}


def test_names_as_keys(tmp_path: Path) -> None:
    """An object whose names are variables is read too, numbers and booleans as the server prints them."""
    path = tmp_path / "t"
    settings = {"version": "8.0.36", "datadir": "/d/", "max_connections": 151, "autocommit": True, "init_file": None}
    path.write_text(json.dumps({"changed": False, "settings": settings}))
    found = facts_of_texts([str(path)]).server.variables
    assert (found["max_connections"], found["autocommit"], found["init_file"]) == ("151", "ON", "")


ANSIBLE = json.dumps(
    {
        "changed": False,
        "settings": {**VARIABLES, "datadir": "/d/", "max_connections": 151},
        "global_status": {**COUNTERS, "Threads_connected": 1},
    },
    indent=4,
)


@pytest.mark.parametrize(
    "text",
    [
        f"db1 | SUCCESS => {ANSIBLE}\n",
        f"PLAY [db] ***\n\nTASK [debug] ***\nok: [db1] => {ANSIBLE}\n\nPLAY RECAP ***\ndb1 : ok=2  changed=0\n",
        f"db1 | FAILED! => {{ cut\ndb1 | CHANGED => {ANSIBLE}\n",
    ],
)
def test_ansible(text: str, tmp_path: Path) -> None:
    """What Ansible prints of mysql_info is read behind the name of its host."""
    path = tmp_path / "t"
    path.write_text(text)
    server = facts_of_texts([str(path)]).server
    assert server.variables == {**VARIABLES, "datadir": "/d/", "max_connections": "151"}
    assert server.status == {**{name.lower(): value for name, value in COUNTERS.items()}, "threads_connected": "1"}


def test_tables_beside_objects(tmp_path: Path) -> None:
    """A line of some program that looks like Ansible's keeps no table from being read."""
    path = tmp_path / "t"
    path.write_text('x => {"a": 1}\n' + batch(VARIABLES))
    assert facts_of_texts([str(path)]).server.variables == VARIABLES


def test_blanks_without_a_heading(tmp_path: Path) -> None:
    """Where a terminal's copy has blanks for tabs and no heading, names that servers have show what it is."""
    path = tmp_path / "t"
    more = {"back_log": "80", "big_tables": "OFF", "bind_address": "*", "datadir": "/d/", "port": "3306"}
    counters = {**COUNTERS, "Bytes_sent": "1", "Com_select": "2", "Open_tables": "3", "Slow_queries": "4"}
    rows = [*(VARIABLES | more).items(), *counters.items()]
    path.write_text("Here they are:\n" + "".join(f"{name:30} {value}\n" for name, value in rows))
    server = facts_of_texts([str(path)]).server
    assert server.variables == VARIABLES | more
    assert server.status == {name.lower(): value for name, value in counters.items()}
    path.write_text("".join(f"{name}\n" for name, _ in rows))
    with pytest.raises(TextError, match="no facts about"):
        facts_of_texts([str(path)])


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_two_bytes_a_letter_without_a_mark(encoding: str, tmp_path: Path) -> None:
    """What PowerShell adds to a file is UTF-16 without a mark at its beginning."""
    path = tmp_path / "t"
    path.write_bytes(batch(VARIABLES).encode(encoding))
    assert facts_of_texts([str(path)]).server.variables == VARIABLES


CLOUDS = {
    "Amazon RDS": {"Parameters": [{"ParameterName": "max_connections", "ApplyType": "dynamic", "DataType": "integer"}]},
    "Azure": [{"name": "max_connections", "value": "1", "defaultValue": "1", "allowedValues": "1-9"}],
    "Cloud SQL": {"settings": {"databaseFlags": [{"name": "max_connections", "value": "100"}]}},
}


@pytest.mark.parametrize("cloud", CLOUDS)
def test_settings_of_clouds(cloud: str, tmp_path: Path) -> None:
    """What a cloud lists isn't what runs: that is one line, with what to give instead."""
    path = tmp_path / "t"
    path.write_text(json.dumps(CLOUDS[cloud], indent=2))
    with pytest.raises(TextError, match=rf"^[^\n]*{cloud}[^\n]*SHOW GLOBAL VARIABLES$"):
        facts_of_texts([str(path)])


def test_a_cloud_s_list_says_who_set_what(tmp_path: Path) -> None:
    """Beside the variables, the list of a provider decides which of them users set."""
    variables, listed = tmp_path / "v", tmp_path / "l.json"
    values = VARIABLES | {"sort_buffer_size": "268435456", "max_connections": "151"}
    variables.write_text(batch(values))
    rows = [
        {"ParameterName": "sort_buffer_size", "ParameterValue": "268435456", "Source": "system", "DataType": "integer"},
        {"ParameterName": "max-connections", "ParameterValue": "151", "Source": "user", "DataType": "integer"},
    ]
    listed.write_text(json.dumps({"Parameters": rows}))
    facts = facts_of_texts([str(variables), str(listed)])
    origins = {name: facts.server.origins[name].source for name in ("sort_buffer_size", "max_connections")}
    assert origins == {"sort_buffer_size": "COMPILED", "max_connections": "DIFFERS"}
    assert "server.origins" not in {gap.part for gap in facts.unavailable}
    assert facts.server.variables == values


def test_formulas_of_a_cloud(tmp_path: Path) -> None:
    """Two columns of a parameter group never replace variables, though another text has the version."""
    formulas, variables = tmp_path / "f", tmp_path / "v"
    formulas.write_text("innodb_buffer_pool_size\t{DBInstanceClassMemory*3/4}\nmax_connections\t9\nport\t3306\n")
    variables.write_text(batch(VARIABLES))
    with pytest.raises(TextError, match="a parameter group of Amazon RDS"):
        facts_of_texts([str(variables), str(formulas)])


REFUSED = {
    "cut off within": (json.dumps([{"Variable_name": "version", "Value": "8.0.36"}])[:-9], "cut off"),
    "other JSON": (json.dumps({"a": [1, 2]}), "no rows with Variable_name and Value"),
    "a terminal's lines": ("+------\n----+\n| Variable_name   | Va\nlue |\n", "lines were wrapped by a terminal"),
    "an option file": ("# comment\n[mysqld]\nport = 1\n", "is an option file; mycnf lint"),
    "a server's help": ("Variables (--variable-name=value)\nport   0\n", "the help of a server's program; give"),
    "a table of Amazon's": ("||  ParameterName  |  port ||\n", "a parameter group of Amazon RDS"),
    "a document of Google's": ("settings:\n  databaseFlags:\n  - name: a\n", "Cloud SQL instance"),
    "a snapshot": (json.dumps({"schema": "1.2", "tool": "x", "server": {}}), "mycnf audit --snapshot FILE reads it"),
    "a workbook": ("PK\x03\x04\x14\x00\x06\x00[Content_Types].xml", "save it as CSV"),
    "another program's list": ("innodb_io_capacity = 200\nport = 1\nversion = 8.0.36\n", "with = or : between them"),
    "Ansible's YAML": ("  settings:\n    port: 1\n    datadir: /d\n    version: 8.0.36\n", "or JSON"),
    "an exporter": ("# HELP x\nmysql_global_variables_port 3306\n", "mysqld_exporter"),
    "bytes of zero": ("\0\0\0\0", "is not text"),
    "no version": ("Variable_name\tValue\nbasedir\t/usr\nport\t1\n", r"the server's version \(2 variables, cut off"),
    "a table of something": ("orders\t17\nlines\t18\nshops\t3\n", "no facts about a server"),
    "a count of something": ("Orders\t17\nLines\t18\nShops\t3\n", "no facts about a server"),
}


@pytest.mark.parametrize("refused", REFUSED)
def test_what_is_not_read(refused: str, tmp_path: Path) -> None:
    """What can't be read without a guess is one line that says why."""
    text, says = REFUSED[refused]
    path = tmp_path / "t"
    path.write_text(text)
    with pytest.raises(TextError, match=rf"^[^\n]*{says}[^\n]*$"):
        facts_of_texts([str(path)])


@given(st.text(st.sampled_from('"\\,;|<>{}[]: \t\nVariable_name,Value<TABLE BORDER=1></TR>'), max_size=400))
def test_any_text_ends(text: str) -> None:
    """Reading any text ends."""
    assert all(one.rows for one in tables(text.split("\n")))


LONG = {
    "quotes without an end": "Variable_name,Value\n" + 'a,"b\n' * 100_000,
    "HTML without an end": "<TABLE BORDER=1>" + "<TR><TD>a</TD><TD>b</TD>\n" * 100_000,
    "XML without an end": '<resultset statement="a">\n' + '<field name="Variable_name">a</field>\n' * 100_000,
    "keys without an end": "Variable_name\tValue\n" + "a\t-----BEGIN KEY-----\n" * 100_000,
    "marks of mails": "> " * 50_000 + "\n" + ">\n" * 100_000,
    "capitals": "Variable_name\tValue\n" + "".join(f"A{i}\t1\n" for i in range(100_000)),
}


@pytest.mark.parametrize("text", LONG)
def test_long_texts_end_too(text: str) -> None:
    """What begins like a table and continues without end is read in one pass: otherwise the test would not end."""
    assert len(list(tables(LONG[text].split("\n")))) <= 1


def test_other_answers_in_a_mail(tmp_path: Path) -> None:
    """The status of a replica and of InnoDB is read out of a quoted mail too."""
    row = "*************************** 1. row ***************************\n"
    replica = f"{row}Slave_IO_State: waiting\nMaster_Host: db2\nSlave_IO_Running: Yes\nSlave_SQL_Running: No\n\n"
    status = "INNODB MONITOR OUTPUT\n---\nLOG\n---\nLog sequence number 7\n---\nEND OF INNODB MONITOR OUTPUT\n"
    text = f"{batch(VARIABLES)}\n{replica}{row}  Type: InnoDB\nStatus: {status}\n"
    path = tmp_path / "t"
    path.write_text("".join(f"> {line}\n" for line in text.split("\n")))
    server = facts_of_texts([str(path)]).server
    assert [one["Master_Host"] for one in server.replication.replica_rows] == ["db2"]
    assert "Log sequence number 7" in server.innodb_status
