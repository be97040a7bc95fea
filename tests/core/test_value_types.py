"""The value types of the lint path behave as those of the standard library that they replace."""

from __future__ import annotations

import enum
import inspect
import keyword
import pickle
import typing
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor import core
from advisor.core.model import Confidence, Location, Severity

NAMES = st.from_regex("[a-z]{1,3}", fullmatch=True).filter(lambda name: not keyword.iskeyword(name))
OURS: Any = vars(core)


@st.composite
def classes(draw: st.DrawFn) -> tuple[Any, Any, list[str]]:
    """One class of each kind with the same fields, of which the last ones have defaults; and the fields."""
    fields = draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    defaults = {name: f"{name}!" for name in fields[draw(st.integers(0, len(fields))) :]}
    body = {"__annotations__": dict.fromkeys(fields, "str"), **defaults}

    base = OURS["NamedTuple"]
    return type(base)("Made", (base,), body), _standard(fields, defaults), fields


def _standard(fields: list[str], defaults: dict[str, str]) -> Any:
    found = typing.NamedTuple("Made", [(name, str) for name in fields])  # type: ignore[misc]
    found.__new__.__defaults__ = tuple(defaults.values())
    found._field_defaults = defaults
    return found


def result(call: Callable[..., Any], *values: Any, **named: Any) -> tuple[Any, ...] | type[Exception]:
    """The values of what the call makes, with its text and fields, or the kind of its error."""
    try:
        made = call(*values, **named)
    except (TypeError, ValueError) as error:
        return type(error)
    return (*made, repr(made), made._asdict())


@given(classes(), st.data())
def test_named_tuples(pair: tuple[Any, Any, list[str]], data: st.DataObject) -> None:
    """Values, defaults, refusals, replacement and text are the standard library's, before and after it is compiled."""
    ours, standard, fields = pair
    assert (ours._fields, ours.__match_args__, ours._field_defaults) == (
        standard._fields,
        standard.__match_args__,
        standard._field_defaults,
    )
    assert list(inspect.signature(ours).parameters) == fields
    for _ in range(2):
        values = data.draw(st.lists(st.integers(0, 9), max_size=6))
        named = data.draw(st.dictionaries(st.sampled_from([*fields, "zzzz"]), st.integers(0, 9), max_size=3))
        assert result(ours, *values, **named) == result(standard, *values, **named)
        whole = list(range(len(fields)))
        assert result(ours(*whole)._replace, **named) == result(standard(*whole)._replace, **named)
        assert ours._make(whole) == standard._make(whole)
        for _ in range(OURS["COMPILED_AFTER"]):
            ours(*whole)


def test_named_tuples_of_the_product_are_pickled() -> None:
    """A value that processes exchange arrives as what it was."""
    place = Location("my.cnf", 3, 1, 0, 8)
    assert pickle.loads(pickle.dumps(place)) == place  # noqa: S301 - our own bytes
    assert type(pickle.loads(pickle.dumps(place))) is Location  # noqa: S301 - the same


@pytest.mark.parametrize("ours", [Severity, Confidence])
def test_enumerations(ours: Any) -> None:
    """Members, order, texts, lookups and refusals are those of enum.StrEnum."""
    members = {name: member.value for name, member in ours.__members__.items()}
    standard: Any = enum.StrEnum("Standard", members)  # type: ignore[misc]
    assert [(m.name, m.value, str(m), f"{m:>9}") for m in ours] == [
        (m.name, m.value, str(m), f"{m:>9}") for m in standard
    ]
    assert len(ours) == len(standard)
    for member, other in zip(ours, standard, strict=True):
        assert member == other == member.value
        assert hash(member) == hash(other)
        assert ours(member.value) is ours[member.name] is member
        assert pickle.loads(pickle.dumps(member)) is member  # noqa: S301 - our own bytes
        assert member in ours
        assert repr(member) == repr(other).replace("Standard", ours.__name__)
    with pytest.raises(ValueError, match="'none' is not a valid"):
        ours("none")
