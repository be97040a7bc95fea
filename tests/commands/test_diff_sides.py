"""Files, snapshots and defaults beside each other, as `mycnf diff` prints them; no server is started."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from diff_command import counted, diff, differing
from mycnf_command import CHECKOUT
from server_restart import written

if TYPE_CHECKING:
    from pathlib import Path

    from mycnf_command import Mycnf

RECORDED = CHECKOUT / "examples" / "snapshots" / "mariadb-10.11.json"
CANARY = "kanarienvogel-4711"


def two(folder: Path, one: str, other: str) -> tuple[Path, Path]:
    """Two option files with these lines for the server."""
    return written(folder / "a.cnf", f"[mysqld]\n{one}\n"), written(folder / "b.cnf", f"[mysqld]\n{other}\n")


@pytest.mark.parametrize(
    ("target", "one", "other"),
    [
        ("mysql-8.4", "read_buffer_size = 128K", "read-buffer-size=131072"),
        ("mysql-8.4", "slow_query_log", "slow_query_log = ON"),
        ("mysql-8.4", "skip-name-resolve", "skip_name_resolve=1"),
        ("mysql-8.4", "loose_max_connections = 200", "max_connections=200"),
        ("mysql-8.4", "sql_mode = ANSI_QUOTES,NO_UNSIGNED_SUBTRACTION", "sql_mode=no_unsigned_subtraction,ansi_quotes"),
        ("mysql-8.4", "slave_parallel_workers=8", "replica_parallel_workers=8"),
        ("mysql-8.4", "innodb_flush_method = O_DIRECT", "innodb_flush_method='o_direct'"),
        ("mysql-8.4", "innodb_flush_log_at_trx_commit = 7", "innodb_flush_log_at_trx_commit=2"),
        ("mysql-8.4", "transaction_isolation = READ-COMMITTED", "transaction-isolation=read-committed"),
        ("mysql-8.4", "character_set_server=UTF8MB4", "character-set-server = utf8mb4"),
        ("mysql-8.4", "max_connections = 200\nmax_connections = 300", "max_connections=300"),
        ("mysql-8.4", "tmp_table_size = 16777216", ""),
        ("mysql-8.4", "long_query_time = 2", "long_query_time = 2.000000"),
        ("mysql-8.4", "default_time_zone = SYSTEM", ""),
        ("mysql-8.4", "innodb_data_home_dir = /srv/a", "innodb_data_home_dir=/srv/a/"),
        ("mariadb-10.11", "max_connec = 200", "max-connections=200"),
        ("mariadb-10.11", "long_query_time = 3", "log_slow_query_time = 3"),
        ("mariadb-11.4", "expire_logs_days = 7", "binlog_expire_logs_seconds = 604800"),
        ("mariadb-11.8", "query_cache_size = 1M", "query_cache_size = 1M\nquery_cache_type = ON"),
        ("mysql-5.7", "query_cache_size = 1M", "query_cache_size = 1M\nquery_cache_type = OFF"),
        ("mysql-8.0", "performance_schema = 0", "performance_schema = 0\nperformance_schema_digests_size = 100"),
        ("mysql-5.7", "innodb_buffer_pool_size=512M\ninnodb_buffer_pool_instances=8", "innodb_buffer_pool_size=512M"),
    ],
)  # fmt: skip
def test_one_value_in_two_notations(mycnf: Mycnf, tmp_path: Path, target: str, one: str, other: str) -> None:
    """Two ways to write what a server takes for one thing are no difference."""
    report = diff(mycnf, *two(tmp_path, one, other), "--target", target, root=False)
    assert (report["differences"], counted(report), report["differs"]) == ([], [], False)


@pytest.mark.parametrize(
    ("one", "other", "names"),
    [
        ("max_connections = 200", "max_connections = 300", {"max_connections", "host_cache_size", "thread_cache_size"}),
        ("init_connect = 'SET @a=1'", "init_connect = 'SET @A=1'", {"init_connect"}),
        ("ft_stopword_file = /srv/Words", "ft_stopword_file = /srv/words", {"ft_stopword_file"}),
        ("skip-grant-tables", "", {"skip_grant_tables"}),
        ("report_password = 001", "report_password = 1", {"report_password"}),
        ("max_relay_log_size = 0", "max_relay_log_size = 1G", {"max_relay_log_size"}),
        ("replicate_do_db = a", "replicate_do_db = b", {"replicate_do_db"}),
        ("ssl_ca = /etc/ca.pem", "ssl_ca =", {"ssl_ca"}),
    ],
)
def test_what_is_no_notation(mycnf: Mycnf, tmp_path: Path, one: str, other: str, names: set[str]) -> None:
    """Values that differ are reported: capitals within texts and paths, options without variables, one side's alone."""
    report = diff(mycnf, *two(tmp_path, one, other), "--target", "mysql-8.0", root=False)
    assert differing(report) == names
    assert report["differs"]


RENAMED = {
    "slave_parallel_workers=4": ("replica_parallel_workers=4", None),
    "slave_parallel_workers=5": ("replica_parallel_workers=8", "replica_parallel_workers"),
    "expire_logs_days=7": ("binlog_expire_logs_seconds=604800", None),
    "expire_logs_days=6": ("binlog_expire_logs_seconds=604800", "binlog_expire_logs_seconds"),
    "innodb_log_file_size=512M": ("innodb_redo_log_capacity=1G", None),
    "innodb_log_files_in_group=4\ninnodb_log_file_size=256M": ("innodb_redo_log_capacity=1G", None),
    "innodb_log_file_size=1G": ("innodb_redo_log_capacity=1G", "innodb_redo_log_capacity"),
    "log_warnings=2": ("log_error_verbosity=3", None),
    "transaction_isolation=SERIALIZABLE": ("transaction_isolation=SERIALIZABLE", None),
    "slave_net_timeout=30": ("replica_net_timeout=30", None),
}


@pytest.mark.parametrize("old", RENAMED)
def test_renames(mycnf: Mycnf, tmp_path: Path, old: str) -> None:
    """What MySQL 9.7 calls or counts otherwise than 5.7 is the same setting, in both directions."""
    new, differs = RENAMED[old]
    names = {line.partition("=")[0] for line in f"{old}\n{new}".splitlines()}
    a, b = two(tmp_path, old, new)
    there = diff(mycnf, a, b, "--target", "mysql-5.7", "--target", "mysql-9.7", root=False)
    back = diff(mycnf, b, a, "--target", "mysql-9.7", "--target", "mysql-5.7", root=False)
    for report in (there, back):
        found = [p for p in report["differences"] if {p["a"]["name"], p["b"]["name"], p["variable"]} & names]
        assert bool(found) is (differs is not None)
        assert not names & {lone["name"] for lone in (*report["only_a"], *report["only_b"])}


@pytest.mark.parametrize(
    ("target", "lines", "shown"),
    [
        ("mariadb-11.8", ("innodb_log_file_size=1G", "innodb_redo_log_capacity=100M"), "100M"),
        ("mysql-5.7", ("expire_logs_days=6", "binlog_expire_logs_seconds=604800"), "6 (as 518400)"),
    ],
)
def test_a_converted_value_is_shown_where_the_number_differs(
    mycnf: Mycnf, tmp_path: Path, target: str, lines: tuple[str, str], shown: str
) -> None:
    """Days are shown as seconds too; the same bytes under another name are not repeated without a unit."""
    printed = mycnf("diff", *two(tmp_path, *lines), "--target", target, "--target", "mysql-9.7").out
    assert shown in printed
    assert "(as 104857600)" not in printed


def test_renames_across_flavours(mycnf: Mycnf, tmp_path: Path) -> None:
    """MariaDB keeps the names that MySQL gave up."""
    a, b = two(tmp_path, "replica_net_timeout=30\nreplica_exec_mode=IDEMPOTENT", "slave_net_timeout=30")
    report = diff(mycnf, a, b, "--target", "mysql-8.4", "--target", "mariadb-11.8", root=False)
    pairs = {pair["variable"]: pair for pair in report["differences"]}
    assert "slave_net_timeout" not in pairs
    assert [pairs["slave_exec_mode"][side]["value"] for side in "ab"] == ["IDEMPOTENT", "STRICT"]


def test_an_expiry_in_days_is_one_in_seconds(mycnf: Mycnf, tmp_path: Path) -> None:
    """Days replace the seconds that MySQL 8.0 has by default, as on MariaDB."""
    a, b = two(tmp_path, "expire_logs_days = 7", "binlog_expire_logs_seconds = 604800")
    report = diff(mycnf, a, b, "--target", "mysql-8.0", "--target", "mariadb-11.8", root=False)
    assert not {"expire_logs_days", "binlog_expire_logs_seconds"} & differing(report)


def test_only_one_side_knows(mycnf: Mycnf, tmp_path: Path) -> None:
    """A variable that the other version lacks is apart from what differs, and counts where it is explicit."""
    a, b = two(tmp_path, "query_cache_size = 1M", "")
    report = diff(mycnf, a, b, "--target", "mysql-5.7", "--target", "mysql-8.4", root=False)
    lone = {one["name"]: one["counts"] for one in report["only_a"]}
    assert lone["query_cache_size"] is True
    assert lone["query_cache_type"] is False
    assert "query_cache_size" not in differing(report)
    assert {one["name"]: one["counts"] for one in report["only_b"]}["mandatory_roles"] is False
    text = mycnf("diff", a, b, "--target", "mysql-5.7", "--target", "mysql-8.4").out
    assert "only in A: not in MySQL 8.4" in text
    assert "only in B: not in MySQL 5.7" in text
    assert "1 only in A" in text


def test_secrets(mycnf: Mycnf, tmp_path: Path) -> None:
    """Secrets print as a mask in every format, and that they differ is reported all the same."""
    lines = "wsrep_sst_auth = root:{0}\nreport_password = {0}\ninit_connect = \"SET PASSWORD = '{0}'\""
    a, b = two(tmp_path, lines.format(CANARY), lines.format(f"{CANARY}-2"))
    outs = [
        mycnf("diff", a, b, "--target", "mariadb-10.11", "--all", "--format", form)
        for form in ("text", "json", "markdown")
    ]
    assert {out.code for out in outs} == {1}
    for out in outs:
        assert CANARY not in out.out + out.err
        assert "********" in out.out
    assert {"wsrep_sst_auth", "init_connect", "report_password"} <= differing(json.loads(outs[1].out))
    assert "******** (differs)" in outs[0].out
    same = diff(mycnf, a, a, "--target", "mariadb-10.11", root=False)
    assert not same["differs"]


def test_a_recorded_server_left_its_secrets_out(mycnf: Mycnf, tmp_path: Path) -> None:
    """A secret that a snapshot has no longer can't be compared, and that is said."""
    facts = json.loads(RECORDED.read_text())
    facts["server"]["variables"]["init_connect"] = "SET PASSWORD = ********"
    snap = tmp_path / "s.json"
    snap.write_text(json.dumps(facts))
    report = diff(mycnf, snap, snap, root=False)
    assert [one["variable"] for one in report["not_told"]] == ["init_connect"]
    assert not report["differs"]


def test_patterns(mycnf: Mycnf, tmp_path: Path) -> None:
    """--only and --ignore say by name what is looked at, dashes and capitals aside."""
    a, b = two(tmp_path, "max_connections = 200\nsort_buffer_size = 1M\nsync_binlog = 0", "")
    words = (a, b, "--target", "mysql-8.4")
    assert differing(diff(mycnf, *words, "--only", "SORT-*,sync*", root=False)) == {"sort_buffer_size", "sync_binlog"}
    assert differing(diff(mycnf, *words, "--only", "s*", "--ignore", "sync*", root=False)) == {"sort_buffer_size"}
    assert mycnf("diff", *words, "--only", "read_*").code == 0
    none = mycnf("diff", *words, "--only", "innodb_bufer*")
    assert (none.code, none.out) == (2, "")
    assert "matches no setting" in none.err


def test_a_version_without_a_catalog(mycnf: Mycnf) -> None:
    """A newer version is compared as the nearest one that is known, which is said."""
    ended = mycnf("diff", "mysql-9.9", "mysql-9.7")
    assert ended.code == 0
    assert "is read as MySQL 9.7.4" in ended.err


def test_by_nature_counts_with_all(mycnf: Mycnf, tmp_path: Path) -> None:
    """Ports and the like count as a difference only with --all."""
    a, b = two(tmp_path, "port = 3307", "port = 3308")
    words = (a, b, "--target", "mysql-8.4")
    quiet, loud = diff(mycnf, *words, root=False), diff(mycnf, *words, "--all", root=False)
    assert [one["variable"] for one in quiet["by_nature"]] == ["port"]
    assert (quiet["differs"], loud["differs"]) == (False, True)


def test_formats_and_a_file_to_write(mycnf: Mycnf, tmp_path: Path) -> None:
    """Text keeps to 80 columns, each format has every difference, and -o writes what would be printed."""
    a, b = two(tmp_path, "max_connections = 200\nsql_mode = ANSI\noptimizer_switch = mrr=off\nsync_binlog=0", "")
    words = ("diff", "mysql-5.7", "mysql-8.4", "--all")
    printed = mycnf(*words)
    assert max(map(len, printed.out.splitlines())) <= 80
    assert mycnf(*words, "-o", tmp_path / "out.txt").out == ""
    assert (tmp_path / "out.txt").read_text() == printed.out
    for form in ("text", "markdown"):
        out = mycnf("diff", a, b, "--target", "mysql-8.4", "--format", form).out
        assert [
            name for name in ("max_connections", "sql_mode", "optimizer_switch", "sync_binlog") if name not in out
        ] == []
        assert "mrr=off" in out
        assert "index_merge=" not in out


TEXT = """\
mycnf diff · 4 differences

  A         a.cnf MySQL 8.4.8, option file
  B         b.cnf MySQL 8.4.8, option file

4 settings differ; N alike; 1 differs by nature, not counted.

durability
  setting                           A                     B
  sync_binlog                       0                     1
                                    a.cnf:2               default

data
  sql_mode
    only A  ANSI_QUOTES  a.cnf:3
    only B  (nothing)  b.cnf:3

memory
  read_buffer_size                  1M                    256K
                                    a.cnf:4               b.cnf:2

optimizer
  optimizer_switch
    only A  mrr=off  a.cnf:5
    only B  mrr=on  default

differs by nature (--all counts it)
  port                              3307                  3306
"""


def test_the_page(mycnf: Mycnf, tmp_path: Path) -> None:
    """What differs comes by what it decides, with both values and where they stand."""
    lines = (
        "sync_binlog=0\nsql_mode=ANSI_QUOTES,NO_ENGINE_SUBSTITUTION\nread_buffer_size = 1M\noptimizer_switch=mrr=off"
    )
    two(tmp_path, f"{lines}\nport = 3307", "read_buffer_size = 256K\nsql_mode = NO_ENGINE_SUBSTITUTION")
    ended = mycnf("diff", "a.cnf", "b.cnf", "--target", "mysql-8.4")
    assert (ended.code, re.sub("[0-9]+ alike", "N alike", ended.out)) == (1, TEXT)


def test_server_text_harms_no_terminal(mycnf: Mycnf, tmp_path: Path) -> None:
    """What a server says about itself moves no cursor and breaks no line of the report."""
    facts = json.loads(RECORDED.read_text())
    facts["server"]["variables"] |= {"init_connect": "a\x1b[2Jb\nc", "hostname": "evil\x1b]0;x\x07"}
    snap = tmp_path / "s.json"
    snap.write_text(json.dumps(facts))
    for form in ("text", "markdown"):
        out = mycnf("diff", RECORDED, snap, "--all", "--format", form).out
        assert "\x1b" not in out
        assert "\x07" not in out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("mysql-5.7", "mysql-8.4", "--target", "mysql-8.0"), "--target once for no file"),
        (("a.cnf", "mysql-8.4", "--target", "mysql-8.0", "--target", "mysql-5.7"), "--target 2 times for one file"),
        (("-", "-"), "stdin"),
        (("a.cnf", "nowhere.cnf"), "no such file"),
        (("a.cnf", "a.cnf", "--target", "mysql-3.2"), "unknown target"),
        (("a.cnf", "broken.json"), "damaged"),
        (("variables.txt", "mysql-8.4"), "use mycnf audit --from FILE"),
    ],
)
def test_bad_words(mycnf: Mycnf, tmp_path: Path, words: tuple[str, ...], says: str) -> None:
    """Each is exit 2 and one line that says what to do, and nothing on stdout."""
    written(tmp_path / "a.cnf", "[mysqld]\n")
    (tmp_path / "broken.json").write_text('{"schema": "1.1", "server"')
    (tmp_path / "variables.txt").write_text("Variable_name\tValue\nport\t3306\n")
    ended = mycnf("diff", *words)
    assert (ended.code, ended.out) == (2, "")
    assert says in ended.err
    assert ended.err.count("\n") == 1


def test_stdin_and_several_files(mycnf: Mycnf, tmp_path: Path) -> None:
    """A side may be stdin, or several files that are read as one; the other side says for which version."""
    a, b = two(tmp_path, "max_connections = 200", "sort_buffer_size = 1M")
    joined = written(tmp_path / "c.cnf", "[mysqld]\nmax_connections = 200\nsort_buffer_size = 1M\n")
    assert mycnf("diff", f"{a},{b}", "-", "--target", "mysql-8.0", stdin=joined.read_bytes()).code == 0
    ended = mycnf("diff", a, "mysql-8.0.15", "--format", "json")
    assert json.loads(ended.out)["a"]["target"] == "mysql-8.0.15"


def test_a_template_is_no_difference(mycnf: Mycnf, tmp_path: Path) -> None:
    """A value that a template fills in later is unknown, and makes no difference."""
    a, b = tmp_path / "a.cnf.j2", tmp_path / "b.cnf"
    a.write_text("[mysqld]\nmax_connections = {{ connections }}\n")
    b.write_text("[mysqld]\nmax_connections = 300\n")
    report = diff(mycnf, a, b, "--target", "mysql-8.4", root=False)
    assert [one["variable"] for one in report["not_told"]] == ["max_connections"]
    assert "max_connections" not in differing(report)
