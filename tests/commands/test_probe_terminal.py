"""A run in a real terminal: a bar while it lasts, nothing of it afterwards, and Ctrl-C as people press it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import struct
import sys
import termios
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from mycnf_command import CHECKOUT

COLUMNS = 80
# The controlled experiment in a process of its own; {waits} is what its ninth block does, the first of the third round.
DRIVER = """
import sys, time
import controlled_experiment
from probes import registry
from advisor.__main__ import main
registry.MODULES = {{"scan": "controlled_experiment"}}
scan = controlled_experiment.EXPERIMENT
scan.at[8] = lambda: {waits}
print("CODE", main(sys.argv[1:]), scan.closed)
"""
IN_THIRD = "round 3 of 5"


class Seen(NamedTuple):
    """All that the terminal was sent, and the exit code of the run."""

    text: str
    code: str


@pytest.fixture
def terminal(tmp_path: Path) -> Callable[..., Seen]:
    """Runs `mycnf probe scan` in a terminal of 80x24; `keys` are typed one by one as the text before each appears."""

    def run(waits: str = "None", keys: tuple[str, ...] = (), **environment: str) -> Seen:
        state = {"XDG_STATE_HOME": str(tmp_path), "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        path = os.pathsep.join([str(CHECKOUT), str(CHECKOUT / "tests" / "plugins")])
        kept = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": path, **state, **environment}
        words = ["probe", "scan", "--dir", str(tmp_path), "--force", "busy,neighbour,full,little"]
        child, terminal = pty.fork()
        if not child:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            os.execve(sys.executable, [sys.executable, "-c", DRIVER.format(waits=waits), *words], kept)  # noqa: S606
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
        text = _talk(terminal, list(keys))
        os.waitpid(child, 0)
        return Seen(text, text.rpartition("CODE ")[2].strip())

    return run


def _talk(terminal: int, keys: list[str]) -> str:
    """Everything until the other side hangs up; Ctrl-C is typed each time that the next of `keys` has been read."""
    seen, since = "", 0
    while True:
        try:
            more = os.read(terminal, 65536).decode(errors="replace")
        except OSError:
            return seen
        if not more:
            return seen
        seen += more
        if keys and keys[0] in seen[since:]:
            since = len(seen)
            keys.pop(0)
            os.write(terminal, b"\x03")


def test_a_bar_while_it_lasts(terminal: Callable[..., Seen]) -> None:
    """Variant, round and time left are drawn on one line no wider than the terminal, and the cursor comes back."""
    seen = terminal()
    assert seen.code == "0 1"
    bar = seen.text.partition("5 rounds in")[0]
    assert re.search(r"(16K|128K|2M|8M) .*round \d of 5.* \d:\d\d left", bar)
    assert bar.count("\x1b[?25l") == bar.count("\x1b[?25h") == 1
    drawn = [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line) for line in re.split(r"[\r\n]+", bar)]
    assert all(len(line) < COLUMNS for line in drawn if "round " in line)
    assert "\x1b[1mscan" in seen.text


def test_no_colour_where_none_is_requested(terminal: Callable[..., Seen]) -> None:
    """With NO_COLOR the report has no escape at all, and the bar none that paints."""
    bar, _, report = terminal(NO_COLOR="1").text.partition("\x1b[?25h")
    assert "\x1b" not in report.replace("\x1b[?25h", "").replace("\x1b[1A", "").replace("\x1b[2K", "")
    assert not re.search(r"\x1b\[[0-9;]*3[0-7][;m]", bar)


def test_plain_letters_where_there_are_no_others(terminal: Callable[..., Seen]) -> None:
    """In a locale without UTF-8 bar and report are ASCII."""
    seen = terminal(PYTHONIOENCODING="ascii", LC_ALL="C")
    assert seen.code == "0 1"
    assert seen.text.isascii()
    assert "o here   x RBS-01, 2007" in seen.text


def test_ctrl_c_keeps_whole_rounds(terminal: Callable[..., Seen]) -> None:
    """Pressed in the third round, it prints the two whole ones and ends with 130."""
    seen = terminal("scan.stop.wait(60)", keys=(IN_THIRD,))
    assert seen.code == "130 1"
    assert "complete rounds are saved" in seen.text
    assert "2 rounds in" in seen.text


def test_ctrl_c_twice_ends_it_at_once(terminal: Callable[..., Seen]) -> None:
    """The second time a block that would last a minute is broken off; what was made is removed, rounds are kept."""
    seen = terminal("time.sleep(60)", keys=(IN_THIRD, "press again to stop at once"))
    assert seen.code == "130 1"
    assert "2 complete rounds are saved; continue with --resume" in seen.text
    assert "interrupted" in seen.text
    assert seen.text.count("\x1b[?25l") == seen.text.count("\x1b[?25h")
