"""What matters before what, and what differs by nature: by names that servers have."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest

from advisor import compare
from advisor.catalog import load
from advisor.catalog.presence import find_presence
from advisor.catalog.targets import SERIES
from advisor.compare import area_of, sort_key
from advisor.compare.pairing import FOLLOWERS
from advisor.compare.sides import BOUNDS
from advisor.core.model import Target
from advisor.upgrade.change import Area
from advisor.verdict.formats import MARIADB, MYSQL, WITHOUT_OPTION

# Settings of no option that servers show: in no catalog, and on no list of what sessions may track.
SHOWN = frozenset({"aria_used_for_temp_tables", "innodb_version", "wsrep_start_position"})


@pytest.fixture(scope="module")
def names() -> frozenset[str]:
    """The names of all options and variables that any supported server knows."""
    found = set(f"{WITHOUT_OPTION} {MYSQL} {MARIADB}".split()) | SHOWN
    for flavour, series in SERIES.items():
        for version in series.values():
            options = load(Target(flavour, version)).options
            found |= {*options, *(raw["variable"] for raw in options.values() if "variable" in raw)}
    return frozenset(found)


def test_every_name_is_a_servers(names: frozenset[str]) -> None:
    """No table names a variable that no server ever had."""
    known = {
        *compare.NAMES,
        *compare.CHOICES,
        *FOLLOWERS,
        *FOLLOWERS.values(),
        *BOUNDS,
        *BOUNDS.values(),
    }
    assert {name for name in known - names if find_presence(name) is None} == set()


def test_every_pattern_fits_something(names: frozenset[str]) -> None:
    """No pattern is idle."""
    patterns = [*compare.NAME_PATTERNS, *(pattern for _, some in compare.PATTERNS for pattern in some)]
    assert [p for p in patterns if not any(fnmatchcase(name, p) for name in names)] == []


@pytest.mark.parametrize(
    ("name", "area"),
    [
        ("sync_binlog", Area.DURABILITY),
        ("innodb_doublewrite", Area.DURABILITY),
        ("sync_master_info", Area.DURABILITY),
        ("sql_mode", Area.DATA),
        ("collation_server", Area.DATA),
        ("transaction_isolation", Area.TRANSACTIONS),
        ("require_secure_transport", Area.ACCESS),
        ("skip_name_resolve", Area.ACCESS),
        ("gtid_mode", Area.REPLICATION),
        ("read_only", Area.REPLICATION),
        ("wsrep_slave_threads", Area.REPLICATION),
        ("innodb_buffer_pool_size", Area.MEMORY),
        ("tmp_table_size", Area.MEMORY),
        ("innodb_read_io_threads", Area.IO),
        ("max_connections", Area.LIMITS),
        ("wait_timeout", Area.LIMITS),
        ("optimizer_switch", Area.OPTIMIZER),
        ("performance_schema_max_cond_classes", Area.REST),
        ("ft_min_word_len", Area.REST),
    ],
)
def test_areas(name: str, area: Area) -> None:
    """Each setting is where a reader would look for it."""
    catalog = load(Target("mysql", (8, 0, 15)))
    assert area_of(name, catalog.find_variable(name)) is area


def test_durability_before_sizes_before_the_rest() -> None:
    """The order is that of consequence."""
    jumbled = ["ft_min_word_len", "log_bin", "max_connections", "innodb_buffer_pool_size", "sync_binlog", "sql_mode"]
    wanted = ["sync_binlog", "sql_mode", "log_bin", "innodb_buffer_pool_size", "max_connections", "ft_min_word_len"]
    assert sorted(jumbled, key=lambda name: sort_key(name, area_of(name, None))) == wanted


@pytest.mark.parametrize(
    ("name", "a", "b", "natural"),
    [
        ("hostname", "db1", "db2", True),
        ("version_comment", "x", "y", True),
        ("report_host", "", "db2", True),
        ("relay_log", "", "db2-relay-bin", True),
        ("innodb_undo_directory", "./", "/srv/undo", True),
        ("ssl_ca", "/a.pem", "/b.pem", True),
        ("ssl_ca", "", "/b.pem", False),
        ("ssl_cipher", "AES128-SHA", "AES256-SHA", False),
        ("secure_file_priv", "", "/srv", False),
        ("aria_sync_log_dir", "NEVER", "ALWAYS", False),
        ("relay_log_recovery", "ON", "OFF", False),
        ("max_connections", "1", "2", False),
    ],
)
def test_by_nature(name: str, a: str, b: str, natural: bool) -> None:
    """Names and places differ by nature; what is chosen doesn't, be it a path."""
    assert compare.differs_by_nature(name, a, b) is natural
