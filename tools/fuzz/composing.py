"""Generate option files with up to 40 settings; the same seed gives the same files."""

from __future__ import annotations

import random
from typing import NamedTuple

from material import Class, classes
from spelling import PLAIN, spell
from vocabulary import Entry

MOST = 40
ELSEWHERE = 0.01  # share of lines in a separate group, which the server may or may not read
QUOTED = 0.7  # share of values with a space
# The number of lines per deck in a file: few from cells that servers mostly reject, because each rejection costs a
# query.
SLOTS = {"known": 31, "harsh": 4, "hidden": 3, "stranger": 1, "odd name": 1}
SERVER_GROUPS = ("mysqld", "mysqld", "mysqld", "mysqld", "server")
OTHER_GROUPS = (
    *("mysqld-5.7", "mysqld-8.0", "mysqld-9.7", "mysqld-8.4", "mariadb", "mariadbd", "mariadb-10.11", "mariadb-11.4"),
    *("mariadbd-11.8", "mariadb-11", "client-server", "galera", "mysql_cluster", "client", "mysqldump", "MYSQLD"),
)
STYLES = ("{}={}", "{}={}", "{} = {}", "{}= {}", "\t{} =\t{}", "{}={} ", "{}={} # c")
Cell = tuple[Entry, str, Class]


class Setting(NamedTuple):
    """One option line: its text, the cell of the grid that it fills, and whether it is a known trap."""

    line: str
    option: str
    kind: str
    value_class: str
    form: str
    trap: bool


def decks(entries: list[Entry], seed: str) -> dict[str, list[Cell]]:
    """All cells (an option with a class of values) in random order, by the usual reaction of servers."""
    by_slot: dict[str, list[Cell]] = {slot: [] for slot in SLOTS}
    for entry in entries:
        for name, made in classes(entry).items():
            place = entry.where if entry.where in SLOTS else "stranger"
            by_slot["harsh" if made.harsh and place == "known" else place].append((entry, name, made))
    by_slot["odd name"] = list(by_slot["known"])
    for slot, cells in by_slot.items():
        random.Random(f"{seed} {slot}").shuffle(cells)
    return by_slot


def compose(dealt: dict[str, list[Cell]], seed: str, number: int) -> list[Setting | str]:
    """The group headers and settings of one file: its numbered share of each deck."""
    chance = random.Random(f"{seed} {number}")
    settings = [
        one_setting(cells[(number * SLOTS[slot] + at) % len(cells)], slot, chance)
        for slot, cells in dealt.items()
        for at in range(SLOTS[slot] if cells else 0)
    ]
    chance.shuffle(settings)
    lines: list[Setting | str] = [f"[{chance.choice(SERVER_GROUPS)}]"]
    for setting in settings[: chance.choice([MOST, MOST, MOST, 30, 10])]:
        elsewhere = chance.random() < ELSEWHERE
        lines += [f"[{chance.choice(OTHER_GROUPS)}]", setting] if elsewhere else [setting]
        lines += [f"[{chance.choice(SERVER_GROUPS)}]"] if elsewhere else []
    return lines


def one_setting(cell: Cell, slot: str, chance: random.Random) -> Setting:
    """A line for a cell, in one of the notations that its deck allows."""
    entry, name, made = cell
    form, written = spell(entry, chance, odd=slot == "odd name")
    value = made.make(entry, chance)
    trap = made.trap or form not in PLAIN or entry.where != "known" or entry.alias
    return Setting(_line(written, value, chance), entry.name, entry.kind, name, form, trap)


def _line(name: str, value: str | None, chance: random.Random) -> str:
    if value is None:
        return chance.choice([name, name, f"  {name}  ", f"{name} # why"])
    if " " in value and value[0] not in "\"'" and chance.random() < QUOTED:
        value = f'"{value}"'
    return chance.choice(STYLES).format(name, value)
