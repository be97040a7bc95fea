"""An account that may do nothing gets a report all the same: what it could not see, and the grants that would help."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from live_server import Live

from advisor.cli import dispatch

PASSWORD = "Some-Pass1"  # noqa: S105 - of an account that lives as long as a test


@pytest.fixture
def bare(live: Live, home: Path) -> Iterator[tuple[str, ...]]:
    """The words by which an account with USAGE alone connects."""
    file = home / "bare.cnf"
    file.write_text(f"[client]\nsocket={live.sandbox.socket}\nuser=o'bare\npassword={PASSWORD}\n", encoding="utf-8")
    name = "o'bare".replace("'", "''")
    with live.user(name, f"IDENTIFIED BY '{PASSWORD}'"):
        yield ("--defaults-file", str(file))


def audited(words: tuple[str, ...], capfd: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """An audit as JSON; it ends as one without a grave finding does."""
    capfd.readouterr()
    assert dispatch(["audit", *words, "--window", "0", "--isolated", "--format", "json"]) == 0
    report: dict[str, Any] = json.loads(capfd.readouterr().out)
    return report


def test_a_bare_account_gets_reports_and_grants(
    live: Live, bare: tuple[str, ...], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """JSON, text and page name what lacks and print grants; once those were run, nothing lacks any more."""
    report = audited(bare, capfd)
    reasons = {skip["reason"] for skip in report["skipped"]}
    assert {"needs PROCESS", "needs SELECT on mysql.innodb_table_stats"} <= reasons
    grants = [grant["statement"] for grant in report["grants"]]
    assert "GRANT PROCESS ON *.* TO 'o''bare'@'%';" in grants
    snapshot, text, page = (str(tmp_path / name) for name in ("s", "s.txt", "s.html"))
    assert dispatch(["collect", *bare, "--window", "0", "-o", snapshot]) == 0
    assert dispatch(["report", snapshot, "--isolated", "--format", "text", "-o", text]) == 0
    assert dispatch(["report", snapshot, "--isolated", "--format", "html", "-o", page]) == 0
    for printed in (Path(text).read_text("utf-8"), Path(page).read_text("utf-8").replace("&#x27;", "'")):
        assert "needs PROCESS" in printed
        assert all(grant in printed for grant in grants)
    live.run(*(grant.rstrip(";") for grant in grants))
    after = audited(bare, capfd)
    assert "grants" not in after
    assert not [skip for skip in after["skipped"] if skip["reason"].startswith(("needs PROCESS", "needs SELECT on"))]
