"""Words of the commands that are about many servers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.arguments import isolated, report, selecting, window

if TYPE_CHECKING:
    import argparse


def fleet(p: argparse.ArgumentParser) -> None:
    """Words of `mycnf fleet`."""
    p.add_argument(
        "-i",
        "--inventory",
        action="append",
        default=[],
        metavar="FILE",
        help="ansible's inventory: a file, a directory or host,host (repeatable; default: that of ansible.cfg)",
    )
    p.add_argument("-l", "--limit", metavar="PATTERN", help="only these hosts and groups, in ansible's own words")
    p.add_argument("-f", "--forks", type=int, metavar="N", help="hosts at a time (default: as ansible is configured)")
    p.add_argument(
        "--timeout", type=float, default=60.0, metavar="SECONDS", help="the time that each host has (default: 60)"
    )
    p.add_argument("--dir", metavar="DIR", help="the run's directory (default: a new one below ~/.local/state/mycnf)")
    p.add_argument("--resume", action="store_true", help="go on with the run in --dir: ask whom it lacks")
    p.add_argument("--from", dest="kept", metavar="DIR", help="report on a run that is kept there, and ask nobody")
    p.add_argument("--vault-id", action="append", default=[], metavar="ID", help="passed on to ansible (repeatable)")
    p.add_argument(
        "--vault-password-file", action="append", default=[], metavar="FILE", help="passed on to ansible (repeatable)"
    )
    p.add_argument("--ask-vault-password", action="store_true", help="have ansible ask for the vault's password")
    window(p)
    selecting(p, fail_on="error")
    isolated(p)
    report(p, "fleet")
