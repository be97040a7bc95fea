"""Frozen values, with a dictionary of their own and without: they behave alike."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, replace
from typing import Any

import msgspec
import pytest

from advisor.facts import Link, VariableOrigin


@pytest.mark.parametrize(("kind", "given"), [(VariableOrigin, {"source": "EXPLICIT"}), (Link, {"via": "socket"})])
def test_values_are_frozen_equal_and_carried(kind: Any, given: dict[str, str]) -> None:
    """A value has its defaults, equals its like, takes no change, and comes through copies and JSON as it was."""
    (name, text), value = *given.items(), kind(**given)
    assert value == kind(text) == msgspec.json.decode(msgspec.json.encode(value), type=kind)
    assert value == pickle.loads(pickle.dumps(value)) == copy.deepcopy(value)  # noqa: S301 - our own bytes
    assert len({value, kind(text), replace(value, **{name: "other"})}) == 2
    assert text in repr(value)
    for values, named in (("", {}), ([text], {"nonsense": 1}), ("abcdefgh", {})):
        with pytest.raises(TypeError, match=kind.__name__):
            kind(*values, **named)
    with pytest.raises(FrozenInstanceError):
        setattr(value, name, "other")


def test_hundreds_of_one_kind_have_no_dictionary() -> None:
    """What a snapshot holds for every variable takes no more room than its texts' places."""
    assert not hasattr(VariableOrigin("COMPILED"), "__dict__")
