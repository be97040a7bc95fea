"""Unpack the real servers that the tests ask, on any Debian-like machine, without installing anything.

    python tests/servers/provision.py [NAME…] [--check] [--require NAME,NAME…]

One line a server: the version found and where, or why it can't be had. They are in
`~/.cache/mycnf/servers`, or where `MYCNF_SERVERS` says. Exit code 1 when one that was named or required is missing.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from provisioning.build import check, provision
from provisioning.parts import check_part, provision_part
from provisioning.recipes import PARTS, RECIPES, UNOBTAINABLE
from provisioning.shelf import ProvisionError, shelf


def main(arguments: list[str] | None = None) -> int:
    """Provision or check the servers that the command line names; returns the exit code."""
    options = _parser().parse_args(arguments)
    required: list[str] = [name for part in options.require for name in part.split(",") if name]
    names: list[str] = options.names or [*RECIPES, *PARTS, *UNOBTAINABLE]
    names += [name for name in required if name not in names]
    unknown = [name for name in names if name not in {*RECIPES, *PARTS, *UNOBTAINABLE}]
    if unknown:
        print(f"provision: no such server: {', '.join(unknown)}; there are {', '.join(RECIPES)}", file=sys.stderr)
        return 2
    missing = {name for name in names if not _report(name, check_only=options.check)}
    if not required:
        required = options.names or (list(RECIPES) if options.check else [])
    lacking = [name for name in required if name in missing]
    if lacking:
        print(f"provision: required but missing: {', '.join(lacking)}", file=sys.stderr)
    return 1 if lacking else 0


def _report(name: str, *, check_only: bool) -> bool:
    try:
        version = _version(name, check_only=check_only)
    except (ProvisionError, OSError) as error:
        print(f"{name:<14} can't be had: {error}", flush=True)
        return False
    print(f"{name:<14} {version} in {shelf() / name}", flush=True)
    return True


def _version(name: str, *, check_only: bool) -> str:
    if name in PARTS:
        return (check_part(name) if check_only else provision_part(name)).version
    return (check(name) if check_only else provision(name)).version


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="provision.py", description="Unpack the real servers that the tests ask.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(RECIPES)}; all by default")
    parser.add_argument("--check", action="store_true", help="unpack nothing, only say what is there")
    parser.add_argument(
        "--require",
        action="append",
        default=[],
        metavar="NAME,…",
        help="exit with 1 unless these are there",
    )
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
