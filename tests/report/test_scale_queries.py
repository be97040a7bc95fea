"""The queries of docs/scale.md, run by DuckDB against a file that mycnf wrote."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from duckdb_queries import asked
from mycnf_command import CHECKOUT

from advisor.__main__ import main

SNAPSHOT = CHECKOUT / "examples" / "snapshots" / "mariadb-10.11.json"
QUERIES = re.findall(r"```sql\n(.*?)```", (CHECKOUT / "docs" / "scale.md").read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The findings of three servers, one of them with another buffer, and of a file that is no snapshot."""
    folder = tmp_path_factory.mktemp("scale")
    recorded = json.loads(SNAPSHOT.read_text(encoding="utf-8"))
    for name in ("db1", "db2", "db3"):
        recorded["server"]["variables"]["hostname"] = name
        if name == "db3":
            recorded["server"]["variables"]["read_buffer_size"] = str(4 << 20)
            for copy in recorded["files"]["files"]:
                copy["text"] = re.sub(r"(read_buffer_size *=) *8M", r"\1 4M", copy["text"] or "")
        (folder / f"{name}.json").write_text(json.dumps(recorded), encoding="utf-8")
    (folder / "x.json").write_text("{", encoding="utf-8")
    out = folder / "findings.parquet"
    assert main(["report", "--isolated", "--jobs", "1", str(folder), "--format", "parquet", "-o", str(out)]) == 2
    return out


def test_queries_find_what_is_there(findings: Path) -> None:
    """Each finds something; the first says how many servers have a rule, the last what could not be read."""
    answers = asked(query.replace("findings.parquet", str(findings)) for query in QUERIES)
    assert len(answers) > 1
    assert all(answers), dict(zip(QUERIES, answers, strict=True))
    assert ["warning", "BIN001", "binary-log-never-expires", 3] in answers[0]
    ((snapshot, why),) = answers[-1]
    assert str(snapshot).endswith("x.json")
    assert "cut off" in str(why)
