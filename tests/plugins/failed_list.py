"""Write the names of the failed tests to a file, so that they can be run again (MYCNF_FAILED_LIST=FILE)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

FILE = "MYCNF_FAILED_LIST"


@pytest.hookimpl
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Write each failed test's name on a line, only once even if its teardown failed too."""
    if FILE in os.environ:
        failed = [report.nodeid for kind in ("failed", "error") for report in terminalreporter.getreports(kind)]
        Path(os.environ[FILE]).write_text("".join(f"{name}\n" for name in dict.fromkeys(failed)), encoding="utf-8")
