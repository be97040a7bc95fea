"""Rules about growth: what they need, from where the readings come, and the forecast beside a naive one."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace
from rule_cases import Case, context_of_case, facts_of

from advisor.analysis.context import build_context
from advisor.catalog.targets import running_target
from advisor.collect.collect import CollectRequest, collect_from_account, read_variables_and_counters
from advisor.collect.connection.options import Account, ConnectRequest
from advisor.commands.audit import add_earlier_spaces
from advisor.commands.sample import load_spaces
from advisor.state.history import save_snapshot
from advisor.state.sample_ring import save_sample
from rules import find_rule
from rules.core.context import MissingFact

if TYPE_CHECKING:
    from pathlib import Path

    from advisor.core.model import Finding
    from probes.sandbox import Sandbox

DAY = 86400
TAKEN = "2026-11-21T00:00:00+00:00"
GIB = 1 << 30
SIZE = 1000 * GIB


def found(name: str, tmp_path: Path, server: dict[str, Any], host: dict[str, Any]) -> list[Finding]:
    """What a rule of the family finds; raises MissingFact."""
    rule = find_rule(name)
    assert rule is not None
    return list(rule.check(context_of_case(Case(name, "", "mysql-8.0.15", server=server, host=host), tmp_path)))


def host(free: int) -> dict[str, Any]:
    """A host with that much room on the volume of the data."""
    return {"space": {"size": SIZE, "free": free}, "disks": [{"kernel_name": "sda"}]}


@pytest.mark.parametrize(
    "spaces",
    [
        [],
        [[21, 310 * GIB], [14, 240 * GIB]],
        [[6, 160 * GIB], [4, 140 * GIB], [2, 120 * GIB]],
        [[8, 310 * GIB], [0.2, 102 * GIB], [0.1, 101 * GIB]],
        [[21, 310 * GIB, 500 * GIB], [14, 240 * GIB, 500 * GIB], [7, 170 * GIB, 500 * GIB]],
    ],
    ids=["none", "three in all", "six days", "several of one day", "of a volume that was enlarged"],
)
def test_a_short_history_is_no_forecast(spaces: list[list[float]], tmp_path: Path) -> None:
    """With too few or too close readings the forecast is skipped, with how to get more."""
    with pytest.raises(MissingFact, match="4 days"):
        found("disk-full-soon", tmp_path, {"taken_at": TAKEN, "spaces": spaces}, host(100 * GIB))


@pytest.mark.parametrize("name", ["binary-logs-outgrow-disk", "grown-undo-tablespaces", "grown-temporary-tablespaces"])
def test_files_that_were_not_listed(name: str, tmp_path: Path) -> None:
    """Without the sizes of the files a rule about them is skipped: that is not the same as no files."""
    variables = {"log_bin": "ON"}
    with pytest.raises(MissingFact, match="as root"):
        found(name, tmp_path, {"variables": variables}, host(GIB))
    assert found(name, tmp_path, {"variables": variables}, host(GIB) | {"files": []}) == []


def test_the_forecast_says_its_range(tmp_path: Path) -> None:
    """The message has the days, the range around them and the time that was seen."""
    spaces = [[28, 380 * GIB], [21, 300 * GIB], [14, 240 * GIB], [7, 175 * GIB]]
    (finding,) = found("disk-full-soon", tmp_path, {"taken_at": TAKEN, "spaces": spaces}, host(100 * GIB))
    assert finding.message == (
        "/var/lib/mysql, which holds the data, will be full in about 10 days (9 to 11) at the growth rate of the "
        "last 28 days."
    )


def test_a_thin_pool_may_be_full_earlier(tmp_path: Path) -> None:
    """Where a thin pool of LVM is below the file system the forecast says that its room is not known."""
    spaces = [[28, 380 * GIB], [21, 310 * GIB], [14, 240 * GIB], [7, 170 * GIB]]
    below = [{"kernel_name": "dm-3", "name": "vg-thin"}, {"kernel_name": "dm-2", "name": "vg-pool-tpool"}]
    thin = host(100 * GIB) | {"disks": below}
    (finding,) = found("disk-full-soon", tmp_path, {"taken_at": TAKEN, "spaces": spaces}, thin)
    assert finding.message.endswith("or earlier: it is on a thin pool.")


def test_a_thin_pool_that_is_smaller_than_its_volumes(tmp_path: Path) -> None:
    """The pool and its volumes are named with their sizes, and how much the file system shows as free."""
    own = {"kernel_name": "dm-4", "name": "vg-mysql", "under": ["dm-2"], "size": 100 * GIB}
    pool = {"kernel_name": "dm-2", "name": "vg-pool-tpool", "size": 150 * GIB}
    other = own | {"kernel_name": "dm-5", "name": "vg-other"}
    (finding,) = found(
        "overcommitted-thin-pool", tmp_path, {}, host(60 * GIB) | {"disks": [own, pool], "devices": [own, other]}
    )
    assert finding.message == (
        "/var/lib/mysql, which holds the data, is on the thin pool vg-pool of 150G, whose volumes may take 200G: when "
        "the pool is full, writes fail although 60G is free there."
    )


def test_truncation_is_advised_where_it_is_sound(tmp_path: Path) -> None:
    """innodb_undo_log_truncate is advised where it is off, and not on a MariaDB that may corrupt undo with it."""
    files = {"files": [{"number": "8:1", "kind": "undo tablespaces", "count": 3, "bytes": 50 * GIB}]}
    rule = find_rule("grown-undo-tablespaces")
    assert rule is not None
    for target, value, advised in (
        ("mariadb-11.4.5", "OFF", True),
        ("mariadb-10.11.5", "OFF", True),
        ("mariadb-10.11.4", "OFF", False),
        ("mysql-8.0.15", "ON", False),
    ):
        server = {"variables": {"innodb_undo_log_truncate": value}}
        case = Case("grown-undo-tablespaces", "", target, server=server, host=host(GIB) | files)
        (finding,) = rule.check(context_of_case(case, tmp_path))
        assert ("set innodb_undo_log_truncate" in finding.help) is advised, target
        assert ("never shrink" in finding.message) is (value == "OFF"), target


@pytest.mark.servers("mysql-9.7", "mariadb-11.8")
def test_samples_and_snapshots_of_a_real_server(
    any_server: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The room that a sample and saved snapshots have read is known to the next audit, which forecasts from it."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    variables, sample = read_variables_and_counters(ConnectRequest(user="root", socket=any_server.socket))
    save_sample(sample, variables, int(time.time()) - DAY)
    facts = collect_from_account(Account(user="root", socket=any_server.socket), CollectRequest(window=0.0))
    assert facts.host is not None
    assert facts.host.storage is not None
    space, point = facts.host.storage.space, facts.host.storage.mount.point
    assert space is not None
    (sampled,) = load_spaces(facts)
    assert (sampled.point, sampled.size) == (point, space.size)
    for days in (21, 14, 7):  # a tenth of what is free now was used a day
        before = replace(facts.host.storage, space=replace(space, free=space.free + space.free // 10 * days))
        taken_at = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="seconds")
        save_snapshot(replace(facts, taken_at=taken_at, host=replace(facts.host, storage=before)))
    spaces = [one for one in load_spaces(facts) if one != sampled]
    assert [one.point for one in spaces] == [point] * 3
    rule = find_rule("disk-full-soon")
    assert rule is not None
    (finding,) = rule.check(build_context(replace(facts, spaces=tuple(spaces))))
    assert "will be full in about 10 days" in finding.message
    with pytest.raises(MissingFact):
        list(rule.check(build_context(facts)))


def test_an_earlier_snapshot_is_a_reading() -> None:
    """The snapshot of --since adds its free space if it is of the same server, and nothing if it is of another."""
    rule = find_rule("disk-full-soon")
    assert rule is not None
    spaces = [[28, 380 * GIB], [21, 310 * GIB]]
    now = {"taken_at": TAKEN, "spaces": spaces, "variables": {"server_uuid": "a"}}
    before = {"taken_at": "2026-11-10T00:00:00+00:00", "variables": {"server_uuid": "a"}}
    other = before | {"variables": {"server_uuid": "b"}}
    target = running_target("mysql-8.0.15")
    facts, earlier, of_another = (
        facts_of(Case("", "", "mysql-8.0.15", server=server, host=host(free * GIB)), target)
        for server, free in ((now, 100), (before, 210), (other, 210))
    )
    assert len(list(rule.check(build_context(add_earlier_spaces(facts, earlier))))) == 1
    for unchanged in (add_earlier_spaces(facts, of_another), add_earlier_spaces(facts, None)):
        with pytest.raises(MissingFact):
            list(rule.check(build_context(unchanged)))
