"""What other tools print, read statement by statement, and the judgements of it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from peers import KINDS, UNJUDGED
from peertold import TOOLS, ToolStatement, of_mycnf, of_mysqltuner, of_pt

JUDGEMENTS = Path(__file__).resolve().parents[2] / "tools" / "lab" / "judgements.toml"
TUNER = """
[--] Query cache have been removed in MySQL 8
[!!] Maximum possible memory usage: 983.9G (4179.79% of installed RAM)
[OK] Slow queries: 0% (0/11)
✘  Table cache hit rate: 14% (77K hits / 544K requests)

-------- Recommendations ---------------------------
General recommendations:
    Reduce your overall MySQL memory footprint for system stability
Variables to adjust:
  *** Add RAM before increasing MySQL buffer variables ***
    key_buffer_size=0
"""
ADVISOR = """# WARN delay_key_write: MyISAM index blocks are never flushed until necessary.

# NOTE sort_buffer_size-1: The sort_buffer_size variable should generally be left at its default.
"""


def test_alarms_and_recommendations_are_statements() -> None:
    """What MySQLTuner marks, and what it recommends under its two headings; what it finds fine isn't one."""
    assert [(statement.heading, statement.words) for statement in of_mysqltuner(TUNER)] == [
        ("[!!]", "Maximum possible memory usage: 983.9G (4179.79% of installed RAM)"),
        ("[!!]", "Table cache hit rate: 14% (77K hits / 544K requests)"),
        ("General recommendations", "Reduce your overall MySQL memory footprint for system stability"),
        ("Variables to adjust", "*** Add RAM before increasing MySQL buffer variables ***"),
        ("Variables to adjust", "key_buffer_size=0"),
    ]


def test_warnings_and_notes_are_statements() -> None:
    """pt-variable-advisor has a name for each."""
    assert [statement.heading for statement in of_pt(ADVISOR)] == ["delay_key_write", "sort_buffer_size-1"]


def test_findings_are_statements() -> None:
    """A finding of ours is one statement with all that it advises to write."""
    action = {"option_line": "tmp_table_size = 16M"}
    finding = {"code": "TMP003", "name": "starved", "severity": "warning", "actions": [action, action]}
    assert list(of_mycnf({"findings": [finding]})) == [
        ToolStatement("mycnf", "TMP003 starved", "warning (tmp_table_size = 16M)")
    ]


def test_judgements_are_whole() -> None:
    """Each names a tool, what it fits, a kind and a reason."""
    for one in tomllib.loads(JUDGEMENTS.read_text("utf-8"))["judgement"]:
        assert one["tool"] in TOOLS
        assert one["kind"] in KINDS.keys() - {UNJUDGED}
        assert one["why"]
        assert re.compile(one["said"]).groups >= 0
        assert re.compile(one.get("on", "")).groups >= 0
