"""`mycnf suggest`: an option file for this host or a described one, or changes to an existing file."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from advisor.catalog import load
from advisor.catalog.targets import newest_target, parse_target, stand_in_note
from advisor.commands.connection import declared_host, is_declared
from advisor.commands.read_files import platform_of, read_carrier, read_resolved
from advisor.core import errors
from advisor.core.errors import MycnfError, print_notice
from advisor.core.model import format_size
from advisor.report import suggested_file
from advisor.report.formats import by_hand
from advisor.report.output import write
from advisor.suggest import amend_file, suggest
from advisor.verdict import judge_file

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from advisor.config.read import Configuration
    from advisor.core.model import Target
    from advisor.facts import Host
    from advisor.suggest import Suggestion

USUAL_DATA = "/var/lib/mysql"


def run(args: argparse.Namespace) -> int:
    """Print the file, or the changes as a diff; the named file is never written."""
    if args.write_diff and args.format != "text":
        kind = "JSON" if args.format == "json" else args.format
        raise MycnfError(f"--write-diff prints a diff, not {kind}. Leave out --write-diff or --format {args.format}")
    config = _configure(args)
    target = _target(args)
    if sentence := stand_in_note(target):
        print_notice(sentence)
    host = declared_host(args) if is_declared(args) else _this_host()
    if args.write_diff:
        return _print_diff(args.write_diff, target, host, args, config)
    suggestion = suggest(target, host, args.workload)
    _warn_of_house_rules(suggestion, config)
    own: dict[str, Callable[[], str]] = {
        "text": lambda: suggested_file.option_file(suggestion, _describe_host(host)),
        "json": lambda: suggested_file.as_json(suggestion),
    }
    if args.format not in own:
        from advisor.report.suggested_file import WRITERS

        own |= {name: partial(writer, suggestion, _describe_host(host)) for name, writer in WRITERS.items()}
    write(by_hand("suggest", args.format, own), args.output)
    if args.format == "aws" and (names := suggested_file.cluster_parameters(suggestion)):
        print_notice(
            f"omitted, because they belong to the DB cluster parameter group: {', '.join(names)}; --format "
            "cloudformation and terraform print both groups"
        )
    return errors.OK


def _configure(args: argparse.Namespace) -> Configuration | None:
    """Set the target and the host that the command line leaves out from the closest configuration, and return it.

    A notice says so for a host, since without it this one would be read.
    """
    from advisor.commands.apply_config import HOST_KEYS, find_and_read_configuration
    from advisor.commands.read_files import folder_of
    from advisor.config import OWN_FILE

    config = find_and_read_configuration(args, folder_of(args.write_diff or OWN_FILE))
    if config is None:
        return None
    if not args.target and len(config.target or ()) == 1:
        (args.target,) = config.target or ()
    if not is_declared(args):
        described = {name: value for name in HOST_KEYS if (value := getattr(config, name)) is not None}
        for name, value in described.items():
            setattr(args, name, value)
        if described:
            words = ", ".join(f"{name} = {value}" for name, value in described.items())
            print_notice(f"for the host of {config.path}: {words}; describe another with --ram, --cpus, --disk")
    return config


def _warn_of_house_rules(suggestion: Suggestion, config: Configuration | None) -> None:
    """Print a line for each suggested value that the house rules of the configuration forbid."""
    if config is None or config.house is None:
        return
    from rules.policy.house_rule import find_option, house_rules_by_option, meets_rules, root_name

    catalog = load(suggestion.target)
    ruled = house_rules_by_option(config.house, catalog)
    for line in suggestion.choices:
        option = find_option(line.option, catalog)
        rules = ruled[root_name(option)].rules if option is not None and root_name(option) in ruled else ()
        if option is not None and rules and not meets_rules(rules, option, line.value, catalog):
            wanted = "; ".join(rule.requirement() for rule in rules)
            what = f"house rule for {line.option}: {wanted}"
            print_notice(f"{config.path}: {what}; {line.value} is suggested for the host")


def _target(args: argparse.Namespace) -> Target:
    if args.target:
        return parse_target(args.target)
    if args.write_diff:
        from advisor.commands.guess_target import assume_target

        return assume_target([args.write_diff], None, {})
    target = newest_target("mysql")
    print_notice(f"assuming {target.label}; name another with --target")
    return target


def _this_host() -> Host:
    """Return this host, with the disks of the default data directory if it exists."""
    from advisor.collect.host import read_host
    from advisor.collect.host.host import open_root

    return read_host(open_root(), datadir=USUAL_DATA if os.path.isdir(USUAL_DATA) else os.sep, session=False)


def _describe_host(host: Host) -> str:
    size, cpus = host.usable_memory, host.usable_cpus
    parts = [f"{format_size(size)} of memory"] if size else []
    parts += [f"{cpus:g} processors"] if cpus else []
    kinds = dict.fromkeys(disk.model or disk.name for disk in (host.storage.disks if host.storage else ()))
    return ", ".join([*parts, *kinds]) or "an unknown host"


def _print_diff(path: str, target: Target, host: Host, args: argparse.Namespace, config: Configuration | None) -> int:
    """Print the changes to a file as a diff for `patch`."""
    from advisor.fixing.diff import unified_diff
    from advisor.fixing.texts import FileChange
    from advisor.optionfile import render

    if read_carrier(path, {}) is not None:
        raise MycnfError(f"{path}: --write-diff works only with option files; omit it, and choose a --format")
    resolved = read_resolved([path], target, None, {})
    target = target._replace(platform=target.platform or platform_of(resolved))
    before = next(render(file) for file in resolved.files if file.path == path)
    verdict = judge_file(resolved, load(target))
    suggestion = suggest(target, host, args.workload, verdict)
    _warn_of_house_rules(suggestion, config)
    amended = amend_file(path, before, verdict, suggestion.choices, suggested_file.remarks)
    for sentence in (*suggestion.omitted, *amended.omitted):
        print_notice(sentence)
    if amended.text == before:
        print_notice(f"{path} has all suggested lines already")
    changes = [FileChange(path, before, amended.text, ())] if amended.text != before else []
    write(unified_diff(changes).decode("utf-8", "surrogateescape"), args.output)
    return errors.OK
