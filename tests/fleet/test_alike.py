"""Who differs from whom: three real servers of one group, two of them replicas of the third."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fleet_run import Ground, Servers
from live_server import Live

from advisor.core.model import Target
from advisor.fleet.outliers import AbsentVariables, Member, MemberValue, outliers, peer_groups
from advisor.verdict.settings import normalise_value

NAME = "mysql-8.0"


@pytest.fixture(scope="module")
def report(
    module_ground: Ground, servers: Servers, local: Callable[[Live], dict[str, object]]
) -> tuple[dict[str, Any], str]:
    """A source and two replicas of which one was set up otherwise, as JSON and as text."""
    source = servers(NAME, "--server-id=1")
    replicas = [
        servers(NAME, "--server-id=2", "--report-host=b"),
        servers(NAME, "--server-id=2", "--report-host=c", "--sync-binlog=0", "--max-connections=99"),
    ]
    for replica in replicas:
        replica.run(f"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={source.sandbox.port}, MASTER_USER='x'")
    module_ground.inventory({"db": {name: local(live) for name, live in zip("abc", (source, *replicas), strict=True)}})
    ended = module_ground.fleet("--window", "0", "--forks", "3", "--fail-on", "never")
    assert ended.code == 0, ended
    return module_ground.report(), ended.out


def test_outliers(report: tuple[dict[str, Any], str]) -> None:
    """What one of the three has otherwise is reported with its source, and what is each server's own is not."""
    found = {one["variable"]: one for one in report[0]["outliers"] if one["set"]}
    assert found.keys() == {"sync_binlog", "max_connections"}
    assert found["sync_binlog"]["usual"] == "1"
    assert found["sync_binlog"]["members"] == 3
    assert found["sync_binlog"]["others"] == [{"host": "c", "value": "0", "set": True, "where": "command line"}]


def test_drift_between_replicas(report: tuple[dict[str, Any], str]) -> None:
    """Replicas of one source are compared, and only they."""
    (one,) = report[0]["equals"]
    assert (one["kind"], one["members"]) == ("replicas", ["b", "c"])
    assert one["name"].startswith("127.0.0.1:")
    by_variable = {d["variable"]: {v["value"]: v["hosts"] for v in d["values"]} for d in one["differences"] if d["set"]}
    assert by_variable == {"sync_binlog": {"1": ["b"], "0": ["c"]}, "max_connections": {"151": ["b"], "99": ["c"]}}


def test_the_text_has_both(report: tuple[dict[str, Any], str]) -> None:
    """The report for people has the outliers with the majority, and the replicas of the source."""
    assert "c  differs from its siblings in 2 variables" in report[1]
    assert "sync_binlog 0 (command line), 1 on the other 2 of 3 in all (MySQL 8.0)" in report[1]
    assert "replicas of 127.0.0.1:" in report[1]
    assert "  sync_binlog: 1 on b · 0 on c" in report[1]
    assert "sized by the servers themselves: back_log, " in report[1]


def test_ids_within_a_chain(report: tuple[dict[str, Any], str]) -> None:
    """Replicas of one source with the same server_id have a finding each; their source has none."""
    messages = {host["host"]: {f["name"]: f["message"] for f in host["findings"]} for host in report[0]["hosts"]}
    assert "c and this server have the same server_id, 2." in messages["b"]["duplicate-server-id"]
    assert "b and this server have the same server_id, 2." in messages["c"]["duplicate-server-id"]
    assert "duplicate-server-id" not in messages["a"]
    assert "REP027" not in {skip["code"] for host in report[0]["hosts"] for skip in host["skipped"]}


def member(name: str, target: Target = Target("mysql", (8, 0, 36)), **values: str) -> Member:  # noqa: B008 - a tuple
    """A member of the groups db and its own, with these values."""
    member_values = {variable: MemberValue(text, is_set=False, origin="") for variable, text in values.items()}
    return Member(name, ("db", name), target, member_values, dict(values), (("galera", "c"),))


def test_a_tie_has_no_outlier() -> None:
    """Of two and two none is an outlier; of two members alone neither is."""
    pairs = [member(name, sync_binlog=value) for name, value in zip("abcd", "0011", strict=True)]
    assert outliers(pairs) == outliers(pairs[:3:2]) == []
    assert [d.variable for d in peer_groups(pairs)[0].differences] == ["sync_binlog"]


def test_other_versions() -> None:
    """Values are compared within a series, and a server of another version is an outlier by that."""
    fleet = [member(name, sync_binlog="1") for name in "abc"]
    fleet.append(member("d", Target("mariadb", (10, 11, 19)), sync_binlog="0"))
    (one,) = outliers(fleet)
    assert (one.variable, one.usual, one.others[0][0]) == ("version", "MySQL 8.0.36", "d")


def test_own_values_are_no_drift() -> None:
    """Names, numbers, places and positions differ between any two servers."""
    own = {"server_id": "{}", "hostname": "h{}", "datadir": "/d/{}", "gtid_executed": "u:{}", "wsrep_node_name": "n{}"}
    fleet = [member(n, **{variable: text.format(n) for variable, text in own.items()}) for n in "abc"]
    assert outliers(fleet) == []
    assert peer_groups(fleet)[0].differences == ()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        *(("ON", "1", True), ("row", "ROW", True), ("0.500000", "0.5", True), ("/srv/", "/srv", True)),
        *(("A,B", "B,A", True), ("128K", "131072", False)),
    ],
)
def test_which_notations_are_no_difference(one: str, other: str, same: bool) -> None:
    """Servers print numbers as digits, so that no suffix is read: docs/fleet.md says what is compared."""
    fleet = [member(name, x=normalise_value(text)) for name, text in zip("abc", (one, one, other), strict=True)]
    assert (outliers(fleet) == []) is same


def test_a_host_that_is_called_like_a_part_of_a_value() -> None:
    """Values that are printed alike do not differ, even if one of them contains the name of its host."""
    fleet = [member(name, plugin="mysql_native_password") for name in ("mysql", "b", "c")]
    fleet[0] = fleet[0]._replace(plain={"plugin": "<host>_native_password"})
    assert outliers(fleet) == []
    assert peer_groups(fleet)[0].differences == ()


def test_secondaries_of_a_group_are_read_only() -> None:
    """What a group sets by a member's part in it is no difference between members, and one between other servers."""
    values = zip("abc", ("OFF", "ON", "ON"), strict=True)
    others = [member(name, super_read_only=value, x="1") for name, value in values]
    group = [one._replace(peer_sets=(("group_replication", "g"),)) for one in others]
    assert outliers(group) == []
    assert peer_groups(group)[0].differences == ()
    assert [one.variable for one in outliers(others)] == ["super_read_only"]
    assert [one.variable for one in outliers([*group[:2], others[2]])] == ["super_read_only"]


def test_variables_that_only_some_have() -> None:
    """Of peers of one version those without a plugin are named; another version has other variables anyway."""
    newer = Target("mysql", (8, 4, 8))
    fleet = [member("a", x="1", semi="ON"), member("b", x="1"), member("c", newer, x="1", other="1")]
    (group,) = peer_groups(fleet)
    assert (group.differences, group.absent) == ((), (AbsentVariables(("semi",), ("b",)),))
    assert peer_groups([fleet[0], fleet[2]])[0].absent == ()


def test_a_member_without_variables_hides_no_difference() -> None:
    """Where a connection was lost before the variables, the other servers are compared all the same."""
    fleet = [member(n, sync_binlog=value) for n, value in zip("abcd", "1110", strict=True)]
    fleet.append(member("e"))
    assert [one.variable for one in outliers(fleet)] == ["sync_binlog"]
    assert [d.variable for d in peer_groups(fleet)[0].differences] == ["sync_binlog"]
