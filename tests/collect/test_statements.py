"""The list is closed: what stands on it can be sent, word for word, and nothing else can."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from advisor.catalog.targets import newest_target
from advisor.collect.connection import schema_statements, statements
from advisor.collect.connection.schema_statements import SCHEMA_STATEMENTS, TABLES_MARIADB
from advisor.collect.connection.statement import NAME, NUMBER, TAG, Statement
from advisor.collect.connection.statements import (
    KILL_OWN,
    LIMITS_MYSQL,
    STATEMENTS,
    is_listed,
)
from advisor.collect.connection.wire import AnswerLimits, StatementNotListed, Wire
from advisor.collect.privileges import grants_for, schema_grants_for
from advisor.commands.audit import statement_listing

FORBIDDEN = (
    "log_status",
    "data_locks",
    "innodb_buffer_page",
    "memory_summary_by_thread",
    "flush ",
)
"""What must never be sent, even when asked."""
HARMLESS = (
    *("SHOW ", "SELECT ", "SET SESSION ", "SET NAMES ", "SET AUTOCOMMIT ", "KILL QUERY "),
    "SET STATEMENT max_statement_time = {number}e-3 FOR SELECT ",
)
OPENS_TABLES = "information_schema.tables"
"""What is sent only with --schema."""


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda s: s.name)
def test_each_statement_is_listed_as_it_is_sent(statement: Statement) -> None:
    """Every statement passes its own guard, ours with the tag, the driver's without."""
    text = statement.text(12 if NUMBER in statement.sql else None, "shop" if NAME in statement.sql else None)
    assert is_listed(text)
    assert text.startswith(TAG) is not statement.driver


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1", "SHOW GLOBAL VARIABLES", TAG + "SHOW GLOBAL VARIABLES ",
        TAG + "SHOW GLOBAL VARIABLES; DROP TABLE t",
        TAG + "KILL QUERY 1; SHUTDOWN", TAG + "KILL QUERY", TAG + "KILL QUERY \u0661",
        TAG + "KILL 1", TAG + "show global variables",
        TAG + "SET SESSION TRANSACTION READ ONLY\n", "",
    ],
)  # fmt: skip
def test_anything_else_is_refused(text: str) -> None:
    """A statement that differs in a single character isn't on the list."""
    assert not is_listed(text)


def test_nothing_costly_or_writing_is_on_the_list() -> None:
    """What must never be sent isn't there, and the list only shows, selects, limits itself or kills its own."""
    for statement in STATEMENTS:
        assert not any(re.search(rf"\b{word}", statement.sql.lower()) for word in FORBIDDEN)
        assert OPENS_TABLES not in statement.sql.lower() or statement in SCHEMA_STATEMENTS
        assert statement.sql.startswith(HARMLESS)


def test_nothing_is_on_the_list_that_is_never_sent() -> None:
    """Each statement but the driver's own is one that a collector sends: an unused one is an open door."""
    both = {**vars(statements), **vars(schema_statements)}
    names = {name for name, one in both.items() if isinstance(one, Statement) and not one.driver}
    folder = Path(statements.__file__).parents[1]
    senders = "".join(f.read_text("utf-8") for f in folder.rglob("*.py") if not f.name.endswith("statements.py"))
    assert len(names) == len([one for one in STATEMENTS if not one.driver])
    assert {name for name in names if not re.search(rf"\b{name}\b", senders)} == set()


def test_each_privilege_has_its_grant() -> None:
    """What a statement needs is what `mycnf grants` gives, so that a report can print the GRANT for what lacks."""
    needed = {part for one in STATEMENTS if one.needs for part in one.needs.split(" and ")}
    needed |= {schema_statements.VISIBLE}
    targets = [newest_target(flavour) for flavour in ("mysql", "mariadb")]
    given = {grant.needed for target in targets for grant in (*grants_for(target), *schema_grants_for(target))}
    assert needed == given


def test_names_and_texts_are_unique() -> None:
    """No statement stands on the list twice."""
    assert len({s.name for s in STATEMENTS}) == len({s.sql for s in STATEMENTS}) == len(STATEMENTS)


def test_the_listing_shows_every_text_and_reason() -> None:
    """What is printed is what the guard reads."""
    shown = statement_listing()
    for statement in STATEMENTS:
        assert statement.text() in shown
        assert statement.why.split()[0] in shown


def test_only_digits_can_vary() -> None:
    """A number is turned into digits before it is put into a text; anything else is an error of ours."""
    assert KILL_OWN.text(7) == TAG + "KILL QUERY 7"
    with pytest.raises(ValueError, match="invalid literal"):
        LIMITS_MYSQL.text("1; DROP TABLE t")


def test_a_name_is_sent_as_hexadecimal_digits() -> None:
    """The name of a schema can't end the literal that contains it, regardless of its characters."""
    text = TABLES_MARIADB.text(5, "a' OR")
    assert "TABLE_SCHEMA = 0x6127204f52 " in text
    assert is_listed(text)
    assert not is_listed(text.replace("0x6127204f52", "0x6127204f5"))
    assert not is_listed(TABLES_MARIADB.text(5).replace(NAME, "'shop'"))


def test_the_wire_refuses_before_it_sends() -> None:
    """The driver's connection itself refuses what isn't listed: it isn't even connected here."""
    wire = Wire(AnswerLimits(1.0), user="nobody")
    with pytest.raises(StatementNotListed, match="SELECT 1"):
        wire.query("SELECT 1")
    assert wire.sent == 0
