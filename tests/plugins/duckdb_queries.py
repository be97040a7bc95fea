"""What DuckDB answers, asked in a process of its own: as it ends with us, its bindings complain of what they leaked."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable

ASK = """
import json, sys
import duckdb
print(json.dumps([duckdb.sql(query).fetchall() for query in json.load(sys.stdin)], default=str))
"""


def asked(queries: Iterable[str]) -> list[list[list[object]]]:
    """The rows that each query finds; what JSON has no word for is text. Fails where DuckDB refuses one."""
    words = [sys.executable, "-c", ASK]
    done = subprocess.run(words, input=json.dumps([*queries]), capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    found: list[list[list[object]]] = json.loads(done.stdout)
    return found
