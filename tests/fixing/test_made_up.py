"""In any file: safe fixes change no effective value, and a second run changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from fix_text import findings, fixed, judged, mended, values
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.catalog import load
from advisor.catalog.targets import SERIES, parse_target

TARGETS = [f"{flavour}-{series[0]}.{series[1]}" for flavour, known in SERIES.items() for series in known]
# Options that act on each other, are known by several names, or are read in a way of their own.
TRAPS = (
    *("skip_name_resolve", "query_cache_type", "query_cache_size", "log_bin", "server_id", "skip_networking", "port"),
    *(
        "optimizer_switch",
        "sql_mode",
        "slave_net_timeout",
        "replica_net_timeout",
        "log_warnings",
        "log_error_verbosity",
    ),
    *(
        "max_relay_log_size",
        "max_binlog_size",
        "thread_cache_size",
        "max_connections",
        "table_cache",
        "expire_logs_days",
    ),
    *(
        "innodb_buffer_pool_size",
        "innodb_buffer_pool_instances",
        "innodb_log_file_size",
        "slow_query_log",
        "log_slow_query",
    ),
    *("character_set_server", "collation_server", "plugin_load_add", "replicate_do_db", "general_log", "innodb", "ssl"),
    *("hot.key_buffer_size", "key_buffer_size", "getopt_prefix_matching", "no_such_thing", "innodb_bufer_pool_size"),
)
VALUES = (
    *("", "=", "=0", "=1", "=7", "=-1", "=ON", "=off", "=maybe", "=10GB", "='64megs'", "=1.5G", "=100000000", "=1K"),
    *("=99999999999999999999", "=ROW", "=mrr=off", "=default", "=a.b", "=utf8", "=utf8mb4", "=2 # why", "={{ x }}"),
)
PREFIXES = ("", "", "", "", "loose_", "loose-", "skip-", "enable_", "maximum_", "disable-", "LOOSE_")


@st.composite
def files(draw: st.DrawFn) -> tuple[str, bytes]:
    """A target, and a file of options in several groups, many of them twice, with all sorts of values."""
    target = draw(st.sampled_from(TARGETS))
    known = sorted(load(parse_target(target)).options)
    some = draw(st.lists(st.sampled_from(known) | st.sampled_from(TRAPS), min_size=1, max_size=6))
    lines = [f"[{draw(st.sampled_from(('mysqld', 'mysqld', 'mysqld', 'client')))}]"]
    for _ in range(draw(st.integers(1, 14))):
        name = draw(st.sampled_from(some))
        name = name.replace("_", "-") if draw(st.booleans()) else name
        lines.append(draw(st.sampled_from(PREFIXES)) + name + draw(st.sampled_from(VALUES)))
        lines += draw(st.sampled_from(([], [], [], ["# a comment"], ["[mysqld]"], ["[server]"], [""])))
    ending = draw(st.sampled_from(("\n", "\r\n")))
    return target, (ending.join(lines) + draw(st.sampled_from(("", ending)))).encode()


@settings(max_examples=150)
@given(files())
def test_safe_fixes_change_no_value_and_come_to_an_end(made: tuple[str, bytes]) -> None:
    """Every variable that the file sets has the same value afterwards, and nothing is left for a second run."""
    target, before = made
    after = fixed(before, target)
    assert values(judged(after, target)) == values(judged(before, target))
    assert fixed(after, target) == after


@settings(max_examples=100)
@given(files())
def test_unsafe_fixes_come_to_an_end(made: tuple[str, bytes]) -> None:
    """A second run changes nothing, and no fix was offered that could not be made without a reason given."""
    target, before = made
    outcome = mended(before, target, unsafe=True)
    after = outcome.changes[0].after if outcome.changes else before
    assert fixed(after, target, unsafe=True) == after
    assert outcome.unchanged or not [kind for _, kind in findings(after, target) if kind != "-"]


def test_the_corpus(shared: Path) -> None:
    """Real option files: no value changes, and a second run changes nothing, each for one of the targets in turn."""
    paths = sorted((shared / "corpus" / "files").iterdir())
    assert paths
    for number, path in enumerate(paths):
        target = TARGETS[number % len(TARGETS)]
        lines = path.read_bytes().split(b"\n")
        before = b"\n".join(b"" if line.lstrip().startswith(b"!include") else line for line in lines)
        after = fixed(before, target)
        if after != before:  # what changes nothing changes nothing the second time
            assert values(judged(after, target)) == values(judged(before, target)), (path.name, target)
            assert fixed(after, target) == after, (path.name, target)
        once = fixed(before, target, unsafe=True)
        if once != before:
            assert fixed(once, target, unsafe=True) == once, (path.name, target)


@pytest.mark.parametrize(
    "text", [b"\0" * 50, b"[mysqld]\n" + b"a" * 9000 + b"=1\n", b"\n" * 2000 + b"[mysqld", b"[\xff]\n=\n"]
)
def test_odd_texts(text: bytes) -> None:
    """Texts that are hardly option files come through without harm."""
    for target in ("mysql-8.0.15", "mariadb-11.8"):
        once = fixed(text, target, unsafe=True)
        assert fixed(once, target, unsafe=True) == once
