"""What the rules about the server's own verdicts rest on in the catalogs."""

from __future__ import annotations

import pytest

from advisor.catalog.load import load
from advisor.catalog.targets import SERIES, parse_target
from advisor.engine import run
from advisor.model import Finding
from advisor.optionfile import resolve
from advisor.verdict import judge_file
from advisor.verdict.settings import Settings
from rules import all_rules
from rules.known import Known

ALL = [f"{flavour}-{s[0]}.{s[1]}" for flavour, series in SERIES.items() for s in series]


@pytest.mark.parametrize("series", ALL)
def test_no_option_of_durability_or_security_counts_in_blocks(series: str) -> None:
    """Rounding to a block is a note, and an adjusted value of these must be a warning: so none of them may round."""
    catalog = load(parse_target(series))
    options = [option for name in catalog.options if (option := catalog.get(name)) is not None]
    assert any(option.block > 1 for option in options)
    assert [o.name for o in options if o.block > 1 and (o.durability or o.security)] == []


@pytest.mark.parametrize(
    ("server", "line", "help_", "becomes"),
    [
        ("mysql-8.0.43", "default-character-set = utf8mb4", "use character-set-server instead", "character-set-server"),
        ("mariadb-10.11", "default-collation = utf8_bin", "use collation-server instead", "collation-server"),
        ("mysql-8.0.43", "table_cache = 512", "use table_open_cache instead", "table_open_cache"),
        ("mysql-8.4.8", "innodb_log_file_size = 2G", "use innodb_redo_log_capacity = 4G", "innodb_redo_log_capacity"),
        ("mysql-9.7.4", "log_slow_queries = /var/log/slow.log", "use slow_query_log instead", ""),
        ("mysql-9.7.4", "slave_parallel_type = LOGICAL_CLOCK", "remove the line", ""),
        ("mariadb-10.11", "slave_parallel_type = LOGICAL_CLOCK", "remove the line, or write loose_", ""),
        ("mysql-9.7.4", "thread_concurrency = 8", "remove the line", ""),
        ("mysql-8.4.8", "skip-ssl", "remove the line", ""),
    ],
)
def test_successors(server: str, line: str, help_: str, becomes: str) -> None:
    """An option that went is replaced by what the target has in its place; where that has gone too, by nothing."""
    found = first(server, line, "OPT001", "OPT007", "OPT008")
    assert found.help is not None
    assert found.help.startswith(help_)
    assert found.fix is not None
    assert found.fix.edits[0].text == becomes


def first(server: str, line: str, *codes: str) -> Finding:
    """The first finding of those rules about a file of one line."""
    target, text = parse_target(server), f"[mysqld]\n{line}\n".encode()
    resolved = resolve(["my.cnf"], flavour=target.flavour, version=target.version, loader=lambda _: text)
    verdict = judge_file(resolved, load(target))
    known = Known(target, verdict.catalog, Settings.from_file(verdict), verdict)
    return next(f for f in run(known, all_rules()).findings if f.code in codes)


@pytest.mark.parametrize(
    ("value", "becomes"),
    [
        ("STRICT_ALL_TABLES,no_auto_create_user,ANSI", "STRICT_ALL_TABLES,ANSI"),
        ('"NO_AUTO_CREATE_USER,ANSI"', "ANSI"),
        ("NO_AUTO_CREATE_USER", None),
        ("NO_AUTO_CREATE_USER,ORACLE", None),
    ],
)
def test_modes_that_went(value: str, becomes: str | None) -> None:
    """A list of modes loses the one that MySQL 8.0 does without, and no other; help never tells places without one."""
    found = first("mysql-8.0.43", f"sql_mode = {value}", "OPT003")
    assert (found.fix.edits[0].text.strip('"') if found.fix else None) == becomes
    assert found.help is not None
    assert "NOT_USED" not in found.help


@pytest.mark.parametrize(
    ("server", "line", "says"),
    [
        ("mysql-8.0.43", "expire_logs_days = 7", "expire_logs_days is deprecated since 8.0.3."),
        ("mysql-8.0.43", "symbolic-links = 0", "symbolic_links is deprecated."),
        ("mariadb-11.8", "secure_auth = ON", "secure_auth is deprecated."),
    ],
)
def test_since_when_an_option_is_deprecated(server: str, line: str, says: str) -> None:
    """The version is told where somebody wrote it, and never the one of the server that said so of itself."""
    assert first(server, line, "OPT008").message == says
