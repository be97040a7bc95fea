"""Option files made up over all options and classes of values, put to each real server and to the verdict.

MYCNF_FUZZ_EXAMPLES says how many files each server is asked about (3 without it). `make fuzz` asks about any number.
"""

from __future__ import annotations

import os
import random

import pytest
from comparing import compare
from composing import MOST, SLOTS, Cell, Setting, decks, one_setting
from hypothesis import given, settings
from hypothesis import strategies as st
from truth import truth
from vocabulary import vocabulary

from probes.sandbox import Binary

EXAMPLES = int(os.environ.get("MYCNF_FUZZ_EXAMPLES", "3"))
BAD = 0.01  # a thousandth is the aim over many thousand settings; with a hundred or two that is not measurable


@pytest.fixture(scope="session")
def cells(binary: Binary) -> dict[str, list[Cell]]:
    """Every option of the server with every class of values, by its usual effect on servers."""
    return decks(vocabulary(binary), "hypothesis")


def test_made_up_files(binary: Binary, cells: dict[str, list[Cell]]) -> None:
    """Each line of a made-up file is refused, adjusted and printed by the server as the verdict predicts."""
    asked: list[Setting] = []
    wrong: list[str] = []

    @settings(max_examples=EXAMPLES)
    @given(made=st.lists(_settings(cells), min_size=MOST // 2, max_size=MOST))
    def ask(made: list[Setting]) -> None:
        lines = ["[mysqld]", *(setting.line for setting in made)]
        answer = truth(binary, lines)
        if answer.last is None:  # it has refused more lines than it is asked for, or didn't end on a busy host
            return
        asked.extend(made)
        wrong.extend(f"{lines[d.at]!r}: {d.what}: {d.detail}" for d in compare(lines, answer, binary.target))

    ask()
    assert asked, "the server never came to an end"
    assert len(wrong) <= max(1, BAD * len(asked)), "\n".join(wrong)


def _settings(cells: dict[str, list[Cell]]) -> st.SearchStrategy[Setting]:
    """Lines of all kinds, in the shares that a composed file has."""
    slots = [slot for slot, count in SLOTS.items() for _ in range(count if cells[slot] else 0)]
    draw = st.sampled_from(slots).flatmap(lambda slot: st.tuples(st.just(slot), st.sampled_from(cells[slot])))
    return st.builds(
        lambda drawn, seed: one_setting(drawn[1], drawn[0], random.Random(seed)),  # noqa: S311 - no secrets here
        draw,
        st.integers(0, 1 << 32),
    )


@pytest.mark.servers("mysql-5.7", "mariadb-10.11")
def test_the_settings_are_spread(cells: dict[str, list[Cell]]) -> None:
    """The decks hold every option of the server many times over, and the known traps make up a third of a file."""
    options = {entry.name for entry, _, _ in cells["known"]}
    assert len(options) > 400
    assert len(cells["known"]) + len(cells["harsh"]) > 8 * len(options)
    chance = random.Random(1)  # noqa: S311
    drawn = [one_setting(cells["known"][n], "known", chance) for n in range(1000)]
    assert sum(setting.trap for setting in drawn) > 300
