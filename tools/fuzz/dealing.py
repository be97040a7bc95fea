"""The run against real servers: files are distributed to worker processes, which query and compare."""

from __future__ import annotations

import functools
import multiprocessing
import threading
import time
from collections.abc import Iterator
from typing import NamedTuple

from cases import save_case, smallest
from comparing import compare
from composing import Cell, Setting, compose, decks
from real_servers import provisioned
from tally import FileOutcome, Tally
from truth import truth
from vocabulary import vocabulary

AHEAD = 6  # files waiting for a worker


class FuzzRequest(NamedTuple):
    """What to run: which servers, how much, and the folder for saved disagreements."""

    servers: list[str]
    seed: str
    settings: float
    seconds: float
    workers: int
    cases: str | None


@functools.cache
def _decks(server: str, seed: str) -> dict[str, list[Cell]]:
    return decks(vocabulary(provisioned(server)), f"{seed} {server}")


def put(job: tuple[str, str, int, str | None]) -> FileOutcome:
    """Generate one file, query its server and compare; the same job gives the same file."""
    server, seed, number, folder = job
    binary, dealt = provisioned(server), _decks(server, seed)
    made = compose(dealt, f"{seed} {server}", number)
    lines = text_of(made)
    answer = truth(binary, lines)
    wrong = compare(lines, answer, binary.target) if answer.last is not None else []
    for d in wrong if folder else ():
        save_case(folder or "", server, smallest(binary, lines, d.at))
    grid = {(entry.name, name) for slot in ("known", "harsh", "hidden") for entry, name, _ in dealt[slot]}
    return FileOutcome(server, made, answer, wrong, len(grid))


def text_of(made: list[Setting | str]) -> list[str]:
    """The lines of a generated file."""
    return [part.line if isinstance(part, Setting) else part for part in made]


def ask_servers(chosen: FuzzRequest) -> int:
    """Run until the number of settings or seconds is reached, and print every disagreement; returns their number."""
    tally, started = Tally(), time.monotonic()
    room = threading.Semaphore(chosen.workers + AHEAD)

    def jobs() -> Iterator[tuple[str, str, int, str | None]]:
        number = 0
        while tally.settings < chosen.settings and time.monotonic() - started < chosen.seconds:
            room.acquire()
            server = chosen.servers[number % len(chosen.servers)]
            yield server, chosen.seed, number // len(chosen.servers), chosen.cases
            number += 1

    with multiprocessing.Pool(chosen.workers) as pool:
        for outcome in pool.imap_unordered(put, jobs()):
            room.release()
            tally.add(outcome)
            for d in outcome.wrong:
                print(f"{outcome.server}: {text_of(outcome.made)[d.at]!r}: {d.what}: {d.detail}", flush=True)
        pool.close()
        pool.join()  # not terminated: workers remove their folders at their end
    print(tally.report(time.monotonic() - started))
    return tally.wrong
