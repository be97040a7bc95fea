"""Verdicts on names, whole files and what options do to each other, from the catalog alone."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from verdict_agreement import judge_lines, refused_lines

from advisor.catalog import Catalog, load
from advisor.catalog.targets import SERIES, parse_target
from advisor.core import Entries
from advisor.core.model import Origin, Setting
from advisor.optionfile import resolve
from advisor.verdict import Outcome, judge_file, judge_value, startup
from advisor.verdict.outcome import FileVerdict, NameMatch
from advisor.verdict.settings import ServerSettings, Settings
from advisor.verdict.take import _take

BEHIND = "cte_max_recursion_depth"  # lies behind eq_range_index_dive_limit in the memory of MySQL 9.7
TARGETS = [f"{flavour}-{s[0]}.{s[1]}" for flavour, series in SERIES.items() for s in series]


def judged(target: str, lines: str) -> FileVerdict:
    """The verdict on lines of a [mysqld] group."""
    return judge_lines(lines, load(parse_target(target)))


@pytest.mark.parametrize(
    ("target", "name", "value", "outcome", "words"),
    [
        ("mysql-9.7", "innodb_log_file_size", "1G", Outcome.REMOVED, "was removed"),
        ("mysql-5.7", "myisam_repair_threads", "1", Outcome.REMOVED, "was removed in 5.7.39."),
        ("mysql-8.0", "innodb_bufer_pool_size", "1G", Outcome.UNKNOWN, "innodb_buffer_pool_size is near"),
        ("mysql-8.0", "nonsense_of_the_first_water", None, Outcome.UNKNOWN, "Unknown option."),
        ("mysql-8.0", "aria_pagecache_buffer_size", "1G", Outcome.UNKNOWN, "Only MariaDB knows"),
        ("mariadb-11.4", "mysqlx_port", "1", Outcome.UNKNOWN, "Only MySQL knows"),
        ("mariadb-11.4", "log_slow_queries", "x", Outcome.UNKNOWN, "Unknown option log_slow_queries."),
        ("mariadb-11.4", "innodb_additional_mem_pool_size", "1", Outcome.UNKNOWN, "Unknown option innodb_add"),
        ("mysql-5.7", "innodb_redo_log_capacity", "1G", Outcome.UNKNOWN, "later than this target"),
        ("mysql-8.0", "validate_password_length", "1", Outcome.UNKNOWN, "plugin validate_password"),
        ("mariadb-10.11", "log", "x", Outcome.AMBIGUOUS, "is short for several options"),
        ("mysql-8.0", "read_buffer_size", None, Outcome.MISSING_ARGUMENT, "needs a value"),
        ("mariadb-10.11", "maximum-basedir", "1", Outcome.INVALID, "no maximum"),
        ("mysql-8.0", "maximum-sort_buffer_size", "1", Outcome.ADJUSTED, "below the minimum"),
        ("mysql-8.0", "maximum-sort_buffer_size", "1M", Outcome.ACCEPTED, ""),
        ("mysql-8.0", "maximum-sort_buffer_size", None, Outcome.MISSING_ARGUMENT, "needs a value"),
        ("mysql-9.7", "long_query_time", "99999999", Outcome.ADJUSTED, "takes 31536000: 99999999 is above"),
        ("mysql-9.7", "port", "0", Outcome.ADJUSTED, "0 stands for it"),
        ("mysql-9.7", "skip_core_file", None, Outcome.UNEXPECTED_ARGUMENT, "a prefix counts as one"),
        ("mariadb-11.8", "log_warnings", "99999999999", Outcome.ADJUSTED, "only 32 bits"),
        ("mysql-9.7", "maximum-eq_range_index_dive_limit", "4294967301", Outcome.ADJUSTED, "takes 5"),
        ("mysql-9.7", "maximum-innodb_log_spin_cpu_pct_hwm", "4294967301", Outcome.ADJUSTED, "above the maximum"),
        ("mariadb-11.8", "loose-alter_algorithm", "x", Outcome.ADJUSTED, "then ignores alter_algorithm"),
        ("mariadb-11.8", "alter_algorithm", "COPY", Outcome.IGNORED, "but ignores it"),
        ("mariadb-10.11", "autoset-back_log", None, Outcome.ACCEPTED, ""),
        ("mariadb-10.11", "autoset-back_log", "5", Outcome.UNEXPECTED_ARGUMENT, "takes no value"),
        ("mariadb-10.11", "autoset-sort_buffer_size", None, Outcome.INVALID, "remove the prefix autoset-"),
        ("mariadb-10.11", "loose-autoset-sort_buffer_size", None, Outcome.INVALID, "remove the prefix autoset-"),
        ("mariadb-11.4", "connect", "3", Outcome.ACCEPTED, ""),
        ("mariadb-11.4", "safe", "1", Outcome.AMBIGUOUS, "safe_mode, safe_user_create"),
        ("mariadb-11.4", "federated", None, Outcome.UNKNOWN, "plugin ha_federated"),
        ("mariadb-11.4", "loose-performance_schema_instrument", None, Outcome.MISSING_ARGUMENT, "needs a value"),
        ("mariadb-11.4", "enable-performance_schema_instrument", None, Outcome.ACCEPTED, ""),
        ("mariadb-11.4", "loose-maximum-sort_buffer_size", "x", Outcome.ADJUSTED, "no session may set more than 0"),
        ("mariadb-11.4", "loose-maximum-binlog_format", "x", Outcome.ADJUSTED, "continues without it"),
        ("mariadb-11.4", "loose-maximum-basedir", "x", Outcome.ACCEPTED, "continues without it"),
        ("mysql-8.0", "ansi", None, Outcome.ACCEPTED, ""),
        ("mysql-8.0", "ansi", "1", Outcome.UNEXPECTED_ARGUMENT, "takes no value"),
        ("mysql-8.0", "hot.key_buffer_size", "1M", Outcome.ACCEPTED, ""),
        ("mysql-8.0", "skip-name-resolve", "0", Outcome.ADJUSTED, "on as soon as it is given"),
        ("mysql-5.7", "innodb", "OFF", Outcome.IGNORED, "always on"),
        ("mariadb-10.11", "loose-read_buffer_size", "1.5G", Outcome.ADJUSTED, "Because of loose-"),
        ("mariadb-10.11", "loose-binlog_format", "x", Outcome.ADJUSTED, "Because of loose-"),
    ],
)
def test_take(target: str, name: str, value: str | None, outcome: Outcome, words: str) -> None:
    """A single option is judged as a file's line would be, and the reason is in plain words."""
    line = judge_value(name, value, load(parse_target(target)))
    assert line.outcome is outcome
    assert words in line.reason


def test_loose_saves_an_unknown_option_and_nothing_else_on_mysql() -> None:
    """The loose prefix helps against unknown names; MySQL still stops at a value that it can't read."""
    catalog = load(parse_target("mysql-8.0"))
    assert judge_value("loose-nonsense", "1", catalog).loose
    assert not judge_value("loose-read_buffer_size", "1.5G", catalog).loose


def test_certain_only_where_that_very_version_was_asked() -> None:
    """8.0.15 was asked, 8.4 was not."""
    assert judge_value("read_buffer_size", "1M", load(parse_target("mysql-8.0.15"))).certain
    assert not judge_value("read_buffer_size", "1M", load(parse_target("mysql-8.4"))).certain


def test_later_lines_win_and_lists_add_up() -> None:
    """The last line of an option counts, the earlier are overridden; options that make a list override nothing."""
    verdict = judged("mysql-8.0", "sort_buffer_size=1M\nsort-buffer-size=2M\nbinlog_do_db=a\nbinlog_do_db=b")
    assert verdict.effective["sort_buffer_size"].value == "2097152"
    assert [line.value for line in verdict.overridden["sort_buffer_size"]] == ["1048576"]
    assert "binlog_do_db" not in verdict.overridden


def test_a_refused_line_does_not_count() -> None:
    """The line before a refused one keeps counting."""
    verdict = judged("mysql-8.0", "sort_buffer_size=1M\nsort_buffer_size=nonsense")
    assert verdict.effective["sort_buffer_size"].value == "1048576"


@pytest.mark.parametrize(
    ("port", "outcome"), [("0", Outcome.ACCEPTED), ("0K", Outcome.ACCEPTED), ("7", Outcome.ADJUSTED)]
)
def test_what_was_asked_for_is_no_adjustment(port: str, outcome: Outcome) -> None:
    """A port of 0 alone would become the compiled one; without a network the server takes it as it stands."""
    line = judged("mariadb-11.4", f"port={port}\nskip-networking").effective["port"]
    assert (line.value, line.outcome, bool(line.reason)) == ("0", outcome, outcome is Outcome.ADJUSTED)


def test_other_groups_are_not_judged() -> None:
    """Groups that this server does not read have no verdict."""
    text = b"[client]\nnonsense=1\n[mysqld-8.0]\nport=1\n[mysqld-5.7]\nport=2\n"
    resolved = resolve(["x"], flavour="mysql", loader=lambda _: text)
    verdict = judge_file(resolved, load(parse_target("mysql-8.0")))
    assert [line.placed.line.group for line in verdict.lines] == ["mysqld-8.0"]


def test_templated_values_are_unknown() -> None:
    """A value that is made later is not judged; a name that the server refuses with any value is refused."""
    verdict = judged("mysql-8.0", "sort_buffer_size={{ size }}\nnonsense={{ x }}")
    assert [line.outcome for line in verdict.lines] == [Outcome.ACCEPTED, Outcome.UNKNOWN]
    assert [line.value for line in verdict.lines] == [None, None]


@pytest.mark.parametrize(
    ("target", "lines", "name", "value"),
    [
        ("mariadb-10.11", "query_cache_type=0\nquery_cache_size=1M", "query_cache_type", "ON"),
        ("mariadb-10.11", "max_connections=50\nthread_cache_size=128", "thread_cache_size", "50"),
        ("mariadb-10.11", "max_relay_log_size=0\nmax_binlog_size=8192", "max_relay_log_size", "8192"),
        ("mysql-5.7", "log_warnings=5", "log_warnings", "2"),
        ("mysql-5.7", "log_error_verbosity=2\nlog_warnings=0", "log_error_verbosity", "1"),
        ("mysql-5.7", "log_bin=a.b\nserver_id=1", "log_bin", "a"),
        ("mysql-5.7", "log_bin=a.b", "log_bin", "a.b"),
        ("mysql-8.0", "log_bin=x\nskip-log-bin", "log_bin", "(No default value)"),
        ("mysql-8.0", "log_bin", "log_bin", "(host name)-bin"),
        ("mysql-8.0", "log_bin=x\nlog_bin", "log_bin", "x"),
        ("mysql-8.0", "log_bin=x\nskip-log-bin\nlog_bin", "log_bin", "(host name)-bin"),
        ("mysql-9.7", "log_error=x\nlog_error", "log_error", None),
        ("mariadb-10.11", "log_bin\npid_file=/run/a.pid", "log_bin", "a-bin"),
        ("mariadb-10.11", "log_bin\nlog_basename=q", "log_bin", "q-bin"),
        ("mysql-8.0", "skip-networking\nport=5", "port", "0"),
        ("mariadb-11.4", "extra_port=5\nskip-networking", "extra_port", "0"),
        ("mysql-8.0", "ssl=0\nssl_ca=/x", "ssl", "TRUE"),
        ("mysql-8.0", "transaction_isolation=READ-COMMITTED\nansi", "transaction_isolation", "SERIALIZABLE"),
        ("mysql-8.0", "ansi\ntransaction_isolation=READ-COMMITTED", "transaction_isolation", "READ-COMMITTED"),
        ("mariadb-10.11", "sql_mode=\nansi", "sql_mode", "REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,ANSI"),
        ("mysql-8.0", "mysqlx=0\nmysqlx_socket=/x", "mysqlx_socket", "(No default value)"),
        ("mysql-8.0", "mysqlx=0\nmysqlx_port=33065", "mysqlx_port", "33065"),
        ("mysql-8.0", "mysqlx=0", "mysqlx", "ON"),
        ("mysql-5.7", "log_warnings=-1", "log_warnings", "18446744073709551615"),
        ("mysql-5.7", "log_warnings=-2", "log_warnings", "2"),
        ("mysql-5.7", "log_warnings\nlog_warnings", "log_warnings", "2"),
        ("mysql-5.7", "log_error_verbosity=2\nlog_warnings", "log_error_verbosity", "3"),
        ("mysql-5.7", "log_error_verbosity=2\nskip-log_warnings", "log_error_verbosity", "1"),
        ("mysql-9.7", "maximum-sort_buffer_size=10K", "sort_buffer_size", "10240"),
        ("mysql-9.7", "maximum-sort_buffer_size=-1", "sort_buffer_size", "32768"),
        ("mysql-9.7", "maximum-read_buffer_size=100000", "read_buffer_size", "100000"),
        ("mariadb-11.8", "alter_algorithm=COPY", "alter_algorithm", "DEFAULT"),
        ("mariadb-11.4", "slave_skip_errors=all", "slave_skip_errors", "ALL"),
        ("mysql-8.0", "lc_messages=xx", "lc_messages", "en_US"),
        ("mysql-8.0", "sql_mode=ANSI_QUOTES", "sql_mode", "ANSI_QUOTES"),
        ("mysql-9.7", "maximum-eq_range_index_dive_limit=1000", "eq_range_index_dive_limit", "1000"),
        ("mysql-9.7", "maximum-eq_range_index_dive_limit=-1", "eq_range_index_dive_limit", "0"),
        ("mysql-9.7", "maximum-eq_range_index_dive_limit=5E", "eq_range_index_dive_limit", "200"),
        ("mysql-9.7", f"{BEHIND}=7\nmaximum-eq_range_index_dive_limit=8G", BEHIND, "2"),
        ("mysql-9.7", f"{BEHIND}=7\nmaximum-eq_range_index_dive_limit=5E", BEHIND, "7"),
        ("mysql-9.7", f"maximum-eq_range_index_dive_limit=8G\n{BEHIND}=7", BEHIND, "7"),
        ("mysql-8.0.15", f"{BEHIND}=7\nmaximum-eq_range_index_dive_limit=1", BEHIND, "7"),
        ("mariadb-10.11", "loose-maximum-host_cache_size=5", "host_cache_size", "128"),
        ("mariadb-10.11", "host_cache_size=7\nautoset-host_cache_size", "host_cache_size", "279"),
        ("mariadb-10.11", "max_connections=500\nautoset-host_cache_size", "host_cache_size", "628"),
        ("mariadb-10.11", "autoset-host_cache_size\nmax_connections=1000", "host_cache_size", "653"),
        ("mariadb-10.11", "autoset-host_cache_size\nloose-maximum-host_cache_size=x", "host_cache_size", "128"),
        ("mariadb-10.11", "back_log=7\nautoset-back_log", "back_log", "80"),
        ("mariadb-10.11", "host_cache_size=7\nloose-maximum-host_cache_size=5", "host_cache_size", "7"),
        ("mariadb-10.11", "log_basename=q\ngeneral_log_file=", "general_log_file", "q.log"),
        ("mariadb-10.11", "disable_log_basename=q\nenable_slow_query_log_file", "slow_query_log_file", "0-slow.log"),
        ("mariadb-11.4", "relay_log=\nlog_basename=/none/a", "relay_log", ""),
    ],
)
def test_options_act_on_each_other(target: str, lines: str, name: str, value: str) -> None:
    """Once all lines are read, an option's value may be another than its own line made it."""
    assert judged(target, lines).effective[name].value == value


@pytest.mark.parametrize(
    ("target", "lines", "name"),
    [
        ("mysql-5.7", "log_bin=x", "log_bin"),
        ("mysql-8.0", "character_set_server=latin1\ncollation_server=utf8mb4_bin", "collation_server"),
        ("mysql-5.7", "secure_auth=0", "secure_auth"),
        ("mysql-9.7", "character_set_server=utf8", "character_set_server"),
    ],
)
def test_refusals_of_later_checks_keep_their_value(target: str, lines: str, name: str) -> None:
    """What the reader takes and a later check refuses is refused, and still shown."""
    line = judged(target, lines).effective[name]
    assert line.outcome is Outcome.INVALID
    assert line.value


def test_a_collation_of_another_character_set_says_which_it_needs() -> None:
    """The reason names the line to write, which the help refers to."""
    line = judged("mariadb-10.11", "character_set_server=utf8\ncollation_server=utf8mb4_bin").effective
    reason = "utf8mb4_bin needs character_set_server = utf8mb4, and the character set is utf8."
    assert line["collation_server"].reason == reason


@pytest.mark.parametrize(
    ("target", "lines", "name"),
    [
        ("mysql-5.7", "log_bin=0", "log_bin"),
        ("mysql-5.7", "log_bin=0\nserver_id=1", None),
        ("mysql-5.7", "log_bin=0\nserver_id={{ id }}", None),
        ("mysql-5.7", "skip-log-bin=1", None),
        ("mysql-5.7", "enable-log-bin=0", None),
        ("mysql-5.7", "gtid_mode=ON", "gtid_mode"),
        ("mysql-5.7", "gtid_mode=ON\nenforce-gtid-consistency", None),
        ("mysql-8.0", "gtid_mode=ON\nenforce_gtid_consistency={{ gtid }}", None),
        ("mysql-8.0", "enforce_gtid_consistency=OFF", None),
        ("mysql-9.7", "enforce_gtid_consistency=OFF", "enforce_gtid_consistency"),
        ("mysql-9.7", "enforce_gtid_consistency=OFF\ngtid_mode=OFF", None),
        ("mysql-8.0.27", "tls_version=TLSv1", None),
        ("mysql-8.0.28", "tls_version=TLSv1,TLSv1.2", "tls_version"),
        ("mysql-9.7", "enable-admin_tls_version", "admin_tls_version"),
        ("mysql-9.7", "authentication_policy=mysql_native_password", "authentication_policy"),
        ("mysql-8.0.40", "authentication_policy=mysql_native_password", None),
        ("mysql-9.7", "authentication_policy=authentication_webauthn", "authentication_policy"),
        ("mysql-9.7", "authentication_policy=authentication_webauthn\nplugin_load_add=x=x.so", None),
        ("mysql-9.7", 'authentication_policy="*,sha256_password"', "authentication_policy"),
        ("mysql-9.7", 'authentication_policy="*:sha256_password,*,"', None),
        ("mysql-9.7", 'authentication_policy="*:"\nplugin_load_add=x=x.so', "authentication_policy"),
        ("mysql-9.7", "authentication_policy=", "authentication_policy"),
        ("mysql-9.7", 'authentication_policy="*,,*"', "authentication_policy"),
        ("mysql-9.7", 'authentication_policy="*,*,*,*"', "authentication_policy"),
        ("mysql-9.7", "log_bin_index=/logs/", "log_bin_index"),
        ("mysql-9.7", "skip-log-bin\nlog_bin_index=/logs/", None),
        ("mysql-5.7", "log_bin_index=/logs/", None),
    ],
)
def test_what_only_a_start_shows(target: str, lines: str, name: str | None) -> None:
    """Options that fit neither each other nor the server are refused, templates are not; started servers said so."""
    refused = [line.canonical or line.placed.line.name for line in refused_lines(judged(target, lines))]
    assert refused == ([name] if name else [])


def test_a_policy_may_name_what_another_file_loads() -> None:
    """That a plugin is missing is likely and not certain."""
    line = judged("mysql-9.7.4", "authentication_policy=authentication_webauthn").effective["authentication_policy"]
    assert line.outcome is Outcome.STOPS
    assert not line.certain


@pytest.mark.parametrize(
    ("lines", "name", "running"),
    [
        ("innodb_buffer_pool_size=512M\ninnodb_buffer_pool_instances=8", "innodb_buffer_pool_instances", "1"),
        ("innodb_buffer_pool_size=1100M\ninnodb_buffer_pool_instances=8", "innodb_buffer_pool_size", "2147483648"),
        ("innodb_buffer_pool_size=512M", "innodb_buffer_pool_size", None),
        ("innodb_buffer_pool_size=4G", "innodb_buffer_pool_size", None),
        ("log_bin=x", "log_bin", "ON"),
        ("skip-log-bin", "log_bin", "OFF"),
    ],
)
def test_running_values(lines: str, name: str, running: str | None) -> None:
    """What runs differs from what help prints where the server rounds at its start."""
    assert judged("mysql-8.0", lines).effective[name].running == running


def test_nothing_is_derived_from_what_is_unknown() -> None:
    """Without a pool size, in the file or by default, nothing is predicted."""
    target = parse_target("mysql-8.0")
    assert startup.find_running_values({}, {}, Catalog(target, target, Entries())) == {}


def test_plugins_that_the_file_loads_bring_their_options() -> None:
    """An option of a plugin is unknown, and expected once the file loads the plugin."""
    lines = "plugin-load=rpl_semi_sync_master=semisync_master.so;ha_archive\nrpl_semi_sync_master_enabled=1"
    assert [line.outcome for line in judged("mysql-5.7", lines).lines] == [Outcome.ACCEPTED, Outcome.ACCEPTED]
    alone = judged("mysql-5.7", "plugin-load=\nrpl_semi_sync_master_enabled=1").lines[1]
    assert alone.outcome is Outcome.UNKNOWN


def test_no_plugin_is_loaded_by_a_word_that_says_no() -> None:
    """OFF and 0 name no library."""
    lines = "plugin-load=OFF\nrpl_semi_sync_master_enabled=1\nplugin_load_add=rpl_unheard_of.so\nrpl_unheard_of_level=1"
    outcomes = [line.outcome for line in judged("mysql-5.7", lines).lines]
    assert outcomes[1] is Outcome.UNKNOWN
    assert outcomes[3] is Outcome.ACCEPTED


def test_beginnings_are_names_until_the_file_says_otherwise() -> None:
    """MariaDB takes a beginning for a name wherever in the file that is switched off."""
    assert judged("mariadb-10.11", "key_buf=64M").lines[0].canonical == "key_buffer_size"
    off = judged("mariadb-10.11", "key_buf=64M\nskip-getopt-prefix-matching").lines[0]
    assert off.outcome is Outcome.UNKNOWN


def test_old_servers_print_large_numbers_as_negative_ones() -> None:
    """MySQL 5.7 prints 32 bits as a signed number under --help, and the number itself once it runs."""
    line = judged("mysql-5.7.22", "sync_relay_log=4294967295").effective["sync_relay_log"]
    assert (line.value, line.running, line.outcome) == ("-1", "4294967295", Outcome.ACCEPTED)


def test_unknown_members_are_accepted() -> None:
    """Where the catalog lists no members, a value can't be judged and is taken unchanged."""
    option = load(parse_target("mysql-8.0")).get("binlog_format")
    assert option is not None
    found = NameMatch("binlog_format")
    assert _take(option._replace(values=()), found, "x", parse_target("mysql-8.0"), None).value == "x"
    modes = load(parse_target("mysql-8.0")).get("sql_mode")
    assert modes is not None
    assert _take(modes._replace(values=()), NameMatch("sql_mode"), "x", parse_target("mysql-8.0"), None).value == "x"


def test_settings_of_a_file() -> None:
    """Values of a file stand over the target's defaults, in the notation of SHOW GLOBAL VARIABLES."""
    known = Settings.from_file(judged("mysql-8.0", "general_log=1\nlong_query_time=2\nsort_buffer_size=1M"))
    assert known.on("general_log") is True
    assert known.text("long_query_time") == "2.000000"
    assert known.number("sort_buffer_size") == 1 << 20
    assert known.real("long_query_time") == 2.0
    assert known.is_set("sort_buffer_size")
    assert not known.is_set("join_buffer_size")
    assert known.number("join_buffer_size") == 262144
    assert known.text("init_file") == ""
    assert known.names() == ["general_log", "long_query_time", "sort_buffer_size"]
    assert known.get("no_such_variable") is None
    assert known.real("no_such_variable") is None
    assert known.number("no_such_variable") is None


def test_settings_of_a_file_are_those_that_will_run() -> None:
    """Where the server rounds at its start, rules read the rounded value; options without a value are skipped."""
    lines = "innodb_buffer_pool_size=512M\ninnodb_buffer_pool_instances=8\nlog_bin=x\nansi"
    known = Settings.from_file(judged("mysql-8.0", lines))
    assert known.number("innodb_buffer_pool_instances") == 1
    assert known.on("log_bin") is True
    assert not known.is_set("ansi")


def test_settings_of_ansi_are_set() -> None:
    """The settings of the option ansi count as set, where no later line sets them."""
    known = Settings.from_file(judged("mysql-8.0", "ansi\ntransaction_isolation=READ-COMMITTED"))
    assert "ANSI_QUOTES" in (known.text("sql_mode") or "")
    assert known.is_set("sql_mode")
    assert known.text("transaction_isolation") == "READ-COMMITTED"


def test_settings_of_a_server() -> None:
    """Values of a running server come as it says them, with the origins that are known."""
    sources = {"port": (Origin.COMMAND_LINE, None)}
    known = ServerSettings(
        {"Port": "3307", "datadir": "/x"}, lambda variable: sources.get(variable, (Origin.UNKNOWN, None))
    )
    assert known.names() == ["datadir", "port"]
    assert known.get("port") == Setting("port", "3307", Origin.COMMAND_LINE)
    assert known.get("Port") is known.get("socket") is None
    assert known.number("port") == 3307
    assert known.is_set("port")
    assert not known.is_set("datadir")
    assert known.on("port") is None
    assert known.number("datadir") is None


@settings(max_examples=300)
@given(st.sampled_from(TARGETS), st.text(max_size=40), st.none() | st.text(max_size=40), st.data())
def test_no_input_raises(target: str, name: str, value: str | None, data: st.DataObject) -> None:
    """For any line there is a verdict."""
    catalog = load(parse_target(target))
    known = data.draw(st.sampled_from(sorted(catalog.options)))
    judge_value(name, value, catalog)
    line = judge_value(
        data.draw(st.sampled_from(["", "skip-", "loose-", "enable-", "maximum-", "autoset-"])) + known, value, catalog
    )
    assert line.outcome in Outcome


@pytest.mark.parametrize(("target", "printed"), [("mysql-8.0.15", "ON"), ("mysql-9.7.4", "OFF")])
def test_a_plugin_switched_off(target: str, printed: str) -> None:
    """8.0 prints ON for a plugin that is off, as its help does for all that isn't forced; SHOW prints the state."""
    line = judged(target, "archive=OFF").effective["archive"]
    assert line.value == printed
    assert (line.running or line.value) == "OFF"
