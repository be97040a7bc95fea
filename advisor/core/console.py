"""Notices on stderr, separate from the report."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_LISTENERS: list[Callable[[str], object]] = []


def print_notice(message: str) -> None:
    """Print a line that is not part of the report, with secrets masked and control characters escaped."""
    from advisor.redaction.secrets import escape_text, redact_value

    line = escape_text(redact_value("", message))
    if _LISTENERS:
        for listener in _LISTENERS:
            listener(line)
        return
    sys.stdout.flush()
    print_stderr(f"mycnf: {line}")


def print_stderr(line: str) -> None:
    """Print a line on stderr; if stderr is closed, the command continues."""
    try:
        print(line, file=sys.stderr)
    except OSError:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - buffered output would fail again at exit


def redirect_notices(listener: Callable[[str], object]) -> None:
    """Send notices to a listener from now on, while something else draws on stderr."""
    _LISTENERS.append(listener)
