"""Texts for --from: how they are generated, and what is done with them."""

from __future__ import annotations

import os
import random

import seeds
import tabletexts
from mangling import mangle
from putting import dice, put


def text(chance: random.Random) -> bytes:
    """A client's output for a recorded server, intact or mangled."""
    data = tabletexts.text(*seeds.server_tables(chance), chance)
    heads = [data + b"\n", b"+---+\n| Variable_name | Value |\n"]
    return mangle(data, heads, chance) if chance.random() < 0.3 else data


def read_text(data: bytes, folder: str) -> None:
    """Read the text as --from does."""
    from advisor.collect.pasted import facts_of_texts

    facts_of_texts([put(data, folder)])


def recorded_dice(chance: random.Random) -> bytes:
    """A random seed for a recorded server's text.

    Also loads the recordings, so that loading is not counted as the reader's time.
    """
    seeds.recorded_snapshots()
    return dice(chance)


def read_back(data: bytes, folder: str) -> None:
    """Read an intact text, and compare the result with what was written."""
    from advisor.collect.pasted import facts_of_texts

    chance = random.Random(data)
    variables, counters = seeds.server_tables(chance)
    if chance.random() < 0.8:  # multi-line keys, which few formats support
        variables, counters = ({n: v for n, v in table.items() if "\n" not in v} for table in (variables, counters))
    path = put(tabletexts.whole_text(variables, counters, chance), folder)
    server = facts_of_texts([path]).server
    assert server.variables == variables, "these aren't the variables that were written"
    status = {name.lower(): value for name, value in counters.items()}
    assert server.status == status, "these aren't the counters that were written"


def stalk(chance: random.Random) -> bytes:
    """The files of a pt-stalk directory, packed."""
    return tabletexts.stalk_files(*seeds.server_tables(chance), chance)


def read_stalk(data: bytes, folder: str) -> None:
    """Read the files as a directory."""
    from advisor.collect.pasted import facts_of_texts

    place = os.path.join(folder, "stalk")
    os.makedirs(place, exist_ok=True)
    for name in os.listdir(place):
        os.unlink(os.path.join(place, name))
    for name, text in tabletexts.unpack(data).items():
        put(text, place, name)
    facts_of_texts([place])
