"""Values that no server has, bytes that are others, and conversations that end anywhere."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from hostile_server import Cut, Mischief

from tests.hostile.framing import Packets, bent, sized, values

# Numbers that are none, or that no server has; digits of other scripts, which Python takes for digits.
NUMBERS = [
    *("9" * 5000, "9" * 4301, "-" + "9" * 30, "9" * 20, "18446744073709551616", "1" * 400 + ".5", "0." + "3" * 5000),
    *("1e308", "1e400", "nan", "-inf", "Infinity", "-0", "-1", "+5", " 5", "5 ", "1_000", "0x10", "5e", ".", "-"),
    *("\u00b2", "\u0663\u0663", "\uff15", "\u2155", "", "0", "5\x00", "1,5", "9" * 308 + "P", "1e"),
]
# Texts that act where they are shown: on terminals, in markup, in paths.
TEXTS = [
    "\x1b[2J\x1b]0;title\x07\x9b31m",
    "[red]bold[/red] [/] [@click=app.quit]here[/]",
    "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>",
    "| a | b |\n|--|--|\n# heading\n![x](http://y)\n```",
    "\u202eevil\u2066\u200b\ufeff",
    "/etc/\0passwd",
    "../../../../etc/shadow",
    "::error::x%0A::add-mask::y",
    "x" * 70_000,
    "line\r\nother line\x0b\x0c\x85\u2028",
    "{0} %s %(a)s ${jndi:ldap://x} $(id) `id`",
    "\ud800\udfff",
    ",".join(["a=b"] * 3000),
    "/" * 5000,
]


def bad_values(pick: Callable[[], str], share: float = 1.0, seed: int = 0) -> Mischief:
    """Every value but the first of its row, which is its name, becomes one of these; or only a share of them."""
    chance = random.Random(seed)  # noqa: S311 - hostile, but the same each time

    def change(row: bytes) -> bytes:
        first, *rest = values(row)
        made = [sized(pick().encode("utf-8", "surrogatepass")) if chance.random() < share else value for value in rest]
        return b"".join([first, *made])

    return bent(change)


def mangled(seed: int) -> Mischief:
    """A few bytes of every answer are others; lengths and numbers of packets among them."""
    chance = random.Random(seed)  # noqa: S311 - hostile, but the same each time

    def change(_: str, packets: Packets) -> Iterator[bytes]:
        whole = bytearray(b"".join(packets))
        for _turn in range(chance.choice((0, 0, 0, 1, 1, 3))):
            whole[chance.randrange(len(whole))] = chance.choice(
                (0, 1, 0x7F, 0xFB, 0xFC, 0xFE, 0xFF, chance.randrange(256))
            )
        yield bytes(whole)
        if chance.random() < 0.05:
            raise Cut

    return change


class CutAfter:
    """The connection is closed when so many bytes of the whole conversation were sent."""

    def __init__(self, left: int) -> None:
        self._left = left

    def __call__(self, _: str, packets: Packets) -> Iterator[bytes]:
        for whole in packets:
            yield whole[: self._left]
            self._left -= len(whole)
            if self._left <= 0:
                raise Cut
