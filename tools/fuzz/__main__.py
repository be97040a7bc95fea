"""Made-up option files against real servers: prints every disagreement, what was covered, and how fast."""

from __future__ import annotations

import argparse
import functools
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Iterator

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [TOP, os.path.join(TOP, "tests", "plugins")]

from cases import save_case, smallest
from comparing import compare
from composing import Cell, Setting, compose, decks
from servers_plugin import lacking, names_of, provisioned
from tally import Tally, Told
from truth import truth
from vocabulary import vocabulary

AHEAD = 6  # files that wait for a worker


@functools.cache
def _decks(server: str, seed: str) -> dict[str, list[Cell]]:
    return decks(vocabulary(provisioned(server)), f"{seed} {server}")


def put(job: tuple[str, str, int, str | None]) -> Told:
    """Compose one file, ask its server and compare; the same job gives the same file."""
    server, seed, number, folder = job
    binary = provisioned(server)
    dealt = _decks(server, seed)
    made = compose(dealt, f"{seed} {server}", number)
    lines = [part.line if isinstance(part, Setting) else part for part in made]
    told = truth(binary, lines)
    wrong = compare(lines, told, binary.target)
    for d in wrong if folder else ():
        save_case(folder or "", server, smallest(binary, lines, d.at))
    grid = {(entry.name, name) for slot in ("known", "harsh", "hidden") for entry, name, _ in dealt[slot]}
    return Told(server, made, told, wrong, len(grid))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--settings", type=int, default=10**9, help="stop after so many")
    parser.add_argument("--seconds", type=float, default=10**9, help="stop after so long")
    parser.add_argument("--seed", default=str(time.time_ns()), help="the same seed gives the same files")
    parser.add_argument("--server", action="append", default=[], help="a server or a flavour; all of them without")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--cases", help="folder to save disagreements in, cut down to the lines that matter")
    return parser.parse_args()


def main() -> int:
    """Run until the settings or the seconds are used up."""
    chosen = _arguments()
    servers = [name for name in names_of(chosen.server) if not lacking(name)]
    tally, started = Tally(), time.monotonic()
    room = threading.Semaphore(chosen.workers + AHEAD)
    print(f"seed {chosen.seed}, servers {' '.join(servers)}", flush=True)

    def jobs() -> Iterator[tuple[str, str, int, str | None]]:
        number = 0
        while tally.settings < chosen.settings and time.monotonic() - started < chosen.seconds:
            room.acquire()
            yield servers[number % len(servers)], chosen.seed, number // len(servers), chosen.cases
            number += 1

    with multiprocessing.Pool(chosen.workers) as pool:
        for told in pool.imap_unordered(put, jobs()):
            room.release()
            tally.add(told)
            _print_wrong(told)
    print(tally.report(time.monotonic() - started))
    return 1 if tally.wrong else 0


def _print_wrong(told: Told) -> None:
    for d in told.wrong:
        part = told.made[d.at]
        line = part.line if isinstance(part, Setting) else part
        print(f"{told.server}: {line!r}: {d.what}: {d.detail}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
