"""Values that help takes and a real start does not, put to servers that are started for good."""

from __future__ import annotations

import pytest
from asking_servers import Judge, judge_lines, refused_lines
from started_files import Run

from advisor.catalog.load import load
from advisor.catalog.targets import parse_target

MARIADB = [
    "innodb_compression_algorithm=lz4",
    "loose-innodb_encrypt_tables=FORCE",
    "innodb_encrypt_log=1",
    "innodb_encrypt_temporary_tables=1",
    "encrypt_tmp_files=1",
    "encrypt_binlog=1\nlog_bin",
    "innodb_compression_algorithm=none\ninnodb_encrypt_tables=OFF\nencrypt_binlog=1\ninnodb_page_size=16K",
    "skip-innodb\ninnodb_page_size=12288\ninnodb_compression_algorithm=bzip2\ndefault_storage_engine=Aria",
]
# A plugin's library may not lie on the host; what is left to it is not certain.
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


@pytest.mark.servers("mariadb")
@pytest.mark.parametrize("lines", MARIADB)
def test_a_start_of_mariadb_stops_where_the_verdict_says(lines: str, run: Run, judge: Judge) -> None:
    """The server comes up with the lines exactly where none of them is refused."""
    assert (run(lines.split("\n")) is None) == bool(refused_lines(judge(lines)))


@pytest.mark.parametrize("case", LOADED.strip().splitlines())
def test_plugins_that_the_file_loads(case: str) -> None:
    """A plugin that the file loads is believed in, and its lack is told as likely: another file may load it."""
    target, lines, option, outcome = case.split(" / ")
    line = judge_lines("\n".join(lines.split(", ")), load(parse_target(target))).effective[option]
    assert line.outcome == outcome
    assert not (line.certain and outcome == "stops")
