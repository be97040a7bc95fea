"""The structure of the command line for man page and completions, read from the parser."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import NamedTuple

from advisor.catalog.targets import BUILD_SERIES, NAMES, SERIES
from advisor.cli.parser import build_parser
from probes.registry import MODULES
from rules import all_rules

FILES, FOLDERS, ANYTHING = "files", "folders", ""
TARGETS, SIDES = "targets", "targets or files"
RULE, RULES, PROOFS = "rule", "rules", "rule or files"
# The kind of each metavar; lists of words are defined below, and any other metavar is free text.
KINDS = {
    **dict.fromkeys(("FILE", "SNAP", "TAR", "PATH"), FILES),
    "DIR": FOLDERS,
    "T": TARGETS,
    "RULES": RULES,
    "CODE|OPTION": RULE,
    **dict.fromkeys(("A", "B", "PROGRAM"), SIDES),
    "WORD": PROOFS,
}
MANY = (argparse.ZERO_OR_MORE, argparse.ONE_OR_MORE)


class Value(NamedTuple):
    """The value of an option or operand: a kind, or one of `words`; `many` if it may be repeated."""

    name: str
    kind: str
    words: tuple[str, ...] = ()
    many: bool = False


class Option(NamedTuple):
    """An option of a command: all its names, its help, and its value, None if it takes none."""

    flags: tuple[str, ...]
    help: str
    value: Value | None
    repeatable: bool


class Operand(NamedTuple):
    """A positional argument; optional unless `needed`."""

    help: str
    value: Value
    needed: bool


class Command(NamedTuple):
    """A command of mycnf."""

    name: str
    purpose: str
    options: tuple[Option, ...]
    operands: tuple[Operand, ...]


def commands() -> tuple[Command, ...]:
    """Every command, in the order of `mycnf --help`."""
    parser = build_parser()
    (found,) = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]  # noqa: SLF001
    return tuple(_command(c.dest, c.help or "", found.choices[c.dest]) for c in found._choices_actions)  # noqa: SLF001


def description() -> tuple[str, str]:
    """The description of mycnf, and its exit codes, one sentence each."""
    parser = build_parser()
    return str(parser.description), str(parser.epilog)


def targets() -> list[str]:
    """The supported series, as `--target` accepts them: those of the flavours, then those of vendors' builds."""
    known = [(flavour, series) for flavour, series in SERIES.items()]
    known += [(name, BUILD_SERIES[build]) for name, (_, build) in NAMES.items() if build in BUILD_SERIES]
    return [f"{name}-{s[0]}.{s[1]}" for name, series in known for s in sorted(series)]


def rules() -> list[str]:
    """The codes of all rules, then their names."""
    known = all_rules()
    return [*(rule.code for rule in known), *(rule.name for rule in known)]


def families() -> list[str]:
    """The three-letter prefixes of the rule families."""
    return sorted({rule.family for rule in all_rules()})


def _command(name: str, purpose: str, parser: argparse.ArgumentParser) -> Command:
    actions = [a for a in parser._actions if a.help != argparse.SUPPRESS]  # noqa: SLF001
    options = tuple(_option(a) for a in actions if a.option_strings)
    return Command(name, purpose, options, tuple(_operands(actions)))


def _option(action: argparse.Action) -> Option:
    # Actions of mycnf collect values, as argparse's append does.
    repeatable = type(action).__module__ != "argparse" or isinstance(action, argparse._AppendAction)  # noqa: SLF001
    value = None if action.nargs == 0 else _value(action)
    return Option(tuple(action.option_strings), _help_text(action), value, repeatable)


def _operands(actions: list[argparse.Action]) -> Iterator[Operand]:
    for action in actions:
        if not action.option_strings:
            yield Operand(_help_text(action), _value(action), action.nargs in (None, argparse.ONE_OR_MORE))


def _value(action: argparse.Action) -> Value:
    name = str(action.metavar or action.dest)
    words = tuple(map(str, action.choices or ()))
    if (name, action.dest) == ("NAME", "name"):
        words = (*MODULES, "prove", "results")
    return Value(name, ANYTHING if words else KINDS.get(name, ANYTHING), words, action.nargs in MANY)


def _help_text(action: argparse.Action) -> str:
    return (action.help or "").replace("%%", "%")
