"""Every disagreement that was ever found between a real server and the verdict, put to the server again."""

from __future__ import annotations

from pathlib import Path

import pytest
from cases import read_case
from comparing import compare
from real_servers import Binaries
from truth import truth

CASES = sorted((Path(__file__).parent / "cases").glob("*.cnf"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_disagreement_is_settled(path: Path, binaries: Binaries) -> None:
    """The server takes every line of the file as the verdict predicts."""
    case = read_case(str(path))
    binary = binaries(case.server)
    answer = truth(binary, case.lines)
    assert answer.last is not None, "the server never came to an end"
    assert [f"{case.lines[d.at]!r}: {d.what}: {d.detail}" for d in compare(case.lines, answer, binary.target)] == []
