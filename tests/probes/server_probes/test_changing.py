"""What may be compared is settled by what the server knows, before it is started."""

from __future__ import annotations

import pytest

from advisor.catalog.targets import parse_target
from probes.experiment import ProbeError
from probes.server_probes.choices import read_option_values


@pytest.mark.parametrize(
    ("text", "name", "made"),
    [
        ("innodb-flush-neighbors=0,1", "innodb_flush_neighbors", ("0", "1")),
        ("sort_buffer_size=256K, 4M ,256K", "sort_buffer_size", ("262144", "4194304")),
        ("innodb_adaptive_hash_index=on,0", "innodb_adaptive_hash_index", ("TRUE", "FALSE")),
        ("innodb_flush_method=O_DIRECT,fsync", "innodb_flush_method", ("O_DIRECT", "fsync")),
    ],
)
def test_an_option_is_read_as_the_server_reads_it(text: str, name: str, made: tuple[str, ...]) -> None:
    """Names are the canonical ones, values those that the server makes; a value twice counts once."""
    change = read_option_values(text, parse_target("mysql-8.0"))
    assert (change.name, change.values) == (name, made)


def test_values_may_hold_commas() -> None:
    """Values separated by bars keep their commas."""
    change = read_option_values("sql_mode=ANSI_QUOTES,NO_ZERO_DATE|ANSI_QUOTES", parse_target("mariadb-11.8"))
    assert change.written == ("ANSI_QUOTES,NO_ZERO_DATE", "ANSI_QUOTES")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "nothing to compare"),
        ("innodb_flush_neighbors", "nothing to compare"),
        ("innodb_flush_neighbors=1", "give two or more"),
        ("innodb_flush_neigbors=0,1", "innodb_flush_neighbors is near"),
        ("tx_isolation=READ-COMMITTED,SERIALIZABLE", "Use transaction_isolation"),
        ("query_cache_size=0,1M", "refuses query_cache_size"),
        ("sort_buffer_size=1x,2M", "refuses sort_buffer_size=1x"),
        ("read_buffer_size=8192,8200", "reads both 8192 and 8200 as 8192"),
        ("innodb_page_size=4K,16K", "determines the data files"),
        ("innodb_tmpdir=a,b", "only its own scratch directory"),
        ("slow_query_log_file=a,b", "only its own scratch directory"),
        ("init_file=/tmp/a,/tmp/b", "only its own scratch directory"),
        ("port=3306,3307", "only its own scratch directory"),
        ("skip_grant_tables=0,1", "only its own scratch directory"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_the_reason(text: str, message: str) -> None:
    """Unknown names, refused values, values that are one, and options that lead out of the directory."""
    with pytest.raises(ProbeError, match=message) as refused:
        read_option_values(text, parse_target("mysql-8.0"))
    assert "\n" not in str(refused.value)
