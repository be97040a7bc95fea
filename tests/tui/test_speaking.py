"""What probes say in the command line's words is said in the app's own."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from advisor.tui.text import replace_flags

TOP = Path(__file__).parents[2]
# Flags of mycnf probe that a sentence may name; those of servers and sysbench are none of these.
FLAG = re.compile(r"--(time|dir|force|resume|rounds|option)\b")
SPEAKING = ("probes", "advisor/report/probe/words.py", "advisor/commands/probe_place.py")
NOT_SAID = ("probes/workload/sysbench.py",)  # what sysbench is started with


def sentences() -> Iterator[tuple[str, str]]:
    """Every text in what probes are made of that names a flag, values in it left open."""
    for place in SPEAKING:
        path = TOP / place
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            name, source = str(file.relative_to(TOP)), file.read_text()
            if name not in NOT_SAID and FLAG.search(source):
                yield from ((name, text) for text in texts(ast.parse(source)) if FLAG.search(text))


def texts(tree: ast.Module) -> Iterator[str]:
    """The texts of a module but for its docstrings."""
    described = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and not {id(node)} & (described | inside):
            yield node.value


@pytest.mark.parametrize(("file", "text"), sentences())
def test_no_flag_is_asked_for(file: str, text: str) -> None:
    """A sentence that names a flag names here where to write the same."""
    assert not FLAG.search(replace_flags(text)), f"{file}: {replace_flags(text)}"


def test_other_words_stay() -> None:
    """What a result says about a server's own options is not changed."""
    sentence = "the server was started with --innodb-buffer-pool-size=1G for --time-out"
    assert replace_flags(sentence) == sentence
