"""Write the man page and the completions for bash, zsh and fish from the command line parser.

usage: python tools/commandline [--check]

--check reports whether the files are current (exit 1 if not). The same checkout gives the same bytes.
"""

from __future__ import annotations

import os
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, TOP)

import bashscript
import fishscript
import manpage
import zshscript
from parts import commands

PLACES = {
    "docs/man/mycnf.1": manpage.page,
    "advisor/completions/mycnf.bash": bashscript.script,
    "advisor/completions/mycnf.zsh": zshscript.script,
    "advisor/completions/mycnf.fish": fishscript.script,
}


def main() -> int:
    """Write or check the four files."""
    known = commands()
    made = {path: make(known) for path, make in PLACES.items()}
    stale = [path for path, text in made.items() if _read(path) != text]
    if "--check" in sys.argv[1:]:
        for path in stale:
            print(f"{path} is not what the parser says: make docs")
        return int(bool(stale))
    for path in stale:
        os.makedirs(os.path.dirname(os.path.join(TOP, path)), exist_ok=True)
        with open(os.path.join(TOP, path), "w", encoding="utf-8") as file:
            file.write(made[path])
    return 0


def _read(path: str) -> str | None:
    try:
        with open(os.path.join(TOP, path), encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return None


if __name__ == "__main__":
    sys.exit(main())
