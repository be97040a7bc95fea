"""Fuzz: settings for real servers, odd bytes for my_print_defaults, mangled input for lint and all readers."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [TOP, os.path.join(TOP, "tests", "plugins")]

import mangling
import reading
import telling
import trying
from dealing import FuzzRequest, ask_servers
from outside import READERS
from real_servers import lacking, names_of

SLOW = 1.0  # maximum seconds of CPU time for lint on one file


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--what", choices=("settings", "reader", "mangled", "outside"), default="settings")
    parser.add_argument("--settings", type=float, default=float("inf"), help="stop after so many")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--files", type=int, default=100_000, help="how many for the reader, mangled, or outside")
    parser.add_argument("--only", action="append", default=[], choices=READERS, help="outside: this reader")
    parser.add_argument("--keep", default=os.path.join(TOP, "build", "fuzz"), help="outside: where what breaks is kept")
    parser.add_argument("--seed", default=str(time.time_ns()), help="the same seed gives the same files")
    parser.add_argument("--server", action="append", default=[], help="a server or a flavour; all of them without")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--cases", help="folder to save disagreements in, cut down to the lines that matter")
    return parser.parse_args()


def main() -> int:
    """Run what was selected; 1 if anything disagrees."""
    given = _arguments()
    print(f"seed {given.seed}", flush=True)
    if given.what == "reader":
        return _read(given.files, given.seed)
    if given.what == "mangled":
        return _mangle(given.files, given.seed)
    if given.what == "outside":
        asked = trying.shares(given.files, given.only)
        return 1 if telling.tell(trying.run(asked, given.seed, given.workers), given.keep) else 0
    servers = [name for name in names_of(given.server) if not lacking(name)]
    chosen = FuzzRequest(servers, given.seed, given.settings, given.seconds, given.workers, given.cases)
    return 1 if ask_servers(chosen) else 0


def _read(count: int, seed: str) -> int:
    program = shutil.which("my_print_defaults")
    if program is None:
        print("my_print_defaults is not at hand (Debian package mariadb-client-core)")
        return 2
    done, wrong, started = 0, 0, time.monotonic()
    for done, differ in reading.run(program, count, seed):  # noqa: B007 - the last one is told below
        wrong += len(differ)
        for data, printed, ours in differ:
            print(f"{data!r}: my_print_defaults {printed!r}, the reader {ours!r}")
    print(f"{done} files, {wrong} read otherwise, {time.monotonic() - started:.0f} s")
    return 1 if wrong else 0


def _mangle(count: int, seed: str) -> int:
    shared = os.environ.get("MYCNF_SHARED", os.path.join(TOP, "..", "shared"))
    texts = mangling.sources(os.path.join(shared, "corpus", "files"), os.path.join(TOP, "examples"))
    slowest, broken = 0.0, 0
    for ended in mangling.run(texts, count, seed):
        if mangling.broke(ended) or ended.seconds > SLOW:
            broken += 1
            print(f"{ended.seconds:.2f} s, exit {ended.code}, {ended.said!r}: {ended.ending} {ended.data!r}")
        slowest = max(slowest, ended.seconds)
    print(f"{count} files of {len(texts)}, {broken} broke lint, the slowest took {1000 * slowest:.0f} ms")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
