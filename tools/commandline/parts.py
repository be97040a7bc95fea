"""The command line in parts that pages and shells can be told of, read from the program's own parser."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import NamedTuple

from advisor.catalog.targets import SERIES
from advisor.cli.parser import build_parser
from probes.registry import MODULES
from rules import all_rules

FILES, FOLDERS, ANYTHING = "files", "folders", ""
TARGETS, SIDES = "targets", "targets or files"
RULE, RULES, PROOFS = "rule", "rules", "rule or files"
# What stands behind each name for a value; words with a list of their own are below, any other is anything.
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
    """What an option or operand takes: a kind, or `words` where it is one of a few; `many` where it is several."""

    name: str
    kind: str
    words: tuple[str, ...] = ()
    many: bool = False


class Option(NamedTuple):
    """An option of a command: all its spellings, what it does, and what it takes, None where it takes nothing."""

    flags: tuple[str, ...]
    help: str
    value: Value | None
    repeatable: bool


class Operand(NamedTuple):
    """A word that is no option; it may be left out where it is not `needed`."""

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
    """What mycnf is for, and its exit codes, each as one sentence."""
    parser = build_parser()
    return str(parser.description), str(parser.epilog)


def targets() -> list[str]:
    """The supported series as `--target` takes them."""
    return [f"{flavour}-{s[0]}.{s[1]}" for flavour, series in SERIES.items() for s in sorted(series)]


def rules() -> list[str]:
    """The codes of all rules, then their names."""
    known = all_rules()
    return [*(rule.code for rule in known), *(rule.name for rule in known)]


def families() -> list[str]:
    """The three letters of each family of rules."""
    return sorted({rule.family for rule in all_rules()})


def _command(name: str, purpose: str, parser: argparse.ArgumentParser) -> Command:
    actions = [a for a in parser._actions if a.help != argparse.SUPPRESS]  # noqa: SLF001
    options = tuple(_option(a) for a in actions if a.option_strings)
    return Command(name, purpose, options, tuple(_operands(actions)))


def _option(action: argparse.Action) -> Option:
    # An action of our own keeps what came before it, as append does.
    repeatable = type(action).__module__ != "argparse" or isinstance(action, argparse._AppendAction)  # noqa: SLF001
    value = None if action.nargs == 0 else _value(action)
    return Option(tuple(action.option_strings), _said(action), value, repeatable)


def _operands(actions: list[argparse.Action]) -> Iterator[Operand]:
    for action in actions:
        if not action.option_strings:
            yield Operand(_said(action), _value(action), action.nargs in (None, argparse.ONE_OR_MORE))


def _value(action: argparse.Action) -> Value:
    name = str(action.metavar or action.dest)
    words = tuple(map(str, action.choices or ()))
    if (name, action.dest) == ("NAME", "name"):
        words = (*MODULES, "prove", "results")
    return Value(name, ANYTHING if words else KINDS.get(name, ANYTHING), words, action.nargs in MANY)


def _said(action: argparse.Action) -> str:
    return (action.help or "").replace("%%", "%")
