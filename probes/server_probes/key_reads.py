"""KeyedBench: read rows by random keys from sets of growing size, on one of several servers."""

from __future__ import annotations

import itertools
import json
import os
import random
import statistics
from typing import TYPE_CHECKING, Any, NamedTuple

from advisor.facts.probes import ANSWER, Metric
from probes.experiment import BlockMeasurement
from probes.server_probes.mechanism import (
    Bounds,
    Precondition,
    check_preconditions,
    fixed_bounds,
    page_read_precondition,
)
from probes.server_probes.under_load import EMPTY_BLOCK, block_activity
from probes.workload.driver import run_load
from probes.workload.load import Task
from probes.workload.statements import OLTP, Access

if TYPE_CHECKING:
    from collections.abc import Iterable

    from probes.experiment import Turn, Variant
    from probes.server_probes.mechanism import BlockActivity
    from probes.server_probes.variant_server import VariantServer
    from probes.stop import StopSignal

MISSES = Metric("misses", "pages read/query", "neither")
POINT = OLTP["oltp_point_select"]
CACHED_LIMIT = 0.1  # pages read per query; up to this, the keys count as cached
PAGES_READ, PAGES_UNCOMPRESSED = "Innodb_buffer_pool_reads", "pages uncompressed"
UNCOMPRESSED_LEAST = 0.5  # of the pages read; the pool may keep some pages both compressed and uncompressed
FITTING_LIMIT = 0.3  # pages read per query if all keys fit; a small pool reserves some of its pages
KEYS_PER_STATEMENT = 500  # keys per statement during warm-up
SAMPLED_KEYS = 200  # keys over which pages per row are counted


class Layout(NamedTuple):
    """Rows in one page layout: the server, the database of the table, and the number of pages in its pool.

    The pages of any `fitting` keys fit in the pool. In a `compressed` layout, pages are uncompressed when they are
    read.
    """

    name: str
    server: VariantServer
    database: str
    pages: int
    fitting: int = 0
    compressed: bool = False


class KeyedBench:
    """The same rows in several layouts; a variant's name begins with its layout, its point is the number of keys."""

    def __init__(
        self, layouts: dict[str, Layout], driver: str, rows: int, threads: int, *, seed: int, acceptable: int
    ) -> None:
        self._layouts, self._driver, self._rows, self._threads = layouts, driver, rows, threads
        self._acceptable = acceptable
        self._seed = seed
        self._source = random.Random(seed)  # noqa: S311 - load, no secret
        self._keys: list[int] = []
        self._rates: dict[str, dict[int, list[float]]] = {name: {} for name in layouts}
        self._misses: dict[str, dict[int, list[float]]] = {name: {} for name in layouts}

    def measure(self, variant: Variant, turn: Turn, stop: StopSignal) -> BlockMeasurement:
        """Read the keys' pages into the pool, as far as they fit, then measure random reads of these keys."""
        layout, count = self._layouts[variant.name.partition(",")[0]], int(variant.point or 1)
        keys = self._first_keys(count)
        with layout.server.explain_errors():
            self._warm_up(layout, keys, stop)
            task, before = self._task(layout, keys), _read_status(layout.server)
            ran = run_load(self._driver, task, turn.seconds, stop)
            if ran is None:
                return EMPTY_BLOCK
            activity = block_activity(ran, task, before, _read_status(layout.server))
        checked = check_preconditions(_preconditions(layout, fits=count <= layout.fitting), variant, activity)
        if checked.invalid:
            return BlockMeasurement({}, {}, checked.counters, checked.invalid)
        misses, qps = activity.grown[PAGES_READ] / max(1, ran.queries), ran.queries / ran.seconds
        self._rates[layout.name].setdefault(count, []).append(qps)
        self._misses[layout.name].setdefault(count, []).append(misses)
        metrics = {"qps": qps, "p95": ran.p95, MISSES.name: misses}
        return BlockMeasurement(metrics, {"qps": ran.qps}, checked.counters)

    def facts(self) -> dict[str, float | str]:
        """The facts for each layout.

        They are the keys held at the acceptable rate, the keys whose pages were cached, the steepest step, and the
        pages read per query.
        """
        facts: dict[str, float | str] = {}
        for name, rates in self._rates.items():
            steps = _medians(rates)
            facts[f"keys cached, {name}"] = _most_cached(self._misses[name])
            facts[f"keys held at {self._acceptable} qps, {name}"] = most_held(steps, self._acceptable)
            if len(steps) > 1:
                facts[f"steepest step, {name}"] = steepest_step(steps)
            facts.update(self._pages_per_row(self._layouts[name]))
        return {ANSWER: self._answer_sentence(), **facts} if any(self._rates.values()) else facts

    def _answer_sentence(self) -> str:
        """The answer from the page counters, which are not affected by noise in the rates."""
        brackets = {name: _cached_range(misses) for name, misses in self._misses.items() if misses}
        (_, first), *rest = brackets.items()
        told = [f"{_range_text(bracket)} in {name}{_factor_text(bracket, first)}" for name, bracket in rest]
        all_told = ", ".join([f"{_range_text(first)} in {next(iter(brackets))}", *told])
        return f"With at most one page read per {1 / CACHED_LIMIT:.0f} queries, the pool cached {all_told}."

    def notes(self) -> tuple[str, ...]:
        """Notes on whether the drop in throughput was seen at all."""
        said = []
        for name, rates in self._rates.items():
            slowest = min((statistics.median(seen) for seen in rates.values()), default=0.0)
            if rates and slowest >= self._acceptable:
                said.append(
                    f"{name}: {self._acceptable} queries per second were reached with {max(rates)} keys too, the "
                    "maximum tested: this device reads uncached pages fast enough."
                )
        return tuple(said)

    def _first_keys(self, count: int) -> list[int]:
        """The first `count` keys of one long random sequence, so that each step includes the previous one's keys."""
        if len(self._keys) < count:
            self._keys = random.Random(self._seed).sample(range(1, self._rows + 1), min(2 * count, self._rows))  # noqa: S311
        return self._keys[:count]

    def _warm_up(self, layout: Layout, keys: list[int], stop: StopSignal) -> None:
        # More keys than the pool holds would only evict each other.
        reading = self._source.sample(keys, min(len(keys), layout.pages))
        for place in range(0, len(reading), KEYS_PER_STATEMENT):
            if stop.is_set():
                return
            layout.server.query(_select(layout, reading[place : place + KEYS_PER_STATEMENT], "COUNT(c)"))

    def _task(self, layout: Layout, keys: list[int]) -> Task:
        path = os.path.join(layout.server.scratch_folder, f"keys-{layout.database}-{len(keys)}")
        if not os.path.exists(path):
            with open(path, "w", encoding="ascii") as file:
                file.writelines(f"{key}\n" for key in keys)
        return Task(
            socket=layout.server.sandbox.socket,
            scratch_folder=layout.server.scratch_folder,
            workload=POINT,
            access=Access(keys_file=path),
            threads=self._threads,
            rows=self._rows,
            database=layout.database,
            seed=self._source.randrange(1, 1 << 30),
        )

    def _pages_per_row(self, layout: Layout) -> dict[str, float | str]:
        """Pages accessed by one row's query: from MariaDB's ANALYZE, otherwise at most the pool's read requests."""
        keys = self._first_keys(max(SAMPLED_KEYS, len(self._keys)))[:SAMPLED_KEYS]
        with layout.server.explain_errors():
            if layout.server.target.is_mariadb:
                told = _pages_accessed(layout.server.query("ANALYZE FORMAT=JSON " + _select(layout, keys, "c"))[0][0])
                if told is not None:
                    return {f"pages a row, {layout.name}": round(told / len(keys), 2)}
            before = layout.server.status()["Innodb_buffer_pool_read_requests"]
            for key in keys:
                layout.server.query(_select(layout, [key], "c"))
            asked = layout.server.status()["Innodb_buffer_pool_read_requests"] - before
        return {f"pages a row at most, {layout.name}": round(asked / len(keys), 2)}


def _medians(seen: dict[int, list[float]]) -> list[tuple[int, float]]:
    return [(count, statistics.median(values)) for count, values in sorted(seen.items())]


def _cached_range(misses: dict[int, list[float]]) -> tuple[int, int | None]:
    """The most keys that were cached in every round, and the fewest that were cached in none.

    The first is 0 if not even the fewest keys were cached, the second is None if the pool held all keys.
    """
    low = most_held(((count, -max(seen)) for count, seen in sorted(misses.items())), -CACHED_LIMIT)
    return low, next((count for count, seen in sorted(misses.items()) if min(seen) > CACHED_LIMIT), None)


def _range_text(bracket: tuple[int, int | None]) -> str:
    low, high = bracket
    if high is None:
        return f"{low:,} keys or more"
    return f"{low:,} to {high:,} keys" if low else f"fewer than {high:,} keys"


def _factor_text(bracket: tuple[int, int | None], first: tuple[int, int | None]) -> str:
    """The ratio of cached keys to the first layout's, within the resolution of the steps, as text."""
    (low, high), (least, most) = bracket, first
    if not (low and high and least and most):
        return ""
    return f" ({low / most:.2g} to {high / least:.2g} times as many)"


def _most_cached(misses: dict[int, list[float]]) -> int:
    return most_held(((count, -share) for count, share in _medians(misses)), -CACHED_LIMIT)


def _preconditions(layout: Layout, *, fits: bool) -> tuple[Precondition, ...]:
    """The preconditions of a layout.

    Each query looked up a row, pages came from memory if all keys fit, and compressed pages were uncompressed when
    they were read.
    """

    def uncompressed(_variant: Variant, activity: BlockActivity) -> Bounds | None:
        if not layout.compressed:
            return Bounds(high=0.0)
        return Bounds(UNCOMPRESSED_LEAST) if (activity.per_transaction(PAGES_READ) or 0.0) > CACHED_LIMIT else None

    return (
        Precondition("rows looked up/query", lambda a: a.per_transaction("Handler_read_key"), fixed_bounds(0.98, 1.05)),
        page_read_precondition(fixed_bounds(high=FITTING_LIMIT) if fits else fixed_bounds()),
        Precondition("pages uncompressed/page read", _uncompressed_per_read, uncompressed),
    )


def _uncompressed_per_read(activity: BlockActivity) -> float:
    return activity.grown[PAGES_UNCOMPRESSED] / max(1, activity.grown[PAGES_READ])


def _read_status(server: VariantServer) -> dict[str, int]:
    """The server's counters, with the number of pages that it has uncompressed since it started."""
    ((count,),) = server.query("SELECT SUM(uncompress_ops) FROM information_schema.INNODB_CMP")
    return {**server.status(), PAGES_UNCOMPRESSED: int(count)}


def most_held(steps: Iterable[tuple[int, float]], acceptable: float) -> int:
    """The largest number of keys before the rate first falls below `acceptable`; 0 if the first step does."""
    most = 0
    for count, rate in steps:
        if rate < acceptable:
            break
        most = count
    return most


def steepest_step(steps: list[tuple[int, float]]) -> str:
    """The step with the largest drop in the rate."""
    pairs = itertools.pairwise(steps)
    (before, fast), (after, slow) = max(pairs, key=lambda pair: pair[0][1] / max(pair[1][1], 1e-9))
    return f"{before} to {after} keys: {fast:.0f} to {slow:.0f} qps"


def _select(layout: Layout, keys: list[int], what: str) -> str:
    listed = ",".join(str(key) for key in keys)
    return f"SELECT {what} FROM {layout.database}.sbtest1 WHERE id IN ({listed})"  # noqa: S608 - numbers of our own


def _pages_accessed(text: str) -> float | None:
    """The sum of pages_accessed in the output of ANALYZE FORMAT=JSON; None without any."""
    found: list[float] = []

    def look(part: Any) -> None:
        if isinstance(part, dict):
            found.extend(float(value) for name, value in part.items() if name == "pages_accessed")
            part = list(part.values())
        if isinstance(part, list):
            for inner in part:
                look(inner)

    look(json.loads(text))
    return sum(found) if found else None
