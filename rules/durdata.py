"""DUR: values and tables that a server changes or loses because it was told to be lenient."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.model import Confidence, Severity
from rules.advice import advise, these, words
from rules.registry import Docs, rule
from rules.subject import of_variable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.model import Finding
    from rules.known import Known

MODE = "sql_mode"
ENGINE = "default_storage_engine"
STRICT = frozenset({"STRICT_TRANS_TABLES", "STRICT_ALL_TABLES", "TRADITIONAL"})


@rule(
    "DUR008",
    "myisam-by-default",
    summary="New tables are MyISAM tables, which have no transactions and no recovery after a crash.",
    options=(ENGINE,),
    evidence=("ASK-20",),
    docs=Docs(
        why="A table that is created without an engine takes the default. In a MyISAM table ROLLBACK takes "
        "nothing back, and there is no log from which a crash could be recovered: on all six servers that "
        "were killed while rows went in, CHECK TABLE then said that the table was not closed properly.",
        fix="Take the line out: InnoDB is the default of every version that mycnf knows. Tables that exist "
        "keep their engine; convert them one by one with ALTER TABLE.",
        risk="New tables take more disk, and count in the buffer pool.",
        exceptions="A program that was written for MyISAM and is tested with nothing else.",
        mind="Nothing: what may be lost is for the owner of the data to say.",
    ),
)
def myisam_by_default(known: Known) -> Iterator[Finding]:
    """MyISAM for tables that name no engine, by somebody's choice."""
    if known.text(ENGINE) == "MYISAM" and known.chosen(ENGINE):
        action = advise(known, ENGINE, "InnoDB", risk="tables that exist keep their engine")
        yield myisam_by_default.finding(
            "Tables that name no engine become MyISAM tables: no rollback, and no recovery after a crash.",
            of_variable(known, ENGINE),
            help=words(action),
            actions=these(action),
        )


@rule(
    "DUR009",
    "lax-sql-mode",
    severity=Severity.NOTE,
    confidence=Confidence.CERTAIN,
    summary="Values that don't fit their column are cut or changed instead of refused.",
    options=(MODE,),
    evidence=("ASK-19",),
    docs=Docs(
        why="Without a strict mode a text that is too long is cut, a number out of range becomes the nearest "
        "bound and a wrong date becomes zeros. The statement succeeds, with a warning that few programs "
        "read. Strict mode is the default of every version that mycnf knows.",
        fix="Add STRICT_TRANS_TABLES, after a test of the programs that write.",
        risk="Statements that were changed in silence fail with an error.",
        exceptions="Old programs that rely on it; set the mode in their sessions alone where that is possible.",
        mind="A program that can't be changed.",
    ),
)
def lax_sql_mode(known: Known) -> Iterator[Finding]:
    """A mode that somebody set without either of the strict ones."""
    value = known.text(MODE)
    if value is None or not known.chosen(MODE) or STRICT.intersection(value.replace(" ", "").split(",")):
        return
    yield lax_sql_mode.finding(
        "No strict mode is on, so a value that doesn't fit its column is cut or changed, with no more than a warning.",
        of_variable(known, MODE),
        help="add STRICT_TRANS_TABLES, after a test of the programs that write",
    )
