"""Values that help takes and a real start does not, put to servers that are started for good."""

from __future__ import annotations

import pytest
from real_servers import Start
from start_and_compare import Run
from verdict_agreement import Ask, Judge, judge_lines, refused_lines

from advisor.catalog import load
from advisor.catalog.targets import parse_target
from probes.sandbox.errors import SandboxError

MARIADB = [
    "innodb_compression_algorithm=lz4",
    "loose-innodb_encrypt_tables=FORCE",
    "innodb_encrypt_log=1",
    "innodb_encrypt_temporary_tables=1",
    "encrypt_tmp_files=1",
    "encrypt_binlog=1\nlog_bin",
    "innodb_compression_algorithm=none\ninnodb_encrypt_tables=OFF\nencrypt_binlog=1\ninnodb_page_size=16K",
    "max_session_mem_used=32K",
    "max_session_mem_used=1\nmax_session_mem_used=64M",
    "secure_file_priv=NULL",
    "secure_file_priv=null\nsecure_file_priv=",
    "innodb_buffer_pool_size=4M",
    "ssl=1",
    "ssl_ca=",
    "ssl_cipher=HIGH",
    "ssl=0\nssl_cipher=HIGH",
    "ssl_cipher=HIGH\nssl_ca=\nskip_ssl",
    "skip-innodb\ninnodb_page_size=12288\ninnodb_compression_algorithm=bzip2\ndefault_storage_engine=Aria",
]
# A plugin's library may not be on the host; what is left to it is not certain.
TLS = """
mariadb-10.11 / ssl_ca=/a / stops
mariadb-10.11 / ssl_ca=/a, ssl_cipher=HIGH / stops stops
mariadb-10.11 / ssl_ca=/a, ssl_cert=, ssl_key=/k / accepted accepted accepted
mariadb-10.11 / ssl_ca=/a, ssl_cert={{ file }} / accepted accepted
mariadb-10.11 / ssl={{ tls }} / accepted
mariadb-10.6 / loose_ssl / stops
mariadb-11.4 / ssl_ca=/a / accepted
mysql-5.7 / ssl_ca=/a / accepted
mysql-9.7 / ssl_ca=/a / accepted
"""
LOADED = """
mariadb-11.4 / innodb_compression_algorithm=lz4, plugin_load_add=provider_lz4 / innodb_compression_algorithm / accepted
mariadb-11.4 / innodb_compression_algorithm=lz4, plugin_load_add=provider_lzo / innodb_compression_algorithm / stops
mysql-9.7.4 / innodb_encrypt_tables=1, innodb_page_size=32K / innodb_page_size / accepted
mariadb-10.6 / innodb_compression_algorithm=lz4 / innodb_compression_algorithm / accepted
mariadb-11.4 / innodb_encrypt_tables=1, plugin_load=file_key_management.so / innodb_encrypt_tables / accepted
mariadb-11.4 / innodb_encrypt_tables=1, plugin_load=locales.so / innodb_encrypt_tables / stops
"""


def test_a_start_stops_at_odd_pages(run: Run, judge: Judge) -> None:
    """No server comes up with pages whose size is no power of two."""
    (line,) = refused_lines(judge("innodb_page_size=12288"))
    assert line.certain
    assert run(["innodb_page_size=12288"]) is None


@pytest.mark.servers("mysql-5.7", "mysql-9.7", "mariadb-10.11", "mariadb-11.8", whole="mysql-8.0 mariadb-11.4")
@pytest.mark.parametrize("zone", ["+14:01", "-14:00", "+0200", "+05:30", ""])
def test_a_start_stops_at_an_offset_that_no_zone_has(zone: str, run: Run, judge: Judge) -> None:
    """Every server takes hours and minutes from UTC within a range of its own, and no other spelling."""
    line = f"default_time_zone={zone}"
    refused = refused_lines(judge(line))
    assert all(found.certain for found in refused)
    assert (run([line]) is None) == bool(refused)


@pytest.mark.parametrize(
    ("target", "zone", "stops"),
    [
        ("mysql-8.0", "+25:00", True),
        ("mysql-8.0", "+02:75", True),
        ("mysql-8.0.18", "+14:00", True),
        ("mysql-8.0.19", "+14:00", False),
        ("mysql-8.0.19", "-13:59", False),
        ("mysql-9.7", "-14:00", True),
        ("mariadb-11.8", "+13:00", False),
        ("mariadb-11.8", "-12:59", False),
        ("mariadb-11.8", "+14:00", True),
        ("mysql-5.7", "+:30", False),
        ("mysql-5.7", "+02:", True),
        ("mysql-5.7", "+02:00 ", True),
        ("mysql-5.7", "Europe/Berlin", False),
        ("mysql-5.7", "SYSTEM", False),
    ],
)
def test_offsets_from_utc(target: str, zone: str, *, stops: bool) -> None:
    """Since 8.0.19 MySQL takes up to +14:00; what begins as an offset and is none is no zone of any table."""
    line = f"default_time_zone='{zone}'"
    assert bool(refused_lines(judge_lines(line, load(parse_target(target))))) == stops


@pytest.mark.servers("mysql-5.7", "mysql-8.0", "mariadb-10.11", whole="mysql-9.7 mariadb-11.4 mariadb-11.8")
@pytest.mark.parametrize("address", ["%", "", "127.0.0.256", "127.0.0.1, ::1", "127.0.0.1,127.0.0.2"])
def test_a_start_stops_at_an_address_that_no_host_has(
    address: str, start: Start, server_name: str, judge: Judge
) -> None:
    """A server that listens for TCP needs addresses that it can resolve, and MySQL 5.7 takes one alone."""
    refused = refused_lines(judge(f"bind_address={address}"))
    try:
        start(server_name, tcp=True, small=True, arguments=[f"--bind-address={address}"]).close()
    except SandboxError as error:
        print(f"not started: {error}")
        assert refused
        assert all(line.certain for line in refused)
    else:
        assert not refused


@pytest.mark.servers("mysql-8.0", "mysql-9.7")
@pytest.mark.parametrize("place", ['"./#innodb_temp/"', "mysql", "./", "..", '""'])
def test_session_temporary_tablespaces_are_not_within_the_data_directory(place: str, run: Run, judge: Judge) -> None:
    """Not even where InnoDB puts them by default; the data directory itself and its parent are taken."""
    line = f"innodb_temp_tablespaces_dir={place}"
    assert (run([line]) is None) == bool(refused_lines(judge(line)))


@pytest.mark.parametrize(
    ("place", "stops"), [("/data/tmp", True), ("/data", False), ("/data2/tmp", False), ("{{ place }}", False)]
)
def test_a_full_path_within_the_data_directory_of_the_file(place: str, *, stops: bool) -> None:
    """Without datadir in the file, nobody knows what a full path is within."""
    lines = f"datadir=/data\ninnodb_temp_tablespaces_dir={place}"
    assert bool(refused_lines(judge_lines(lines, load(parse_target("mysql-8.0"))))) == stops


@pytest.mark.parametrize(
    ("target", "lines", "stops"),
    [
        ("mysql-5.7", "bind_address=10.0.0.%", True),
        ("mysql-5.7", "bind_address=127.0.0.1:3306", True),
        ("mysql-5.7", "bind_address=::ffff:127.0.0.1", False),
        ("mariadb-11.8", "bind_address=localhost:3306", True),
        ("mariadb-11.8", "bind_address=::ffff:127.0.0.1", True),
        ("mysql-5.7", "bind_address=127.0.0.1/8", True),
        ("mysql-8.0.15", "bind_address=127.0.0.1/8", True),
        ("mysql-8.0.22", "bind_address=127.0.0.1/8", False),  # a network namespace
        ("mysql-8.0", "bind_address=*,127.0.0.1", True),
        ("mariadb-11.8", "bind_address=[::1]", True),
        ("mariadb-11.8", "bind_address=fe80::1%eth0", False),
        ("mysql-8.0", "bind_address=db_1.example.com", False),
        ("mysql-8.0", "bind_address={{ address }}", False),
        ("mysql-5.7", "bind_address=%\nskip_networking", False),
        # Asked of 8.0.15 and 9.7.4 with either line: MY-013203, or MY-013409.
        ("mysql-8.0", "bind_address=\nskip_networking", True),
        ("mysql-9.7", "bind_address=0.0.0.0,127.0.0.1\nskip_networking", True),
        ("mysql-8.0.15", "bind_address=::,127.0.0.1\nskip_grant_tables", True),
        ("mysql-9.7", "bind_address=127.0.0.1,127.0.0.2\nskip_networking", False),
        ("mariadb-11.8", "bind_address=\nskip_networking", False),
        ("mysql-5.7", "bind_address=%\nskip_grant_tables", True),
        ("mysql-8.0", "bind_address=%\nskip_grant_tables", False),
        ("mysql-8.0", "bind_address=%\nbind_address=*", False),
    ],
)
def test_addresses_that_no_host_has(target: str, lines: str, *, stops: bool) -> None:
    """An address is refused if nothing can resolve it and the server opens a port; names are left to the host."""
    assert bool(refused_lines(judge_lines(lines, load(parse_target(target))))) == stops


@pytest.mark.servers("mariadb")
@pytest.mark.parametrize("lines", MARIADB)
def test_a_start_of_mariadb_stops_where_the_verdict_says(lines: str, run: Run, judge: Judge) -> None:
    """The server comes up with the lines exactly where none of them is refused."""
    assert (run(lines.split("\n")) is None) == bool(refused_lines(judge(lines)))


@pytest.mark.parametrize("case", TLS.strip().splitlines())
def test_tls_without_a_certificate(case: str) -> None:
    """Before 11.4 each line that switches TLS on is refused without a certificate, which another file may name."""
    target, lines, outcomes = case.split(" / ", 1)[0], *case.split(" / ", 1)[1].rsplit(" / ", 1)
    found = judge_lines("\n".join(lines.split(", ")), load(parse_target(target))).lines
    assert [line.outcome for line in found] == outcomes.split()
    assert not any(line.certain for line in found if line.outcome == "stops")


@pytest.mark.parametrize("case", LOADED.strip().splitlines())
def test_plugins_that_the_file_loads(case: str) -> None:
    """A plugin that the file loads is assumed present, and its lack is reported as likely: another file may load it."""
    target, lines, option, outcome = case.split(" / ")
    line = judge_lines("\n".join(lines.split(", ")), load(parse_target(target))).effective[option]
    assert line.outcome == outcome
    assert not (line.certain and outcome == "stops")


ENGINES = """
default_tmp_storage_engine=
default_storage_engine=InoDB
default_storage_engine="MyISAM "
loose-default_tmp_storage_engine=none
default_storage_engine=heap / default_tmp_storage_engine=Innobase
"""
FILES = """
innodb_data_file_path=ibdata1:12M:autoextend:max:12M
innodb_data_file_path=ibdata1:12MB
innodb_data_file_path="ibdata1:12M:autoextend "
innodb_data_file_path=ibdata1:4M
innodb_data_file_path=ibdata1:512K;ibdata2:12M
innodb_data_file_path=ibdata1:12M:autoextend;ibdata2:12M
innodb_data_file_path=ibdata1:12288K; / innodb_temp_data_file_path=ibtmp1:12M
innodb_temp_data_file_path=ibtmp1:4M:autoextend
innodb_temp_data_file_path=ibtmp1:12M:autoextend:max:1M
innodb_temp_data_file_path=ibtmp1:12Mraw
innodb_temp_data_file_path=ibdata1:12M:autoextend
innodb_temp_data_file_path=ibtmp1:12M:AUTOEXTEND
"""


@pytest.mark.servers("mysql-5.7", "mysql-8.0", "mariadb-10.11")
@pytest.mark.parametrize("lines", [*ENGINES.strip().splitlines(), *FILES.strip().splitlines()])
def test_a_start_stops_at_unknown_engines_and_unreadable_files(lines: str, run: Run, judge: Judge) -> None:
    """The server comes up exactly where no line is refused: spelt engines, and lists of InnoDB's files."""
    assert (run(lines.split(" / ")) is None) == bool(refused_lines(judge(lines.replace(" / ", "\n"))))


@pytest.mark.servers("mariadb-10.11")
@pytest.mark.parametrize(
    "lines",
    [
        "skip-innodb",
        "innodb=OFF / default_storage_engine=Aria",
        "ignore-builtin-innodb",
        "ignore_builtin_innodb=OFF",
        "ignore_builtin_innodb / default_storage_engine=Aria",
        "default_storage_engine=NDBCLUSTER",
        "default_tmp_storage_engine=TokuDB",
    ],
)
def test_a_start_stops_without_the_default_engine(lines: str, run: Run, judge: Judge) -> None:
    """InnoDB can be switched off where it isn't what tables are made with; of NDB and TokuDB nothing is left."""
    assert (run(lines.split(" / ")) is None) == bool(refused_lines(judge(lines.replace(" / ", "\n"))))


@pytest.mark.servers("mysql-5.7", "mysql-8.0", "mariadb-10.11", "mariadb-11.8")
@pytest.mark.parametrize("others", ["", "server_id=1 / log_bin=binlog", "skip_log_bin"])
def test_a_start_that_only_recovers(others: str, run: Run, judge: Judge) -> None:
    """tc_heuristic_recover ends a server that has a log of transactions: a binary log, or MariaDB from 11.4 on."""
    lines = ["tc_heuristic_recover=COMMIT", *others.split(" / ")]
    assert (run(lines) is None) == bool(refused_lines(judge("\n".join(lines))))


CLUSTERS = """
wsrep_cluster_address=gcomm:// / binlog_format=ROW
wsrep_cluster_address=gcomm://
wsrep_cluster_address=gcomm:// / binlog_format=STATEMENT
wsrep_cluster_address= / binlog_format=ROW
binlog_format=ROW
binlog_format=ROW / wsrep_sst_method=mariabackup
binlog_format=ROW / wsrep_sst_method=mysqldump
wsrep_cluster_address=gcomm:// / binlog_format=ROW / wsrep_slave_threads=4
wsrep_cluster_address=gcomm:// / binlog_format=ROW / memlock
wsrep_cluster_address=gcomm:// / binlog_format=ROW / memlock=0
wsrep_cluster_address=gcomm:// / binlog_format=ROW / wsrep_sst_method=mysqldump / bind_address=127.0.0.1
wsrep_provider=none
wsrep_on=OFF
"""


@pytest.mark.servers("mariadb")
@pytest.mark.parametrize("lines", CLUSTERS.strip().splitlines())
def test_a_node_of_a_cluster_stops_without_an_address_or_rows(lines: str, ask: Ask, judge: Judge) -> None:
    """The server refuses a node's lines exactly where the verdict does; nothing is certain, for others may be given."""
    given = "\n".join(["wsrep_on=ON", "wsrep_provider=/usr/lib/galera/libgalera_smm.so", *lines.split(" / ")])
    refused = refused_lines(judge(given))
    assert ask(given).refused == bool(refused)
    assert not any(line.certain for line in refused)


@pytest.mark.parametrize(
    "lines",
    [
        "wsrep_cluster_address={{ nodes }}\nbinlog_format=ROW",
        "wsrep_sst_method={{ method }}\nbinlog_format=ROW",
        "wsrep_cluster_address=gcomm://a\nbinlog_format={{ format }}",
        "wsrep_provider={{ library }}",
    ],
)
def test_a_node_whose_template_is_yet_to_be_filled_in(lines: str) -> None:
    """What a template will say is not known to be missing."""
    given = f"wsrep_on=ON\nwsrep_provider=/usr/lib/x.so\n{lines}"
    assert not refused_lines(judge_lines(given, load(parse_target("mariadb-11.4"))))


def test_an_engine_that_another_file_may_load() -> None:
    """Nothing is said of engines that plugins bring, for the packages' own files load them."""
    assert not refused_lines(judge_lines("default_storage_engine=RocksDB", load(parse_target("mariadb-11.4"))))


OLD_WORDS = """
innodb_flush_method=fdatasync
innodb_flush_method=o_direct
innodb_flush_method=O_DSYNC
innodb_change_buffering=Inserts
innodb_change_buffering=some
innodb_file_format=1
innodb_file_format=Cheetah
"""


@pytest.mark.servers("mysql-5.7")
@pytest.mark.parametrize("line", OLD_WORDS.split())
def test_a_start_of_mysql_5_7_stops_at_words_that_its_help_takes(line: str, run: Run, ask: Ask, judge: Judge) -> None:
    """InnoDB reads these texts when it starts, the method of flushing with its capital letters."""
    refused = refused_lines(judge(line))
    assert not ask(line).refused
    assert all((found.outcome, found.certain) == ("stops", True) for found in refused)
    assert (run([line]) is None) == bool(refused)


@pytest.mark.servers("mariadb")
def test_mariadb_starts_with_any_word_of_an_option_that_it_ignores(run: Run, judge: Judge, server_name: str) -> None:
    """What it ignores it does not read: no word there is refused."""
    ignored = "innodb_file_format=Cheetah innodb_file_format=1M loose_innodb_file_format=a.b"
    late = "" if server_name == "mariadb-10.11" else "innodb_change_buffering=some skip_innodb_change_buffering=a"
    for line in f"{ignored} {late}".split():
        assert not refused_lines(judge(line)), line
        assert run([line]) is not None, line


@pytest.mark.parametrize(
    ("target", "any_build", "outcome"),
    [("mysql-5.7", True, "unexamined"), ("percona-5.7", False, "accepted"), ("mysql-5.7.22", False, "stops")],
)
def test_a_word_of_another_build(target: str, outcome: str, *, any_build: bool) -> None:
    """ALL_O_DIRECT is Percona Server's: where a series is named the server may be that build, else InnoDB stops."""
    (line,) = judge_lines("innodb_flush_method=ALL_O_DIRECT", load(parse_target(target), any_build=any_build)).lines
    assert line.outcome == outcome


@pytest.mark.servers("mysql-8.0", "mysql-9.7")
@pytest.mark.parametrize(
    "lines",
    [
        "relay_log=binlog",
        "log_bin=logs.1 / relay_log=logs.2",
        "log_bin=logs.1 / relay_log=./logs.2",
        "skip_log_bin / relay_log=binlog",
        "replicate_same_server_id / gtid_mode=ON / enforce_gtid_consistency=ON",
        "replicate_same_server_id / gtid_mode=OFF",
    ],
)
def test_logs_and_ids_of_one_name(lines: str, ask: Ask, judge: Judge) -> None:
    """The two logs need base names of their own, and a server that takes its own events back needs GTIDs."""
    given = lines.replace(" / ", "\n")
    assert ask(given).refused == bool(refused_lines(judge(given)))


@pytest.mark.parametrize(
    ("target", "lines", "name"),
    [
        ("mysql-8.4", "replicate_same_server_id", "replicate_same_server_id"),
        ("mysql-8.4", "replicate_same_server_id\ngtid_mode={{ mode }}", None),
        ("mysql-8.0", "log_bin={{ log }}\nrelay_log=binlog", None),
        ("mysql-8.0", "datadir=/d\nlog_bin=/d/a\nrelay_log=a", "relay_log"),
        ("mysql-8.0", "log_bin\nrelay_log=binlog", None),
        ("mysql-5.7", "server_id=1\nlog_bin=a\nrelay_log=a", None),
        ("mysql-8.0", "admin_address=*", "admin_address"),
        ("mysql-8.0", "admin_address=", "admin_address"),
        ("mysql-8.0", "admin_address=10.0.0.1,10.0.0.2", "admin_address"),
        ("mysql-8.0", "admin_address=10.0.0.1", None),
        ("mysql-8.0", "admin_address=*\nskip_networking", None),
        ("mysql-5.7", f"socket=/{'s' * 106}", None),
        ("mysql-5.7", f"socket=/{'s' * 107}", "socket"),
        ("mysql-5.7", f"socket=/{'é' * 60}", "socket"),
        ("mariadb-11.4.5", "innodb_buffer_pool_size=5M", None),
        ("mariadb-11.4.5", "innodb_buffer_pool_size=4M", "innodb_buffer_pool_size"),
        ("mariadb-11.8", "innodb_buffer_pool_size=5M", "innodb_buffer_pool_size"),
        ("mariadb-11.8", "innodb_buffer_pool_size=6M", None),
        ("mariadb-11.8", "innodb_page_size=8K\ninnodb_buffer_pool_size=3M", None),
        ("mariadb-11.8", "innodb_page_size=64K\ninnodb_buffer_pool_size=20M", "innodb_buffer_pool_size"),
        ("mysql-8.0", "default_time_zone=", "default_time_zone"),
        ("mariadb-11.8", "skip-innodb\ninnodb_buffer_pool_size=1M\ndefault_storage_engine=Aria", None),
        ("mysql-8.0", "innodb_buffer_pool_size=1M", None),
        ("mariadb-11.8", "enforce_storage_engine=", None),
        ("mariadb-11.8", "default_storage_engine=", "default_storage_engine"),
        ("mysql-8.0", "innodb_data_file_path=a:12M;ibtmp1:12M:autoextend", "innodb_data_file_path"),
        # Each limit of threads is the largest with which that server started, or one more.
        ("mysql-5.7.22", "innodb_thread_concurrency=679", None),
        ("mysql-5.7.22", "innodb_thread_concurrency=680", "innodb_thread_concurrency"),
        ("mysql-5.7.22", "innodb_log_file_size=4M\ninnodb_thread_concurrency=45", None),
        ("mysql-5.7.22", "innodb_log_file_size=4M\ninnodb_thread_concurrency=46", "innodb_thread_concurrency"),
        ("mysql-5.7.22", "innodb_log_file_size={{ size }}\ninnodb_thread_concurrency=1000", None),
        ("mysql-8.0.15", "innodb_log_file_size=4M\ninnodb_thread_concurrency=39", None),
        ("mysql-8.0.15", "innodb_log_file_size=4M\ninnodb_thread_concurrency=40", "innodb_thread_concurrency"),
        ("mysql-9.7.4", "innodb_thread_concurrency=650", None),
        ("mysql-9.7.4", "innodb_thread_concurrency=690", "innodb_thread_concurrency"),
        ("mysql-9.7.4", "innodb_redo_log_capacity=1G\ninnodb_thread_concurrency=1000", None),
        ("mysql-9.7.4", "innodb_dedicated_server=ON\ninnodb_thread_concurrency=1000", None),
        ("mariadb-10.11", "innodb_thread_concurrency=1000", None),
        ("mysql-9.7", "admin_address=127.0.0.1\nport=4000\nadmin_port=4000", "admin_port"),
        ("mysql-8.0.15", "admin_address=127.0.0.1\nport=33062", "port"),
        ("mysql-9.7", "admin_address=127.0.0.1\nbind_address=127.0.0.1\nadmin_port=3306", "admin_port"),
        ("mysql-9.7", "admin_address=127.0.0.1\nbind_address=10.0.0.1\nadmin_port=3306", None),
        ("mysql-9.7", "admin_address=127.0.0.1\nadmin_port=3306\nskip_networking", None),
        ("mysql-9.7", "admin_address=127.0.0.1\nadmin_port=3306\nport={{ port }}", None),
        ("mysql-9.7", "admin_port=3306", None),
        ("mariadb-11.8", "proxy_protocol_networks=abc", "proxy_protocol_networks"),
        ("mariadb-10.11.19", "proxy_protocol_networks=localhost,abc", "proxy_protocol_networks"),
        ("mariadb-11.4.5", "proxy_protocol_networks=abc", None),
        ("mariadb-11.4.5", "proxy_protocol_networks=10.0.0.0/33", "proxy_protocol_networks"),
        ("mariadb-11.8", "proxy_protocol_networks=*,::1", "proxy_protocol_networks"),
        ("mariadb-11.8", "proxy_protocol_networks=10.0.0.0/33", "proxy_protocol_networks"),
        ("mariadb-11.8", "proxy_protocol_networks=10.0.0.0/", "proxy_protocol_networks"),
        ("mariadb-11.8", "proxy_protocol_networks=10.0.0", "proxy_protocol_networks"),
        ("mariadb-11.8", "proxy_protocol_networks=::ffff:10.0.0.0/24", "proxy_protocol_networks"),
        ("mariadb-11.8", "proxy_protocol_networks=::ffff:10.0.0.0/120", None),
        ("mariadb-11.8", "proxy_protocol_networks='10.0.0.0/8, ::1 localhost'", None),
        ("mariadb-11.8", "proxy_protocol_networks=*", None),
        ("mariadb-11.8", "proxy_protocol_networks=", None),
        ("mariadb-11.8", "proxy_protocol_networks={{ networks }}", None),
    ],
)
def test_values_at_which_a_start_stops(target: str, lines: str, name: str | None) -> None:
    """Paths, addresses, sizes and names that the parser takes and the start does not, each by its own line."""
    refused = [line.canonical for line in refused_lines(judge_lines(lines, load(parse_target(target))))]
    assert refused == ([name] if name else [])
