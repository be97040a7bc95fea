"""Put what a configuration file says under what the command line says."""

from __future__ import annotations

import argparse
import os
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from advisor.config import find_configuration
from advisor.core.console import print_notice
from advisor.core.errors import MycnfError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.config.read import Configuration
    from advisor.core.model import Finding
    from rules.core.rule import Rule

HOUSE = "HOU"
# Keys of the file that stand in for a flag of the same name where that wasn't given.
SHARED_KEYS = ("root", "ram", "cpus", "disk", "baseline", "fail_on")


def find_and_read_configuration(args: argparse.Namespace, folder: str) -> Configuration | None:
    """The configuration for files of a folder: the one that --config names, else the closest; none with --isolated."""
    refuse_contradictions(args)
    if args.isolated:
        return None
    path = args.config or find_configuration(folder)
    if not path:
        return None
    from advisor.config.read import read_configuration

    return read_configuration(path)


def refuse_contradictions(args: argparse.Namespace) -> None:
    """Raise MycnfError where --isolated is given together with what it leaves out."""
    given = next((flag for flag in ("config", "baseline") if getattr(args, flag, None)), None)
    if args.isolated and given:
        raise MycnfError(f"--isolated uses neither configuration file nor baseline; leave out --{given} or --isolated")


def merge_arguments(args: argparse.Namespace, config: Configuration) -> argparse.Namespace:
    """The arguments with the configuration in the place of flags that were not given.

    Each flag replaces the key of its name; --select replaces `ignore` as well, or it could not win.
    """
    given: dict[str, Any] = dict(vars(args))
    for name in SHARED_KEYS:
        if name in given and given[name] is None:
            given[name] = getattr(config, name)
    if "select" in given and not given["select"]:
        given["select"] = _list(config.select)
        given["ignore"] = given["ignore"] or _list(config.ignore)
    if "target" in given and not given["target"]:
        given["target"] = _list(config.target)
    return argparse.Namespace(**given)


def configure_reading(args: argparse.Namespace, folder: str) -> None:
    """Fill in `target`, where the configuration names one alone, and `root`, for commands that only read files."""
    config = find_and_read_configuration(args, folder)
    if config is None:
        return
    args.root = args.root or config.root
    if "target" in args and not args.target and len(config.target or ()) == 1:
        (args.target,) = config.target or ()


def warn_unused_house_rules(args: argparse.Namespace, config: Configuration, rules: Iterable[Rule]) -> None:
    """Say that house rules aren't asked where the configuration itself leaves them out, as a slip of the pen may."""
    if config.house is not None and not args.select and not args.ignore and all(r.family != HOUSE for r in rules):
        print_notice(f"{config.path}: its house rules do not run: select and ignore leave {HOUSE} out")


def _list(words: tuple[str, ...] | None) -> list[str] | None:
    return None if words is None else list(words)


def drop_ignored(findings: Iterable[Finding], config: Configuration, home: str) -> tuple[Finding, ...]:
    """The findings that `per-file-ignores` leaves; `home` is the file of one without a place.

    A pattern fits a path relative to the configuration, a whole path, or a file's name alone.
    """
    patterns = [(pattern, _codes(words)) for pattern, words in config.per_file]
    return tuple(f for f in findings if not _is_ignored(f, patterns, config.folder, home))


def _is_ignored(finding: Finding, patterns: list[tuple[str, frozenset[str]]], folder: str, home: str) -> bool:
    path = os.path.abspath(finding.location.path if finding.location else home)
    names = (os.path.relpath(path, folder), path, os.path.basename(path))
    return any(
        finding.code in codes and any(fnmatchcase(name, pattern) for name in names) for pattern, codes in patterns
    )


def _codes(words: tuple[str, ...]) -> frozenset[str]:
    from rules import all_rules

    wanted = {word.lower() for word in words}
    return frozenset(r.code for r in all_rules() if wanted & {r.code.lower(), r.name, r.family.lower()})
