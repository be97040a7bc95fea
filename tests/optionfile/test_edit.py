"""Edits of a file's bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.core.model import Edit
from advisor.optionfile import parse
from advisor.optionfile.lines import Line, LineKind, apply_edits

FILE = "# ä\n[mysqld]\n  key = 'ü' # c\nb=2\n"


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (Edit(3, 9, 3, 12, "1G"), "# ä\n[mysqld]\n  key = 1G # c\nb=2\n"),
        (Edit(3, 3, 3, 6, "key_buffer_size"), "# ä\n[mysqld]\n  key_buffer_size = 'ü' # c\nb=2\n"),
        (Edit(3, 1, 4, 1, ""), "# ä\n[mysqld]\nb=2\n"),
        (Edit(4, 1, 5, 1, ""), "# ä\n[mysqld]\n  key = 'ü' # c\n"),
        (Edit(1, 1, 1, 1, "# b\n"), "# b\n# ä\n[mysqld]\n  key = 'ü' # c\nb=2\n"),
        (Edit(5, 1, 5, 1, "c=3\n"), FILE + "c=3\n"),
    ],
)
def test_one_edit(edit: Edit, expected: str) -> None:
    """One stretch is replaced, and everything else stays."""
    assert apply_edits(FILE.encode(), [edit]).decode() == expected


def test_edits_name_places_before_any_of_them() -> None:
    """The order in which edits are given does not matter."""
    edits = [Edit(4, 1, 4, 2, "bbb"), Edit(3, 1, 4, 1, ""), Edit(4, 3, 4, 4, "9")]
    assert (
        apply_edits(FILE.encode(), edits)
        == apply_edits(FILE.encode(), edits[::-1])
        == "# ä\n[mysqld]\nbbb=9\n".encode()
    )


def test_a_last_line_without_ending() -> None:
    """The last line can be taken out though nothing ends it."""
    assert apply_edits(b"[mysqld]\na=1", [Edit(2, 1, 3, 1, "")]) == b"[mysqld]\n"


def test_new_lines_end_as_the_others() -> None:
    """What is put in ends its lines with CR LF where the file does."""
    assert apply_edits(b"[mysqld]\r\na=1\r\n", [Edit(2, 1, 2, 1, "b=1\n")]) == b"[mysqld]\r\nb=1\r\na=1\r\n"


@pytest.mark.parametrize(
    "edit", [Edit(9, 1, 9, 1, "x"), Edit(2, 99, 2, 99, "x"), Edit(0, 1, 1, 1, "x"), Edit(1, 0, 1, 1, "x")]
)
def test_a_place_that_is_not_there(edit: Edit) -> None:
    """An edit outside the file is refused."""
    with pytest.raises(ValueError, match="line"):
        apply_edits(FILE.encode(), [edit])


def test_overlapping_edits() -> None:
    """Two edits of one stretch are refused."""
    with pytest.raises(ValueError, match="overlap"):
        apply_edits(FILE.encode(), [Edit(3, 3, 3, 6, "a"), Edit(3, 4, 3, 9, "b")])


@given(st.binary())
def test_no_edit_changes_nothing(data: bytes) -> None:
    """Without edits any bytes stay as they are."""
    assert apply_edits(data, []) == data


def option(data: bytes) -> Line:
    """The last option of the file."""
    return [line for line in parse(data, "f").lines if line.kind is LineKind.OPTION][-1]


@given(
    before=st.binary(max_size=20).map(lambda b: b.replace(b"\n", b" ")),
    value=st.binary(min_size=1, max_size=12).filter(lambda b: not set(b) & set(b"\n#\0'\"")),
)
def test_an_option_is_edited_where_it_stands(before: bytes, value: bytes) -> None:
    """A value is replaced where its line has it, with any bytes around it."""
    data = b"# " + before + b"\n[mysqld]\nname=" + value + b"\n"
    line = option(data)
    place = Edit(line.number, line.value_column, line.number, line.value_end_column, "new")
    changed = option(apply_edits(data, [place]))
    assert (changed.name, changed.value) == ("name", "new")
