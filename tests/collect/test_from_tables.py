"""Texts of variables and counters are read as they were, in every form that clients give them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.collect.pasted import facts_of_texts
from advisor.collect.pasted import tables as reader
from advisor.collect.pasted.percona_toolkit import parse_rounded_size, sections
from advisor.collect.pasted.text import read_plain
from advisor.core.errors import USAGE, MycnfError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

ROWS = {
    "basedir": "/usr/",
    "ft_boolean_syntax": '+ -><()~*:""&|',
    "init_connect": "",
    "version": "8.0.36-28",
    "version_comment": "Percona Server (GPL), Release 28",
}
SAID = {"Aborted_clients": "0", "Questions": "17", "Uptime": "1000"}


def tables(text: str) -> Iterator[dict[str, str]]:
    """The tables in a text."""
    return (one.rows for one in reader.tables(text.split("\n")))


def boxed(rows: Mapping[str, str]) -> str:
    """The form of an interactive client and of mysqladmin."""
    wide = [max(map(len, ("Variable_name", *rows))), max(map(len, ("Value", *rows.values())))]
    line = f"+-{'-' * wide[0]}-+-{'-' * wide[1]}-+\n"
    body = [f"| {name:<{wide[0]}} | {value:<{wide[1]}} |\n" for name, value in rows.items()]
    return f"{line}| {'Variable_name':<{wide[0]}} | {'Value':<{wide[1]}} |\n{line}{''.join(body)}{line}"


def tabbed(rows: Mapping[str, str], *, heading: bool = True) -> str:
    """The form of batch mode, which escapes what would break its lines."""
    marks = str.maketrans({"\\": "\\\\", "\n": "\\n", "\t": "\\t"})
    head = "Variable_name\tValue\n" if heading else ""
    return head + "".join(f"{name}\t{value.translate(marks)}\n" for name, value in rows.items())


def vertical(rows: Mapping[str, str]) -> str:
    """The form of \\G."""
    stars = "*" * 27
    each = (
        f"{stars} {i}. row {stars}\nVariable_name: {n}\n        Value: {v}\n"
        for i, (n, v) in enumerate(rows.items(), 1)
    )
    return "".join(each)


FORMS = {"boxed": boxed, "tabbed": tabbed, "vertical": vertical}
NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,20}", fullmatch=True)
# What a box pads is indistinguishable from a value that ends in blanks; a bar at a line's end would end its row.
VALUES = st.text(st.characters(codec="utf-8", exclude_characters="\r\0\t\n|"), max_size=30).filter(
    lambda v: v == v.strip()
)


@pytest.mark.parametrize("form", FORMS)
@given(st.dictionaries(NAMES, VALUES, min_size=3, max_size=8))
def test_what_was_printed_is_read(form: str, rows: dict[str, str]) -> None:
    """Names and values come back as they were, between other words of a session."""
    text = f"mysql> SHOW GLOBAL VARIABLES;\n{FORMS[form](rows)}\n{len(rows)} rows in set (0.01 sec)\n\nmysql> \n"
    assert list(tables(text)) == [rows]


@pytest.mark.parametrize("form", FORMS)
def test_values_of_many_lines(form: str) -> None:
    """A public key ends in an empty line, which ends neither its row nor the table; what a user says may hold one."""
    rows = {"bind_address": "*", "rsa_public_key": "-----BEGIN\nQUJD\n-----END\n", "said": "a\n\nb", "socket": "/s"}
    assert list(tables(FORMS[form](rows) + "\n" + FORMS[form](SAID))) == [rows, SAID]


@pytest.mark.parametrize("form", FORMS)
def test_values_that_look_like_the_form(form: str) -> None:
    """Bars, blanks within and empty values are part of a value, in every form."""
    assert list(tables(FORMS[form](ROWS))) == [ROWS]


@pytest.mark.parametrize("form", FORMS)
def test_a_value_of_many_lines(form: str) -> None:
    """A value may have line breaks, and the row after it is read."""
    rows = ROWS | {"init_connect": "SET @a = 1;\nSET @b = 2", "socket": "/run/sock"}
    assert list(tables(FORMS[form](rows))) == [rows]


def test_a_row_that_was_cut_off() -> None:
    """A row without its end is left out, and the table below it is a table of its own."""
    for cut in (-70, -100, -130):
        first, second = tables(boxed(ROWS)[:cut].rstrip() + "\n" + boxed(SAID))
        assert set(first) < set(ROWS)
        assert second == SAID


def test_batch_mode_without_headings() -> None:
    """`mysql -BN` prints no headings; fewer than three rows are no table."""
    assert list(tables(tabbed(ROWS, heading=False))) == [ROWS]
    assert list(tables("a\tb\nc\td\n")) == []


def test_batch_mode_of_several_answers() -> None:
    """A repeated name begins another answer, and the case of a name shows of which kind it is."""
    both = tabbed(ROWS, heading=False) + tabbed(SAID, heading=False)
    assert list(tables(both * 2)) == [ROWS, SAID] * 2
    assert list(tables(tabbed(SAID, heading=False) + tabbed(ROWS, heading=False))) == [SAID, ROWS]


def test_counters_in_small_letters() -> None:
    """Counters of Galera have no capital; they stay with the counters around them, before and behind the variables."""
    counters = {**SAID, "wsrep_cluster_size": "3", "wsrep_cluster_status": "Primary", "wsrep_ready": "ON"}
    variables = {**ROWS, "wsrep_cluster_name": "c", "wsrep_on": "ON"}
    rows = [tabbed(one, heading=False) for one in (variables, counters)]
    assert list(tables("".join(rows))) == [variables, counters]
    assert list(tables("".join(reversed(rows)))) == [counters, variables]
    galera = {name: value for name, value in counters.items() if name.startswith("wsrep")}
    assert list(tables(rows[0] + tabbed(galera, heading=False))) == [variables, galera]
    assert [one.counters for form in FORMS.values() for one in reader.tables(form(galera).split("\n"))] == [True] * 3
    assert list(tables(tabbed({"version": "8.0.36"}, heading=False) + rows[1])) == [{"version": "8.0.36"}, counters]
    assert list(tables(rows[1] + tabbed({"version": "8.0.36"}, heading=False))) == [counters, {"version": "8.0.36"}]


def test_raw_batch_mode() -> None:
    """With --raw values of many lines stand as they are: keys, and statements for new connections."""
    key = "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----\n"
    rows = {"init_connect": "SET @a = 1;\n\nSET @b = 2", "port": "1", "version": "9.7.4", "wait_timeout": "7"}
    counters = {"Questions": "1", "Rsa_public_key": key, "Uptime": "1"}
    text = "".join(f"{name}\t{value}\n" for name, value in (rows | counters).items())
    assert list(tables(f"Variable_name\tValue\n{text}")) == [rows, counters]


def test_names_with_blanks() -> None:
    """MySQL 9.7 has counters with blanks in their names, which end no table."""
    rows = {"Opened_tables": "1", "Option_tracker_usage:Binary Log": "0", "Questions": "7", "Uptime": "9"}
    assert [list(tables(form(rows))) for form in FORMS.values()] == [[rows]] * len(FORMS)


def test_batch_mode_ends_at_another_table() -> None:
    """pt-stalk writes tables of threads below the variables; they are no part of them."""
    other = "\n\nTHREAD_ID\tVARIABLE_NAME\tVARIABLE_VALUE\n87\tbasedir\t/no\n"
    assert list(tables(tabbed(ROWS) + other)) == [ROWS]


def test_one_text_of_both() -> None:
    """Variables and counters are told apart by their names, in one text; information_schema's capitals too."""
    text = boxed(ROWS) + vertical(SAID) + tabbed({n.upper(): v for n, v in SAID.items()})
    plain_read = read_plain("t", text.split("\n"), 0.0)
    assert plain_read.variables == (ROWS,)
    assert plain_read.samples == ({n.lower(): v for n, v in SAID.items()},) * 2


def write(folder: Path, name: str, data: str | bytes) -> str:
    """A text in a file."""
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return str(path)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_what_shells_write(tmp_path: Path, encoding: str) -> None:
    """Line ends and encodings of Windows make no difference."""
    path = write(tmp_path, "v", tabbed(ROWS).replace("\n", "\r\n").encode(encoding))
    assert facts_of_texts([path]).server.variables == ROWS


def test_samples_make_a_window(tmp_path: Path) -> None:
    """Two tables of counters are the ends of a window; differences and a restart are not, and it says so."""
    later = SAID | {"Questions": "117", "Uptime": "1010"}
    paths = [write(tmp_path, "v", tabbed(ROWS)), write(tmp_path, "s", boxed(SAID) + boxed(later))]
    workload = facts_of_texts(paths).workload
    assert workload.seconds == 10.0
    assert workload.rate("questions") == 10.0
    relative = write(tmp_path, "r", boxed(SAID) + boxed({**SAID, "Uptime": "10"}))
    facts = facts_of_texts([paths[0], relative])
    assert facts.workload is None
    assert "mysqladmin -r" in facts.reason_missing("workload")
    once = facts_of_texts([paths[0], write(tmp_path, "o", boxed(SAID))])
    assert "two samples" in once.reason_missing("workload")


def test_a_report_beside_whole_texts(tmp_path: Path) -> None:
    """What pt-mysql-summary prints neither hides the counters of a whole text nor makes a window with them."""
    report = (
        "# Percona Toolkit MySQL Summary Report ####\n# Report On Port 3306 ####\n"
        "   Version | 8.0.36-28 Percona\n   Started | 2026-11-21 20:42 (up 0+00:00:33)\n"
    )
    paths = [write(tmp_path, "v", tabbed(ROWS)), write(tmp_path, "s", boxed(SAID)), write(tmp_path, "r", report)]
    facts = facts_of_texts(paths)
    assert (facts.server.counter("questions"), facts.workload) == (17, None)
    assert facts.server.variables == ROWS | {"port": "3306"}
    assert facts_of_texts(paths[2:]).server.uptime == 33


SYSTEM = (
    "# Percona Toolkit System Summary Report ######\n    Kernel | 6.1\n"
    "# Processor ##################################################\n"
    "  Processors | physical = 1, cores = 4, virtual = 8, hyperthreading = yes\n"
    "# Memory #####################################################\n         Total | 31.5G\n"
    "# The End ####\n"
)
SERVER = (
    "# Percona Toolkit MySQL Summary Report ####\n# Instances ####\n"
    "# Report On Port 3306 ####\n   Version | 8.0.36-28 Percona\n# The End ####\n"
)


def test_both_reports_in_one_text(tmp_path: Path) -> None:
    """The reports on the machine and on the server are read where one follows the other, in any order."""
    assert "log_bin" not in facts_of_texts([write(tmp_path, "r", SERVER)]).server.variables
    logged = SERVER + "# Binary Logging ####\n   Binlogs | 2\n"
    assert facts_of_texts([write(tmp_path, "r", logged)]).server.variables["log_bin"] == "ON"
    for text in (SYSTEM + SERVER, SERVER + SYSTEM):
        facts = facts_of_texts([write(tmp_path, "r", text)])
        assert (facts.server.version, facts.host.cpu.logical) == ("8.0.36", 8)
        assert facts.host.memory.total == round(31.5 * (1 << 30))


def test_reports_without_their_beginning(tmp_path: Path) -> None:
    """A report that was copied from its second part on is read all the same; a banner in an option file is none."""
    paths = [write(tmp_path, str(i), "# " + text.partition("\n# ")[2]) for i, text in enumerate((SYSTEM, SERVER))]
    facts = facts_of_texts(paths)
    assert (facts.server.version, facts.host.cpu.logical, facts.host.os.kernel) == ("8.0.36", 8, None)
    with pytest.raises(MycnfError, match="is an option file"):
        facts_of_texts([write(tmp_path, "o", "[mysqld]\n# Memory ##################\nkey_buffer_size = 1M\n")])


def test_what_text_leaves_out_is_said(tmp_path: Path) -> None:
    """Every part that no text contains has its reason, and secrets are masked."""
    facts = facts_of_texts([write(tmp_path, "v", tabbed(ROWS | {"report_password": "kanarienvogel"}))])
    assert [facts.host, facts.files, facts.server.replication, facts.server.accounts] == [None] * 4
    parts = ("host", "files", "server.plugins", "server.accounts", "server.replication", "server.data")
    assert all("it came from text" in facts.reason_missing(part) for part in parts)
    assert "kanarienvogel" not in json.dumps(facts.server.variables)


def test_what_differs_from_the_default_was_set(tmp_path: Path) -> None:
    """Without the server's word a value is explicit where the version starts with another."""
    facts = facts_of_texts(
        [write(tmp_path, "v", tabbed(ROWS | {"sort_buffer_size": "1", "join_buffer_size": "262144"}))]
    )
    sources = {name: origin.source for name, origin in facts.server.origins.items()}
    assert (sources["sort_buffer_size"], sources["join_buffer_size"]) == ("DIFFERS", "COMPILED")


def _of_two(folder: Path) -> list[str]:
    texts = (tabbed(ROWS | {"hostname": host, "a": "1"}) for host in ("db1", "db2"))
    return [write(folder, str(i), text) for i, text in enumerate(texts)]


def _of_two_versions(folder: Path) -> list[str]:
    return [write(folder, v, tabbed(ROWS | {"version": v})) for v in ("5.7.44", "8.0.36")]


BAD: dict[str, tuple[Callable[[Path], list[str]], str]] = {
    "missing": (lambda folder: [str(folder / "no")], "does not exist"),
    "nothing in it": (lambda folder: [write(folder, "t", "hello\n")], "no facts about a server"),
    "empty": (lambda folder: [write(folder, "t", "")], "is empty; omit it"),
    "an option file": (lambda folder: [write(folder, "t", "[mysqld]\nport = 1\n")], "is an option file; mycnf lint"),
    "binary": (lambda folder: [write(folder, "t", bytes(range(256)))], "is not text"),
    "packed": (lambda folder: [write(folder, "t", b"\x1f\x8b123")], "packed .gzip. and damaged"),
    "half UTF-16": (lambda folder: [write(folder, "t", b"\xff\xfea")], "is not text"),
    "no version": (lambda folder: [write(folder, "t", boxed(SAID))], "no text contains the server's version"),
    "odd version": (lambda folder: [write(folder, "t", tabbed(ROWS | {"version": "x"}))], "known are mysql-5.7"),
    "two servers": (_of_two, "a different server than the other texts .hostname 'db2', not 'db1'."),
    "two versions": (_of_two_versions, "a different server than the other texts .version '8.0.36', not '5.7.44'."),
    "empty directory": (lambda folder: [str(folder)], "holds no samples of pt-stalk"),
    "a device": (lambda _: ["/dev/null"], "is not a regular file"),
}


@pytest.mark.parametrize("bad", BAD)
def test_anything_else_is_one_line(tmp_path: Path, bad: str) -> None:
    """What is no such text, or of two servers, is one line with what to give instead, exit code 2."""
    make, says = BAD[bad]
    with pytest.raises(MycnfError, match=rf"^[^\n]*{says}[^\n]*$") as caught:
        facts_of_texts(make(tmp_path))
    assert caught.value.code == USAGE


@given(st.text(st.sampled_from('|+-* \t\nVariable_name:Value1. row"abU'), max_size=400))
def test_any_text_ends(text: str) -> None:
    """Reading any text ends, and what is read are names and values."""
    assert all(name and "\n" not in name for table in tables(text) for name in table)


def test_reports_of_percona() -> None:
    """Headings part a report, and shortened sizes are bytes."""
    parts = sections("# InnoDB ####################\n   Buffer Pool Size | 1.5G\n# MyISAM ####\n  Key Cache | 8.0M\n")
    assert parts["InnoDB"].named == {"Buffer Pool Size": "1.5G"}
    assert [parse_rounded_size(text) for text in ("1.5G", "256k", "0.00", "12", "-", "")] == [
        3 << 29,
        1 << 18,
        0,
        12,
        None,
        None,
    ]


LONG = {
    "rows without an end": ("| Variable_name | Value |\n" + "| a | b\n" * 200_000, 0),
    "headings": ("| Variable_name | Value |\n| a | b\n" * 100_000, 0),
    "rows of two lines": ("| Variable_name | Value |\n" + "| a | b\nc |\n" * 100_000, 1),
}


@pytest.mark.parametrize("text", LONG)
def test_long_texts_end_too(text: str) -> None:
    """What looks like rows for megabytes is read in one pass: otherwise the test would not end."""
    given, count = LONG[text]
    assert len(list(tables(given))) == count
