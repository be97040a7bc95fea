"""Whether a vendor supports a move, and what real servers do with each other's data."""

from __future__ import annotations

import pytest
from real_servers import Binaries, Start
from upgrade_comparison import Moved

from advisor.catalog.targets import parse_target
from advisor.upgrade.change import path_between
from probes.sandbox import SandboxError
from rules.core.areas import find_evidence

WAYS = """
mysql-5.7 mysql-8.0 in-place
mysql-5.7 mysql-8.4 steps 8.0
mysql-5.7 mysql-9.7 steps 8.0 8.4
mysql-8.0 mysql-8.4 in-place
mysql-8.0 mysql-9.7 steps 8.4
mysql-8.0 mysql-8.3 in-place
mysql-8.3 mysql-8.4 in-place
mysql-8.3 mysql-9.1 steps 8.4
mysql-8.4 mysql-9.7 in-place
mysql-8.0.15 mysql-8.0.43 in-place
mysql-8.0 mysql-27.1 steps 8.4 9.7
mysql-9.7 mysql-26.7 in-place
mysql-9.7 mysql-26.10.0 in-place
mysql-9.7 mysql-27.1 unknown
mysql-9.5.0 mysql-26.7 steps 9.7
mysql-26.7 mysql-26.10 unknown
mariadb-11.8 mariadb-12.3 in-place
mariadb-11.8 mariadb-13.0 in-place
mysql-8.4.8 mysql-8.4.3 in-place
mysql-8.0.43 mysql-8.0.36 in-place
mysql-8.0.43 mysql-8.0.15 unsupported
mysql-9.0.1 mysql-9.0.0 dump-and-load
mysql-9.5 mysql-9.4 dump-and-load
mysql-8.0 mysql-5.7 unsupported
mysql-8.4 mysql-8.0 dump-and-load
mysql-9.7 mysql-8.4 dump-and-load
mysql-9.7 mysql-8.0 unsupported
mysql-8.4 mysql-5.7 unsupported
mariadb-10.6 mariadb-11.8 in-place
mariadb-11.8 mariadb-10.6 unsupported
mysql-5.7 mariadb-10.11 in-place
mysql-8.0 mariadb-11.4 dump-and-load
mariadb-11.8 mysql-8.4 dump-and-load
mysql-8.4 mysql-8.4 same-version
mysql-9.0.1 mysql-9.0.0 dump-and-load
mysql-8.0.43 percona-8.0.43 unknown
percona-8.0.20 mysql-8.0.20 unknown
pxc-5.7 percona-5.7 unknown
mysql-5.7 percona-8.0 in-place
percona-8.0 mysql-5.7 unsupported
mysql-8.0.43 mysql-enterprise-8.0.43 same-version
mysql-enterprise-8.0.43 mysql-8.0.15 unsupported
"""


def test_the_series_between_are_a_list() -> None:
    """All series that a move may not skip are named in one list."""
    words = path_between(parse_target("mysql-5.7"), parse_target("mysql-26.7")).words
    assert "skips 8.0, 8.4 or 9.7: go 5.7" in words


GROUP = "[mysqld]\nplugin_load_add=group_replication.so\n"
WEIGHTY = {
    "group_replication_ssl_mode": ("REQUIRED", "mysql-8.4", "mysql-9.7.4", "group_replication_ssl_mode = DISABLED"),
    "group_replication_recovery_use_ssl": ("ON", "mysql-8.4", "mysql-9.7", "group_replication_recovery_use_ssl = OFF"),
    "group_replication_exit_state_action": (
        *("OFFLINE_MODE", "mysql-8.0", "mysql-8.4", "group_replication_exit_state_action = READ_ONLY"),
    ),
}


@pytest.mark.parametrize("way", WAYS.strip().splitlines())
def test_the_way_that_the_vendor_supports(way: str) -> None:
    """Series that may not be skipped are named as steps; all but a step in place is a warning, with the page."""
    before, after, support, *steps = way.split()
    path = path_between(parse_target(before), parse_target(after))
    assert (path.support, list(path.steps)) == (support, steps)
    assert (path.severity == "note") == (support in ("in-place", "same-version"))
    pages = [find_evidence(identity) for identity in path.evidence]
    assert bool(path.words) == bool(pages) == (support != "same-version")
    assert all(page is not None and page.url.startswith("https://") for page in pages)
    assert all(step in path.words for step in steps)


@pytest.mark.parametrize("way", [w for w in WAYS.split("\n") if "percona" in w or "9.0.0" in w])
def test_of_builds_and_innovations_nothing_of_others_is_said(way: str) -> None:
    """A move between builds is no downgrade and names the manuals of both; an innovation series is not 8.0."""
    before, after, *_ = way.split()
    path = path_between(parse_target(before), parse_target(after))
    assert ("the manuals of both" in path.words) == ("percona" in way)
    assert "downgrade" not in path.words or "unsupported" in way or "9.0.0" in way
    assert "8.0.35" not in path.words


@pytest.mark.parametrize("option", WEIGHTY)
def test_what_a_group_does_is_weighty_and_can_be_kept(option: str, moved: Moved) -> None:
    """Defaults of Group Replication are reported with their effect on the group, and with the line that keeps them."""
    after, *way, keep = WEIGHTY[option]
    (change,) = [c for c in moved(GROUP, way[0], way[1]).defaults if c.option == option]
    assert (change.after, change.severity, change.area, change.keep) == (after, "warning", "replication", keep)
    assert change.message


@pytest.mark.parametrize(("option", "keep"), [("innodb_log_writer_threads", "ON"), ("innodb_purge_threads", "4")])
def test_what_the_processors_decide_is_no_fixed_value(option: str, keep: str, moved: Moved) -> None:
    """A default that depends on the processors is reported as such, even if one server of two had a fixed value."""
    (change,) = [c for c in moved("[mysqld]\n", "mysql-8.0", "mysql-9.7").defaults if c.option == option]
    assert "processors" in change.after
    assert (change.keep, change.confidence) == (f"{option} = {keep}", "likely")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("mysql-8.0", "mysql-9.7"),
        ("mysql-9.7", "mysql-8.0"),
        ("mysql-5.7", "mysql-8.0"),
        ("mysql-8.0", "mariadb-11.4"),
        ("mariadb-10.11", "mariadb-11.8"),
    ],
)
def test_a_server_starts_on_the_data_where_the_move_is_made_in_place(
    before: str, after: str, start: Start, binaries: Binaries
) -> None:
    """The new server takes over the old one's data directory exactly where the way is said to be in place."""
    other = binaries(after)
    sandbox = start(before, small=True)
    path = path_between(sandbox.binary.target, other.target)
    sandbox.stop()
    sandbox.binary = other
    try:
        sandbox.restart()
        started = True
    except SandboxError as error:
        print(f"not started: {error}")
        started = False
    assert started == (path.support == "in-place")
