"""Kept results come back whole, are private, and other files beside them are named and ignored."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from advisor.facts.host import Host
from advisor.facts.probes import PROBE_SCHEMA, Arm, Block, Metric, ProbeResult, RunPlace
from probes import results
from probes.checkpoints import ResultWriter, find_matching_run
from probes.experiment import Cost, Environment, ProbeError, ProbeRequest, RunPlan, Variant
from probes.host_identity import host_id
from probes.pooling import difference_between, interval_width, merge_runs
from probes.results import (
    KeptResults,
    find_result,
    latest_results,
    read_all,
    read_result,
    results_of_host,
    write_result,
)

HERE = RunPlace("here", "A CPU", 2, 8 << 30, "6.1", "/srv/db", "ext4", "vda")


def result(began: str = "2026-11-21T04:00:00Z", rounds: int = 2, **changes: object) -> ProbeResult:
    """A small invented result of two variants."""
    blocks = tuple(Block(n, n * 2.0, 1.0, {"rate": 100.0 + n}, {"rate": (1.0, 2.0)}) for n in range(1, rounds + 1))
    arms = (Arm("128K", {"read_buffer_size": "128K"}, blocks, 131072.0), Arm("8M", {"read_buffer_size": "8M"}, blocks))
    made = ProbeResult(
        PROBE_SCHEMA, "0", "read-buffer", began, 4.0, "finished", HERE, (Metric("rate", "MB/s"),), arms, "128K",
        server="mysql-8.0.45", parameters={"readers": "1"}, facts={"size": 1.5, "word": "x"}, limits=("a",),
        notes=("n",),
    )  # fmt: skip
    return replace(made, **changes)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state directory of the test's own; the folder of results in it."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "mycnf" / "probes"


def test_a_result_comes_back_whole(state: Path) -> None:
    """What is kept is read again as it was, from a file of mode 0600 in a folder of mode 0700."""
    before = os.umask(0)
    try:
        path = write_result(result())
    finally:
        os.umask(before)
    assert read_result(path) == result()
    assert [k.result for k in read_all().kept] == [result()]
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    assert os.listdir(state) == [os.path.basename(path)]


def test_a_folder_open_to_others_is_closed(state: Path) -> None:
    """A folder that others could look into is closed before anything is kept there."""
    state.mkdir(parents=True)
    state.chmod(0o755)
    write_result(result())
    assert stat.S_IMODE(state.stat().st_mode) == 0o700


def test_a_relative_state_home_is_ignored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As the standard for these directories wants it, only an absolute one counts."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for value in ("", "state", "./state"):
        monkeypatch.setenv("XDG_STATE_HOME", value)
        assert results.results_folder() == f"{tmp_path}/.local/state/mycnf/probes"


def test_a_folder_that_cannot_be_made_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The line names the folder and what to set."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with pytest.raises(ProbeError, match=r"^nothing can be saved in [^\n]*file/mycnf/probes .*XDG_STATE_HOME[^\n]*$"):
        write_result(result())
    assert read_all() == KeptResults((), ())


DAMAGED = {
    "empty": b"",
    "truncated": b'{"schema": "1.0", "tool": ',
    "no object": b"[1]",
    "no schema": b"{}",
    "a snapshot": b'{"schema": "1.0", "server": {}}',
    "another major": b'{"schema": "2.0"}',
    "deep": b"[" * 100_000,
    "binary": bytes(range(256)),
}


@pytest.mark.parametrize("data", DAMAGED.values(), ids=DAMAGED)
def test_what_is_no_result_is_named_and_ignored(state: Path, data: bytes) -> None:
    """A damaged file costs one line with its name, and the results beside it are read."""
    write_result(result())
    (state / "other.json").write_bytes(data)
    found = read_all()
    assert [k.result for k in found.kept] == [result()]
    assert len(found.damaged) == 1
    assert str(state / "other.json") in found.damaged[0]
    assert "\n" not in found.damaged[0]


def test_folders_and_fifos_are_not_opened(state: Path) -> None:
    """What is no regular file is skipped, without waiting for a writer."""
    write_result(result())
    (state / "folder.json").mkdir()
    os.mkfifo(state / "fifo.json")
    assert len(read_all().kept) == 1


def test_fields_of_a_newer_minor_schema_are_ignored() -> None:
    """A newer mycnf's additions don't keep this one from reading what it knows."""
    path = Path(write_result(result()))
    fields = json.loads(path.read_text())
    fields |= {"schema": "1.9", "new": [1]}
    fields["place"]["also_new"] = 1
    path.write_text(json.dumps(fields))
    assert read_result(str(path)) == result(schema="1.9")


def test_the_newest_come_first_and_are_found_by_name() -> None:
    """A probe's name finds its newest result, an id exactly one."""
    for day in (19, 21, 20):
        write_result(result(f"2026-11-{day}T04:00:00Z"))
    kept = read_all().kept
    assert [k.result.began_at[8:10] for k in kept] == ["21", "20", "19"]
    assert find_result(kept, "read-buffer") == kept[0]
    assert find_result(kept, kept[2].id) == kept[2]
    assert find_result(kept, "fsync") is None


def test_rules_get_what_this_host_measured_alone() -> None:
    """Another host's results don't count; two of a kind are one longer run, and another server's are another kind."""
    write_result(result("2026-11-19T04:00:00Z"))
    write_result(result("2026-11-20T04:00:00Z", rounds=3))
    write_result(result("2026-11-18T04:00:00Z", server="mariadb-10.11.19"))
    write_result(result("2026-11-21T04:00:00Z", place=replace(HERE, host="elsewhere")))
    found = latest_results(read_all(), "here")
    days = [(r.began_at[8:10], r.server, r.rounds) for r in found]
    assert days == [("20", "mysql-8.0.45", 5), ("18", "mariadb-10.11.19", 2)]


@pytest.mark.parametrize("changes", [
    {"place": replace(HERE, kernel="6.12")},
    {"place": replace(HERE, path="/srv/other")},
    {"driver": "sysbench"},
    {"schema": "1.0"},
    {"began_at": "2025-11-19T04:00:00Z"},
    {"arms": tuple(replace(a, blocks=tuple(replace(b, invalid="why") for b in a.blocks)) for a in result().arms)},
])  # fmt: skip
def test_what_is_old_void_or_of_another_configuration_never_outranks(changes: dict[str, object]) -> None:
    """Such a run is left out beside a newer one, however narrow it is."""
    newest = result("2026-11-20T04:00:00Z")
    write_result(newest)
    write_result(result(**{"began_at": "2026-11-19T04:00:00Z", "rounds": 9, **changes}))
    assert latest_results(read_all(), "here") == (newest,)


def real(name: str, began: str) -> ProbeResult:
    """A run of read-buffer on MySQL 5.7, as it was kept, with another date."""
    return replace(read_result(str(Path(__file__).parent / "kept" / f"{name}.json")), began_at=began)


def test_real_runs_are_pooled() -> None:
    """Of a run of five rounds and later ones of two and one, the answer gets no wider."""
    long, short = real("five-rounds", "2026-11-19T04:00:00Z"), real("two-rounds", "2026-11-20T04:00:00Z")
    write_result(long)
    write_result(short)
    write_result(replace(short, began_at="2026-11-21T04:00:00Z", arms=tuple(
        replace(arm, blocks=arm.blocks[:1]) for arm in short.arms
    )))  # fmt: skip
    (found,) = latest_results(read_all(), long.place.host)
    assert found.rounds == 7
    assert interval_width(found) <= interval_width(long)
    assert found.began_at == "2026-11-20T04:00:00Z"
    assert found.facts == long.facts


def test_a_real_run_that_went_wild_is_left_out() -> None:
    """One whose blocks scatter far beyond those of the first takes nothing from it."""
    long = real("five-rounds", "2026-11-19T04:00:00Z")
    wild = [
        replace(arm, blocks=tuple(
            replace(b, metrics={n: value * (9.0 if (b.round + place) % 2 else 0.2) for n, value in b.metrics.items()})
            for b in arm.blocks
        ))
        for place, arm in enumerate(long.arms)
    ]  # fmt: skip
    write_result(long)
    write_result(replace(long, began_at="2026-11-20T04:00:00Z", arms=tuple(wild)))
    assert latest_results(read_all(), long.place.host) == (long,)


def test_a_host_without_an_identity_has_no_results() -> None:
    """Two hosts that can't be distinguished don't share what they measured."""
    write_result(result(place=replace(HERE, host="unknown")))
    assert results_of_host(read_all().kept, "unknown") == []


def test_two_runs_become_one() -> None:
    """The later run's rounds follow the earlier one's, in number and in time, and the notes say so once."""
    one = merge_runs(result(rounds=2), result("2026-11-22T04:00:00Z", rounds=3, seconds=6.0, notes=("m",)))
    assert one.rounds == 5
    assert [b.round for b in one.arms[0].blocks] == [1, 2, 3, 4, 5]
    assert [b.began for b in one.arms[0].blocks] == [2.0, 4.0, 6.0, 8.0, 10.0]
    assert one.began_at == "2026-11-21T04:00:00Z"
    assert one.seconds == 10.0
    again = merge_runs(one, result("2026-11-23T04:00:00Z", rounds=1))
    assert again.rounds == 6
    assert [n for n in again.notes if "several runs" in n] == [
        "Measured in several runs; the last one began 2026-11-23T04:00:00Z."
    ]


def with_one_invalid_block(run: ProbeResult) -> ProbeResult:
    """The run without the first block of its first variant, as a run may lack one."""
    first, *others = run.arms
    invalid = replace(first.blocks[0], metrics={}, series={}, invalid="why")
    made = replace(run, arms=(replace(first, blocks=(invalid, *first.blocks[1:])), *others))
    assert not made.is_void
    return made


VOID = tuple(
    replace(arm, blocks=tuple(replace(block, metrics={}, series={}, invalid="why") for block in arm.blocks))
    for arm in result(rounds=3).arms
)


def test_runs_that_together_have_no_result_are_not_pooled() -> None:
    """One invalid block in each is too many of both: the longer run counts alone."""
    long = with_one_invalid_block(result("2026-11-19T04:00:00Z", rounds=4))
    short = with_one_invalid_block(result("2026-11-20T04:00:00Z", rounds=3))
    write_result(long)
    write_result(short)
    assert latest_results(read_all(), "here") == (long,)


@pytest.mark.parametrize("spoil", [with_one_invalid_block, lambda run: replace(run, arms=VOID)])
def test_rounds_that_spoil_a_run_are_saved_beside_it(spoil: Callable[[ProbeResult], ProbeResult]) -> None:
    """A resumed run keeps its result if too many of the new blocks are invalid."""
    path = write_result(with_one_invalid_block(result(rounds=4)))
    (kept,) = read_all().kept
    later = spoil(result("2026-11-22T04:00:00Z", rounds=3))
    said: list[str] = []
    assert ResultWriter(said.append, kept).write_final(later) == later
    assert read_result(path) == kept.result
    assert [k.result for k in read_all().kept] == [later, kept.result]
    assert "saved separately" in said[0]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({}, ""),
        ({"arms": VOID}, "the latest run has no valid result"),
        ({"place": RunPlace("here", kernel="6.1", path="/srv/db")}, "the latest run differs in the kernel"),
    ],
)
def test_only_a_run_with_a_result_from_the_same_machine_is_resumed(changes: dict[str, object], why: str) -> None:
    """The plan of the new run is compared with what is saved, with the machine and its kernel."""
    saved = result(**{"place": RunPlace("here", path="/srv/db"), **changes})
    write_result(saved)
    variants = tuple(Variant(arm.name, arm.settings, arm.point) for arm in saved.arms)
    plan = RunPlan(variants, "128K", saved.metrics, Cost(0, 0, 0.0, ()), 9.0, 5, driver="", server=saved.server)
    plan.parameters.update(saved.parameters)
    experiment = SimpleNamespace(name="read-buffer")
    kept, reason = find_matching_run(
        experiment,
        Environment(Host(), "here"),
        ProbeRequest("/srv/db"),
        plan,
    )
    assert reason == why
    assert (kept is None) == bool(why)


def test_facts_of_two_runs_are_those_of_the_longer() -> None:
    """A last short part, or one that was killed and has no facts, does not decide the answer."""
    long, short, killed = (
        result(rounds=rounds, facts=facts) for rounds, facts in ((5, {"answer": "5"}), (1, {"answer": "1"}), (9, {}))
    )
    assert merge_runs(long, short).facts == merge_runs(short, long).facts == long.facts
    assert merge_runs(long, killed).facts == merge_runs(killed, long).facts == long.facts


@pytest.mark.parametrize(("changes", "words"), [
    ({"probe": "commit"}, "the experiment"),
    ({"server": "mysql-9.7.4"}, "the server"),
    ({"driver": "sysbench"}, "the driver"),
    ({"parameters": {"readers": "4"}}, "the parameters"),
    ({"baseline": "8M"}, "the baseline"),
    ({"place": replace(HERE, host="x")}, "the host"),
    ({"place": replace(HERE, path="/tmp")}, "the directory"),
    ({"place": replace(HERE, cpus=64)}, "the processors"),
    ({"place": replace(HERE, kernel="6.12")}, "the kernel"),
    ({"place": replace(HERE, device="sdb")}, "the disk or file system"),
    ({"schema": "1.0"}, "the format of the samples"),
    ({"metrics": (Metric("rate", "rows/s"),)}, "the metrics"),
    ({"arms": ()}, "the variants"),
])  # fmt: skip
def test_runs_that_differ_stay_apart(changes: dict[str, object], words: str) -> None:
    """What can't be one longer run is refused, with what changed."""
    assert difference_between(result(), result(**changes)) == words
    with pytest.raises(ProbeError, match=f"{words} changed"):
        merge_runs(result(), result(**changes))
    assert difference_between(result(), result(rounds=9, seconds=1.0, tool="2")) == ""


def test_a_host_is_identified_by_a_hash(tmp_path: Path) -> None:
    """The id is stable, holds neither the machine's id nor its name, and differs between machines."""
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("0123456789abcdef0123456789abcdef\n")
    other.write_text("f123456789abcdef0123456789abcdef\n")
    identity = host_id(str(tmp_path), str(one))
    assert identity == host_id("/nowhere", str(one))
    assert identity != host_id(str(tmp_path), str(other))
    assert len(identity) == 16
    assert identity not in one.read_text()


@pytest.mark.parametrize("text", ["", "uninitialized\n"])
def test_a_host_without_machine_id_gets_a_number_of_its_own(tmp_path: Path, text: str) -> None:
    """It is made once, kept privately, and where it can't be kept the id is unknown."""
    (tmp_path / "machine-id").write_text(text)
    identity = host_id(str(tmp_path), str(tmp_path / "machine-id"))
    assert identity == host_id(str(tmp_path), str(tmp_path / "missing")) != "unknown"
    assert stat.S_IMODE((tmp_path / "host-id").stat().st_mode) == 0o600
    assert host_id(str(tmp_path / "nowhere"), str(tmp_path / "missing")) == "unknown"
