"""Options that servers treat in a way of their own, by the catalog alone; `test_asked` asks the servers the same."""

from __future__ import annotations

import pytest

from advisor.catalog import load
from advisor.catalog.targets import parse_target
from advisor.verdict import Outcome, judge_value
from advisor.verdict.words import REMOVED_MODES, charset_of, full_charset_name, known_charsets, named_members

REFUSED = "refused"


@pytest.mark.parametrize(
    ("target", "name", "value", "printed"),
    [
        ("mysql-8.0.15", "skip_name_resolve", "OFF", "TRUE"),
        ("mysql-8.0.15", "skip_name_resolve", None, "TRUE"),
        ("mysql-8.0.27", "skip_name_resolve", "OFF", "FALSE"),
        ("mysql-8.0", "skip-skip-name-resolve", None, "FALSE"),
        ("mysql-8.0", "skip_name_resolve", "0", "TRUE"),
        ("mysql-9.7", "skip_name_resolve", "off", "FALSE"),
        ("mysql-9.7", "skip_name_resolve", "0", "TRUE"),
        ("mysql-9.7", "disable-skip-name-resolve", None, "FALSE"),
        ("mariadb-11.8", "skip_name_resolve", "0", "FALSE"),
        ("mysql-5.7.22", "port", "", "3306"),
        ("mysql-8.0.15", "port", "", REFUSED),
        ("mysql-8.0.15", "port", "PORT", "3306"),
        ("mysql-8.0.15", "port", "70000", "65535"),
        ("mysql-9.7", "archive", "OFF", "OFF"),
        ("mysql-9.7", "archive", "FORCE", ""),
        ("mysql-9.7", "archive", None, "ON"),
        ("mysql-9.7", "archive", "bogus", REFUSED),
        ("mysql-5.7.22", "performance_schema_instrument", "%=ON", "%"),
        ("mysql-5.7.22", "log_warnings", "x", REFUSED),
        ("mysql-5.7.22", "log_warnings", None, "1"),
        ("mariadb-10.11", "log_warnings", None, "2"),
        ("mariadb-10.11", "log_warnings", "1K", "1"),
        ("mariadb-10.11", "log_warnings", "99999999999", "1215752191"),
        ("mariadb-10.11", "log_warnings", "3", "3"),
        ("mysql-8.0.15", "lower_case_table_names", "2", "0"),
        ("mysql-8.0.15", "lower_case_table_names", "1", "1"),
        ("mysql-8.0.15", "lower_case_table_names", None, "1"),
        ("mariadb-10.11", "alter_algorithm", "COPY", "COPY"),
        ("mysql-5.7.22", "secure_auth", "1", "TRUE"),
        ("mysql-5.7.22", "old_passwords", "1", "1"),
        ("mysql-5.7.22", "old_passwords", "2", "2"),
        ("mysql-5.7.22", "myisam_recover_options", "", "OFF"),
        ("mysql-5.7.22", "myisam_recover_options", "BACKUP", "BACKUP"),
        ("mysql-5.7.22", "session_track_system_variables", "a, b", "a, b"),
        ("mysql-5.7.22", "session_track_system_variables", "a-b", "a-b"),
        ("mysql-5.7.22", "ft_boolean_syntax", '+ -><()~*:""&|', '+ -><()~*:""&|'),
        ("mysql-5.7.22", "ft_boolean_syntax", "abc", "abc"),
        ("mysql-5.7.22", "default_authentication_plugin", "caching_sha2_password", "caching_sha2_password"),
        ("mysql-8.0.15", "default_authentication_plugin", "caching_sha2_password", "caching_sha2_password"),
        ("mysql-9.7", "tls_version", "TLSv1.2", "TLSv1.2"),
        ("mysql-9.7", "tls_version", "TLSv1.2, TLSv1.3", REFUSED),
        ("mysql-9.7", "replicate_do_table", "abc", REFUSED),
        ("mysql-9.7", "replicate_rewrite_db", "a", REFUSED),
        ("mysql-5.7.22", "lc_messages", "DE_de", "DE_de"),
        ("mysql-5.7.22", "lc_messages", "xx", "xx"),
        ("mariadb-11.8", "lc_time_names", "sw_KE", "sw_KE"),
        ("mariadb-11.8", "lc_time_names", "ka_GE", "ka_GE"),
        ("mysql-8.0.15", "lc_time_names", "sr_YU", "sr_YU"),
        ("mysql-5.7.22", "collation_server", "utf8mb4_0900_ai_ci", "utf8mb4_0900_ai_ci"),
        ("mariadb-11.8", "slave_skip_errors", "1062, 1032", "1032,1062"),
        ("mariadb-11.8", "slave_skip_errors", "99999", "OFF"),
        ("mariadb-11.8", "slave_skip_errors", "nonsense", "OFF"),
        ("mariadb-11.8", "skip-slave-skip-errors", None, "0"),
        ("mariadb-11.4", "slave_skip_errors", "ALL", "ALL"),
        ("mysql-8.0.15", "enable-default-time-zone", None, "(No default value)"),
        ("mariadb-11.8", "enable-default-time-zone", None, ""),
        ("mariadb-11.4.5", "READ_BUFFER_SIZE", "1M", REFUSED),
        ("mariadb-11.8.9", "READ_BUFFER_SIZE", "1M", "1048576"),
        ("mariadb-11.4.5", "wsrep_certify_nonpk", "1", REFUSED),
        ("mariadb-11.4.5", "wsrep_certify_nonPK", "0", "FALSE"),
        ("mariadb-11.4.5", "wsrep_osu_method", "RSU", REFUSED),
        ("mariadb-11.4.5", "wsrep_OSU_method", "RSU", "RSU"),
        ("mariadb-11.4.5", "wsrep_SR_store", "none", "none"),
        ("mariadb-11.8", "max_connect", "64", "64"),
        ("mariadb-11.8", "innodb_log_buf", "64M", "67108864"),
        ("mariadb-11.8", "foo.read_buffer_size", "1M", "1048576"),
        ("mysql-8.0.15", "foo.read_buffer_size", "1M", REFUSED),
        ("mysql-8.0.15", ".port", "1", REFUSED),
        ("mysql-8.0.15", "enable-collation-server", None, "utf8mb4_0900_ai_ci"),
        ("mysql-8.0.15", "enable-lc-messages", None, "en_US"),
        ("mysql-8.0.15", "enable-character-set-server", None, "utf8mb4"),
        ("mysql-8.0.15", "loose-", "1", REFUSED),
        ("mysql-9.7", "collation_server", "utf8mb4_uca1400_ai_ci", "utf8mb4_uca1400_ai_ci"),
        ("mariadb-11.8", "innodb_cmp", "1", "TRUE"),
        ("mariadb-11.8", "skip-", "1", REFUSED),
        ("mariadb-11.8", "log_slow_verbosity", "", ""),
        ("mariadb-11.8", "log_slow_filter", "admin", "admin"),
        (
            *("mariadb-11.8", "slave_transaction_retry_errors", "4294967298,7,foo,9223372036854775808,8"),
            "1158,1159,1160,1161,1205,1213,1020,1429,2013,12701,2,7",
        ),
        ("mariadb-11.8", "slave_transaction_retry_errors", "5", "1158,1159,1160,1161,1205,1213,1020,1429,2013,12701,5"),
        ("mysql-8.0.15", "relay_log", "", "(host name)-relay-bin"),
        ("mysql-8.0.15", "relay_log", "x", "x"),
        ("mysql-8.0.15", "general_log_file", "", "(host name).log"),
        ("mysql-8.0.15", "general_log_file", "x", "x"),
        ("mariadb-11.8", "alter_algorithm", "x", REFUSED),
        ("mariadb-11.8", "table_cache", "512M", "524288"),
        ("mariadb-11.8", "max_relay_log_size", "100", "0"),
        ("mysql-8.0.15", "loose-skip-log-bin", None, "(No default value)"),
    ],
)
def test_values(target: str, name: str, value: str | None, printed: str) -> None:
    """Help prints this for the option; `refused` marks a line that leaves no value."""
    line = judge_value(name, value, load(parse_target(target)))
    assert (REFUSED if line.value is None else line.value) == printed


@pytest.mark.parametrize(
    ("target", "value", "modes"),
    [
        ("mysql-5.7.22", "ansi", "REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,ONLY_FULL_GROUP_BY,ANSI"),
        ("mariadb-11.8", "ansi", "REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,ANSI"),
        ("mariadb-11.8", "MYSQL40", "MYSQL40,HIGH_NOT_PRECEDENCE"),
    ],
)
def test_sql_modes_bring_others(target: str, value: str, modes: str) -> None:
    """Some modes mean several."""
    assert judge_value("sql_mode", value, load(parse_target(target))).value == modes


@pytest.mark.parametrize(
    ("target", "value", "why"),
    [
        ("mysql-9.7", "NO_AUTO_CREATE_USER", "MySQL 8.0 removed the mode NO_AUTO_CREATE_USER."),
        ("mysql-8.0", "oracle,ANSI_QUOTES,MSSQL", "MySQL 8.0 removed the modes ORACLE, MSSQL."),
        ("mysql-8.0", "ORACLE,STRICT", "'ORACLE', 'STRICT' are no members of sql_mode."),
        ("mysql-8.0", "ANSI_QUOTES, ANSI", "' ANSI' is no member of sql_mode."),
        ("mysql-5.7", "ANSI_QUOTES,", "An empty value is no member of sql_mode."),
        ("mariadb-11.8", "STRICT", "'STRICT' is no member of sql_mode."),
    ],
)
def test_sql_mode_refuses_what_the_version_lacks(target: str, value: str, why: str) -> None:
    """The modes that prevent it are named, and never a place that no mode has any more."""
    line = judge_value("sql_mode", value, load(parse_target(target)))
    assert line.outcome is Outcome.INVALID
    assert line.reason.startswith(why)
    assert "NOT_USED" not in line.reason
    assert ", ,," not in line.reason


def test_the_lost_modes_are_those_between_two_catalogs() -> None:
    """MySQL 8.0 has every mode of 5.7 but those that are said to be gone."""
    before, after = (load(parse_target(target)).get("sql_mode") for target in ("mysql-5.7", "mysql-8.0"))
    assert before is not None
    assert after is not None
    assert set(named_members(before.values)) - set(after.values) == set(REMOVED_MODES)


@pytest.mark.parametrize(("name", "value"), [("replicate_do_table", "a.b"), ("replicate_rewrite_db", "a->b")])
def test_rules_of_replication(name: str, value: str) -> None:
    """A filter that is well formed is taken."""
    assert judge_value(name, value, load(parse_target("mysql-5.7.22"))).outcome is Outcome.ACCEPTED


def test_no_slow_filter_is_all_of_them() -> None:
    """An empty filter means all of them, and only a 0 none."""
    catalog = load(parse_target("mariadb-11.8.9"))
    line = judge_value("log_slow_filter", "", catalog)
    assert line.option is not None
    assert line.value == ",".join(line.option.values)
    assert judge_value("log_slow_filter", "0", catalog).value == ""


def test_character_sets() -> None:
    """utf8 is another name of utf8mb3, which MySQL 9 no longer takes; gb18030 is MySQL's alone."""
    assert full_charset_name("UTF8") == "utf8mb3"
    assert charset_of("utf8mb4_bin") == "utf8mb4"
    assert "utf8" not in known_charsets(parse_target("mysql-9.7"))
    assert "gb18030" not in known_charsets(parse_target("mariadb-11.8"))
    catalog = load(parse_target("mysql-9.7"))
    assert "utf8mb3" in judge_value("character_set_server", "utf8", catalog).reason
    assert "utf8mb3_" in judge_value("collation_server", "utf8_bin", catalog).reason
    assert judge_value("collation_server", "binary", catalog).outcome is Outcome.ACCEPTED


def test_all_error_numbers_are_cut_where_the_server_cuts_them() -> None:
    """MariaDB 11.8.9 prints all numbers as far as its buffer reaches."""
    line = judge_value("slave_skip_errors", "all", load(parse_target("mariadb-11.8.9")))
    assert line.value is not None
    assert line.value.endswith(",535,536...")
