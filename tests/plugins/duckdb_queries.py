"""Query DuckDB in a separate process: its bindings report leaks when the process ends."""

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
    """The rows of each query; types that JSON lacks become text. Fails if DuckDB rejects a query."""
    words = [sys.executable, "-c", ASK]
    done = subprocess.run(words, input=json.dumps([*queries]), capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    found: list[list[list[object]]] = json.loads(done.stdout)
    return found
