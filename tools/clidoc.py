"""Write docs/cli.md from the command line parser; --check reports whether it is current (exit 1 if not).

usage: clidoc.py [--check]
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(TOP, "docs", "cli.md")
INTRO = """# The command line

Made from the program's own parser by `make docs`. Names, exit codes and JSON fields change only with a major version.

## Exit codes

| code | means |
|---:|---|
| 0 | nothing at or above `--fail-on` |
| 1 | findings at or above `--fail-on`; differences, for `mycnf diff` and `mycnf lint --diff` |
| 2 | wrong usage, wrong configuration, unreadable input, or an internal error; what could be read is still reported |
| 3 | the server could not be reached, refused the login or did not answer in time, or the connection was lost |
| 130 | interrupted, or the program that read the output ended |

2 takes precedence over 1. The report goes to stdout, everything else to stderr.
"""


def main() -> int:
    """Write or check the page."""
    sys.path.insert(0, TOP)
    from advisor.cli.parser import build_parser

    page = "\n".join([INTRO, *_commands(build_parser())])
    return keep(page, PAGE, "docs/cli.md is not what the parser says: make docs")


def keep(page: str, path: str, stale: str) -> int:
    """Write a page to its path; with --check, print `stale` and return 1 if the file differs."""
    if sys.argv[1:] != ["--check"]:
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)
        return 0
    try:
        with open(path, encoding="utf-8") as file:
            current = file.read() == page
    except FileNotFoundError:
        current = False
    if not current:
        print(stale)
    return int(not current)


def _commands(parser: argparse.ArgumentParser) -> Iterator[str]:
    subcommands = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction))  # noqa: SLF001
    for choice in subcommands._choices_actions:  # noqa: SLF001
        yield from _command(choice.dest, choice.help or "", subcommands.choices[choice.dest])


def _command(name: str, purpose: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    actions = [a for a in parser._actions if a.dest != "help"]  # noqa: SLF001
    operands = [_operand(a) for a in actions if not a.option_strings]
    yield f"## mycnf {name}\n\n{purpose[:1].upper()}{purpose[1:]}.\n"
    yield f"`{' '.join(['mycnf', name, '[OPTIONS]', *operands])}`\n"
    yield "| | |\n|---|---|"
    for action in actions:
        yield f"| `{_spelling(action)}` | {_meaning(action)} |"
    yield ""


def _operand(action: argparse.Action) -> str:
    name = str(action.metavar or action.dest)
    return {"*": f"[{name}…]", "+": f"{name}…", "?": f"[{name}]"}.get(str(action.nargs), name)


def _spelling(action: argparse.Action) -> str:
    if not action.option_strings:
        return str(action.metavar or action.dest)
    takes = "" if action.nargs == 0 else f" {action.metavar or '{' + ','.join(map(str, action.choices or ())) + '}'}"
    return ", ".join(action.option_strings).replace("|", "\\|") + takes.replace("|", "\\|")


def _meaning(action: argparse.Action) -> str:
    return (action.help or "").replace("%%", "%").replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    sys.exit(main())
