"""What sysbench reports is read into totals and one value a second, and a workload becomes a script."""

from __future__ import annotations

import pytest

from probes.workload.load import OLTP, Access, DriverError, Task, simple_ranges
from probes.workload.sysbench import lua_script, parse_report

REPORT = """sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

Threads started!

[ 1s ] thds: 2 tps: 305.93 qps: 6328.78 (r/w/o: 4467.32/1235.66/625.80) lat (ms,99%): 13.22 err/s: 11.96 reconn/s: 0.00
[ 2s ] thds: 2 tps: 360.69 qps: 7371.08 (r/w/o: 5187.91/1451.77/731.40) lat (ms,99%): 9.22 err/s: 10.02 reconn/s: 0.00
Latency histogram (values are in milliseconds)
       value  ------------- distribution ------------- count
       1.857 |                                         1
       2.585 |**************************************** 600
       9.057 |***                                      40
      12.081 |*                                        20
      16.412 |*                                        8

SQL statistics:
    queries performed:
        read:                            9674
        write:                           2697
        other:                           1360
        total:                           13731
    transactions:                        669    (333.09 per sec.)
    queries:                             13731  (6836.51 per sec.)
    ignored errors:                      22     (10.95 per sec.)
    reconnects:                          0      (0.00 per sec.)

General statistics:
    total time:                          2.0081s
    total number of events:              669

Latency (ms):
         min:                                    1.86
         99th percentile:                       16.41
         sum:                                 4006.33
"""


def test_a_report_gives_totals_and_seconds() -> None:
    """Totals, p99 and the values by second are the report's own; p95 is that of its histogram."""
    ran = parse_report(REPORT, 2)
    assert (ran.transactions, ran.queries, ran.repeated, ran.seconds) == (669, 13731, 22, 2.0081)
    assert (ran.p95, ran.p99) == (9.057, 16.41)
    assert ran.tps == (305.93, 360.69)
    assert ran.qps == (6328.78, 7371.08)
    assert ran.p99_by_second == (13.22, 9.22)


def test_a_last_second_that_was_not_reported_gets_the_rest() -> None:
    """The interval that ended with the run holds what no other reported."""
    without = "".join(line for line in REPORT.splitlines(keepends=True) if not line.startswith("[ 2s"))
    ran = parse_report(without, 2)
    assert list(ran.qps) == pytest.approx([6328.78, 13731 - 6328.78])


def test_what_is_no_report_is_reported_by_its_last_words() -> None:
    """A run that broke off is one line with sysbench's own complaint."""
    with pytest.raises(DriverError, match="FATAL: unable to connect"):
        parse_report("sysbench 1.0.20\n\nFATAL: unable to connect to MySQL server\nFATAL: done\n", 2)


def test_a_script_sends_the_statements_of_the_workload() -> None:
    """Ranges, brackets, several tables and a file of keys are in the script; the texts of strings stay quoted."""
    task = Task("/s", "/r", simple_ranges(10), Access(keys_file='/r/ke"ys'), 1, 500, tables=3)
    script = lua_script(task)
    assert '"SELECT c FROM " .. v["table"] .. " WHERE id BETWEEN " .. v["id"] .. " AND " .. v["end"]' in script
    assert "['end'] = id + 9" in script
    assert "sysbench.rand.uniform(1, 3)" in script
    assert 'io.lines("/r/ke\\"ys")' in script
    assert "BEGIN" not in script
    bracketed = lua_script(task._replace(workload=OLTP["oltp_read_write"]))
    assert bracketed.index('send("BEGIN")') < bracketed.index("UPDATE") < bracketed.index('send("COMMIT")')


def test_a_transaction_has_as_many_queries_as_sysbench_says() -> None:
    """sysbench counts 20 statements in a read-write transaction, 16 in a read-only one, 6 in a write-only one."""
    assert {name: OLTP[name].queries for name in ("oltp_read_write", "oltp_read_only", "oltp_write_only")} == {
        "oltp_read_write": 20,
        "oltp_read_only": 16,
        "oltp_write_only": 6,
    }


def test_a_script_may_connect_for_each_transaction() -> None:
    """Connecting and leaving stand around the statements of each event, and nothing connects before."""
    workload = simple_ranges(10)._replace(connecting=True)
    before, _, event = lua_script(Task("/s", "/r", workload, Access(), 1, 500)).partition("function event()")
    assert "connect" not in before
    assert event.index("drv:connect()") < event.index("SELECT") < event.index("con:disconnect()")
    assert event.count("disconnect") == 1
