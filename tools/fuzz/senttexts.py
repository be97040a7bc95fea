"""Texts that consultants get sent: how they are made up, and what --from does with them."""

from __future__ import annotations

import os
import random

import seeds
import tabletexts
from mangling import mangle
from putting import dice, put


def text(chance: random.Random) -> bytes:
    """What clients print of a recorded server, whole or mangled."""
    data = tabletexts.text(*seeds.server_tables(chance), chance)
    heads = [data + b"\n", b"+---+\n| Variable_name | Value |\n"]
    return mangle(data, heads, chance) if chance.random() < 0.3 else data


def read_text(data: bytes, folder: str) -> None:
    """Read it as --from does."""
    from advisor.collect.pasted import facts_of_texts

    facts_of_texts([put(data, folder)])


def recorded_dice(chance: random.Random) -> bytes:
    """What decides over a recorded server's text, the recordings loaded: that isn't time of the reader."""
    seeds.recorded()
    return dice(chance)


def read_back(data: bytes, folder: str) -> None:
    """Read a whole text, and hold what was read to what was written."""
    from advisor.collect.pasted import facts_of_texts

    chance = random.Random(data)
    variables, counters = seeds.server_tables(chance)
    if chance.random() < 0.8:  # keys go on for many lines, which few forms keep apart
        variables, counters = ({n: v for n, v in table.items() if "\n" not in v} for table in (variables, counters))
    path = put(tabletexts.whole_text(variables, counters, chance), folder)
    server = facts_of_texts([path]).server
    assert server.variables == variables, "these aren't the variables that were written"
    told = {name.lower(): value for name, value in counters.items()}
    assert server.status == told, "these aren't the counters that were written"


def stalk(chance: random.Random) -> bytes:
    """The files of a pt-stalk directory, packed."""
    return tabletexts.stalked(*seeds.server_tables(chance), chance)


def read_stalk(data: bytes, folder: str) -> None:
    """Read them as a directory."""
    from advisor.collect.pasted import facts_of_texts

    place = os.path.join(folder, "stalk")
    os.makedirs(place, exist_ok=True)
    for name in os.listdir(place):
        os.unlink(os.path.join(place, name))
    for name, said in tabletexts.unpack(data).items():
        put(said, place, name)
    facts_of_texts([place])
