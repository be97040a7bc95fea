"""What mycnf says on stderr, beside its report."""

from __future__ import annotations

import sys


def narrate(message: str) -> None:
    """Say one line that is no part of the report; control characters from files and servers are made harmless."""
    from advisor.redact import clean

    sys.stdout.flush()
    print(f"mycnf: {clean(message)}", file=sys.stderr)
