"""What mycnf says on stderr, beside its report."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_LISTENERS: list[Callable[[str], object]] = []


def print_notice(message: str) -> None:
    """Say one line that is no part of the report, without secrets; control characters of others are made harmless."""
    from advisor.redaction.secrets import escape_text, redact_value

    line = escape_text(redact_value("", message))
    if _LISTENERS:
        for listener in _LISTENERS:
            listener(line)
        return
    sys.stdout.flush()
    print_stderr(f"mycnf: {line}")


def print_stderr(line: str) -> None:
    """Print a line on stderr; where nobody can hear it, the report is made all the same."""
    try:
        print(line, file=sys.stderr)
    except OSError:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - what waits in it would fail at each end


def redirect_notices(listener: Callable[[str], object]) -> None:
    """Give what is narrated from now on to somebody else, for stderr is being drawn on."""
    _LISTENERS.append(listener)
