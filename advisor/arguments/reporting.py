"""Words of the command that makes reports of snapshots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.arguments import isolated, machine, reports, selecting

if TYPE_CHECKING:
    import argparse


def report(p: argparse.ArgumentParser) -> None:
    """Words of `mycnf report`."""
    p.add_argument(
        "snapshots", nargs="+", metavar="SNAP", help="a snapshot, or a directory of them (*.json, at any depth)"
    )
    selecting(p, fail_on="error")
    isolated(p)
    p.add_argument("--baseline", metavar="FILE", help="leave out the findings that this baseline knows")
    p.add_argument(
        "--jobs", type=int, metavar="N", help="processes that judge many snapshots (default: one a processor)"
    )
    reports(p, "report")
    machine(p)
