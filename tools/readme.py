"""Run the commands in README.md and insert their real output; --check reports whether it is current.

usage: readme.py [--check]

A block is a line `<!-- run: COMMAND -->` and the fenced block after it; COMMAND runs in the checkout, 80 columns wide,
and may end in `| head -N`.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(TOP, "README.md")
BLOCK = re.compile(r"(<!-- run: (?P<command>[^\n]*?) -->\n```[a-z]*\n)(?P<shown>.*?)(```\n)", re.DOTALL)


def main() -> int:
    """Rewrite the blocks, or name those that are no longer current."""
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    if sys.argv[1:] == ["--check"]:
        stale = [m["command"] for m in BLOCK.finditer(page) if m["shown"] != _shown_output(m["command"])]
        for command in stale:
            print(f"README.md no longer shows what this prints: {command} (make docs)")
        return int(bool(stale))
    made = BLOCK.sub(
        lambda m: m[1] + _shown_output(m["command"]) + m[4], page
    )  # may fail, so before the page is opened
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(made)
    return 0


def _shown_output(command: str) -> str:
    """The prompt with the command, then its output, stderr first."""
    program, _, lines = command.partition(" | head -")
    words = shlex.split(program)
    if words[0] != "mycnf":
        sys.exit(f"readme: only mycnf's own output is shown, not that of {words[0]}")
    ran = subprocess.run(
        [sys.executable, "-m", "advisor", *words[1:]],
        cwd=TOP,
        env={**os.environ, "COLUMNS": "80", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode not in (0, 1):
        sys.exit(f"readme: {command} ended with {ran.returncode}: {ran.stderr}")
    printed = (ran.stderr + ran.stdout).splitlines(keepends=True)
    return f"$ {command}\n" + "".join(printed[: int(lines) if lines else None])


if __name__ == "__main__":
    sys.exit(main())
