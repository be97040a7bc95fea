"""Probe of how many rows a buffer pool caches, by page size and compression."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
import statistics
from typing import TYPE_CHECKING, Any, NamedTuple

from advisor.core.model import format_size
from advisor.facts.probes import ANSWER, Metric
from probes.disk.files import has_device
from probes.experiment import BlockMeasurement, Choice, ChosenOptions, Cost, RunPlan, Variant
from probes.server_probes import variant_server
from probes.server_probes.choices import SERVER_CHOICE, choose_binary
from probes.server_probes.mechanism import (
    Bounds,
    Precondition,
    check_preconditions,
    fixed_bounds,
    page_read_precondition,
)
from probes.server_probes.under_load import EMPTY_BLOCK, P95, QPS, block_activity
from probes.server_probes.variant_server import start_variant_server
from probes.workload.load import OLTP, Access, Task
from probes.workload.own_driver import DRIVER_CHOICE, choose_driver, run_load
from probes.workload.tables import TableShape, fill_tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from advisor.facts.probes import Arm
    from probes.experiment import Environment, ProbeRequest, Turn
    from probes.server_probes.mechanism import BlockActivity
    from probes.server_probes.variant_server import VariantServer
    from probes.stop import StopSignal


KEY_STEP = 1.2
FIRST_SHARE = 0.7  # of the pool in pages of 16K; so few keys are cached in every layout
REDO = 64 << 20
SECONDS = 180.0
ROUNDS = 3
ADAPTED = 60.0  # BUF_LRU_STAT_N_INTERVAL, by which InnoDB judges decompression: 50 s on MySQL, 4 times 15 on MariaDB
OVERHEAD = 0.6  # the keys are read once, and the driver starts
ROW_SIZE = 200  # bytes of a row without a secondary key
PAGE = 16 << 10

# Short blocks need a pool that evicts the previous block's pages: with the defaults, pages stay only if they are read
# again after a second, and another layout's pages keep five eighths of the pool until then.
PLAIN_LRU = ("--innodb-old-blocks-time=0", "--innodb-old-blocks-pct=95")
MISSES = Metric("misses", "pages read/query", "neither")
POINT = OLTP["oltp_point_select"]
CACHED_LIMIT = 0.1  # pages read per query; up to this, the keys count as cached
PAGES_READ, PAGES_UNCOMPRESSED = "Innodb_buffer_pool_reads", "pages uncompressed"
UNCOMPRESSED_LEAST = 0.5  # of the pages read; the pool may keep some pages both compressed and uncompressed
FITTING_LIMIT = 0.3  # pages read per query if all keys fit; a small pool reserves some of its pages
KEYS_PER_STATEMENT = 500  # keys per statement during warm-up
SAMPLED_KEYS = 200  # keys over which pages per row are counted


class LayoutKind(NamedTuple):
    """A layout, before its server exists."""

    page: int
    database: str
    engine: str
    settings: dict[str, str]


KINDS = {
    "16K": LayoutKind(PAGE, "sbtest", "InnoDB", {"innodb_page_size": "16384"}),
    "4K": LayoutKind(4096, "sbtest", "InnoDB", {"innodb_page_size": "4096"}),
    "compressed": LayoutKind(
        PAGE,
        "packed",
        "InnoDB ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=4",
        {"innodb_page_size": "16384", "row_format": "COMPRESSED", "key_block_size": "4"},
    ),
}


class CacheFit:
    """The probe `cache-fit`."""

    name = "cache-fit"
    title = "Random keys and the buffer pool: where the cliff is"
    question = "How many random rows can a buffer pool serve fast, by page size and compression?"
    kind = "server"
    evidence = ("PGSZ-01", "PGSZ-02")
    choices = (
        SERVER_CHOICE,
        DRIVER_CHOICE,
        Choice("acceptable-qps", "number", "2000", "minimum acceptable queries per second"),
        Choice("layouts", "words", "16K,4K,compressed", "16K and 4K pages, and 16K pages compressed to 4K"),
        Choice("pool", "size", "32M", "innodb_buffer_pool_size; 128M in the published test"),
        Choice("table", "size", "0", "size of the table; 0 for eight times the pool"),
        Choice("steps", "number", "10", "number of steps; each adds a fifth to the keys"),
        Choice("threads", "number", "1", "concurrent connections"),
        Choice("filler", "word", "constant", "constant compresses perfectly, as in the published test; digits don't"),
    )

    def plan(self, environment: Environment, request: ProbeRequest) -> RunPlan:
        """One variant per layout and number of keys; for each number the layouts are compared with the first one."""
        chosen = ChosenOptions(self.choices, request)
        binary = choose_binary(environment, chosen.word("server"))
        layouts = chosen.words("layouts", *KINDS)
        pool, rows = _pool(chosen), _rows(chosen)
        counts = [min(rows, round(_fitting_keys(pool) * KEY_STEP**n)) for n in range(chosen.number("steps", 2) + 1)]
        variants = tuple(
            Variant(f"{layout}, {count} keys", KINDS[layout].settings, float(count), f"{count} keys")
            for count in dict.fromkeys(counts)
            for layout in layouts
        )
        block_seconds = request.budget(SECONDS, ROUNDS) / (request.rounds or ROUNDS) / len(variants)
        return RunPlan(
            variants=variants,
            baseline=variants[0].name,
            metrics=(QPS, P95, MISSES),
            cost=_cost(layouts, pool, rows, chosen.number("threads", 1)),
            seconds=SECONDS,
            rounds=ROUNDS,
            long_blocks=True,
            overhead=OVERHEAD,
            shortest=1.0,
            axis="keys",
            driver=choose_driver(chosen.word("driver")),
            server=str(binary.target),
            parameters={
                "pool": format_size(pool),
                "replacement": "least recently used (innodb_old_blocks_pct=95, innodb_old_blocks_time=0)",
                "rows": str(rows),
                "threads": str(chosen.number("threads", 1)),
                "acceptable qps": str(chosen.number("acceptable-qps", 1)),
                "filler": chosen.word("filler", "constant", "digits"),
                "server processes": "new in each round",
            },
            limits=tuple(_limits(environment, pool, block_seconds if "compressed" in layouts else ADAPTED)),
        )

    @contextlib.contextmanager
    def prepare(
        self, environment: Environment, request: ProbeRequest, plan: RunPlan, stop: StopSignal
    ) -> Iterator[KeyedBench]:
        """Start a server per page size, and fill a table per layout."""
        chosen = ChosenOptions(self.choices, request)
        binary = choose_binary(environment, chosen.word("server"))
        pool, rows = _pool(chosen), _rows(chosen)
        arguments = (*variant_server.server_arguments(binary.target, pool=pool, redo=REDO), *PLAIN_LRU)
        layouts: dict[str, Layout] = {}
        with contextlib.ExitStack() as stack:
            servers = {}
            for name in chosen.words("layouts", *KINDS):
                if stop.is_set():  # do not start another server
                    break
                kind = KINDS[name]
                if kind.page not in servers:
                    initial = [] if kind.page == PAGE else [f"--innodb-page-size={kind.page}"]
                    server = start_variant_server(environment, binary, request.directory, arguments, initial=initial)
                    servers[kind.page] = stack.enter_context(server)
                environment.report(f"filling a table of {rows} rows, {name}")
                shape = TableShape(
                    rows, 1, kind.engine, plan.parameters["filler"], key_on_k=False, database=kind.database
                )
                fill_tables(servers[kind.page].connection(), shape, stop)
                pages, compressed = pool // kind.page, "COMPRESSED" in kind.engine
                layouts[name] = Layout(name, servers[kind.page], kind.database, pages, _fitting_keys(pool), compressed)
            for running in servers.values():
                running.restart()  # writes out the changes that filling left behind
            yield KeyedBench(
                layouts,
                plan.driver,
                rows,
                chosen.number("threads", 1),
                seed=request.seed + 1,
                acceptable=chosen.number("acceptable-qps", 1),
            )


def _pool(chosen: ChosenOptions) -> int:
    return chosen.size("pool", 8 << 20)


def _fitting_keys(pool: int) -> int:
    """The number of keys whose pages fit in the pool in every layout."""
    return round(FIRST_SHARE * pool / PAGE)


def _rows(chosen: ChosenOptions) -> int:
    return max(1000, (chosen.size("table", 0) or 8 * _pool(chosen)) // ROW_SIZE)


def _cost(layouts: list[str], pool: int, rows: int, threads: int) -> Cost:
    servers = len({KINDS[layout].page for layout in layouts})
    data = rows * ROW_SIZE * len(layouts) // servers
    return variant_server.server_cost(pool=pool, data=data, redo=REDO, servers=servers, threads=threads)


def _limits(environment: Environment, pool: int, seconds: float) -> Iterator[str]:
    if seconds < ADAPTED:
        short = f"Blocks of {max(1, round(seconds))} s cache fewer compressed rows than longer ones: "
        yield short + "InnoDB decides by the reads of the last minute which pages to keep uncompressed too."
    yield "All rows are equally likely: skewed access caches more of its rows in the same pool."
    yield f"Overhead takes a larger share of a pool of {format_size(pool)} than of a larger pool."
    if not has_device(environment.host):
        yield "The directory is in memory, so a page read costs almost nothing: the cliff does not show."


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
            layout.server.restart_for_round(turn.round)
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

    def keep_blocks(self, arms: tuple[Arm, ...]) -> None:
        """See `CollectingBench`."""
        for known, metric in ((self._rates, QPS), (self._misses, MISSES)):
            for name in known:
                own = (arm for arm in arms if arm.name.startswith(f"{name},"))
                known[name] = {int(arm.point or 1): v for arm in own if (v := arm.values(metric.name))}

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
        others = [f"{_range_text(bracket)} in {name}{_factor_text(bracket, first)}" for name, bracket in rest]
        layouts = ", ".join([f"{_range_text(first)} in {next(iter(brackets))}", *others])
        return f"With at most one page read per {1 / CACHED_LIMIT:.0f} queries, the pool cached {layouts}."

    def notes(self) -> tuple[str, ...]:
        """Notes on whether the drop in throughput was seen at all."""
        notes = []
        for name, rates in self._rates.items():
            slowest = min((statistics.median(seen) for seen in rates.values()), default=0.0)
            if rates and slowest >= self._acceptable:
                notes.append(
                    f"{name}: {self._acceptable} queries per second were reached with {max(rates)} keys too, the "
                    "maximum tested: this device reads uncached pages fast enough."
                )
        return tuple(notes)

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
                pages = _pages_accessed(layout.server.query("ANALYZE FORMAT=JSON " + _select(layout, keys, "c"))[0][0])
                if pages is not None:
                    return {f"pages a row, {layout.name}": round(pages / len(keys), 2)}
            before = layout.server.status()["Innodb_buffer_pool_read_requests"]
            for key in keys:
                layout.server.query(_select(layout, [key], "c"))
            asked = layout.server.status()["Innodb_buffer_pool_read_requests"] - before
        return {f"pages a row at most, {layout.name}": round(asked / len(keys), 2)}


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


def _cached_range(misses: dict[int, list[float]]) -> tuple[int, int | None]:
    """The most keys that were cached in every round, and the fewest that were cached in none.

    The first is 0 if not even the fewest keys were cached, the second is None if the pool held all keys.
    """
    low = most_held(((count, -max(seen)) for count, seen in sorted(misses.items())), -CACHED_LIMIT)
    return low, next((count for count, seen in sorted(misses.items()) if min(seen) > CACHED_LIMIT), None)


def _factor_text(bracket: tuple[int, int | None], first: tuple[int, int | None]) -> str:
    """The ratio of cached keys to the first layout's, within the resolution of the steps, as text."""
    (low, high), (least, most) = bracket, first
    if not (low and high and least and most):
        return ""
    return f" ({low / most:.2g} to {high / least:.2g} times as many)"


def _medians(seen: dict[int, list[float]]) -> list[tuple[int, float]]:
    return [(count, statistics.median(values)) for count, values in sorted(seen.items())]


def _most_cached(misses: dict[int, list[float]]) -> int:
    return most_held(((count, -share) for count, share in _medians(misses)), -CACHED_LIMIT)


def _pages_accessed(text: str) -> float | None:
    """The sum of pages_accessed in the output of ANALYZE FORMAT=JSON; None without any."""
    page_counts: list[float] = []

    def look(part: Any) -> None:
        if isinstance(part, dict):
            page_counts.extend(float(value) for name, value in part.items() if name == "pages_accessed")
            part = list(part.values())
        if isinstance(part, list):
            for inner in part:
                look(inner)

    look(json.loads(text))
    return sum(page_counts) if page_counts else None


def _preconditions(layout: Layout, *, fits: bool) -> tuple[Precondition, ...]:
    """The preconditions of a layout.

    Each query looked up a row, pages came from memory if all keys fit, and compressed pages were uncompressed when
    they were read.
    """

    def uncompressed_bounds(_variant: Variant, activity: BlockActivity) -> Bounds | None:
        if not layout.compressed:
            return Bounds(high=0.0)
        return Bounds(UNCOMPRESSED_LEAST) if (activity.per_transaction(PAGES_READ) or 0.0) > CACHED_LIMIT else None

    return (
        Precondition("rows looked up/query", lambda a: a.per_transaction("Handler_read_key"), fixed_bounds(0.98, 1.05)),
        page_read_precondition(fixed_bounds(high=FITTING_LIMIT) if fits else fixed_bounds()),
        Precondition("pages uncompressed/page read", _uncompressed_per_read, uncompressed_bounds),
    )


def _range_text(bracket: tuple[int, int | None]) -> str:
    low, high = bracket
    if high is None:
        return f"{low:,} keys or more"
    return f"{low:,} to {high:,} keys" if low else f"fewer than {high:,} keys"


def _read_status(server: VariantServer) -> dict[str, int]:
    """The server's counters, with the number of pages that it has uncompressed since it started."""
    ((count,),) = server.query("SELECT SUM(uncompress_ops) FROM information_schema.INNODB_CMP")
    return {**server.status(), PAGES_UNCOMPRESSED: int(count)}


def _select(layout: Layout, keys: list[int], what: str) -> str:
    listed = ",".join(str(key) for key in keys)
    return f"SELECT {what} FROM {layout.database}.sbtest1 WHERE id IN ({listed})"  # noqa: S608 - numbers of our own


def _uncompressed_per_read(activity: BlockActivity) -> float:
    return activity.grown[PAGES_UNCOMPRESSED] / max(1, activity.grown[PAGES_READ])


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
    return f"{before} to {after} keys: {fast:.0f} to {slow:.0f} qps at the median"


EXPERIMENT = CacheFit()
