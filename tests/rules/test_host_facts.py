"""Each fact of the host is read by a rule, or its mark says why none reads it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from msgspec import Struct

from advisor.facts import host, storage
from advisor.facts.marks import marks_of

TOP = Path(__file__).resolve().parents[2]


def fields() -> dict[str, str]:
    """Each field of the host's facts, as Class.field, with the reason why no rule reads it, empty without one."""
    kinds = [
        kind for kind in {**vars(host), **vars(storage)}.values() if isinstance(kind, type) and issubclass(kind, Struct)
    ]
    return {
        f"{kind.__name__}.{name}": marks_of(kind)[name].unjudged if name in marks_of(kind) else ""
        for kind in kinds
        if kind is not Struct
        for name in kind.__struct_fields__
    }


@pytest.fixture(scope="module")
def attributes() -> frozenset[str]:
    """The names of all attributes that the rules read, of any object."""
    trees = (ast.parse(path.read_text("utf-8")) for path in sorted((TOP / "rules").rglob("*.py")))
    return frozenset(node.attr for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Attribute))


def test_no_fact_is_collected_without_a_purpose(attributes: frozenset[str]) -> None:
    """A fact that no rule reads says why."""
    unread = {name for name, reason in fields().items() if name.partition(".")[2] not in attributes and not reason}
    assert sorted(unread) == [], "let a rule read it, or name the reason at the field: Mark(unjudged=…)"


def test_facts_have_reasons() -> None:
    """The marks are found: some fifty facts of the host are shown, or deliberately not judged."""
    assert len([reason for reason in fields().values() if reason]) >= 50
