"""Name each failed test as it fails, and write the names to a file to run them again (MYCNF_FAILED_LIST=FILE)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

FILE = "MYCNF_FAILED_LIST"


class FailureLines:
    """Prints a line for each failed test: a whole run takes a quarter of an hour, and its summary comes at the end."""

    def __init__(self, reporter: pytest.TerminalReporter) -> None:
        self._reporter = reporter

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Print the name and the phase of a failure."""
        if report.failed:
            self._reporter.write_line(f"\nfailed: {report.nodeid} ({report.when})", red=True)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Print the lines where the run is reported, which is not in the workers."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(FailureLines(reporter))


@pytest.hookimpl
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Write each failed test's name on a line, only once even if its teardown failed too.

    A worker that collected other tests than the first one is an error too, but no test that could be run again.
    """
    if FILE in os.environ:
        failed = [report.nodeid for kind in ("failed", "error") for report in terminalreporter.getreports(kind)]
        tests = [name for name in dict.fromkeys(failed) if "::" in name]
        Path(os.environ[FILE]).write_text("".join(f"{name}\n" for name in tests), encoding="utf-8")
