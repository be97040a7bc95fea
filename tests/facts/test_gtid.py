"""Sets of GTIDs: what servers compute themselves, MariaDB's positions, and texts that are neither."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from live_server import Live
from real_servers import Server

from advisor.core.gtid import (
    GtidSet,
    Position,
    beyond,
    count,
    format_set,
    highest,
    of_server,
    parse_positions,
    parse_set,
    subtract,
    union,
)

UUIDS = [f"{i:08x}-e8dd-11f1-af45-02fc00000001" for i in range(3)]
A, B = UUIDS[:2]


def numbers(of: GtidSet) -> set[tuple[str, int]]:
    """Each transaction of a set, one at a time."""
    return {
        (source, n) for source, intervals in of.items() for first, last in intervals for n in range(first, last + 1)
    }


@st.composite
def sets(draw: st.DrawFn) -> GtidSet:
    """Sets of three servers with numbers up to 30, in any order and overlapping."""
    intervals = st.tuples(st.integers(1, 30), st.integers(0, 5)).map(lambda pair: f"{pair[0]}-{pair[0] + pair[1]}")
    parts = draw(st.lists(st.tuples(st.sampled_from(UUIDS), intervals), max_size=8))
    found = parse_set(",\n".join(f"{uuid}:{interval}" for uuid, interval in parts))
    assert found is not None
    return found


@given(sets(), sets())
def test_arithmetic_is_that_of_sets(one: GtidSet, other: GtidSet) -> None:
    """Intervals are subtracted and united as their single transactions would be, and the result is in normal form."""
    assert numbers(subtract(one, other)) == numbers(one) - numbers(other)
    assert numbers(union(one, other)) == numbers(one) | numbers(other)
    assert count(one) == len(numbers(one))
    assert parse_set(format_set(one)) == one
    assert subtract(one, one) == {}


@pytest.mark.servers("mysql")
def test_servers_agree(server_name: str, server: Server) -> None:
    """GTID_SUBTRACT() of each server returns the same set for a hundred pairs."""
    live, draw = Live(server_name, server(server_name)), random.Random(18)  # noqa: S311 - not for secrets

    def text() -> str:
        parts = [f"{draw.choice(UUIDS)}:{(n := draw.randint(1, 40))}-{n + draw.randint(0, 9)}" for _ in range(6)]
        return ",".join(parts)

    for one, other in [(text(), text()) for _ in range(100)]:
        ((answer,),) = live.run(f"SELECT GTID_SUBTRACT('{one}', '{other}')")
        assert subtract(parse_set(one) or {}, parse_set(other) or {}) == parse_set(answer)


@pytest.mark.servers("mysql-9.7")
def test_tags(server_name: str, server: Server) -> None:
    """A tag applies to the intervals after it, and makes other transactions of the same numbers."""
    one, other = f"{A}:1-5:tag_a:1-3:9", f"{A}:2-5:tag_a:2"
    live = Live(server_name, server(server_name))
    ((answer,),) = live.run(f"SELECT GTID_SUBTRACT('{one}', '{other}')")
    found = subtract(parse_set(one) or {}, parse_set(other) or {})
    assert found == parse_set(answer) == {A: ((1, 1),), f"{A}:tag_a": ((1, 1), (3, 3), (9, 9))}
    assert of_server({**found, B: ((1, 1),)}, A.upper()) == found


def test_texts() -> None:
    """Line breaks, capitals and single numbers are read; what is no set is None, the empty text is the empty set."""
    assert parse_set(f"{A.upper()}:1-3:7,\n {B}:2") == {A: ((1, 3), (7, 7)), B: ((2, 2),)}
    assert parse_set("") == {}
    assert highest({A: ((1, 3), (7, 9))}, A) == 9
    assert highest({}, A) == 0
    for text in ("0-1-5", A, f"{A}:", f"{A}:1-2-3", f"{A}:5x!", "x:1"):
        assert parse_set(text) is None


def test_positions_of_mariadb() -> None:
    """Positions are compared by domain and server; a server that the others lack is beyond them."""
    state = parse_positions("0-1-100, 0-2-7,\n1-3-5")
    assert state == (Position(0, 1, 100), Position(0, 2, 7), Position(1, 3, 5))
    assert list(map(str, beyond(state, parse_positions("0-1-100,1-3-4") or ()))) == ["0-2-7", "1-3-5"]
    assert beyond(state, state) == []
    assert parse_positions("") == ()
    assert parse_positions(f"{A}:1") is None
