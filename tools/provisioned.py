"""The real servers that `make servers` unpacked, as the sandbox takes them."""

from __future__ import annotations

import os
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [TOP, os.path.join(TOP, "tests", "servers")]

from provisioning.manifest import read
from provisioning.recipes import RECIPES
from provisioning.shelf import shelf

from probes.sandbox import Binary, describe

NAMES = tuple(RECIPES)


def provisioned(name: str) -> Binary | None:
    """The server of that name, None where it was not unpacked; raises SandboxError where it does not run."""
    manifest = read(name)
    if manifest is None:
        return None
    folder = str(shelf() / name)

    def place(path: str | None) -> str | None:
        return None if path is None else os.path.join(folder, path)

    return describe(
        os.path.join(folder, manifest.server),
        name,
        basedir=place(manifest.basedir),
        share=place(manifest.share),
        plugins=place(manifest.plugins),
        print_defaults=place(manifest.print_defaults),
    )
