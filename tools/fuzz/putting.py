"""Write an input where its reader finds it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random


def put(data: bytes, folder: str, name: str = "input") -> str:
    """Write a file in a scratch folder, and return its path."""
    path = os.path.join(folder, name)
    with open(path, "wb", opener=lambda where, flags: os.open(where, flags, 0o600)) as file:
        file.write(data)
    return path


def dice(chance: random.Random) -> bytes:
    """The random seed from which all packets of a server follow."""
    return str(chance.getrandbits(64)).encode()
