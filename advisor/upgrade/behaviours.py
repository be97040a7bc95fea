"""Behaviours that appear, disappear or change with an upgrade and that no changed default shows.

An option that only the new server has is a feature, not a change, unless it is on by default and affects existing
applications. Entries with `asked` were observed on running servers of both sides; the others are documented in the
vendors' pages on what is new, deprecated and removed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from advisor.core.model import Confidence, Severity
from advisor.upgrade import keep
from advisor.upgrade.change import WARNING_AREAS, DefaultChange
from advisor.upgrade.defaults import consequence_of, names_set
from advisor.verdict import Outcome
from advisor.verdict.number import parse_digits
from advisor.verdict.startup import LEAST_CAPACITY

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.core.model import Target
    from advisor.verdict import FileVerdict

    When = Callable[[Target, Target], bool]

GIB = 1 << 30
NONE, GONE, OTHER_GTIDS = "no such option", "gone", "MariaDB's"


class BehaviourChange(NamedTuple):
    """A behaviour that changes if `when` accepts the two targets and the file sets none of `unless`.

    If there are `needs`, the file must set one of them too.
    """

    option: str
    before: str
    after: str
    keep: str | None
    when: When
    unless: tuple[str, ...] = ()
    lost: str = ""
    asked: bool = False
    needs: tuple[str, ...] = ()


def behaviour_changes(old: FileVerdict, new: FileVerdict) -> list[DefaultChange]:
    """Return the changes that apply to the file; a line to add is only given if the new server accepts it."""
    given = names_set(old, new)
    met = [p for p in BEHAVIOUR_CHANGES if p.when(old.catalog.target, new.catalog.target) and _unset(p, given)]
    met = [p for p in met if p.option not in CONDITIONS or CONDITIONS[p.option](old)]
    verdicts = keep.judge_added_lines([p.keep for p in met if p.keep], new)
    taken = {line for line, verdict in verdicts.items() if verdict.outcome is Outcome.ACCEPTED}
    exact = old.catalog.exact and new.catalog.exact
    return [_default_change(p, new, kept=p.keep in taken, sure=p.asked and exact) for p in met]


def _unset(passage: BehaviourChange, given: frozenset[str]) -> bool:
    return not given & {passage.option, *passage.unless} and (not passage.needs or bool(given & {*passage.needs}))


def _large_pool(old: FileVerdict) -> bool:
    """Whether the pool is at least 1 GiB: below, every server has one instance."""
    line = old.effective.get("innodb_buffer_pool_size")
    return line is not None and (parse_digits(line.value) or 0) >= GIB


def _caches_queries(old: FileVerdict) -> bool:
    """Whether the file gives the query cache a size, which MariaDB takes as a wish to use it."""
    line = old.effective.get("query_cache_size")
    return line is not None and (parse_digits(line.value) or 0) > 0


def _flushes_little(old: FileVerdict) -> bool:
    """Whether twice innodb_io_capacity is less than 2000, which older servers have as the least maximum."""
    line = old.effective.get("innodb_io_capacity")
    return line is not None and 0 < (parse_digits(line.value) or 0) < LEAST_CAPACITY // 2


def _default_change(passage: BehaviourChange, new: FileVerdict, *, kept: bool, sure: bool) -> DefaultChange:
    area, message = consequence_of(passage.option, passage.after)
    return DefaultChange(
        option=passage.option,
        formerly=None,
        area=area,
        severity=Severity.WARNING if area in WARNING_AREAS else Severity.NOTE,
        confidence=Confidence.CERTAIN if sure else Confidence.LIKELY,
        before=passage.before,
        after=passage.after,
        message=message,
        keep=passage.keep if kept else None,
        lost="" if kept else passage.lost or f"{new.catalog.target.label} has no option to restore it.",
    )


def _mysql(since: tuple[int, ...], until: tuple[int, ...] = (9999,)) -> Callable[[Target], bool]:
    return lambda target: target.is_mysql and since <= target.version < until


def _from_older(since: tuple[int, ...], until: tuple[int, ...] = (9999,)) -> When:
    """Return a condition: from MariaDB or an older MySQL to a MySQL of these versions."""
    has, had = _mysql(since, until), _mysql(since)
    return lambda old, new: has(new) and not had(old)


def _to_mariadb(since: tuple[int, ...] = (0,)) -> When:
    """Return a condition: from MySQL of that version or later to MariaDB."""
    return lambda old, new: old.since("mysql", *since) and new.is_mariadb


def _from_mariadb(since: tuple[int, ...], until: tuple[int, ...] = (9999,)) -> When:
    """Return a condition: from MariaDB to a MySQL of these versions."""
    has = _mysql(since, until)
    return lambda old, new: old.is_mariadb and has(new)


def _mariadb_11(old: Target, new: Target) -> bool:
    return new.since("mariadb", 11) and not old.since("mariadb", 11)


def _brings_sha2(target: Target) -> bool:
    """Whether MariaDB's packages include the plugin for MySQL's caching_sha2_password accounts."""
    series = next((first for first in SHA2_PLUGIN if first[:2] == target.version[:2]), max(SHA2_PLUGIN))
    return target.is_mariadb and target.version >= series


SHA2_PLUGIN = ((11, 4, 9), (11, 8, 4), (12, 1))
SNAPSHOTS = (11, 6, 2)  # MariaDB's innodb_snapshot_isolation is on by default
GTIDS = (9, 7)  # the first long-term series with gtid_mode on by default
# What the file must say besides, by option.
CONDITIONS = {
    "innodb_buffer_pool_instances": _large_pool,
    "innodb_io_capacity_max": _flushes_little,
    "query_cache_type": _caches_queries,
}
BEHAVIOUR_CHANGES: tuple[BehaviourChange, ...] = (
    BehaviourChange("binlog_error_action", "ABORT_SERVER", GONE, None, _to_mariadb((5, 7, 7)), asked=True),
    BehaviourChange(
        "restrict_fk_on_non_standard_key", NONE, "ON", "restrict_fk_on_non_standard_key = OFF",
        _from_older((8, 4)), asked=True,
    ),
    BehaviourChange(
        "character_set_collations", "(none)", "uca1400_ai_ci for Unicode", "character_set_collations =",
        lambda old, new: old.is_mariadb and not old.since("mariadb", 11, 2) and new.since("mariadb", 11, 5),
        asked=True,
    ),
    BehaviourChange(
        "max_recursive_iterations", "an error", "a warning", None, _to_mariadb((8, 0)),
        lost="MariaDB never makes it an error; a larger max_recursive_iterations cuts later.", asked=True,
    ),
    BehaviourChange(
        "innodb_snapshot_isolation", NONE, "ON", "innodb_snapshot_isolation = OFF",
        lambda old, new: old.is_mysql and new.since("mariadb", *SNAPSHOTS), asked=True,
    ),
    BehaviourChange(
        "innodb_snapshot_isolation", "ON", GONE, None,
        lambda old, new: old.since("mariadb", *SNAPSHOTS) and new.is_mysql,
        lost="lock the rows that a transaction will change, with SELECT … FOR UPDATE.", asked=True,
    ),
    BehaviourChange(
        "xa_detach_on_prepare", NONE, "ON", "xa_detach_on_prepare = OFF", _from_older((8, 0, 29)), asked=True,
    ),
    BehaviourChange("mysql_native_password", "ON", "OFF", "mysql_native_password = ON", _from_older((8, 4), (9,))),
    BehaviourChange(
        "mysql_native_password", "ON", GONE, None,
        lambda old, new: new.since("mysql", 9) and not old.since("mysql", 8, 4), asked=True,
    ),
    BehaviourChange(
        "authentication_policy", "mysql_native_password", "caching_sha2_password", None,
        lambda old, new: new.since("mysql", 8, 4) and not old.since("mysql", 8),
        ("default_authentication_plugin",), "name another plugin when you create the account.", asked=True,
    ),
    BehaviourChange(
        "default_authentication_plugin", "mysql_native_password", "caching_sha2_password",
        "default_authentication_plugin = mysql_native_password", _from_mariadb((8, 0, 4), (8, 4)),
        ("authentication_policy",), asked=True,
    ),
    BehaviourChange(
        "caching_sha2_password", "ON", "not loaded", "plugin_load_add = auth_mysql_sha2",
        lambda old, new: old.since("mysql", 8) and _brings_sha2(new), asked=True,
    ),
    BehaviourChange(
        "caching_sha2_password", "ON", GONE, None,
        lambda old, new: old.since("mysql", 8) and new.is_mariadb and not _brings_sha2(new), asked=True,
    ),
    BehaviourChange("mysqlx", "not loaded", "ON", "mysqlx = OFF", _from_older((8, 0, 11)), asked=True),
    BehaviourChange("gtid_mode", NONE, "ON", "gtid_mode = OFF", _from_mariadb(GTIDS), asked=True),
    BehaviourChange(
        "gtid_mode", "ON", OTHER_GTIDS, None, lambda old, new: old.since("mysql", *GTIDS) and new.is_mariadb, asked=True
    ),
    BehaviourChange(
        "enforce_gtid_consistency", NONE, "ON", "enforce_gtid_consistency = OFF", _from_mariadb(GTIDS), asked=True,
    ),
    BehaviourChange(
        "binlog_expire_logs_seconds", "0", "2592000", "binlog_expire_logs_seconds = 0",
        lambda old, new: old.is_mysql and not old.since("mysql", 8) and new.since("mysql", 8), ("expire_logs_days",),
        asked=True,
    ),
    BehaviourChange(
        "slave_connections_needed_for_purge", NONE, "1", "slave_connections_needed_for_purge = 0",
        lambda old, new: not old.since("mariadb", 11, 4) and new.since("mariadb", 11, 4),
        asked=True, needs=("binlog_expire_logs_seconds", "expire_logs_days"),
    ),
    BehaviourChange(
        "master_info_repository", "FILE", "tables alone", None,
        lambda old, new: not old.since("mysql", 8) and old.is_mysql and new.since("mysql", 8, 3),
        ("relay_log_info_repository",), "the position can only be stored in tables.", asked=True,
    ),
    BehaviourChange(
        "internal_tmp_mem_storage_engine", "MEMORY", "TempTable", "internal_tmp_mem_storage_engine = MEMORY",
        _from_older((8, 0, 2)),
    ),
    BehaviourChange(
        "temptable_max_ram", "1G", "3 % of memory, 1G to 4G", "temptable_max_ram = 1G",
        lambda old, new: old.since("mysql", 8) and _from_older((8, 4))(old, new),
    ),
    BehaviourChange(
        "innodb_buffer_pool_instances", "8", "by pool size and processors", "innodb_buffer_pool_instances = 8",
        lambda old, new: old.is_mysql and _from_older((8, 4))(old, new),
    ),
    BehaviourChange(
        "innodb_io_capacity_max", "2000", "twice innodb_io_capacity", "innodb_io_capacity_max = 2000",
        _from_older((8, 4)), asked=True, needs=("innodb_io_capacity",),
    ),
    BehaviourChange(
        "innodb_read_io_threads", "4", "half the processors, 4 or more", "innodb_read_io_threads = 4",
        _from_older((8, 4)),
    ),
    BehaviourChange(
        "innodb_log_writer_threads", "ON", "by processors and binary log", "innodb_log_writer_threads = ON",
        lambda old, new: old.since("mysql", 8, 0, 22) and _from_older((9, 5))(old, new),
    ),
    BehaviourChange(
        "innodb_purge_threads", "4", "1 up to 16 processors, 4 on more", "innodb_purge_threads = 4",
        lambda old, new: old.is_mysql and _from_older((8, 4))(old, new),
    ),
    BehaviourChange("table_open_cache", "2000", "4000", "table_open_cache = 2000", _from_older((8,)), ("table_cache",)),
    BehaviourChange("table_open_cache", "4000", "2000", "table_open_cache = 4000", _to_mariadb((8,)), ("table_cache",)),
    BehaviourChange(
        "query_cache_type", "OFF", "ON", "query_cache_size = 0",
        lambda old, new: old.is_mysql and not old.since("mysql", 8) and new.is_mariadb,
        asked=True, needs=("query_cache_size",),
    ),
    BehaviourChange("optimizer_disk_read_cost", "the cost model before", "MariaDB 11's", None, _mariadb_11),
    BehaviourChange(
        "information_schema_stats_expiry", NONE, "86400", "information_schema_stats_expiry = 0",
        _from_older((8, 0, 3)), asked=True,
    ),
)  # fmt: skip
