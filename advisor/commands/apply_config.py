"""Merges a configuration file with the command line, which takes precedence."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase

from advisor.config import find_configuration
from advisor.core.errors import MycnfError, print_notice

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable
    from typing import Any

    from advisor.config.read import Configuration
    from advisor.core.model import Finding
    from rules.core import Rule

HOUSE = "HOU"
# Keys of the file that replace a missing flag of the same name.
HOST_KEYS = ("ram", "cpus", "disk")
SHARED_KEYS = ("root", *HOST_KEYS, "baseline", "fail_on")


def find_and_read_configuration(args: argparse.Namespace, folder: str) -> Configuration | None:
    """Return the configuration for files of a directory: that of --config, else the closest; None with --isolated."""
    refuse_contradictions(args)
    if args.isolated:
        return None
    path = args.config or find_configuration(folder)
    if not path:
        return None
    from advisor.config.read import read_configuration

    return read_configuration(path)


def refuse_contradictions(args: argparse.Namespace) -> None:
    """Raise MycnfError if --isolated is combined with an option that it disables."""
    given = next((flag for flag in ("config", "baseline") if getattr(args, flag, None)), None)
    if args.isolated and given:
        raise MycnfError(f"--isolated uses neither a configuration file nor a baseline; omit --{given} or --isolated")


def merge_arguments(args: argparse.Namespace, config: Configuration, *, one_host: bool = True) -> argparse.Namespace:
    """Return the arguments with missing flags filled in from the configuration.

    Each flag overrides the key of its name; --select overrides `ignore` as well, otherwise it would have no effect.
    The keys that describe a host are left out unless the command is about one host.
    """
    given: dict[str, Any] = dict(vars(args))
    for name in SHARED_KEYS:
        if name in given and given[name] is None and (one_host or name not in HOST_KEYS):
            given[name] = getattr(config, name)
    if "select" in given and not given["select"]:
        given["select"] = _list(config.select)
        given["ignore"] = given["ignore"] or _list(config.ignore)
    if "target" in given and not given["target"]:
        given["target"] = _list(config.target)
    return type(args)(**given)


def configured_root(args: argparse.Namespace, config: Configuration) -> str | None:
    """Return the root of --root, else of the configuration, for commands that read option files.

    Raises MycnfError if that of the configuration is no directory: absolute includes would look like missing files.
    """
    if args.root is None and config.root is not None and not os.path.isdir(config.root):
        raise MycnfError(
            f"{config.path}: root: {config.root} is not a directory; name the directory that stands for /, relative to "
            "this file"
        )
    return args.root if args.root is not None else config.root


def configure_reading(args: argparse.Namespace, folder: str) -> None:
    """Set `target`, if the configuration names exactly one, and `root`, for commands that only read files."""
    config = find_and_read_configuration(args, folder)
    if config is None:
        return
    args.root = configured_root(args, config)
    if hasattr(args, "target") and not args.target and len(config.target or ()) == 1:
        (args.target,) = config.target or ()


def warn_unused_house_rules(args: argparse.Namespace, config: Configuration, rules: Iterable[Rule]) -> None:
    """Warn if the configuration's own selection excludes its house rules, which may be a mistake."""
    if config.house is not None and not args.select and not args.ignore and all(r.family != HOUSE for r in rules):
        print_notice(f"{config.path}: its house rules do not run: select and ignore exclude {HOUSE}")


def warn_ended(config: Configuration) -> None:
    """Print a line for each entry of the configuration whose last day is past, so that its findings are reported."""
    for line in config.ended:
        print_notice(line)


def _list(words: tuple[str, ...] | None) -> list[str] | None:
    return None if words is None else list(words)


def drop_ignored(findings: Iterable[Finding], config: Configuration, home: str) -> tuple[Finding, ...]:
    """Return the findings that `per-file-ignores` does not exclude; `home` is the file of one without a location.

    A pattern matches a path relative to the configuration, an absolute path, or a file name.
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
