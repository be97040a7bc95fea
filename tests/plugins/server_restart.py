"""Helpers for preflight tests: a preflight of a running server, its variables, and changes by a restart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator
from mycnf_command import CHECKOUT
from referencing import Registry, Resource

from advisor.preflight.changes import SELF_CHANGING
from probes.sandbox import SandboxError

if TYPE_CHECKING:
    from mycnf_command import Ended, Mycnf

    from probes.sandbox import Sandbox


# Performance Schema takes a third of a start of MySQL, and most restarts do not need it.
QUICKLY = "[mysqld]\nperformance_schema = OFF\n"


def preflight(mycnf: Mycnf, sandbox: Sandbox, *more: str | Path) -> Ended:
    """A preflight of a sandbox as root."""
    return mycnf("preflight", "--socket", sandbox.socket, "--user", "root", *more)


def items(ended: Ended) -> list[dict[str, Any]]:
    """The items of a preflight in JSON, checked against the schema."""
    report: dict[str, Any] = json.loads(ended.out)
    contents = {s: json.loads((CHECKOUT / "schemas" / f"{s}.schema.json").read_text()) for s in ("lint", "preflight")}
    known: Registry[Any] = Registry().with_resources(
        (f"{s}.schema.json", Resource.from_contents(c)) for s, c in contents.items()
    )
    Draft202012Validator(contents["preflight"], registry=known).validate(report)
    found: list[dict[str, Any]] = report["items"]
    return found


def run(sandbox: Sandbox, *statements: str) -> None:
    """Run statements as root."""
    with sandbox.connect(autocommit=True) as connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def variables(sandbox: Sandbox) -> dict[str, str]:
    """SHOW GLOBAL VARIABLES."""
    with sandbox.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SHOW GLOBAL VARIABLES")
        return {name.lower(): value for name, value in cursor.fetchall()}


def stops(sandbox: Sandbox) -> SandboxError:
    """The error with which a restart fails; the test fails with the log if the server starts."""
    try:
        sandbox.restart()
    except SandboxError as error:
        return error
    pytest.fail(f"it came up: {sandbox.read_log()}")


def written(path: Path, text: str) -> Path:
    """Write an option file that servers can read."""
    path.write_text(text)
    path.chmod(0o644)
    return path


def differing(before: dict[str, str], after: dict[str, str]) -> dict[str, tuple[str, str | None]]:
    """The variables changed by a restart, except those that change constantly."""
    return {n: (v, after.get(n)) for n, v in before.items() if after.get(n) != v and n not in SELF_CHANGING}


# Names of one variable, the older first, as the manuals have them; servers show one of them or both.
NEWER_NAMES = {
    "tx_isolation": "transaction_isolation",
    "storage_engine": "default_storage_engine",
    "tmp_table_size": "tmp_memory_table_size",
    "long_query_time": "log_slow_query_time",
    "slow_query_log": "log_slow_query",
    "slow_query_log_file": "log_slow_query_file",
    "min_examined_row_limit": "log_slow_min_examined_row_limit",
}


def by_newer_name(changed: dict[str, Any]) -> dict[str, Any]:
    """Each changed variable once, by the newer of its names."""
    return {NEWER_NAMES.get(name, name): value for name, value in changed.items()}
