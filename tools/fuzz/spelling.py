"""Notations of an option's name; all but the plain ones are known traps."""

from __future__ import annotations

import random
from collections.abc import Callable

from vocabulary import Entry


def dash_name(name: str) -> str:
    """The name with dashes instead of underscores."""
    return name.replace("_", "-")


def _mix_dashes(name: str, chance: random.Random) -> str:
    return "".join(chance.choice("-_") if c == "_" else c for c in name)


def _recase_name(name: str, chance: random.Random) -> str:
    return chance.choice([name.upper(), name.title(), name.replace("_", "-").title()])


def _abbreviate(name: str, chance: random.Random) -> str:
    return name[: chance.randrange(min(3, len(name)), max(4, len(name)))]


def _slip_letter(name: str, chance: random.Random) -> str:
    at = chance.randrange(len(name))
    return chance.choice([name[:at] + name[at + 1 :], name[:at] + "x" + name[at:], name + "s"]) or "x"


def _add_prefix(*prefixes: str) -> Callable[[str, random.Random], str]:
    return lambda name, chance: chance.choice(prefixes) + chance.choice([name, dash_name(name)])


Spell = Callable[[str, random.Random], str]
GENTLE: dict[str, tuple[int, Spell]] = {
    "plain": (60, lambda name, _: name),
    "dashes": (16, lambda name, _: dash_name(name)),
    "mixed": (3, _mix_dashes),
    "loose": (8, _add_prefix("loose_", "loose-", "loose-loose-")),
    "skip": (4, _add_prefix("skip_", "skip-")),
    "disable": (3, _add_prefix("disable_", "disable-")),
    "enable": (3, _add_prefix("enable_", "enable-")),
}
# Servers reject most of these.
ODD: dict[str, tuple[int, Spell]] = {
    "capitals": (2, _recase_name),
    "maximum": (2, _add_prefix("maximum_", "maximum-")),
    "two prefixes": (
        2,
        _add_prefix("loose-skip-", "skip-loose-", "skip-skip-", "loose_enable_", "loose-maximum-", "autoset_"),
    ),
    "abbreviation": (4, _abbreviate),
    "misspelt": (1, _slip_letter),
    "dotted": (1, lambda name, chance: chance.choice(["hot.", "a.b.", "."]) + name),
}
PLAIN = ("plain", "dashes")
# With loose_, MariaDB reads an invalid number as 0, and with 0 these crash it.
NEVER_LOOSE = ("key_cache_block_size", "table_cache", "table_open_cache", "table_open_cache_instances")


def spell(entry: Entry, chance: random.Random, *, odd: bool) -> tuple[str, str]:
    """A notation and the name written in it."""
    forms = ODD if odd else GENTLE
    form = chance.choices(list(forms), [weight for weight, _ in forms.values()])[0]
    if entry.name in NEVER_LOOSE and form in ("loose", "two prefixes"):
        form, forms = "plain", GENTLE
    return form, forms[form][1](entry.name, chance)
