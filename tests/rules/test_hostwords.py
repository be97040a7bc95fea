"""What rules of the system and of storage say in words, where the severity alone would not show a mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from rule_cases import Case, context_of_case

from advisor.core.model import Confidence
from advisor.facts import Host
from rules import all_rules, find_rule

if TYPE_CHECKING:
    from pathlib import Path

    from advisor.core.model import Finding


def first(name: str, host: dict[str, Any], tmp_path: Path, **words: Any) -> Finding:
    """The first finding of the rule of that name on a host."""
    rule = find_rule(name)
    assert rule is not None
    return next(iter(rule.check(context_of_case(Case(name, "", "mysql-8.0.15", host=host, **words), tmp_path))))


@pytest.mark.parametrize(("level", "cost"), [("raid5", 4), ("raid4", 4), ("raid6", 6)])
def test_what_a_small_write_costs(level: str, cost: int, tmp_path: Path) -> None:
    """One parity makes four requests of a small write, two make six."""
    host = {"disks": [{"kernel_name": "md0", "raid": {"level": level, "disks": 5}}]}
    found = first(
        "parity-array-under-writes", host, tmp_path, server={}, workload={"rises": {"innodb_data_writes": 5000}}
    )
    assert f"costs {cost} requests" in found.message
    assert "500 writes a second" in found.message


def test_disks_of_an_array(tmp_path: Path) -> None:
    """The number of an array's disks is shown where it is known."""
    for disks, words in ((4, "its 4 disks"), (None, "of its disks.")):
        host = {"disks": [{"kernel_name": "md0", "raid": {"level": "raid1", "disks": disks, "degraded": 1}}]}
        assert words in first("degraded-array", host, tmp_path).message


@pytest.mark.parametrize("more", [{"cgroup": {"cpus": 2.0}}, {"os": {"containers": ("docker",)}}, {}])
def test_whom_a_nice_server_gives_way_to(more: dict[str, Any], tmp_path: Path) -> None:
    """In a control group with a CPU share of its own, the nice value counts among the processes of that group alone."""
    found = first("low-priority-server", {"process": {"nice": 10, "policy": "other"}} | more, tmp_path)
    assert found.message.endswith("other processes of its control group." if more else "other processes.")


def test_neighbours_are_advised_by_value(tmp_path: Path) -> None:
    """On spinning disks the neighbours of one extent are advised, not all."""
    host = {"disks": [{"kernel_name": "sda", "transport": "sata", "rotational": True}]}
    (action,) = first("lone-flush-on-spinning-disk", host, tmp_path, file="innodb_flush_neighbors = 0").actions
    assert action.option_line == "innodb_flush_neighbors = 1"
    assert action.watch


@pytest.mark.parametrize(("rotational", "confidence"), [(True, Confidence.LIKELY), (False, Confidence.OPINION)])
def test_fragments_are_a_matter_of_seeks(rotational: bool, confidence: Confidence, tmp_path: Path) -> None:
    """Copy on write is called likely harm where disks have seeks, and an opinion where they have none."""
    disk = {"kernel_name": "sda", "transport": "sata", "rotational": rotational}
    assert first("copy-on-write-data", {"fs_type": "btrfs", "disks": [disk]}, tmp_path).confidence is confidence


@pytest.mark.parametrize(
    ("governor", "words"), [("powersave", "at their lowest"), ("ondemand", "after it has seen load")]
)
def test_what_a_governor_does(governor: str, words: str, tmp_path: Path) -> None:
    """A governor with a fixed frequency is told apart from one that raises it late."""
    host = {"cpu": {"governor": governor, "frequency_driver": "acpi-cpufreq"}}
    assert words in first("saving-frequency-governor", host, tmp_path).message


@pytest.mark.parametrize(
    ("nice", "policy", "words"),
    [
        (5, "other", "with the nice value 5,"),
        (0, "idle", "with the class idle,"),
        (5, "batch", "with the class batch and the nice value 5,"),
    ],
)
def test_how_a_server_gives_way(nice: int, policy: str, words: str, tmp_path: Path) -> None:
    """Class and niceness are named where they are what makes the server give way."""
    assert words in first("low-priority-server", {"process": {"nice": nice, "policy": policy}}, tmp_path).message


def test_a_host_of_which_nothing_was_read(tmp_path: Path) -> None:
    """No rule that needs a host alone stumbles over one that nothing is known of, nor finds anything there."""
    known = context_of_case(Case("", "", "mysql-8.0.15"), tmp_path)
    known.parts["host"] = Host()
    alone = [rule for rule in all_rules() if rule.needs == ("host",) and rule.concerns(known.target)]
    assert [finding for rule in alone for finding in rule.check(known)] == []


@pytest.mark.parametrize(("processors", "words"), [(1.0, "1 processor and"), (0.5, "0.5 processors and")])
def test_one_processor(processors: float, words: str, tmp_path: Path) -> None:
    """A quota of one processor is not plural."""
    group = {"cpus": processors, "periods": 10000, "throttled": 5000}
    assert words in first("throttled-processors", {"cgroup": group}, tmp_path).message
