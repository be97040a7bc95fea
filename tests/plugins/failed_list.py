"""The names of the tests that failed, for whoever wants to run them once more (MYCNF_FAILED_LIST=FILE)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

FILE = "MYCNF_FAILED_LIST"


@pytest.hookimpl
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Write each failed test's name on a line of its own; a test that failed and then broke as it ended once."""
    if FILE in os.environ:
        failed = [report.nodeid for kind in ("failed", "error") for report in terminalreporter.getreports(kind)]
        Path(os.environ[FILE]).write_text("".join(f"{name}\n" for name in dict.fromkeys(failed)), encoding="utf-8")
