"""`mycnf completion`: the script by which a shell completes mycnf's own words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.core import errors
from advisor.report.output import write

if TYPE_CHECKING:
    import argparse

FOLDER = __file__.rpartition("/commands/")[0] + "/completions/"


def run(args: argparse.Namespace) -> int:
    """Print the script of that shell, as it was made from the parser of this version."""
    with open(f"{FOLDER}mycnf.{args.shell}", encoding="utf-8") as file:
        write(file.read(), None)
    return errors.OK
