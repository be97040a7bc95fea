"""Probe of sequential reads by block size: where larger blocks stop helping, where they are slower, and why."""

from __future__ import annotations

import contextlib
import math
import os
import statistics
from typing import TYPE_CHECKING, NamedTuple

from advisor.core.model import exact_size, format_size
from advisor.facts.probes import ANSWER, Arm, Block, Metric
from probes.disk import files
from probes.disk.driver import PROCESSOR, DiskTally, DriverProcesses, combine_reports
from probes.disk.files import ScratchFiles, has_device, resident_share
from probes.experiment import BlockMeasurement, Choice, ChosenOptions, Cost, ProbeError, RunPlan, Variant
from probes.stats import compare

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from advisor.facts.host import Host
    from probes.experiment import Environment, ProbeRequest, Turn
    from probes.stop import StopSignal


THROUGHPUT = Metric("throughput", "MB/s", "more")
AXIS = "block size"
METHOD_TEXTS = {"cached": "From the page cache", "ahead": "Through the page cache", "direct": "With O_DIRECT"}
METHODS = tuple(METHOD_TEXTS)
CACHED_DIVISOR = 4  # the file that stays in the page cache is smaller by this factor
CACHED_MAXIMUM = 256 << 20
MAXIMUM_READERS = 128  # readers
BASELINE_BLOCK = 128 << 10

LIMITS = (
    "Cached reads are lower bounds: the processor limits them, and the driver's overhead is included.",
    "The kernel splits a large read by the physical layout of its buffer, which differs between rounds.",
    "The cache of a controller or hypervisor cannot be distinguished from a fast device.",
    "A bend near a device limit does not prove the cause: change the limit and run the probe again.",
)
NEAR_BEST = 0.9
"""Throughput of at least this share of the best counts as equally good."""
MINIMUM_ROUNDS = 3  # with fewer rounds, one slow period of the host could look like a bend
LIMIT_FACTOR = 2.0
"""A device limit explains a bend if they differ at most by this factor."""


class SequentialRead:
    """The probe `sequential-read`: files read from start to end in blocks of many sizes, by one and several readers."""

    name = "sequential-read"
    title = "Sequential reads by block size"
    question = "Which read size is large enough on this host, and which is too large?"
    kind = "host"
    evidence = ("RBS-01", "RBS-02", "SCAN-02")
    choices = (
        Choice("blocks", "sizes", ",".join(exact_size(8192 << step) for step in range(0, 13, 2)), "bytes of one read"),
        Choice("readers", "numbers", "1,4,16", "concurrent readers; several readers use every other block size"),
        Choice(
            "ways", "words", "cached,ahead,direct", "cached, ahead (page cache, evicted first) or direct (O_DIRECT)"
        ),
        files.SIZE,
    )

    def plan(self, environment: Environment, request: ProbeRequest) -> RunPlan:
        """One variant for each block size and method with one reader, and for every other size with several.

        The run uses two files.
        """
        chosen = ChosenOptions(self.choices, request)
        ways, dropped = _possible_methods(environment, request, chosen.words("ways", *METHODS))
        readers, blocks = _readers(chosen), files.block_sizes(chosen, "blocks", _block_step(environment))
        size = files.file_size(chosen)
        cached = _cached_size(size) if "cached" in ways else 0
        variants = tuple(_variants({way: cached if way == "cached" else size for way in ways}, readers, blocks))
        if not variants:
            raise ProbeError(f"blocks={exact_size(blocks[0])} and larger exceed the file: choose a larger size=")
        in_cache = cached + (size if "ahead" in ways else 0)
        return RunPlan(
            variants=variants,
            baseline=_baseline(variants),
            metrics=(THROUGHPUT, PROCESSOR),
            cost=Cost(
                disk=size + cached,
                memory=readers[-1] * ((16 << 20) + blocks[-1]) + in_cache,
                prepare=files.preparation_seconds(size + cached),
                creates=(f"files of {format_size(size + cached)} in a scratch directory in {request.directory}",),
            ),
            seconds=20.0,
            rounds=3,
            overhead=0.02,
            shortest=0.06,
            axis=AXIS,
            driver="mycnf",
            parameters={
                "size": exact_size(size),
                **{name: exact_size(of) for name, of in host_io_limits(environment.host).items()},
            },
            limits=LIMITS,
            notes=dropped,
        )

    @contextlib.contextmanager
    def prepare(
        self, environment: Environment, request: ProbeRequest, plan: RunPlan, stop: StopSignal
    ) -> Iterator[SequentialReadBench]:
        """Write the files, and read the one that is to stay in the page cache."""
        size = files.file_size(ChosenOptions(self.choices, request))
        used = {variant.settings["from"] for variant in plan.variants}
        most = max(int(variant.settings["readers"]) for variant in plan.variants)
        with ScratchFiles(request.directory, environment.report, stop) as material, DriverProcesses(most) as crew:
            paths: dict[str, str] = {}
            if used - {"cached"}:
                paths |= dict.fromkeys(("ahead", "direct"), material.create("cold", size))
            if "cached" in used:
                paths["cached"] = material.create("warm", _cached_size(size))
                _read_into_cache(paths["cached"])
            yield SequentialReadBench(crew, paths, plan, environment)


class SequentialReadBench:
    def __init__(self, crew: DriverProcesses, paths: dict[str, str], plan: RunPlan, environment: Environment) -> None:
        self._crew, self._paths, self._plan, self._environment = crew, paths, plan, environment
        self._tally = DiskTally()

    def measure(self, variant: Variant, turn: Turn, stop: StopSignal) -> BlockMeasurement:
        """Let the readers read for one block; each finishes its current read."""
        way, readers = variant.settings["from"], int(variant.settings["readers"])
        block = int(variant.settings["bytes"])
        task = {
            "task": "follow",
            "path": self._paths[way],
            "direct": way == "direct",
            "drop": way == "ahead",
            "block": block,
        }
        shares = reader_ranges(os.path.getsize(self._paths[way]), readers, block)
        whole = combine_reports(self._crew.run([task | share for share in shares], turn.seconds, stop))
        return self._tally.add(variant, whole, {THROUGHPUT.name: whole.bytes / whole.seconds / 1e6})

    def keep_blocks(self, arms: tuple[Arm, ...]) -> None:
        """See `CollectingBench`."""
        self._tally.keep_blocks(arms)

    def facts(self) -> dict[str, float | str]:
        """The facts of the run.

        They are the throughput as a sentence, the bends in bytes by method and readers (`enough_direct_1`,
        `falls_above_direct_1`), and the host's own limits.
        """
        facts: dict[str, float | str] = {ANSWER: self._answer_sentence()}
        facts |= {name: float(size) for name, size in host_io_limits(self._environment.host).items()}
        for (way, readers), curve in self._curves().items():
            bends = find_bends(curve)
            if bends:
                facts[f"enough_{way}_{readers}"] = float(bends.sufficient)
                if bends.drops_above:
                    facts[f"falls_above_{way}_{readers}"] = float(bends.drops_above)
        return facts | self._tally.facts(self._device_variants())

    def notes(self) -> tuple[str, ...]:
        """Sentences on the bends and on deviations during the measurement."""
        notes = [
            _bend_sentence(way, readers, curve, self._environment) for (way, readers), curve in self._curves().items()
        ]
        if "cached" in self._paths and (share := resident_share(self._paths["cached"])) < 1:
            notes.append(f"Memory was short: only {share:.0%} of the cached file stayed in the page cache.")
        return (*filter(None, notes), *self._tally.notes(self._device_variants()))

    def _answer_sentence(self) -> str:
        """The throughput of the baseline, and the highest throughput of its method, as a sentence."""
        base = next(variant for variant in self._plan.variants if variant.name == self._plan.baseline)
        alike = [v.name for v in self._plan.variants if v.settings["from"] == base.settings["from"]]
        best, most = self._tally.best(alike, THROUGHPUT.name)
        usual = self._tally.mean(base.name, THROUGHPUT.name)
        block = base.settings[AXIS]
        first = "" if usual is None else f"one reader gets {usual:,.0f} MB/s in blocks of {block}; "
        return f"{METHOD_TEXTS[base.settings['from']]} {first}the maximum is {most:,.0f} MB/s ({best})."

    def _curves(self) -> dict[tuple[str, str], dict[int, list[float]]]:
        curves: dict[tuple[str, str], dict[int, list[float]]] = {}
        for variant in self._plan.variants:
            curve = curves.setdefault((variant.settings["from"], variant.settings["readers"]), {})
            curve[int(variant.settings["bytes"])] = self._tally.values(variant.name, THROUGHPUT.name)
        return curves

    def _device_variants(self) -> list[str]:
        """Variants that should be limited by the device; cached reads are always limited by the processor."""
        return [variant.name for variant in self._plan.variants if variant.settings["from"] != "cached"]


def _possible_methods(
    environment: Environment, request: ProbeRequest, chosen: list[str]
) -> tuple[list[str], tuple[str, ...]]:
    """The methods that this file system supports, and sentences on the unsupported ones."""
    ways = [way for way in METHODS if way in chosen]
    if not has_device(environment.host):
        possible, why = ["cached"], "The directory is on tmpfs: only cached reads are measured."
    elif not files.can_use_o_direct(environment, request):
        possible, why = ["cached", "ahead"], "O_DIRECT is not supported here: direct reads are skipped."
    else:
        return ways, ()
    kept = [way for way in ways if way in possible]
    if not kept:
        raise ProbeError(f"ways={','.join(ways)} cannot be measured in {request.directory}: use a --dir on a disk")
    return kept, (why,) if kept != ways else ()


def _readers(chosen: ChosenOptions) -> list[int]:
    readers = sorted(chosen.numbers("readers", 1))
    if readers[-1] > MAXIMUM_READERS:
        raise ProbeError(f"invalid readers={readers[-1]}: the maximum is {MAXIMUM_READERS}")
    return readers


def _block_step(environment: Environment) -> int:
    return max(4096, files.sector_size(environment))


def _variants(ways: dict[str, int], readers: list[int], blocks: list[int]) -> Iterator[Variant]:
    """The combinations that are informative within the time; read-ahead is measured with one reader only.

    `ways` maps each method to the size of its file in bytes; blocks larger than the file are left out.
    """
    for way, size in ways.items():
        for count in readers:
            if way == "ahead" and count != readers[0]:
                continue
            for block in blocks if count == readers[0] else blocks[::2]:
                if block > size:
                    continue
                name = f"{way} {exact_size(block)}" + (f" by {count}" if count > 1 else "")
                settings = {AXIS: exact_size(block), "bytes": str(block), "from": way, "readers": str(count)}
                yield Variant(name, settings, float(block))


def _baseline(variants: tuple[Variant, ...]) -> str:
    """The variant with 128K of the last method: the default of server scans and the first row of published tables."""
    last = [v for v in variants if v.settings["from"] == variants[-1].settings["from"]]
    return min(last, key=lambda v: (int(v.settings["readers"]), abs(int(v.settings["bytes"]) - BASELINE_BLOCK))).name


def _cached_size(size: int) -> int:
    return min(CACHED_MAXIMUM, size // CACHED_DIVISOR) >> 20 << 20


def reader_ranges(size: int, readers: int, block: int) -> list[dict[str, int]]:
    """The start and length of each reader's range, which it reads repeatedly: whole blocks, disjoint if they fit."""
    length = max(block, size // readers // block * block)
    last = max(0, size - length) // block * block
    return [{"start": min(place * length, last), "length": length} for place in range(readers)]


def _read_into_cache(path: str) -> None:
    with open(path, "rb", buffering=0) as file:
        while file.read(1 << 20):
            pass


def _bend_sentence(way: str, readers: str, curve: dict[int, list[float]], environment: Environment) -> str:
    bends = find_bends(curve)
    if bends is None:
        return ""
    who = "one reader" if readers == "1" else f"{readers} readers"
    limits = host_io_limits(environment.host)
    sentence = (
        f"{METHOD_TEXTS[way]}, {who}: no block size above {exact_size(bends.sufficient)} was significantly faster"
    )
    sentence += nearest_limit_text(bends.sufficient, limits, way)
    if bends.drops_above:
        sentence += (
            f"; above {exact_size(bends.drops_above)} throughput "
            f"drops{nearest_limit_text(bends.drops_above, limits, way)}"
        )
    return sentence + "."


class CurveBends(NamedTuple):
    """The bends of one curve in bytes.

    No block size above `sufficient` was significantly faster; all above `drops_above` were significantly slower than
    the best (None if there are none).
    """

    sufficient: int
    drops_above: int | None


LIMITS_BY_METHOD = {
    "cached": (),
    "ahead": ("read_ahead", "largest_request", "chunk", "stripe"),
    "direct": ("largest_request", "chunk", "stripe"),
}

LIMIT_TEXTS = {
    "read_ahead": "the kernel's maximum read-ahead",
    "largest_request": "the device's largest request",
    "chunk": "the RAID chunk size",
    "stripe": "the RAID stripe size",
}


def _is_slower(these: Sequence[float], those: Sequence[float]) -> bool:
    return max(these) < min(those) and statistics.median(these) < NEAR_BEST * statistics.median(those)


def _differing_sizes(curve: Mapping[int, Sequence[float]], best: int) -> set[int]:
    """The sizes that differ from the best one by more than noise."""
    arms = tuple(
        Arm(str(size), {}, tuple(Block(n, 0.0, 0.0, {THROUGHPUT.name: value}) for n, value in enumerate(values)))
        for size, values in curve.items()
    )
    return {int(c.arm) for c in compare(arms, THROUGHPUT, str(best)) if c.claim != "none"}


def find_bends(curve: Mapping[int, Sequence[float]]) -> CurveBends | None:
    """The bends of throughput by block size; None with fewer than two sizes or three rounds.

    A size is slower than the best if it was slower in each round than the best in any round, its median by a tenth, and
    by more than noise: in three rounds all values of one size are often below those of another one by chance.
    """
    if len(curve) < 2 or min(len(values) for values in curve.values()) < MINIMUM_ROUNDS:  # noqa: PLR2004 - it takes two points
        return None
    sizes = sorted(curve)
    best = max(sizes, key=lambda size: statistics.median(curve[size]))
    differing = _differing_sizes(curve, best)
    slow = [size for size in sizes if size in differing and _is_slower(curve[size], curve[best])]
    enough = next(size for size in sizes if size > max([s for s in slow if s < best], default=0))
    before = [size for size in sizes if size not in slow]
    return CurveBends(enough, before[-1] if before[-1] != sizes[-1] else None)


def host_io_limits(host: Host) -> dict[str, int]:
    """The host's limits on block sizes in bytes: `read_ahead`, `largest_request`, `chunk`, `stripe`, if known.

    The first device in the path that has a limit counts, because the file system sends its requests to that device.
    """
    limits: dict[str, int] = {}
    storage = host.storage
    if storage is None:
        return limits
    for name, field in (("read_ahead", "read_ahead"), ("largest_request", "max_io")):
        value = next((v for device in storage.devices if (v := getattr(device, field))), None)
        if value:
            limits[name] = value
    stripe = storage.stripe
    if stripe:
        limits["stripe"] = stripe.size
        if stripe.chunk:
            limits["chunk"] = stripe.chunk
    return limits


def nearest_limit_text(block: int, limits: Mapping[str, int], way: str) -> str:
    """A clause on the nearest host limit that applies to such reads; empty if none is near."""
    met = LIMITS_BY_METHOD[way]
    near = [name for name in met if name in limits and abs(math.log2(limits[name] / block)) <= math.log2(LIMIT_FACTOR)]
    if not near:
        return ""
    nearest = min(near, key=lambda name: abs(math.log2(limits[name] / block)))
    return f", near {LIMIT_TEXTS[nearest]} ({exact_size(limits[nearest])})"


EXPERIMENT = SequentialRead()
