"""The catalog is made from the facts in the repository and from nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import advisor.catalog

DATA = Path(advisor.catalog.__file__).parent / "data"
GENERATE = Path(__file__).resolve().parents[2] / "tools" / "catalog" / "generate.py"


def test_made_again_it_is_the_same_to_the_byte(tmp_path: Path) -> None:
    """The generator, run again in another folder and under another hash seed, gives the files of the repository."""
    env = {**os.environ, "PYTHONHASHSEED": "4711", "PYTHONDONTWRITEBYTECODE": "1", "MYCNF_SHARED": "/nonexistent"}
    subprocess.run(
        [sys.executable, str(GENERATE), "--out", str(tmp_path)], check=True, capture_output=True, env=env, cwd=tmp_path
    )
    made = {p.name: p.read_bytes() for p in tmp_path.glob("*.json")}
    # The parameters of managed services are no catalog of a server, and kept by hand.
    assert made == {p.name: p.read_bytes() for p in DATA.glob("*.json") if p.name != "managed.json"}


def test_the_facts_hold_no_prose() -> None:
    """The raw facts are tables of names, kinds and numbers: no cell is a sentence."""
    for path in (GENERATE.parent / "facts").rglob("*.tsv"):
        for line in path.read_text(encoding="utf-8").split("\n")[1:]:
            for cell in line.split("\t"):
                assert cell.count(" ") <= 12, (path, cell)
