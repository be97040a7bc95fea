"""`mycnf completion`: prints the completion script of a shell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.core import errors
from advisor.report.output import write

if TYPE_CHECKING:
    import argparse

FOLDER = __file__.rpartition("/commands/")[0] + "/completions/"


def run(args: argparse.Namespace) -> int:
    """Print the script of that shell, which is generated from this version's parser."""
    with open(f"{FOLDER}mycnf.{args.shell}", encoding="utf-8") as file:
        write(file.read(), None)
    return errors.OK
