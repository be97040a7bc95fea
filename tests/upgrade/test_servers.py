"""What is reported about defaults and lines that keep them, compared with two real servers each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from real_servers import Binaries, Server, Start
from upgrade_comparison import verdict_on

from advisor.catalog import Option
from advisor.catalog.targets import EXAMINED
from advisor.report.upgrade import fragment
from advisor.upgrade.behaviours import BEHAVIOUR_CHANGES
from advisor.upgrade.change import DefaultChange
from advisor.upgrade.defaults import changed_pairs
from advisor.upgrade.keep import file_notation, judge_added_lines
from advisor.upgrade.move import compare_verdicts
from probes.sandbox import Binary, Sandbox, ask_help, help_values

RunWith = Callable[[str, str], dict[str, str]]
UNPRINTED = "(No default value)"
PAIRS = [
    ("mysql-5.7", "mysql-8.0"),
    ("mysql-5.7", "mysql-9.7"),
    ("mysql-8.0", "mysql-9.7"),
    ("mysql-9.7", "mysql-8.0"),
    ("mariadb-10.11", "mariadb-11.4"),
    ("mariadb-10.11", "mariadb-11.8"),
    ("mysql-5.7", "mariadb-10.11"),
    ("mysql-9.7", "mariadb-11.8"),
    ("mariadb-11.8", "mysql-9.7"),
]
# The throwaway server is given these, or the host, its packages or its limits decide them.
HOST = {
    "back_log", "basedir", "bind_address", "character_sets_dir", "core_file", "datadir", "general_log_file", "innodb",
    "innodb_buffer_pool_chunk_size", "innodb_buffer_pool_size", "innodb_purge_threads",
    "lc_messages_dir", "log_bin_index", "log_error", "log_error_verbosity", "log_tc",
    "lower_case_table_names", "max_connections", "open_files_limit", "pid_file", "plugin_dir", "port", "relay_log",
    "relay_log_index", "report_host", "secure_file_priv", "skip_networking", "slave_load_tmpdir", "slow_query_log_file",
    "socket", "ssl_ca", "ssl_cert", "ssl_key", "table_definition_cache", "table_open_cache",
    "table_open_cache_instances", "tmpdir", "version", "character_set_system", "log_slow_query_file", "language",
    "aria_log_dir_path",
    "mysqlx_socket", "wsrep_data_home_dir", "version_comment", "version_compile_os", "version_malloc_library",
    "version_source_revision", "version_ssl_library",
}  # fmt: skip
# Before 8.4 help prints ON for a plugin in any state, and no variable shows it.
ARTEFACTS = {"federated"}
# MySQL 8.0 and 9.7 show another default with the plugin not loaded too: of EVENTUAL and BEFORE_ON_PRIMARY_FAILOVER. It
# counts for members of a group alone, and is reported for those: see the next test.
MEMBERS = {"group_replication_consistency"}
# Servers are started with all the lines to add on these ways.
STARTED = [
    ("mysql-5.7", "mysql-8.0"),
    ("mysql-8.0", "mysql-9.7"),
    ("mariadb-10.11", "mariadb-11.8"),
    ("mysql-5.7", "mariadb-10.11"),
    ("mysql-9.7", "mariadb-11.8"),
    ("mariadb-11.8", "mysql-9.7"),
]
# One behaviour in two notations.
NOTATION = {
    "default_tmp_storage_engine": {"InnoDB", ""},
    "innodb_flush_method": {"fsync", ""},
    "max_relay_log_size": {"0", "1073741824"},
    "old_alter_table": {"OFF", "DEFAULT"},
    "old_passwords": {"0", "OFF"},
}
# The one has no effect, and the other is what servers without it do.
NO_NEWS = {"hash_join", "prefer_ordering_index"}
# With each a server of either flavour starts, and other defaults follow from some of its lines.
FILES = {
    "nothing": "",
    "some": "[mysqld]\nserver_id = 7\nlog_bin = here\nbinlog_format = ROW\ncharacter_set_server = utf8mb4\n"
    "innodb_io_capacity = 1000\nmax_connections = 77\noptimizer_switch = 'mrr=off'\nsync_binlog = 1\n",
    "less": "[mysqld]\nserver_id = 7\nskip_log_bin\nperformance_schema = OFF\n"
    "optimizer_switch = 'index_merge_intersection=off'\n",
}


def canonical(name: str) -> str:
    """A printed name with underscores."""
    return name.lower().replace("-", "_")


def plain(value: str) -> object:
    """One spelling for the notations of help and SHOW."""
    text = {"TRUE": "on", "FALSE": "off", UNPRINTED: "", "NULL": ""}.get(value, value).lower().rstrip("/")
    try:
        return float(text)
    except ValueError:
        return frozenset(text.split(",")) if "," in text else text


def same(name: str, before: str, after: str, *, news: bool = False) -> bool:
    """Whether two printed values are one; of switches both servers' count, with `news` new ones that are on, too."""
    if "=o" in before and "=o" in after:
        was, is_now = (dict(part.split("=") for part in value.split(",")) for value in (before, after))
        fresh = [flag for flag in is_now.keys() - was.keys() - NO_NEWS if is_now[flag] == "on"] if news else []
        return not fresh and all(is_now[flag] == was[flag] for flag in was if flag in is_now)
    return plain(before) == plain(after) or {before, after} == NOTATION.get(name)


def printed(binary: Binary, file: Path | None = None) -> dict[str, str]:
    """The values that a server prints under --verbose --help."""
    done = ask_help(binary, file, placed=file is not None)
    assert done.returncode == 0, done.stderr
    return {canonical(name): value for name, value in help_values(done.stdout).items()}


def running(sandbox: Sandbox, file: Path | None = None) -> dict[str, str]:
    """What a server runs with, by option; help's word where no variable shows it."""
    values = printed(sandbox.binary, file)
    with sandbox.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SHOW GLOBAL VARIABLES")
        found = {str(name).lower(): str(value) for name, value in cursor.fetchall()}
    return {name: found.get(name, value) for name, value in values.items()}


@pytest.fixture(scope="session")
def seen() -> dict[str, dict[str, str]]:
    """What servers run with, untouched ones by their names, others by those and their files: each is asked once."""
    return {}


@pytest.fixture
def run_with(start: Start, server: Server, seen: dict[str, dict[str, str]], tmp_path: Path) -> RunWith:
    """What the server of a name runs with that has this option file, an untouched one without a text."""

    def of(name: str, text: str) -> dict[str, str]:
        key = name + text
        if key not in seen:
            file = tmp_path / f"{name}.cnf"
            file.write_text(text)
            seen[key] = running(start(name, option_file=file), file) if text else running(server(name))
        return seen[key]

    return of


def known(*binaries: Binary) -> None:
    """Skips by name where an installed server is of another patch than the catalog."""
    for binary in binaries:
        if binary.target not in EXAMINED:
            pytest.skip(f"{binary.name} is {binary.target} here; the catalog is of another patch")


@pytest.mark.parametrize(("before", "after"), PAIRS)
def test_the_changes_reported_are_those_of_the_servers(
    before: str, after: str, binaries: Binaries, server: Server, seen: dict[str, dict[str, str]]
) -> None:
    """The options reported with a changed default are exactly those with which two untouched servers differ."""
    known(binaries(before), binaries(after))
    for name in (before, after):
        if name not in seen:
            seen[name] = running(server(name))
    old, new = seen[before], seen[after]
    skipped = HOST | ARTEFACTS | MEMBERS
    if "OFF" in (old["performance_schema"], new["performance_schema"]):
        # Sizes of what isn't there are not reported.
        skipped |= {name for name in old if name.startswith("performance_schema_")}
    news = before.partition("-")[0] == after.partition("-")[0]
    differing = {
        n: (old[n], new[n]) for n in old if n in new and n not in skipped and not same(n, old[n], new[n], news=news)
    }
    pairs = list(changed_pairs(*(verdict_on("", binaries(name).target) for name in (before, after))))
    names = {name for pair in pairs for name in (pair.old.name, pair.new.name)} & old.keys() & new.keys()
    assert {n: (old[n], new[n]) for n in names - skipped} == differing


@pytest.mark.parametrize(("before", "after"), [("mysql-8.0", "mysql-9.7"), ("mysql-9.7", "mysql-8.0")])
def test_a_member_gets_its_groups_changed_defaults(
    before: str, after: str, binaries: Binaries, server: Server, seen: dict[str, dict[str, str]]
) -> None:
    """What is reported only for members are both servers' own defaults."""
    known(binaries(before), binaries(after))
    for name in (before, after):
        if name not in seen:
            seen[name] = running(server(name))
    text = "[mysqld]\nplugin_load_add = group_replication.so\n"
    pairs = changed_pairs(*(verdict_on(text, binaries(name).target) for name in (before, after)))
    values = {pair.new.name: (pair.before, pair.after) for pair in pairs}
    assert {name: values[name] for name in MEMBERS} == {
        name: (seen[before][name], seen[after][name]) for name in MEMBERS
    }


@pytest.mark.parametrize("text", FILES)
@pytest.mark.parametrize("way", STARTED, ids="-".join)
def test_the_lines_to_add_keep_the_old_values(
    way: tuple[str, str], text: str, binaries: Binaries, run_with: RunWith
) -> None:
    """With all the lines as they are printed the new server starts, and runs with the old server's values for them."""
    known(*map(binaries, way))
    verdicts = [verdict_on(FILES[text], binaries(name).target) for name in way]
    move = compare_verdicts(verdicts[0], verdicts[1], ("my.cnf",))
    changes = [change for change in move.defaults if change.keep]
    assert len(changes) > 3
    was, is_now = run_with(way[0], FILES[text]), run_with(way[1], FILES[text] + fragment(move, every=True))
    assert {c.keep: values for c in changes if (values := lost(c, was, is_now))} == {}


@pytest.mark.parametrize("text", ["some", "less"])
@pytest.mark.parametrize("way", STARTED, ids="-".join)
def test_the_values_reported_are_those_under_the_file(
    way: tuple[str, str], text: str, binaries: Binaries, run_with: RunWith
) -> None:
    """With one file the old server has the values reported as old, and the new one those reported as new."""
    known(*map(binaries, way))
    verdicts = [verdict_on(FILES[text], binaries(name).target) for name in way]
    behaviours = HOST | {passage.option for passage in BEHAVIOUR_CHANGES}
    changes = [
        c for c in compare_verdicts(verdicts[0], verdicts[1], ("my.cnf",)).defaults if c.option not in behaviours
    ]
    was, is_now = (run_with(name, FILES[text]) for name in way)
    sides = [((c.formerly or c.option, c.before, was), (c.option, c.after, is_now)) for c in changes]
    wrong = {
        name: (said, values[name])
        for at, both in enumerate(zip(*sides, strict=True)) for name, said, values in both
        if name in values and not is_as_reported(said, values[name], verdicts[at].catalog.get(name))
    }  # fmt: skip
    assert wrong == {}


def is_as_reported(said: str, printed: str, option: Option | None) -> bool:
    """Whether a server's value is the one reported; of switches, whether those reported are set so."""
    if "=" in said:
        state = dict(part.split("=") for part in printed.split(","))
        return all(state.get(flag, "(none)") == value for flag, value in (part.split("=") for part in said.split(",")))
    return plain(said) == plain(printed if option is None else file_notation(printed, option))


def lost(change: DefaultChange, was: dict[str, str], is_now: dict[str, str]) -> tuple[str, str] | None:
    """The old and the new value where they differ in more than what the new server is reported to lack."""
    before, after = was.get(change.formerly or change.option), is_now.get(change.option)
    if after is not None and any(f"{flag}=on" in after.split(",") for flag in unknown_before(change)):
        return change.before, after
    if before is None or after is None or change.option in HOST or same(change.option, before, after):
        return None
    gone = set(before.split(",")) - set(after.split(","))
    return None if all(member in change.message for member in gone) else (before, after)


def unknown_before(change: DefaultChange) -> list[str]:
    """The switches that the old server has not."""
    return [part.partition("=")[0] for part in change.before.split(",") if part.endswith("=(none)")]


OLD_NAMES = (
    "[mysqld]\nexpire_logs_days = 7\nlog_warnings = 1\ninnodb_undo_logs = 64\ninnodb_log_file_size = 64M\n"
    "slave_net_timeout = 30\nskip_slave_start\nlog_slow_slave_statements = 1\nslave_parallel_workers = 2\n"
    "sql_mode = ANSI_QUOTES,NO_AUTO_CREATE_USER\ncharacter_set_server = utf8\ninnodb_checksums = 1\n"
    "slave_preserve_commit_order = 0\nsync_master_info = 100\nmaster_verify_checksum = 1\nlog_slave_updates = 1\n"
)


@pytest.mark.parametrize("after", ["mysql-8.0", "mysql-9.7"])
def test_the_lines_to_write_start_the_new_server(after: str, binaries: Binaries, start: Start, tmp_path: Path) -> None:
    """The new server starts with all the lines to write in the place of old ones, and takes them as predicted."""
    known(binaries("mysql-5.7"), binaries(after))
    old, new = (verdict_on(OLD_NAMES, binaries(name).target) for name in ("mysql-5.7", after))
    written = list(dict.fromkeys(c.write for c in compare_verdicts(old, new, ("my.cnf",)).lines if c.write))
    assert len(written) > 4
    file = tmp_path / "my.cnf"
    file.write_text("\n".join(["[mysqld]", *written, ""]))
    values = printed(start(after, option_file=file, arguments=["--performance-schema=OFF"]).binary, file)
    promised = {
        v.canonical: v.value for v in judge_added_lines(written, verdict_on("", binaries(after).target)).values()
    }
    assert {name: value for name, value in promised.items() if not same(name, value, values[name])} == {}
