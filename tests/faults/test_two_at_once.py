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


# How a process writes a file of each kind, and how far it comes before it is stopped.
WRITERS = {
    "report": (
        "from advisor.report.output import Draft\ndraft = Draft(path)\ndraft.write('x')\nstop()\ndraft.keep()",
        "report.mycnf-{}",
    ),
    "state": (
        (
            "from advisor.state import private_file\nprivate_file._fill_private = lambda file, data: stop()\n"
            "private_file.replace_private(path, b'x')"
        ),
        "report.{}.part",
    ),
    "fix": (
        (
            "from advisor import fixing\nfixing._require_unchanged = lambda *_: stop()\n"
            "fixing.replace_text(path, b'old', b'x')"
        ),
        ".report.mycnf-{}",
    ),
}
STOPPED = """
import os, signal, sys
path = sys.argv[1]
def stop():
    print("begun", flush=True)
    sys.stdin.readline()
"""


def begin_writing(kind: str, path: Path) -> subprocess.Popen[str]:
    """A process that waits in the middle of writing the file."""
    path.write_text("old")
    process = subprocess.Popen(
        [sys.executable, "-c", STOPPED + WRITERS[kind][0], str(path)],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    return process


def write_whole(kind: str, path: Path) -> None:
    """Write the file without being stopped."""
    code = f"path = {str(path)!r}\ndef stop(): pass\n{WRITERS[kind][0]}"
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    subprocess.run([sys.executable, "-c", code], env=environment, timeout=600, check=True)


@pytest.mark.parametrize("kind", WRITERS)
def test_what_a_killed_writer_left_is_removed(kind: str, tmp_path: Path) -> None:
    """The next write of the same file removes the temporary file of a killed process."""
    path = tmp_path / "report"
    killed = begin_writing(kind, path)
    assert len(os.listdir(tmp_path)) == 2
    killed.kill()
    killed.communicate()
    write_whole(kind, path)
    assert os.listdir(tmp_path) == ["report"]


@pytest.mark.parametrize("kind", ["report", "state"])  # two fixes of one file wait for each other
def test_what_a_living_writer_needs_stays(kind: str, tmp_path: Path) -> None:
    """A write of the same file meanwhile does not take the temporary file of the other process."""
    path = tmp_path / "report"
    living = begin_writing(kind, path)
    before = sorted(os.listdir(tmp_path))
    write_whole(kind, path)
    assert sorted(os.listdir(tmp_path)) == before
    living.communicate("\n")
    assert living.returncode == 0
    assert os.listdir(tmp_path) == ["report"]


@pytest.mark.parametrize("kind", WRITERS)
def test_nothing_else_is_removed(kind: str, tmp_path: Path) -> None:
    """Links, directories, files with other names, and files of other users stay beside the file."""
    path, name = tmp_path / "report", WRITERS[kind][1]
    path.write_text("old")
    (tmp_path / "precious").write_text("mine")
    kept = [name.format(digits) for digits in ("0123456", "0123456g", "012345678", "01234567.old")]
    for other in kept:
        (tmp_path / other).write_text("mine")
    (tmp_path / name.format("00000001")).symlink_to("precious")
    (tmp_path / name.format("00000002")).mkdir()
    os.link(tmp_path / "precious", tmp_path / name.format("00000003"))
    kept += [name.format(f"0000000{number}") for number in (1, 2, 3)]
    if os.geteuid() == 0:
        (tmp_path / name.format("00000004")).write_text("theirs")
        os.chown(tmp_path / name.format("00000004"), 12345, 12345)
        kept.append(name.format("00000004"))
    (tmp_path / name.format("00000005")).write_text("abandoned")
    write_whole(kind, path)
    assert sorted(os.listdir(tmp_path)) == sorted([*kept, "precious", "report"])
    assert (tmp_path / "precious").read_text() == "mine"
