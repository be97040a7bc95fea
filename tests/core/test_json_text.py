"""The reader and the quotes of JSON do what the standard library's do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.core.json_text import loads, quote
from advisor.report.findings_json import dumps

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
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
    for path in sorted((Path(__file__).parents[2] / "advisor/catalog/data").glob("*.json")):
        text = path.read_text(encoding="utf-8")
        assert loads(text) == json.loads(text), path.name
