"""What the terminal app has imported when it shows the first finding: little, for the user waits for it."""

from __future__ import annotations

import os
import pty
import select
import signal
import sys
import time
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
PATIENCE = 600.0  # seconds; it takes one, unless something is broken
FINDING = "world-readable-secret"
# Modules when the first finding is drawn, without those of an empty app of the framework and of rules. Ten of them
# guard what comes from outside (msgspec); seven judge what the server's next start reads, so that advice follows where
# a value comes from: that start's command line is read, and it has no unit and no persisted values. Three read the
# recorded samples of the demo.
LIMIT = 137
# What other screens, the command line and servers need, and what takes long to import.
LATER = {
    "advisor.carriers.persisted",
    "advisor.collect.collect",
    "advisor.collect.host",
    "advisor.config.read",
    "advisor.report.output",
    "advisor.report.audit.as_lint",
    "advisor.tui.dialogs.prompts",
    "advisor.tui.dialogs.connect",
    "advisor.tui.screens.variables.screen",
    "advisor.carriers.systemd",
    "advisor.upgrade",
    "hmac",
    "probes.registry",
    "psutil",
    "pydantic",
    "pymysql",
    "secrets",
    "textual.widgets._data_table",
    "textual.widgets._footer",
    "textual.widgets._input",
    "textual.widgets._text_area",
    "tomllib",
}
# Runs the app, and leaves a list of the modules as soon as what it draws holds the name of a finding.
DRIVER = """
import os, sys
sys.path.insert(0, os.getcwd())
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver
from textual.widgets import Static
EMPTY = set(sys.modules)
drawn = ""
draw = LinuxDriver.write
def write(self, data):
    global drawn
    drawn += data
    if {finding!r} in drawn:
        with open({path!r} + ".part", "w") as file:
            file.write(" ".join(sorted(set(sys.modules) - EMPTY)))
        os.rename({path!r} + ".part", {path!r})
        os._exit(0)
    draw(self, data)
LinuxDriver.write = write
from advisor.__main__ import main
from advisor.tui import app
app.SOON = 3600.0  # however slow this machine is
main(["audit", "--demo", "--isolated"])
"""


def modules_at_the_first_finding(folder: Path) -> set[str]:
    """The modules that mycnf has brought in by then, without those of an app that shows nothing."""
    modules = folder / "modules"
    own = {"XDG_STATE_HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "TERM": "xterm-256color"}
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("COV_", "COVERAGE_"))}
    process, handle = pty.fork()
    if process == 0:
        os.chdir(CHECKOUT)
        code = DRIVER.format(finding=FINDING, path=str(modules))
        os.execve(sys.executable, [sys.executable, "-c", code], kept | own | {"COLUMNS": "120", "LINES": "40"})  # noqa: S606 - no shell
    output, deadline = b"", time.monotonic() + PATIENCE
    try:
        while not modules.exists():
            assert time.monotonic() < deadline, output[-2000:]
            if select.select([handle], [], [], 0.1)[0]:
                try:
                    output += os.read(handle, 1 << 16)
                except OSError:  # it has ended
                    break
        assert modules.exists(), output[-2000:]
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(handle)
    return set(modules.read_text().split())


def test_little_is_imported_before_the_first_finding(tmp_path: Path) -> None:
    """Dialogs, other screens, connections and probes wait until the user opens them."""
    loaded = modules_at_the_first_finding(tmp_path)
    assert "advisor.tui.screens.overview.screen" in loaded
    assert not loaded & LATER
    mine = sorted(name for name in loaded if not name.startswith("rules."))
    assert len(mine) <= LIMIT, mine
