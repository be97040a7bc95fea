"""The reader and the quotes of JSON do what the standard library's do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.core import Entries, find_entry, loads, read_entries, read_text
from advisor.report.findings_json import dumps, quote

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
DATA = Path(__file__).parents[2] / "advisor/catalog/data"
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))


@given(VALUES)
def test_values_are_read_and_written_as_by_the_standard_library(value: object) -> None:
    """A value is the same after both readers, and its text after both writers."""
    text = json.dumps(value)
    assert loads(text) == json.loads(text)
    assert dumps(value) == json.dumps(value, indent=1) + "\n"


@given(st.text())
def test_texts_are_quoted_as_by_the_standard_library(text: str) -> None:
    """Quotes, controls and everything beyond ASCII are escaped alike."""
    assert quote(text) == json.dumps(text)


@pytest.mark.parametrize("text", ['{"a": ', '{"a" 1}', "[1, 2", '{"a": "b'])
def test_a_damaged_file_is_refused(text: str) -> None:
    """A text that ends early or lacks a sign raises ValueError."""
    with pytest.raises(ValueError, match=r"Expecting|Unterminated"):
        loads(text)


def test_all_data_files_are_read_alike() -> None:
    """Each file of the catalog has the same contents for both readers."""
    for path in sorted(DATA.glob("*.json")):
        text = path.read_text(encoding="utf-8")
        assert loads(text) == json.loads(text), path.name


@pytest.mark.parametrize("path", sorted(DATA.glob("*-*.json")), ids=lambda path: str(path.stem))
def test_options_are_the_same_one_by_one(path: Path) -> None:
    """Entries that are decoded when read are those of the whole file, and their texts need no decoding."""
    whole = json.loads(path.read_text(encoding="utf-8"))
    beginning, entries = read_entries(str(path))
    texts = {field: list(entries.texts(field)) for field in ("variable", "alias_of", "plugin", "gone", "replaced_by")}
    assert entries.nulls() == [name for name, raw in whole["options"].items() if raw is None]
    assert dict(entries.items()) == whole["options"]
    assert loads(beginning + "}}") == {**whole, "options": {}}
    present = [(name, raw) for name, raw in whole["options"].items() if raw is not None]
    for field, found in texts.items():
        assert found == [(name, raw[field]) for name, raw in present if field in raw], field


def test_one_entry_is_found_in_a_sorted_file() -> None:
    """Each name has its entry; names before, between and after them, and parts of entries, have none."""
    text = read_text(str(DATA / "elsewhere.json"))
    whole = json.loads(text)
    assert {name: find_entry(text, name) for name in whole} == whole
    for name in ("", "a", "zzz", *[name + "_" for name in whole], *[name[:-1] for name in whole]):
        assert name in whole or find_entry(text, name) is None, name
    assert find_entry(text, 'tx_isolation":{"mysql') is None


def test_a_copy_keeps_its_own_changes() -> None:
    """What is set, taken over and removed in a copy leaves the original as it was."""
    first = Entries({"a": ['{"x":"1"}'], "b": ['{"x":"y"}']})
    copy = first.copy()
    copy["a"] = {}
    del copy["b"]
    copy.update(Entries({"c": ["{}"]}))
    assert dict(first.items()) == {"a": {"x": "1"}, "b": {"x": "y"}}
    assert dict(copy.items()) == {"a": {}, "c": {}}
    assert list(first.texts("x")) == [("a", "1"), ("b", "y")]
    assert (len(copy), list(copy), "b" in copy, copy.get("b", 0)) == (2, ["a", "c"], False, 0)
