"""An input where what reads it finds it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random


def put(data: bytes, folder: str, name: str = "input") -> str:
    """Write a file of a folder of ours; its path."""
    path = os.path.join(folder, name)
    with open(path, "wb", opener=lambda where, flags: os.open(where, flags, 0o600)) as file:
        file.write(data)
    return path


def dice(chance: random.Random) -> bytes:
    """What decides over all that a server says: its packets follow from it."""
    return str(chance.getrandbits(64)).encode()
