"""What was measured on the server's own host outranks what was published, in either direction."""

from __future__ import annotations

import math
import random
import re
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from local_results import CALM, HOST, LOUD, PLACE, TPS, Variant, audited, host_result, measured, scans
from msgspec.structs import replace
from rule_cases import Case, context_of_case, facts_of
from simulated_experiment import Noise

from advisor.analysis import run_rules
from advisor.analysis.context import build_context
from advisor.analysis.local_results import answers
from advisor.catalog.targets import parse_target
from advisor.core.model import Confidence, Severity
from advisor.facts.probes import Arm, Block, Metric, RunPlace
from advisor.report.audit.fact_lines import latency
from rules import all_rules
from rules.measured.claims import CLAIMS
from rules.measured.compare import compare_values

if TYPE_CHECKING:
    from pathlib import Path

    from advisor.analysis import RuleRun
    from advisor.core.model import Finding, LocalResult
    from advisor.facts.probes import ProbeResult

MARIADB = "mariadb-10.11"
MYISAM = "default_storage_engine = MyISAM\n"
READ = f"{MYISAM}read_buffer_size = 8M"
GIB = 1 << 30


def of(name: str, ran: RuleRun) -> Finding:
    """The finding of that rule."""
    return next(f for f in ran.findings if f.name == name)


def local(found: Finding) -> LocalResult:
    """What was measured here, which must be reported."""
    assert found.local is not None
    return found.local


def scanned(*results: ProbeResult, file: str = READ) -> Finding:
    """What is said of a large read buffer where these results are kept."""
    return of("oversized-read-buffer", audited(MARIADB, file, *results))


def test_a_worse_value_is_measured_here() -> None:
    """The finding keeps severity and advice, and says how much slower the value is on this host."""
    without, found = scanned(), scanned(scans({"128K": 1.0, "2M": 1.05, "8M": 1.2}))
    assert found.confidence is Confidence.MEASURED
    assert found == without._replace(confidence=Confidence.MEASURED, local=found.local)
    assert local(found).verdict == "worse"
    assert local(found).words.startswith("Here, probe of 2026-11-20: 8M against 128K: ")
    assert " % slower from disk (95 %: " in local(found).words


def test_no_difference_takes_the_advice_back() -> None:
    """A run that excludes what would matter leaves a note, without a fix or a statement, that says so."""
    found = scanned(scans({"128K": 1.0, "8M": 1.0}))
    assert (found.severity, found.confidence) == (Severity.NOTE, Confidence.MEASURED)
    assert (found.fix, found.actions) == (None, ())
    assert "no measurable effect on this host" in found.help
    assert "no difference larger than" in local(found).words


def test_a_better_value_is_to_be_kept() -> None:
    """Where the value that the rule reports is faster, the advice turns round."""
    found = scanned(scans({"128K": 1.0, "8M": 0.7}))
    assert (found.severity, found.confidence, found.actions) == (Severity.NOTE, Confidence.MEASURED, ())
    assert found.help == "keep it: on this host 8M does better than 128K"
    assert "faster from disk" in local(found).words


def test_a_noisy_run_changes_nothing() -> None:
    """Where a difference may hide in the noise the published numbers stand, and the line says why."""
    without, found = scanned(), scanned(scans({"128K": 1.0, "8M": 1.0}, noise=LOUD, rounds=3))
    assert found == without._replace(local=found.local)
    assert local(found).verdict == "unknown"


def test_too_short_a_run_contradicts_nothing() -> None:
    """Where a difference that would matter is left possible, no difference is no reason to take advice back."""
    without, found = scanned(), scanned(scans({"128K": 1.0, "8M": 1.0}, noise=CALM._replace(spread=0.1)))
    assert "no difference larger than" in local(found).words
    assert local(found).words.endswith("; the run was too short to contradict the finding.")
    assert found == without._replace(local=found.local)


def test_better_is_said_only_where_nothing_else_is_open() -> None:
    """4M is judged by 2M, which is faster, and by 8M, which is inconclusive: nothing is contradicted."""
    noise = CALM._replace(own={2: 0.8})
    found = scanned(scans({"128K": 1.0, "2M": 0.2, "8M": 1.0}, noise=noise), file=f"{MYISAM}read_buffer_size = 4M")
    assert "faster" in local(found).words
    assert local(found).words.endswith("may hide in the noise.")
    assert (local(found).verdict, found.severity) == ("unknown", Severity.WARNING)


@pytest.mark.parametrize("changes", [
    {"server": "mariadb-11.8.6"},
    {"server": "mysql-5.7.44"},
    {"place": replace(PLACE, device="nvme0n1")},
    {"place": replace(PLACE, file_system="tmpfs")},
    {"place": replace(PLACE, file_system=None, device=None)},
    {"probe": "scan"},
])  # fmt: skip
def test_what_was_measured_elsewhere_does_not_count(changes: dict[str, object]) -> None:
    """Another series, flavour or file system, or another experiment: the finding is as if there were none."""
    assert scanned(replace(scans({"128K": 1.0, "8M": 1.3}), **changes)) == scanned()


def test_nothing_counts_where_the_server_stands_on_unknown_disks() -> None:
    """A server whose storage is unknown may be anywhere."""
    results = [scans({"128K": 1.0, "8M": 1.3}, place=place) for place in (PLACE, RunPlace("here"))]
    assert of("oversized-read-buffer", audited(MARIADB, READ, *results, host={})).local is None


def test_a_value_between_two_that_were_measured() -> None:
    """4M is judged by 2M and 8M where both agree; where they don't, or beyond the tested sizes, no claim is made."""
    agreed = scanned(scans({"128K": 1.0, "2M": 1.2, "8M": 1.3}), file=f"{MYISAM}read_buffer_size = 4M")
    assert local(agreed).verdict == "worse"
    assert "2M against 128K" in local(agreed).words
    assert "8M against 128K" in local(agreed).words
    split = scanned(scans({"128K": 1.0, "2M": 0.7, "8M": 1.3}), file=f"{MYISAM}read_buffer_size = 4M")
    assert local(split).verdict == "mixed"
    assert split.severity is Severity.WARNING
    assert scanned(scans({"128K": 1.0, "8M": 1.3}), file=f"{MYISAM}read_buffer_size = 64M").local is None


@pytest.mark.parametrize(("effects", "said"), [({"2M": 1.0, "8M": 1.3}, 1.3), ({"2M": 0.7, "8M": 1.0}, 0.7)])
def test_two_values_around_one_have_to_agree(effects: dict[str, float], said: float) -> None:
    """4M between a size without a difference and one with: where it begins is not known, so nothing changes."""
    file = f"{MYISAM}read_buffer_size = 4M"
    without, found = scanned(file=file), scanned(scans({"128K": 1.0, **effects}), file=file)
    assert ("slower" if said > 1 else "faster") in local(found).words
    assert local(found).words.endswith("; 2M and 8M do not agree.")
    assert found == without._replace(local=found.local)
    assert local(found).verdict == "unknown"


def test_the_newest_result_with_both_values_counts() -> None:
    """A newer run of other values doesn't hide the one that answers; of two that answer the newer one does."""
    sweep = scans({"128K": 1.0, "8M": 1.3})
    other = scans({"16K": 1.0, "128K": 1.0}, began_at="2026-11-21T04:00:00Z")
    assert local(scanned(other, sweep)).began_at == sweep.began_at
    newer = scans({"128K": 1.0, "8M": 1.0}, began_at="2026-11-22T04:00:00Z")
    assert local(scanned(sweep, other, newer)).verdict == "same"


def test_noise_takes_nothing_from_what_was_measured_before() -> None:
    """A newer noisy run leaves the finding measured; one on another server version or half a year later doesn't."""
    good = scans({"128K": 1.0, "8M": 1.3})
    noise = {"began_at": "2026-11-22T04:00:00Z", "noise": LOUD, "rounds": 3}
    assert scanned(good, scans({"16K": 1.0, "128K": 1.0, "8M": 1.3}, **noise)).confidence is Confidence.MEASURED
    answered = scans({"16K": 1.0, "128K": 1.0, "8M": 1.0}, began_at="2027-06-22T04:00:00Z")
    assert local(scanned(good, answered)).verdict == "same"
    wider = Noise(spread=0.02, seconds=0.02, stalls=0, drift=0)
    again = scans({"16K": 1.0, "128K": 1.0, "8M": 1.3}, began_at="2026-11-22T04:00:00Z", noise=wider)
    assert local(scanned(good, again)).began_at == good.began_at
    assert local(scanned(good, replace(again, began_at="2027-06-22T04:00:00Z"))).began_at.startswith("2027")
    assert local(scanned(good, replace(again, server="mariadb-10.11.20"))).began_at == again.began_at


def test_a_rule_that_says_nothing_changes_is_not_weakened_by_that() -> None:
    """On MySQL 8.0 no difference is what the rule claims; a faster value would contradict it."""
    results = {
        effect: scans({"128K": 1.0, "8M": effect}, server="mysql-8.0.15") for effect in (1.0, 0.7)
    }  # fmt: skip
    plain = of("pointless-read-buffer", audited("mysql-8.0", READ))
    same = of("pointless-read-buffer", audited("mysql-8.0", READ, results[1.0]))
    assert same == plain._replace(local=same.local)
    assert local(same).verdict == "same"
    faster = of("pointless-read-buffer", audited("mysql-8.0", READ, results[0.7]))
    assert "keep it" in faster.help


def instances(effect: float, seconds: float, pool: int = 16 * GIB) -> Finding:
    """What is said of one instance of a large pool, after blocks of so many seconds on a pool of that size."""
    metric = Metric("variation", "%", "less")
    variants = [Variant("8", {"innodb_buffer_pool_instances": "8"}, 1.0, 8.0)]
    variants.append(Variant("1", {"innodb_buffer_pool_instances": "1"}, effect, 1.0))
    made = measured(
        "buffer-pool-instances", metric, variants, server="mysql-8.0.15", axis="innodb_buffer_pool_instances",
        parameters={"pool": str(pool)},
    )  # fmt: skip
    arms = tuple(replace(a, blocks=tuple(replace(b, seconds=seconds) for b in a.blocks)) for a in made.arms)
    file = "innodb_buffer_pool_size = 16G\ninnodb_buffer_pool_instances = 1"
    host: dict[str, object] = {**HOST, "cpus": 40}
    return of("few-buffer-pool-instances", audited("mysql-8.0", file, replace(made, arms=arms), host=host))


def test_stalls_take_hours_to_be_disproved() -> None:
    """A short run without a difference contradicts nothing; one of hours does, and a short one may confirm."""
    assert local(instances(1.0, 10)).verdict == "unknown"
    assert instances(1.0, 10).actions
    assert local(instances(1.0, 3600)).verdict == "same"
    assert instances(1.0, 3600).actions == ()
    assert instances(1.5, 10).confidence is Confidence.MEASURED
    assert "more variation" in local(instances(1.5, 10)).words


def test_a_small_pool_says_nothing_of_a_large_one() -> None:
    """What a pool of 1G showed does not count for one of 16G."""
    assert instances(1.5, 10, pool=GIB).local is None


def writes(most: float, capacity: int, **more: object) -> list[Finding]:
    """What is said of an I/O capacity on a disk that takes so many writes a second."""
    found = host_result("random-write", {"most_writes": most, "io_capacity_bound": most})
    ran = audited("mysql-8.0", f"innodb_io_capacity = {capacity}", found, **more)
    return [f for f in ran.findings if f.name == "oversized-io-capacity"]


def test_the_disk_bounds_the_capacity_and_never_raises_it() -> None:
    """A value above what the disk can do is reported as measured; one below it is never to be raised."""
    ssd = {"disks": [{"kernel_name": "sda", "rotational": False}]}
    (beyond,) = writes(3000.0, 10000, host=ssd)
    assert beyond.confidence is Confidence.MEASURED
    assert "3,000 random page writes a second at most" in local(beyond).words
    assert writes(90000.0, 10000, host=ssd) == []
    (within,) = writes(90000.0, 30000, host=ssd)
    assert "an upper limit, not a recommendation" in local(within).words
    assert "lower" in within.help
    assert not any("raise" in f.help or f.actions for f in (beyond, within))


def test_a_driver_at_its_limit_bounds_no_capacity() -> None:
    """Where the driver, not the disk, was the limit, the disk takes more, and the value is not called too much."""
    facts: dict[str, float | str] = {"most_writes": 3000.0, "most_writes_at": "256 to each fsync"}
    ssd = {"disks": [{"kernel_name": "sda", "rotational": False}]}
    file = "innodb_io_capacity = 10000"
    limited: dict[str, float | str] = {**facts, "at_least": "64 to each fsync, 256 to each fsync"}
    other: dict[str, float | str] = {**facts, "at_least": "1 to each fsync"}
    singly = {"open": "O_DIRECT", "at once": "1"}
    for result, reported in (
        (host_result("random-write", facts), True),
        (host_result("random-write", other), True),
        (host_result("random-write", limited), False),
        (host_result("random-write", facts, parameters=singly), False),
        (host_result("random-write", facts, parameters={**singly, "at once": "64"}), True),
    ):
        names = {f.name for f in audited("mysql-8.0", file, result, host=ssd).findings}
        assert ("oversized-io-capacity" in names) is reported


def test_a_limit_is_not_raised_beyond_what_the_disk_takes() -> None:
    """Writing that is held back is let go as far as the disk was seen to take."""
    case = Case(
        "",
        "",
        MARIADB,
        file="innodb_io_capacity = 100",
        server={"status": {"innodb_checkpoint_age": 90, "innodb_checkpoint_max_age": 100}},
        workload={"rises": {"innodb_buffer_pool_pages_flushed": 2000}},
        host=HOST,
    )
    facts = facts_of(case, parse_target(MARIADB))
    for most, reported in ((200.0, True), (199.0, False)):
        kept = (host_result("random-write", {"most_writes": most, "io_capacity_bound": most}),)
        ran = run_rules(build_context(replace(facts, probes=kept)), all_rules())
        assert ("starved-flushing" in {f.name for f in ran.findings}) is reported


def test_latency_outranks_what_a_disk_reports() -> None:
    """A disk that claims to rotate and answers in 90 us has no seeks to save, and isn't asked for too many writes."""
    quick = host_result("random-read", {"one_read": 90.0}, parameters={"open": "O_DIRECT"})
    cached = host_result("random-read", {"one_read": 9.0}, parameters={"open": "buffered"})
    slow = host_result("random-read", {"one_read": 7000.0}, parameters={"open": "O_DIRECT"})
    file = "innodb_flush_neighbors = 1\ninnodb_io_capacity = 2000"
    for result, solid in ((quick, True), (cached, False), (slow, False)):
        names = {f.name for f in audited("mysql-8.0", file, result).findings}
        assert ("flush-neighbors-on-ssd" in names, "oversized-io-capacity" in names) == (solid, not solid)
    found = of("flush-neighbors-on-ssd", audited("mysql-8.0", file, quick))
    assert "90 µs" in local(found).words


@pytest.mark.parametrize(
    ("way", "shown"), [("O_DIRECT", " · a random read takes 90 µs (probe of 2026-11-20)"), ("buffered", "")]
)
def test_reads_from_the_page_cache_are_no_latency_of_the_disk(way: str, shown: str) -> None:
    """The line about storage shows only what was read past the page cache."""
    facts = facts_of(Case("", "", MARIADB, host=HOST, server={}), parse_target(MARIADB))
    found = host_result("random-read", {"one_read": 90.0}, parameters={"open": way})
    known = build_context(replace(facts, probes=(found,)))
    assert latency(SimpleNamespace(context=known)) == shown


def test_a_trial_of_the_option_outranks_the_latency() -> None:
    """Where the two values were laid side by side under writes that counts; under reads alone it doesn't."""
    option = "innodb_flush_neighbors"
    variants = [Variant(f"{option}={n}", {option: n}, e) for n, e in (("0", 1.0), ("1", 0.8))]
    ssd = {"disks": [{"kernel_name": "sda", "rotational": False}]}
    for workload, verdict in (("oltp_read_write", "worse"), ("oltp_read_only", None)):
        made = measured("ab", TPS, variants, server="mysql-8.0.15", parameters={"workload": workload})
        found = of("flush-neighbors-on-ssd", audited("mysql-8.0", f"{option} = 1", made, host=ssd))
        assert (found.local.verdict if found.local else None) == verdict


def commits(effect: float) -> ProbeResult:
    """What durable commits do beside lenient ones, at two concurrencies, with the binary log synced and not."""
    variants = [
        Variant(
            f"flush={flush} sync={sync} threads={threads}",
            {"innodb_flush_log_at_trx_commit": flush, "sync_binlog": sync},
            effect if flush == "1" else 1.0,
            float(threads),
        )
        for threads in (1, 8)
        for flush in ("1", "2")
        for sync in ("1", "0")
    ]
    return measured("commit", TPS, variants, server="mysql-8.0.15", axis="threads")


@pytest.mark.parametrize(("effect", "verdict", "words"), [
    (0.5, "worse", "(49|50|51) % fewer transactions"), (1.0, "same", "no difference larger than"),
])  # fmt: skip
def test_durability_is_never_traded_for_speed(effect: float, verdict: str, words: str) -> None:
    """The finding says what durable commits cost here at each concurrency, and is otherwise unchanged."""
    file = "innodb_flush_log_at_trx_commit = 2\nlog_bin\nsync_binlog = 1"
    found = of("lost-commits", audited("mysql-8.0", file, commits(effect)))
    assert found == of("lost-commits", audited("mysql-8.0", file))._replace(local=found.local)
    assert local(found).verdict == verdict
    assert "at threads 1" in local(found).words
    assert "at threads 8" in local(found).words
    assert len(re.findall(words, local(found).words)) == 2


def test_a_sync_is_reported_where_commits_were_not_measured() -> None:
    """Without a run of the server's commits the latency of one sync on its disk is reported."""
    latency = host_result("commit-latency", {"quickest": "fdatasync 4K", "quickest_latency": 1100.0})
    found = of("lost-commits", audited("mysql-8.0", "innodb_flush_log_at_trx_commit = 2", latency))
    assert "1.1 ms (fdatasync 4K)" in local(found).words


@pytest.mark.parametrize("value", [math.inf, math.nan, 1e308, -1.0])
def test_samples_that_no_clock_gives_do_not_count(value: float) -> None:
    """A snapshot comes from anywhere: a result with such a sample, or without variants or metrics, says nothing."""
    whole = scans({"128K": 1.0, "8M": 1.3})
    blocks = tuple(replace(b, metrics={"beyond_cache": value}) for b in whole.arms[1].blocks)
    odd = replace(whole, arms=(whole.arms[0], replace(whole.arms[1], blocks=blocks)))
    assert scanned(odd, replace(whole, arms=()), replace(whole, metrics=())) == scanned()


def test_local_results_skip_no_rule() -> None:
    """With and without results the same rules are skipped, for the same reasons."""
    assert audited(MARIADB, READ).skipped == audited(MARIADB, READ, scans({"128K": 1.0, "8M": 1.2})).skipped


@pytest.mark.parametrize(("cpus", "counts"), [(None, True), (40, True), (2, False)])
def test_a_machine_that_was_resized_is_another_one(cpus: int | None, counts: bool) -> None:
    """What two processors showed does not count where the host has forty now."""
    result = replace(scans({"128K": 1.0, "8M": 1.3}), place=replace(PLACE, cpus=cpus))
    found = of("oversized-read-buffer", audited(MARIADB, READ, result, host={**HOST, "cpus": 40}))
    assert (found.local is not None) is counts


def test_equal_variants_are_rarely_judged(tmp_path: Path) -> None:
    """Delays that change nothing, at four concurrencies: at most one run in twenty is worse or better at any."""
    option = "binlog_group_commit_sync_delay"
    context = context_of_case(Case("", "", "mysql-8.0.43", file="log_bin = binlog"), tmp_path)
    draw, runs, judged = random.Random(1), 300, 0  # noqa: S311 - noise, no secret
    for _ in range(runs):
        arms = tuple(
            Arm(
                f"delay={value} threads={threads}",
                {option: value},
                tuple(Block(n, 0.0, 1.0, {"tps": 1000 * math.exp(draw.gauss(0, 0.05))}) for n in range(1, 6)),
                float(threads),
                f"{threads} threads",
            )
            for threads in (1, 4, 16, 64)
            for value in ("0", "10000")
        )
        equal = replace(
            host_result("commit", {}), metrics=(TPS,), arms=arms, baseline=arms[0].name, server="mysql-8.0.43"
        )
        context.parts["probes"] = answers([replace(equal, axis="threads")])
        found = compare_values("commit", CLAIMS["delayed-commits"], context, "10000", "0")
        assert found is not None
        assert len(found.pairs) == 4
        judged += found.verdict not in ("same", "unknown")
    assert judged / runs <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / runs)  # two standard errors
