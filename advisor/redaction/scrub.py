"""Masks passwords in the values, option files and command lines of a snapshot from any source."""

from __future__ import annotations

import re

from advisor.redaction import MASK, redact_arguments, redact_text, redact_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_QUOTES_SQL = "query:"
# Duplicate entry 'x' for key 'y'; Incorrect integer value: 'x' for column 'y'; syntax to use near 'x' at line 1
_VALUE = r"(?is)(?P<lead>\b(?:entry|value:?|near) )'.*?'(?= for | at line |,|;|$)"


def mask_secrets(document: dict[str, Any]) -> dict[str, Any]:
    """Mask secrets in plain facts, in place; facts collected by mycnf are masked already."""
    server = document["server"]
    server["variables"] = {name: redact_value(name, value) for name, value in server["variables"].items()}
    files, service = document.get("files"), document.get("service")
    if files:
        _mask_copies(files["files"])
        files["command_line"] = list(redact_arguments(tuple(files["command_line"])))
        for option in files.get("persisted_options") or ():
            option["value"] = redact_value(option["name"], option["value"])
    if server.get("replication"):
        server["replication"]["replica_rows"] = [mask_sql(row) for row in server["replication"]["replica_rows"]]
    if service:
        _mask_copies([*service["unit_files"], *service["environment_files"]])
        if service.get("environment"):
            service["environment"] = {name: redact_value(name, text) for name, text in service["environment"].items()}
    return document


def mask_sql(row: dict[str, str | None]) -> dict[str, str | None]:
    """Return a replication row with errors cut before a quoted statement, and without values: both are user data."""
    return {name: None if value is None else _cut_statement(redact_value(name, value)) for name, value in row.items()}


def _mask_copies(copies: list[dict[str, Any]]) -> None:
    for copy in copies:
        if copy["text"] is not None:
            copy["text"] = redact_text(copy["text"]).text


def _cut_statement(text: str) -> str:
    at = text.lower().find(_QUOTES_SQL)
    text = text if at < 0 else text[:at].rstrip() + " (statement left out)"
    return re.sub(_VALUE, rf"\g<lead>'{MASK}'", text)


# How the messages of errors name a table; what follows may hold values.
_FAILED_TABLE = re.compile(
    r"(?:Worker [0-9]+ failed executing transaction '[^']*' at (?:source|master) log [^,;]*, end_log_pos [0-9]+; )?"
    r"(?:Could not execute \w+ event on table (?P<event>[^;]{1,200});"
    r"|Error (?:executing row event: )?'Table '(?P<error>[^']{1,200})' "
    r"|Column [0-9]+ (?:\(counting the first column as number 1\) )?of table '(?P<column>[^']{1,200})' )"
)


def failed_table(error: str) -> str:
    """The table that an applier's error message names; empty if it names none."""
    match = _FAILED_TABLE.match(error)
    return next(filter(None, match.groups()), "") if match else ""
