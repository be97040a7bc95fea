"""Names and words that the examined server lacks, and a server that was not examined may have."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from verdict_agreement import Ask, Judge, judge_lines, refused_lines

import advisor.catalog.presence
from advisor.analysis import run_rules
from advisor.catalog import load
from advisor.catalog.targets import SERIES, newest_target, parse_target
from advisor.core.model import Finding, Target
from advisor.verdict.settings import Settings
from rules import all_rules
from rules.core.context import RuleContext

DATA = Path(advisor.catalog.presence.__file__).parent / "data" / "vendors.json"
NAMES: dict[str, list[str]] = json.loads(DATA.read_text(encoding="utf-8"))
MYSQL = [Target("mysql", version) for version in SERIES["mysql"].values()]
PERCONA = ["userstat=ON", "thread_pool_size=16", "rocksdb_block_cache_size=4G", "tokudb_cache_size=1G", "extra_port=1"]
WINDOWS = ["named_pipe=ON", "enable-named-pipe", "shared_memory=ON", "skip-shared_memory"]
NEWER = ["mariadb-12.9", "mariadb-13.0", "mariadb-12.3.99", "mysql-27.1", "mysql-8.0.99", "mysql-5.7.99", "mysql-9.8"]
TYPOS = [  # of options that MySQL Community on Linux does not have
    ("log_slow_verbositty=full", "log_slow_verbosity", "Percona Server (5.7, 8.0, 8.4) documents"),
    ("slow-query-log-use-global-contro=all", "slow_query_log_use_global_control", "Percona Server (5.7, 8.0, 8.4)"),
    ("innodb_show_locks_hel=1", "innodb_show_locks_held", "Percona Server (5.7, 8.0, 8.4) documents"),
    ("pxc_strict_mod=ENFORCING", "pxc_strict_mode", "Percona XtraDB Cluster ("),
    ("name_pipe=ON", "named_pipe", "exists on Windows only"),
]
UNKNOWN = ["binlog_storage_enginf=innodb", "innodb_bufer_pool_size=1G", "thread_handling=by-magic", "sql_mode=NEW_MODE"]


def findings(line: str, target: Target, *, any_build: bool = False) -> tuple[Finding, ...]:
    """The findings of the rules about the server's own verdict for a file of one line."""
    verdict = judge_lines(line, load(target, any_build=any_build))
    known = RuleContext(target, verdict.catalog, Settings.from_file(verdict), verdict)
    return run_rules(known, [rule for rule in all_rules() if rule.code.startswith("OPT")]).findings


def is_note(found: tuple[Finding, ...]) -> bool:
    """Whether the one finding is a note that promises nothing of the server's start, and has no fix."""
    (one,) = found
    return (one.severity, one.confidence, one.fix) == ("note", "likely", None) and "will not start" not in one.message


@pytest.mark.parametrize("line", [*PERCONA, *WINDOWS, "thread_handling=pool-of-threads"])
@pytest.mark.parametrize("target", MYSQL, ids=str)
def test_what_another_build_or_platform_has_is_a_note(line: str, target: Target) -> None:
    """Where a series is named the note says who has the option, and whose server was examined."""
    found = findings(line, target, any_build=True)
    assert is_note(found)
    who = "exists on Windows only" if line in WINDOWS else "Percona Server ("
    assert who in found[0].message
    assert target.number in found[0].message or "belongs to the plugin thread_pool" in found[0].message


@pytest.mark.parametrize("line", ["rapid_memory_limit=1G", "group_replication_single_primary_fast_mode=1"])
@pytest.mark.parametrize("target", MYSQL, ids=str)
def test_what_greatsql_documents_is_a_note(line: str, target: Target) -> None:
    """GreatSQL, a branch of Percona Server of which none was examined, has options of its own."""
    found = findings(line, target, any_build=True)
    assert is_note(found)
    assert found[0].message.startswith(f"GreatSQL documents {line.partition('=')[0]}; ")


@pytest.mark.servers("mysql-5.7", "mysql-9.7")
@pytest.mark.parametrize("line", [*PERCONA[:3], WINDOWS[0], "thread_handling=pool-of-threads"])
def test_the_examined_server_refuses_it(line: str, ask: Ask, judge: Judge) -> None:
    """MySQL Community on Linux stops at the line; a target of exactly its version gets that finding, with no fix."""
    verdict = judge(line)
    assert ask(line).refused
    assert refused_lines(verdict)
    (found,) = findings(line, verdict.catalog.target)
    assert (found.severity, found.confidence) == ("error", "likely")  # the server may be another vendor's all the same
    assert "MySQL 9.7.4 will not start with this line." not in found.message
    assert found.fix is None or found.fix.edits[0].text.startswith("loose_")  # no deletion
    assert ("Windows" if line in WINDOWS else "MySQL Community") in found.message


@pytest.mark.parametrize(("line", "meant", "who"), TYPOS)
@pytest.mark.parametrize("any_build", [True, False])
def test_a_mistyped_option_of_another_build_is_named(line: str, meant: str, who: str, *, any_build: bool) -> None:
    """The help says who has the option that was meant; no fix deletes the line, as the server may be that one."""
    (found,) = findings(line, newest_target("mysql"), any_build=any_build)
    assert (found.severity, found.confidence) == ("error", "likely")
    assert found.message == "Unknown option. MySQL 9.7.4 will not start with this line."
    assert f"did you mean {meant}, which " in found.help
    assert who in found.help
    assert found.fix is None or found.fix.edits[0].text.replace("-", "_") == meant


@pytest.mark.parametrize(("line", "meant", "who"), TYPOS)
def test_a_mistyped_option_of_another_build_on_an_unexamined_target(line: str, meant: str, who: str) -> None:
    """The note on a name that the newer version may have names the option that is near, and who has it."""
    found = findings(line, parse_target("mysql-8.0.99"))
    assert is_note(found)
    assert f"did you mean {meant}, which " in found[0].help
    assert who in found[0].help


@pytest.mark.servers("mysql-5.7", "mysql-9.7")
def test_no_server_takes_the_mistyped_name(ask: Ask, judge: Judge) -> None:
    """An abbreviation of the vendor's name is refused like any other unknown name, by MySQL 5.7 too."""
    for line, _, _ in TYPOS:
        assert refused_lines(judge(line))
        assert ask(line).refused


@pytest.mark.parametrize(
    ("line", "ends"),
    [
        ("validate_password_policy=1", "will not start with this line unless INSTALL PLUGIN has installed it."),
        ("thread_pool_dedicated_listeners=1", "will not start with this line unless INSTALL PLUGIN has installed it."),
        ("validate_password.policy=1", "Without that component MySQL 9.7.4 will not start with this line."),
    ],
)
def test_what_may_be_installed_in_the_server_is_likely(line: str, ends: str) -> None:
    """INSTALL PLUGIN and INSTALL COMPONENT bring options that no file explains: the fix keeps the line."""
    (found,) = findings(line, parse_target("mysql-9.7.4"))
    assert (found.severity, found.confidence) == ("error", "likely")
    assert found.message.endswith(ends)
    assert found.fix is not None
    assert found.fix.edits[0].text.startswith("loose_")


@pytest.mark.parametrize("series", ["mysql-8.0", "mysql-8.4", "mysql-9.7"])
def test_an_option_of_a_component_is_a_note(series: str) -> None:
    """No file can load a component: only the server's own tables say whether it has it."""
    found = findings("validate_password.policy=1", parse_target(series), any_build=True)
    assert is_note(found)
    assert "INSTALL COMPONENT" in found[0].message


@pytest.mark.parametrize(
    ("target", "lines", "message"),
    [
        ("mysql-8.0", ("validate_password.policy=1", "validate_password.length=9"), "validate_password.policy and 1 "),
        (
            "percona-8.0",
            ("rocksdb_max_open_files=-1", "rocksdb_block_size=16384"),
            "rocksdb_max_open_files and 1 more ",
        ),
    ],
)
def test_options_of_one_component_or_plugin_are_one_note(target: str, lines: tuple[str, str], message: str) -> None:
    """Each further option needs nothing but the same component; another component's are a note of their own."""
    found = findings("\n".join((*lines, "other.option=1")), parse_target(target), any_build=True)
    assert [f.severity.value for f in found] == ["note", "note"]
    assert found[0].message.startswith(message)
    assert "option belong to" in found[0].message


@pytest.mark.parametrize("line", UNKNOWN)
@pytest.mark.parametrize("named", NEWER)
def test_a_target_that_was_not_examined_refuses_no_name(named: str, line: str) -> None:
    """A name or a word that the nearest version lacks may be one of the newer version's."""
    target = parse_target(named)
    found = findings(line, target)
    assert is_note(found)
    assert load(target).read_as.label in found[0].message


MADE_UP = [
    *("mysql-5.7.99", "mysql-8.0.99", "mysql-8.1.0", "mysql-9.7.99", "mysql-26.7", "mysql-26.10.3", "mysql-27.1"),
    *("mysql-99.12", "mariadb-10.7.8", "mariadb-11.5.2", "mariadb-11.8.99", "mariadb-12.0", "mariadb-12.2.2"),
    *("mariadb-12.3.99", "mariadb-12.9", "mariadb-13.0", "mariadb-13.1.7", "mariadb-99.0.1"),
]
# Names that no server has, the other flavour's, those of plugins and vendors, removed ones, and unknown words.
OF_NO_LIST = """
never_heard_of=1
innodb_bufer_pool_size=1G
never-heard-of-either
gtid_mode=ON
enforce_gtid_consistency=ON
super_read_only=ON
userstat=ON
aria_pagecache_buffer_size=64M
wsrep_on=ON
rocksdb_block_cache_size=1G
innodb_log_archive=ON
max_open_cursors=10
binlog_row_event_fragment_threshold=1G
named_pipe=ON
validate_password_policy=1
server_audit_logging=ON
query_cache_size=1M
innodb_file_format=Barracuda
big_tables=1
old
log_warnings=2
innodb_additional_mem_pool_size=8M
sql_mode=NEW_MODE
binlog_format=BY_MAGIC
innodb_flush_method=NEW_WAY
thread_handling=by-magic
character_set_server=utf9
collation_server=utf9_general_ci
default_storage_engine=NEWENGINE
default_tmp_storage_engine=NEWENGINE
enforce_storage_engine=NEWENGINE
plugin_load_add=never_heard_of.so
tls_version=TLSv1.4
lc_messages=xx_XX
default_authentication_plugin=new_plugin
innodb_compression_algorithm=new
binlog_storage_engine=newengine
optimizer_switch=new_flag=on
default_time_zone=Moon
"""
REMOVED = re.compile(r"was removed in [\d.]*\d\.")


@pytest.mark.parametrize("named", MADE_UP)
def test_no_error_is_based_on_absence_for_a_made_up_target(named: str) -> None:
    """Of all rules only the manual's removals are errors, and no fix changes what the target may know."""
    target = parse_target(named)
    verdict = judge_lines(OF_NO_LIST.strip(), load(target))
    known = RuleContext(target, verdict.catalog, Settings.from_file(verdict), verdict)
    found = run_rules(known, all_rules()).findings
    errors = [f for f in found if f.severity == "error"]
    assert [f.message for f in errors if f.code != "OPT007" or not REMOVED.search(f.message)] == []
    assert all(f.confidence != "certain" for f in found if f.code.startswith("OPT"))
    notes = [f for f in found if f.code in ("OPT001", "OPT003")]
    assert len(notes) > 5
    assert all(f.severity == "note" and f.fix is None for f in notes)


@pytest.mark.parametrize("named", ["mysql-27.1", "mysql-8.0.99"])
def test_what_the_manual_removed_is_gone_in_newer_versions_too(named: str) -> None:
    """A documented removal stops the nearest examined version, which is the one that is named."""
    (found,) = findings("query_cache_size=1M", parse_target(named))
    assert found.severity == "error"
    assert "the nearest version that mycnf knows, refuses to start" in found.message
    assert found.fix is None


def test_what_the_manual_of_a_newer_version_documents_is_no_finding() -> None:
    """MariaDB's manual says which options 12.x brought: 12.3 has them, 12.0 not all, and 11.8 none."""
    assert findings("binlog_storage_engine=innodb", parse_target("mariadb-12.3")) == ()
    assert findings("max_open_cursors=50", parse_target("mariadb-12.3")) == ()
    assert is_note(findings("binlog_storage_engine=innodb", parse_target("mariadb-12.0")))
    (found,) = findings("binlog_storage_engine=innodb", parse_target("mariadb-11.8"))
    assert found.message.startswith("binlog_storage_engine was introduced in MariaDB 12.3.1, later than this target.")


@pytest.mark.parametrize(
    ("named", "known"),
    [
        *(("mariadb-11.4.7", False), ("mariadb-11.4.9", True), ("mariadb-11.8.3", False), ("mariadb-11.8.4", True)),
        *(("mariadb-12.1", True), ("mariadb-12.3.1", True)),
    ],
)
def test_an_option_that_several_series_got(named: str, known: bool) -> None:
    """MariaDB 11.4.9, 11.8.4 and 12.1 got the options of MySQL's plugin: earlier patches of a series have none."""
    found = findings("plugin_load_add=auth_mysql_sha2\ncaching_sha2_password_digest_rounds=6000", parse_target(named))
    assert (found == ()) is known, found


@pytest.mark.parametrize("line", ["ndbcluster", "ndb_connectstring=10.0.0.1", "skip-ndbcluster"])
@pytest.mark.parametrize("target", MYSQL[:3], ids=str)
def test_options_of_ndb_cluster_are_notes(line: str, target: Target) -> None:
    """Builds of MySQL NDB Cluster have them, which a series does not rule out; Debian's 9.7 is one of them."""
    found = findings(line, target, any_build=True)
    assert is_note(found)
    assert found[0].message.startswith("MySQL NDB Cluster documents ")


def test_no_note_claims_an_examination() -> None:
    """Of 8.0.43 and 8.0.99 no server was examined: a note says so, or says what mycnf knows."""
    for named in ("mysql-8.0", "mysql-8.0.99", "mysql-27.1"):
        for line in (*WINDOWS, *UNKNOWN):
            message = findings(line, parse_target(named))[0].message
            assert "examined" not in message.replace("was not examined", "")


@pytest.mark.parametrize(
    ("line", "rest"),
    [
        (UNKNOWN[0], "is not in the documents that mycnf knows; no MariaDB 12.3.2 server was examined."),
        ("gtid_mode=ON", "Only MySQL knows gtid_mode. It is not in the documents that mycnf knows"),
        ("log_slow_max_query_length=9", "was introduced in MariaDB 13.1.1, later than this target."),
        ("read_only=TRUE", "'TRUE' is none of OFF, ON, NO_LOCK, NO_LOCK_NO_ADMIN. No MariaDB 12.3.2 server"),
    ],
)
def test_a_series_known_from_documents_refuses_no_name(line: str, rest: str) -> None:
    """Documents may be incomplete: a name or word that they lack is a warning without a fix, never an error."""
    (found,) = findings(line, parse_target("mariadb-12.3"))
    assert (found.severity, found.confidence, found.fix) == ("warning", "likely", None)
    assert rest in found.message


def test_a_removal_after_the_nearest_version_is_the_manuals_word() -> None:
    """MariaDB's manual says that 13.0 removed `old`: 12.3, the nearest version, takes it, and 13.0 does not."""
    assert [f.code for f in findings("old", parse_target("mariadb-12.3"))] == ["OPT008"]
    (found,) = findings("old", parse_target("mariadb-13.0"))
    assert (found.code, found.severity, found.confidence) == ("OPT007", "error", "likely")
    assert found.message.endswith("in 13.0. MariaDB 13.0 will not start with this line, according to its manual.")


def test_a_value_from_elsewhere_is_shown_as_written() -> None:
    """The word stays the option's value, for a server that knows it."""
    verdict = judge_lines("thread_handling=pool-of-threads", load(newest_target("mysql"), any_build=True))
    assert verdict.effective["thread_handling"].value == "pool-of-threads"


def test_no_listed_name_is_an_option_of_mysql_itself() -> None:
    """What a MySQL Community catalog holds without a plugin is no other build's."""
    for target in MYSQL:
        catalog = load(target)
        own = {name for name in NAMES if (option := catalog.get(name)) is not None and not option.plugin}
        assert not own, target


@pytest.mark.parametrize("page", ["ps80-variables.md", "ps84-system-variables.md"])
def test_every_option_of_perconas_pages_is_listed(page: str, shared: Path) -> None:
    """All that the pages call options of files is on the list; three rows are variables that no file sets."""
    path = shared / "review" / "vendors" / page
    if not path.exists():
        pytest.skip(f"Percona's pages are missing ({path})")
    rows = re.findall(r"^\| ([a-z_0-9]+) \| [^|]* \| Yes \|", path.read_text().partition("## Status")[0], re.MULTILINE)
    assert len(rows) > 30
    assert {name for name in rows if name not in NAMES} <= {"version_comment", "version_suffix"}
