"""The catalog against the servers that it was asked from, asked again."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pymysql
import pytest
from verdict_agreement import judge_lines

from advisor.catalog import Catalog, Option, load
from advisor.catalog.targets import EXAMINED
from probes.sandbox import Binary, Sandbox, ask_help, help_values

if TYPE_CHECKING:
    from real_servers import Start

LISTED = re.compile(r"^  (?:-\S, )?--([A-Za-z][\w-]*)(?=[ =\[]|$)", re.MULTILINE)
UNPRINTED = "(No default value)"
# Given on the command line of a throwaway server, so that it lives in its scratch folder.
# Of these families; others crash a server at their ends, keep it busy for minutes, or are limited by the host.
FAMILIES = ("innodb_", "sort_", "join_", "read_", "net_", "optimizer_", "slave_", "replica_", "tmp_", "query_")
BOUNDED = (*FAMILIES, "max_", "lock_", "auto_")
# MySQL 9.7 writes twice the width of this one behind maximum-, and so zeros into its neighbour in memory.
OVERRUN = "innodb_log_spin_cpu_pct_hwm"
GIVEN = {
    "port",
    "skip_networking",
    "mysqlx_socket",
    "log_error_verbosity",
    "innodb_buffer_pool_size",
    "character_sets_dir",
    "lower_case_table_names",
}


READ_ONLY = 1238  # ER_INCORRECT_GLOBAL_LOCAL_VAR
# Setting them to what they are could change what the server does with the next statement.
LEFT_ALONE = {"gtid_purged", "offline_mode", "read_only", "super_read_only"}
# The server calls it a variable of sessions alone once SET GLOBAL names it.
OTHERWISE = {"tcp_nodelay"}
# MySQL 8.0.15 has no variable for it; the catalog has that of 8.0.19 and later.
ELSEWHERE = {"log_raw"}


def canonical(name: str) -> str:
    """A printed name as the catalog spells it."""
    return name.lower().replace("-", "_")


def asked(binary: Binary) -> Catalog:
    """The catalog of a server; skips by name where the installed server is of another patch than the catalog."""
    if binary.target not in EXAMINED:
        pytest.skip(f"{binary.name} is {binary.target} here; the catalog is of another patch")
    return load(binary.target)


def options_of(catalog: Catalog) -> list[Option]:
    """The options that the server has with no plugin loaded."""
    options = [option for name in catalog.options if (option := catalog.get(name)) is not None]
    return [o for o in options if o.plugin is None]


def test_the_catalog_has_the_options_that_the_server_lists(binary: Binary) -> None:
    """Every option of the server's help is known, and the catalog adds only what it takes without listing it."""
    catalog = asked(binary)
    head, _, _ = ask_help(binary).stdout.partition("\n-----")
    listed = {canonical(name) for name in LISTED.findall(head)}
    assert len(listed) > 400
    assert listed - set(catalog.options) == set()
    extra = {o.name: o for o in options_of(catalog) if o.name not in listed}
    assert {n for n, o in extra.items() if o.shown} == set()


def test_every_default_is_what_the_server_prints(binary: Binary) -> None:
    """With no option file the server prints the catalog's defaults, but for those that depend on the host."""
    catalog = asked(binary)
    printed = {canonical(n): v for n, v in help_values(ask_help(binary).stdout).items()}
    known = {o.name: o.default for o in options_of(catalog) if o.default is not None}
    assert len(known) > 350
    assert {n: (v, printed.get(n)) for n, v in known.items() if printed.get(n) != v} == {}


def notation(value: str) -> str:
    """One spelling for the notations of help and SHOW."""
    value = {"TRUE": "ON", "FALSE": "OFF", UNPRINTED: "", "NULL": ""}.get(value, value)
    try:
        return str(float(value))
    except ValueError:
        return value.rstrip("/").lower()


def test_an_untouched_server_runs_with_what_the_catalog_says(any_server: Sandbox) -> None:
    """SHOW GLOBAL VARIABLES of an untouched server gives `running`, or the default where there is none."""
    catalog = asked(any_server.binary)
    with any_server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SHOW GLOBAL VARIABLES")
        running = {str(name).lower(): str(value) for name, value in cursor.fetchall()}
    differing = {}
    for option in options_of(catalog):
        default = option.running or option.default
        if default is None or option.host or option.name in GIVEN or option.variable not in running:
            continue
        if notation(default) != notation(running[option.variable]):
            differing[option.name] = (default, running[option.variable])
    assert differing == {}


@pytest.mark.parametrize("end", ["min", "max"])
def test_the_ends_of_a_range_are_taken(binary: Binary, tmp_path: Path, end: str) -> None:
    """The server takes the least and the greatest value of each number, rounded down to its block, and keeps it."""
    catalog = asked(binary)
    bounds = {}
    for option in options_of(catalog):
        bound = option.min if end == "min" else option.max
        if (
            option.kind in ("int", "uint")
            and bound is not None
            and option.name.startswith(FAMILIES)
            and end in option.asked
        ):
            bounds[option.name] = int(bound) - int(bound) % option.block if end == "max" else int(bound)
    path = tmp_path / "my.cnf"
    path.write_text("[mysqld]\n" + "".join(f"{n}={v}\n" for n, v in bounds.items()))
    done = ask_help(binary, path)
    assert done.returncode == 0, done.stderr
    printed = {canonical(n): v for n, v in help_values(done.stdout).items()}
    moved = {n: (v, printed[n]) for n, v in bounds.items() if printed[n] not in (str(v), str(v - (1 << 32)))}
    assert moved == {}


def may_be_bounded(option: Option) -> bool:
    """Whether it is a number of some families that takes maximum- before its name."""
    known = option.maximum and option.shown and None not in (option.min, option.max) and option.name != OVERRUN
    return bool(known) and option.kind in ("int", "uint") and option.name.startswith(BOUNDED)


@pytest.mark.parametrize("lower_first", [True, False])
def test_what_maximum_does(binary: Binary, tmp_path: Path, lower_first: bool) -> None:
    """Behind a lower or a higher value, maximum- before a number keeps, sets or bounds it as the catalog says."""
    catalog = asked(binary)
    lines = []
    for option in filter(may_be_bounded, options_of(catalog)):
        low, high = int(option.min or 0), int(option.max or 0)
        steps = [low + (high - low) * part // 8 // option.block * option.block for part in (1, 2)]
        first, second = sorted(steps, reverse=not lower_first)
        lines += [f"{option.name}={first}", f"maximum_{option.name}={second}"]
    path = tmp_path / "my.cnf"
    path.write_text("[mysqld]\n" + "\n".join(lines) + "\n")
    done = ask_help(binary, path)
    assert done.returncode == 0, done.stderr
    printed = {canonical(n): v for n, v in help_values(done.stdout).items()}
    effective = {n: line.value for n, line in judge_lines("\n".join(lines), catalog).effective.items()}
    assert len(effective) > 20
    assert {n: (v, printed[n]) for n, v in effective.items() if printed[n] != v} == {}


def test_the_variables_of_options(any_server: Sandbox, binary: Binary) -> None:
    """A running server has the variables that the catalog names, and none for the other options."""
    catalog = asked(binary)
    wrong = []
    with any_server.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("SHOW GLOBAL VARIABLES")
        there = {name for name, _ in cursor.fetchall()}
        for option in options_of(catalog):
            if option.variable is None and option.name in there and not option.ignored:
                wrong.append(option.name)
            elif option.variable and option.variable not in there | ELSEWHERE:
                try:
                    cursor.execute(f"SELECT @@`{option.variable}`")
                except pymysql.Error:
                    wrong.append(option.name)
    assert wrong == []


def test_what_can_be_set_while_the_server_runs(server_name: str, binary: Binary, start: Start) -> None:
    """A variable takes its own value at run time where the catalog says that it can be set then, and nowhere else."""
    catalog = asked(binary)
    wrong = []
    with start(server_name).connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("SHOW GLOBAL VARIABLES")
        there = {name for name, _ in cursor.fetchall()} - LEFT_ALONE - OTHERWISE
        for option in options_of(catalog):
            if option.variable not in there:
                continue
            try:
                cursor.execute(f"SET GLOBAL `{option.variable}` = @@GLOBAL.`{option.variable}`")
                settable = True
            except pymysql.Error as error:
                settable = error.args[0] != READ_ONLY
            if settable is not bool(option.dynamic):
                wrong.append(option.name)
    assert wrong == []
