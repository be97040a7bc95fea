"""A snapshot has room for all of a server's facts, and for some of those of a server that answers without end."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from mycnf_command import CHECKOUT

from advisor.facts import Facts
from advisor.facts.snapshot import (
    EMPTY,
    MAX_FACTS_BYTES,
    MAX_JSON_BYTES,
    encode_snapshot,
    fit_snapshot,
    json_size,
    load,
    part_sizes,
    save,
    to_plain,
)

SNAPSHOTS = sorted((CHECKOUT / "tests" / "snapshots").glob("*.json"))
ODD = "\udcff\x01é\U0001f600"  # a byte that is no UTF-8, a control, and characters of two and four bytes


@pytest.fixture
def facts() -> Facts:
    """A real server's."""
    return load(str(SNAPSHOTS[-1]))


def with_variables(facts: Facts, **variables: str) -> Facts:
    """The facts of the same server, with variables that it doesn't have."""
    return replace(facts, server=replace(facts.server, variables=facts.server.variables | variables))


def test_the_weight_is_that_of_the_file(facts: Facts) -> None:
    """The size of a snapshot is predicted: never too little, and not much too much."""
    for one in (*(load(str(path)) for path in SNAPSHOTS), with_variables(facts, odd=ODD * 10_000)):
        assert len(encode_snapshot(one)) <= json_size(to_plain(one)) <= 1.05 * len(encode_snapshot(one))


def test_what_fits_stays(facts: Facts) -> None:
    """Of a server that is none of these nothing is left out."""
    assert fit_snapshot(facts) is facts


def test_the_heaviest_part_is_left_out(facts: Facts, tmp_path: Path) -> None:
    """It is reported as one that couldn't be read, the others stay, and the file is read as it was written."""
    found = fit_snapshot(with_variables(facts, odd=ODD * (MAX_FACTS_BYTES // 20)))
    assert found.server.variables == {}
    assert "a snapshot has at most 7 MB and this alone would take" in found.reason_missing("server.variables")
    assert found.server.status == facts.server.status
    save(found, str(tmp_path / "snap"))
    assert load(str(tmp_path / "snap")) == found


@pytest.mark.parametrize("part", EMPTY)
def test_any_part_may_be_left_out(facts: Facts, part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its heaviest part facts are still facts, and smaller."""
    monkeypatch.setattr("advisor.facts.snapshot.EMPTY", {part: EMPTY[part]})
    monkeypatch.setattr("advisor.facts.snapshot.MAX_FACTS_BYTES", 0)
    found = fit_snapshot(facts)
    assert [one.part for one in found.unavailable if one.reason.startswith("left out")] == [part]
    assert len(encode_snapshot(found)) < MAX_JSON_BYTES


def test_every_part_of_any_length_is_among_them(facts: Facts) -> None:
    """Without all of them a few thousand bytes are left."""
    whole = to_plain(facts)
    assert json_size(whole) - sum(part_sizes(whole).values()) < 5_000
