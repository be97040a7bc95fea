"""The experiments on served servers: what their blocks measure on real ones, what they refuse, and that it all goes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from probe_environment import children, ground_of, prepared

from advisor.facts.probes import Arm, Block
from probes.experiment import ProbeError, ProbeRequest, Turn
from probes.registry import load
from probes.sandbox import Binary
from probes.server_probes.cache_fit import KeyedBench, Layout, most_held, steepest_step
from probes.server_probes.range_scan import RangesBench
from probes.stop import StopSignal

MIB = 1 << 20
# One that takes a restart, and one that doesn't.
CHANGES = {"mysql-8.0": "innodb_buffer_pool_size=16M,24M", "mariadb-11.4": "innodb_flush_neighbors=0,1"}


@pytest.mark.servers("mysql-9.7", "mariadb-10.11", whole="mysql-5.7 mariadb-11.8")
def test_commit_measures_each_way_of_flushing(binary: Binary, templates: Path, tmp_path: Path) -> None:
    """Every variant commits, and the redo log is flushed for each commit of one connection that asks for it only."""
    ground, commit = ground_of(templates, tmp_path, binary), load("commit")
    choices = {"flush": "1,2", "sync": "0", "threads": "1", "rows": "500", "driver": "mycnf"}
    variants = commit.plan(ground, ProbeRequest(str(tmp_path), choices=choices)).variants
    with prepared(commit, ground, tmp_path, StopSignal(), **choices) as (bench, _):
        flushes = [variant.settings["innodb_flush_log_at_trx_commit"] for variant in variants]
        measured = [bench.measure(v, Turn(1, 1, block_seed=place), StopSignal()) for place, v in enumerate(variants)]
        blocks = dict(zip(flushes, measured, strict=True))
    assert all(block.metrics["tps"] > 0 and len(block.series["tps"]) == 1 for block in blocks.values())
    syncs = {flush: block.counters["redo log syncs/transaction"] for flush, block in blocks.items()}
    assert syncs["1"] > 0.5 > syncs["2"]
    assert not any(block.invalid for block in blocks.values())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.servers("mysql-9.7", "mariadb-10.11", whole="mysql-5.7 mysql-8.0")
def test_commit_delays_groups(binary: Binary, templates: Path, tmp_path: Path) -> None:
    """A delay makes groups larger and fewer than fit into its time; blocks in which it is not in force are invalid."""
    ground, commit = ground_of(templates, tmp_path, binary), load("commit")
    choices = {"flush": "1", "sync": "1", "threads": "4", "rows": "5000", "driver": "mycnf", "delay": "0,20000"}
    plan = commit.plan(ground, ProbeRequest(str(tmp_path), choices=choices))
    with prepared(commit, ground, tmp_path, StopSignal(), **choices) as (bench, _):
        plain, delayed = (bench.measure(v, Turn(1, 1, 1, n), StopSignal()) for n, v in enumerate(plan.variants))
        bench.server.apply_settings(plan.variants[0].settings)  # type: ignore[attr-defined]
        bench.server.apply_settings = lambda _settings: False  # type: ignore[attr-defined]
        without = bench.measure(plan.variants[1], Turn(2, 1, 2, 20), StopSignal())
    assert (plain.invalid, delayed.invalid) == ("", "")
    assert 1 <= plain.metrics["group"] < delayed.metrics["group"] <= 4.5
    assert delayed.metrics["p99"] > 20 > delayed.counters["groups of commits/s"] / 5
    assert without.invalid.startswith("groups of commits/s")
    assert plan.variants[1].name == "flush=1 sync=1 delay=20000 threads=4"


@pytest.mark.servers("mysql-8.0", whole="mysql-5.7 mysql-9.7")
def test_groups_are_not_counted_by_what_syncs_between_them(binary: Binary, templates: Path, tmp_path: Path) -> None:
    """Without syncs of the binary log MySQL counts no groups; a delay shows in the commits of a connection."""
    ground, commit = ground_of(templates, tmp_path, binary), load("commit")
    choices = {"flush": "1", "sync": "0", "threads": "2", "rows": "5000", "driver": "mycnf", "delay": "0,50000"}
    plan = commit.plan(ground, ProbeRequest(str(tmp_path), choices=choices))
    with prepared(commit, ground, tmp_path, StopSignal(), **choices) as (bench, _):
        plain, delayed = (bench.measure(v, Turn(1, 1, 1, n), StopSignal()) for n, v in enumerate(plan.variants))
        bench.server.apply_settings(plan.variants[0].settings)  # type: ignore[attr-defined]
        bench.server.apply_settings = lambda _settings: False  # type: ignore[attr-defined]
        without = bench.measure(plan.variants[1], Turn(2, 1, 2, 20), StopSignal())
    assert (plain.invalid, delayed.invalid) == ("", "")
    assert "group" not in plain.metrics | delayed.metrics
    assert without.invalid.startswith("commits/s of a connection")


@pytest.mark.servers("mariadb-11.4")
@pytest.mark.parametrize(
    ("change", "warm_up", "overhead"),
    [("innodb_flush_neighbors=0,1", 5.0, 0.5), ("innodb_buffer_pool_size=16M,24M", 0.0, 6.0)],
)
def test_ab_warms_up_once_or_after_each_restart(
    binary: Binary, tmp_path: Path, change: str, warm_up: float, overhead: float
) -> None:
    """A warm-up that comes once takes no time from the rounds that follow; one after each restart does."""
    plan = load("ab").plan(ground_of(tmp_path, tmp_path, binary), ProbeRequest(str(tmp_path), choices={"set": change}))
    assert (plan.warm_up, plan.overhead) == (warm_up, overhead)


@pytest.mark.servers(*CHANGES)
def test_ab_runs_any_option(server_name: str, binary: Binary, templates: Path, tmp_path: Path) -> None:
    """Both values are in force while they are measured, by a restart where it takes one."""
    ground, ab, change = ground_of(templates, tmp_path, binary), load("ab"), CHANGES[server_name]
    choices = {"set": change, "rows": "500", "threads": "2", "driver": "mycnf"}
    plan = ab.plan(ground, ProbeRequest(str(tmp_path), choices=choices))
    with prepared(ab, ground, tmp_path, StopSignal(), **choices) as (bench, _):
        for variant in plan.variants:
            assert bench.measure(variant, Turn(1, 1), StopSignal()).metrics["tps"] > 0
            ((name, value),) = variant.settings.items()
            assert bench.server.differing_value(name, value) is None  # type: ignore[attr-defined]
        assert not bench.facts()


@pytest.mark.servers("mysql-8.0", whole="mariadb-11.4")
def test_a_variant_that_takes_a_restart_has_a_new_process_in_each_round(
    binary: Binary, templates: Path, tmp_path: Path
) -> None:
    """The last of one round and first of the next does too: two blocks of one process are no two rounds."""
    ground, ab = ground_of(templates, tmp_path, binary), load("ab")
    choices = {"set": "innodb_buffer_pool_size=16M,24M", "rows": "500", "threads": "1", "driver": "mycnf"}
    first, second = ab.plan(ground, ProbeRequest(str(tmp_path), choices=choices)).variants
    seen: list[int] = []
    with prepared(ab, ground, tmp_path, StopSignal(), **choices) as (bench, _):
        for number, variant in ((1, first), (1, second), (2, second), (2, first)):
            bench.measure(variant, Turn(number, 1, number), StopSignal())
            seen.append(bench.server.sandbox.pid)  # type: ignore[attr-defined]
    assert len(set(seen)) == len(seen)


def test_read_sizes_show_whether_scans_read_with_the_buffer(binary: Binary, templates: Path, tmp_path: Path) -> None:
    """MyISAM scans of MySQL 5.7 and MariaDB read as much as read_buffer_size says, those of MySQL 8.0 a row."""
    ground, read_buffer = ground_of(templates, tmp_path, binary), load("read-buffer")
    choices = {"sizes": "32K,128K,1M", "table": "4M", "readers": "2"}
    plan = read_buffer.plan(ground, ProbeRequest(str(tmp_path), choices=choices))
    with prepared(read_buffer, ground, tmp_path, StopSignal(), **choices) as (bench, _):
        blocks = {variant.name: bench.measure(variant, Turn(1, 0.1), StopSignal()) for variant in plan.variants}
        notes = " ".join(bench.notes())
    sizes = {name: block.metrics["read_size"] for name, block in blocks.items()}
    assert all(block.metrics[plan.metrics[0].name] > 0 for block in blocks.values())
    if binary.target.since("mysql", 8):
        assert sizes == pytest.approx(dict.fromkeys(sizes, 57), rel=0.05)
        assert "they do not use it" in notes
    else:
        assert sizes == pytest.approx({"32K": 32768, "128K": 131072, "1M": MIB}, rel=0.1)
        assert "like the buffer" in notes
    assert list(tmp_path.iterdir()) == []


@pytest.mark.servers("mariadb-11.8", whole="mysql-5.7 mysql-9.7")
def test_cache_fit_sees_what_the_pool_holds(binary: Binary, templates: Path, tmp_path: Path) -> None:
    """Few keys are cached, many are not, and pages of 4K hold more of them; the servers and their tables go."""
    ground, cache_fit = ground_of(templates, tmp_path, binary), load("cache-fit")
    layouts = "16K,4K,compressed"
    choices = {"pool": "8M", "table": "32M", "steps": "12", "driver": "mycnf", "layouts": layouts}
    plan = cache_fit.plan(ground, ProbeRequest(str(tmp_path), choices=choices))
    by_layout = {it: [v for v in plan.variants if v.name.startswith(f"{it},")] for it in layouts.split(",")}
    with prepared(cache_fit, ground, tmp_path, StopSignal(), **choices) as (bench, _):
        misses = {
            layout: [bench.measure(v, Turn(1, 1), StopSignal()).metrics["misses"] for v in (variants[0], variants[-1])]
            for layout, variants in by_layout.items()
        }
        facts = bench.facts()
    assert misses["16K"][0] < 0.3
    assert misses["4K"][0] < 0.1
    assert misses["16K"][-1] > 0.5
    assert misses["4K"][-1] < misses["16K"][-1]
    assert str(facts["answer"]).startswith("With at most one page read per 10 queries, the pool cached ")
    parameter = "pages a row, 16K" if binary.target.is_mariadb else "pages a row at most, 16K"
    assert 1 <= float(facts[parameter]) <= 6
    assert list(tmp_path.iterdir()) == []


@pytest.mark.servers("mariadb-10.11")
def test_cache_fit_has_new_servers_in_each_round(binary: Binary, templates: Path, tmp_path: Path) -> None:
    """One process for a whole run may be faster than another with the same pages."""
    ground, cache_fit = ground_of(templates, tmp_path, binary), load("cache-fit")
    choices = {"pool": "8M", "table": "1M", "steps": "2", "driver": "mycnf", "layouts": "16K,4K"}
    variants = cache_fit.plan(ground, ProbeRequest(str(tmp_path), choices=choices)).variants[:2]
    seen: list[int] = []
    with prepared(cache_fit, ground, tmp_path, StopSignal(), **choices) as (bench, _):
        for number in (1, 2):
            assert not any(bench.measure(variant, Turn(number, 1), StopSignal()).invalid for variant in variants)
            seen += [pid for pid, words in children().items() if str(tmp_path) in words]
    assert len(set(seen)) == len(variants) * 2


@pytest.mark.servers("mysql-8.0")
def test_short_blocks_of_compressed_pages_are_a_limit(binary: Binary, templates: Path, tmp_path: Path) -> None:
    """InnoDB takes a minute to settle which pages to keep uncompressed; 660 s are three rounds of 33 blocks of 7 s."""
    ground, cache_fit = ground_of(templates, tmp_path, binary), load("cache-fit")
    request = ProbeRequest(str(tmp_path), seconds=660.0)

    def limit(layouts: str, **changed: float) -> str:
        return cache_fit.plan(ground, replace(request, choices={"layouts": layouts}, **changed)).limits[0]

    assert limit("16K,4K,compressed").startswith("Blocks of 7 s cache fewer compressed rows than longer ones: ")
    assert limit("16K,4K").startswith("All rows are equally likely")
    assert limit("16K,4K,compressed", seconds=6000.0).startswith("All rows are equally likely")


@pytest.mark.servers("mysql-8.0")
def test_a_stopped_block_gives_nothing(binary: Binary, templates: Path, tmp_path: Path) -> None:
    """Told to stop, each experiment's block ends without figures."""
    ground, stop = ground_of(templates, tmp_path, binary), StopSignal()
    stop.say("cancelled")
    for name, choices in {
        "commit": {"rows": "500"},
        "ab": {"set": "innodb_flush_neighbors=0,1", "rows": "500"},
        "read-buffer": {"table": "1M"},
        "cache-fit": {"pool": "8M", "table": "1M", "layouts": "16K"},
    }.items():
        plan = load(name).plan(ground, ProbeRequest(str(tmp_path), choices=choices))
        with prepared(load(name), ground, tmp_path, StopSignal(), **choices) as (bench, _):
            assert bench.measure(plan.variants[0], Turn(1, 600), stop).metrics == {}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.servers("mysql-8.0")
@pytest.mark.parametrize("name", ["cache-fit", "file-system"])
def test_a_stop_starts_no_further_server(name: str, binary: Binary, templates: Path, tmp_path: Path) -> None:
    """Told to stop while it prepares, an experiment with several servers starts none that it would only end again."""
    notices: list[str] = []
    ground = replace(ground_of(templates, tmp_path, binary), report=notices.append)
    (tmp_path / "other").mkdir()
    choices = {"against": str(tmp_path / "other")} if name == "file-system" else {}
    wanted, stop = ProbeRequest(str(tmp_path), choices=choices, force=frozenset({"full", "little"})), StopSignal()
    plan = load(name).plan(ground, wanted)
    stop.say("cancelled")
    with load(name).prepare(ground, wanted, plan, stop):
        assert notices == []


@pytest.mark.servers("mysql-5.7")
@pytest.mark.parametrize(
    ("name", "choices", "message"),
    [
        ("commit", {"flush": "3"}, "invalid flush=3"),
        ("commit", {"delay": "2000000"}, "the maximum is 1000000 microseconds"),
        ("commit", {"driver": "jmeter"}, "unknown driver 'jmeter'"),
        ("commit", {"server": "oracle"}, "no server 'oracle' found"),
        ("ab", {}, "nothing to compare"),
        ("ab", {"set": "innodb_flush_neighbors=0,1", "workload": "tpcc"}, "one of oltp_read_write"),
        ("read-buffer", {"engine": "Aria"}, "has no Aria tables"),
        ("read-buffer", {"row-length": "5000"}, "maximum of row-length is 4000 bytes"),
        ("cache-fit", {"layouts": "8K"}, "one of 16K, 4K, compressed"),
        ("cache-fit", {"pool": "1M"}, "minimum 8M"),
    ],
)
def test_what_makes_no_sense_is_refused_when_planned(
    binary: Binary, tmp_path: Path, name: str, choices: dict[str, str], message: str
) -> None:
    """A plan that can't be is refused in one line before anything is made."""
    with pytest.raises(ProbeError, match=message) as refused:
        load(name).plan(ground_of(tmp_path, tmp_path, binary), ProbeRequest(str(tmp_path), choices=choices))
    assert "\n" not in str(refused.value)


def test_keys_are_held_up_to_the_first_step_that_falls_short() -> None:
    """A later recovery doesn't count; the published table's steepest step is found."""
    published = [(7680, 7700.0), (9216, 7630.0), (11059, 580.0), (13271, 400.0)]
    assert most_held(published, 2000) == 9216
    assert most_held([(10, 3000.0), (12, 1000.0), (14, 3000.0)], 2000) == 10
    assert most_held([(10, 100.0)], 2000) == 0
    assert steepest_step(published) == "9216 to 11059 keys: 7630 to 580 qps at the median"


def arm_of(name: str, point: float, metric: str, *values: float | None) -> Arm:
    """A variant with these values, one for each block; None for a block that was excluded."""
    blocks = (
        Block(number, 0.0, 1.0, {} if value is None else {metric: value, "qps": value})
        for number, value in enumerate(values, 1)
    )
    return Arm(name, {}, tuple(blocks), point)


def test_excluded_blocks_have_no_part_in_what_is_found_besides() -> None:
    """Cached keys and gains come from the blocks of the result."""
    layouts = {name: Layout(name, SimpleNamespace(), "sbtest", 100) for name in ("16K", "4K")}
    keyed = KeyedBench(layouts, "mycnf", 1000, 1, seed=1, acceptable=1000)
    keyed._misses["16K"][100] = [9.0]
    keyed.keep_blocks(
        (
            arm_of("16K, 100 keys", 100, "misses", 0.01, None, 0.02),
            arm_of("16K, 120 keys", 120, "misses", 0.5, 0.6, 0.7),
            arm_of("4K, 100 keys", 100, "misses", 0.0, 0.0, 0.0),
            arm_of("4K, 120 keys", 120, "misses", 0.01, 0.02, 0.01),
        )
    )
    assert keyed._answer_sentence().endswith("the pool cached 100 to 120 keys in 16K, 120 keys or more in 4K.")
    ranges = RangesBench(SimpleNamespace(variants=()), ("old", "new"), [(1000, 1), (1, 1)])
    ranges._rates["old, ranges of 1000"] = {2: 1.0}
    ranges.keep_blocks(
        (
            arm_of("old, ranges of 1000", 1000, "qps", 100, None, 101, 99),
            arm_of("new, ranges of 1000", 1000, "qps", 120, 5.0, 121.2, 118.8),
            arm_of("old, ranges of 1", 1, "qps", 100, 100, 100, 100),
            arm_of("new, ranges of 1", 1, "qps", 100, 100, 100, 100),
        )
    )
    assert ranges.facts() == {"ranges of 1000, gain beyond the control's": "1.2 times (95 %: 1.2 to 1.2)"}
