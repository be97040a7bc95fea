"""Several mycnf at once lose nothing of one another's, and no reader ever gets half of a file.

Rings and histories are tried in tests/sampling and tests/history.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from mycnf_command import CHECKOUT

from advisor.commands.judge_facts import SERVER
from advisor.tui import view
from advisor.tui.view import UserMarks

AT_ONCE = 4
EACH = 8
READY = """
import os, sys, time
own, folder = int(sys.argv[1]), sys.argv[2]
def ready(word):
    # All begin each turn together: the first one waits for the others.
    open(os.path.join(folder, f"{word}.{own}"), "w").close()
    while sum(name.startswith(f"{word}.") for name in os.listdir(folder)) < 4:
        time.sleep(0.0005)
"""


def together(code: str, tmp_path: Path, *words: str) -> list[str]:
    """What each of several processes printed that ran the code side by side."""
    meeting = tmp_path / "meeting"
    meeting.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    begun = [
        subprocess.Popen(
            [sys.executable, "-c", READY + code, str(number), str(meeting), *words],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(AT_ONCE)
    ]
    printed = [process.communicate(timeout=600)[0] for process in begun]
    assert [process.returncode for process in begun] == [0] * AT_ONCE
    return printed


ASIDE = """
from advisor.commands.judge_facts import suppress_in_baseline
from advisor.core.model import Confidence, Finding, Severity
for turn in range(8):
    finding = Finding(f"TST{own}{turn:02}", "tried", Severity.NOTE, Confidence.CERTAIN, "x", option="x")
    ready(f"turn{turn}")
    suppress_in_baseline(sys.argv[3], finding, f"measured by {own}")
"""


def test_findings_suppressed_by_several(tmp_path: Path) -> None:
    """A baseline that several apps write into holds what each of them suppressed, with its reason."""
    path = tmp_path / "known.json"
    path.write_text('{"version": 1, "findings": []}')
    together(ASIDE, tmp_path, str(path))
    kept = json.loads(path.read_text())["findings"]
    every = [f"TST{number}{turn:02}" for number in range(AT_ONCE) for turn in range(EACH)]
    assert sorted(entry["code"] for entry in kept) == every
    assert {(entry["path"], entry["reason"][:12]) for entry in kept} == {(SERVER, "measured by ")}
    assert sorted(os.listdir(tmp_path)) == ["known.json", "meeting"]


NOTED = """
from advisor.tui.view import UserMarks, save_marks
mine = UserMarks()
for turn in range(8):
    ready(f"turn{turn}")
    more = UserMarks(mine.seen | {f"{own}-{turn}"}, (*mine.suppressed, (f"{own}-{turn}", "why")))
    save_marks(sys.argv[3], mine, more)
    mine = more
"""


def test_notes_of_several_apps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Apps on one server that do not know each other keep what all of their users saw and suppressed."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    path = str(tmp_path / "state" / "mycnf" / "app" / "server.json")
    together(NOTED, tmp_path, path)
    kept = view.read_marks(path)
    every = {f"{number}-{turn}" for number in range(AT_ONCE) for turn in range(EACH)}
    assert kept.seen == every
    assert dict(kept.suppressed) == dict.fromkeys(every, "why")


def test_what_one_takes_back_stays_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another app added stays, what this one took away goes, and reasons are the latest."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    path = str(tmp_path / "mycnf" / "app" / "server.json")
    first = view.save_marks(path, UserMarks(), UserMarks(frozenset("ab"), (("a", "one"), ("b", "two"))))
    view.save_marks(path, UserMarks(), UserMarks(frozenset("c"), (("c", "three"),)))
    both = view.save_marks(path, first, UserMarks(frozenset("b"), (("b", "other"),)))
    assert both == view.read_marks(path) == UserMarks(frozenset("bc"), (("b", "other"), ("c", "three")))


FIXED = """
from advisor.fixing import FileChangedError, replace_text
path = sys.argv[3]
for turn in range(8):
    if own == 0:
        open(path, "wb").write(b"old" * 1000)
    ready(f"turn{turn}")
    try:
        replace_text(path, b"old" * 1000, b"%d" % own * 5000)
        print(turn)
    except FileChangedError:
        pass
    ready(f"done{turn}")
    assert open(path, "rb").read() in {b"%d" % n * 5000 for n in range(4)}
    ready(f"seen{turn}")
"""


@pytest.mark.parametrize("links", [1, 2])
def test_one_of_several_fixes_a_file(links: int, tmp_path: Path) -> None:
    """Of those that would all change what they read, one does, and the others report that the file was changed."""
    path = tmp_path / "my.cnf"
    path.touch()
    if links > 1:
        os.link(path, tmp_path / "other.cnf")
    printed = together(FIXED, tmp_path, str(path))
    assert sorted("".join(printed).split()) == sorted(map(str, range(EACH)))


REPORTED = """
from advisor.report.output import write
for turn in range(8):
    ready(f"turn{turn}")
    write(str(own) * (1 << 19), sys.argv[3])
    with open(sys.argv[3]) as file:
        text = file.read()
    assert len(text) == 1 << 19 and len(set(text)) == 1, "half a report"
"""


def test_reports_of_several_into_one_file(tmp_path: Path) -> None:
    """The file is always the whole report of one of them."""
    together(REPORTED, tmp_path, str(tmp_path / "report"))
    assert sorted(os.listdir(tmp_path)) == ["meeting", "report"]


def test_a_link_of_that_name_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder that is everybody's, a link under the name of the draft leads to no file of the user's."""
    from advisor.core.errors import MycnfError
    from advisor.report.output import write

    (tmp_path / "precious").write_text("mine")
    monkeypatch.setattr("os.urandom", bytes)
    (tmp_path / "report.mycnf-00000000").symlink_to("precious")
    with pytest.raises(MycnfError, match="File exists"):
        write("x", str(tmp_path / "report"))
    assert (tmp_path / "precious").read_text() == "mine"
