"""Words of the command that prints completions for shells."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

SHELLS = ("bash", "zsh", "fish")


def completion(p: argparse.ArgumentParser) -> None:
    """Words of `mycnf completion`."""
    p.add_argument("shell", metavar="SHELL", choices=SHELLS, help="bash, zsh or fish")
