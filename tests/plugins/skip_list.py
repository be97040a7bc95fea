"""Print the list of skipped tests with reasons at the end of every run."""

from __future__ import annotations

from collections import defaultdict

import pytest


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the skipped tests, grouped by reason."""
    tests: dict[str, list[str]] = defaultdict(list)
    for report in terminalreporter.getreports("skipped"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        tests[reason.removeprefix("Skipped: ")].append(report.nodeid.partition("::")[0])
    if not tests:
        terminalreporter.write_line("Nothing was skipped.")
        return
    terminalreporter.section("skipped, and why")
    for reason, files in sorted(tests.items(), key=lambda item: (-len(item[1]), item[0])):
        terminalreporter.write_line(f"{len(files):4} x {reason}  [{', '.join(sorted(set(files)))}]")
