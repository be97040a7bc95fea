"""The pages of a rule and an option in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from browser import ASKED, Tab

from advisor.__main__ import main


@pytest.mark.parametrize("word", ["BUF001", "sort_buffer_size"])
def test_everybody_can_use_it(tab: Tab, axe: str, tmp_path: Path, word: str) -> None:
    """axe-core finds nothing against it, the page fetches nothing, and nothing sticks out of a phone's screen."""
    path = tmp_path / "page.html"
    assert main(["explain", word, "--ram", "64G", "--format", "html", "-o", str(path)]) == 0
    tab.call("Emulation.setDeviceMetricsOverride", width=390, height=900, deviceScaleFactor=1, mobile=True)
    try:
        tab.open(path)
        assert tab.run("document.documentElement.scrollWidth <= innerWidth")
        assert [url for url in tab.asked if url.startswith("http")] == []
        assert tab.messages == []
        tab.run(f"{axe}; 0")
        found: dict[str, Any] = tab.run(f"axe.run({ASKED['light']}).then(done => ({{violations: done.violations}}))")
        assert [(one["id"], one["nodes"][0]["html"]) for one in found["violations"]] == []
        assert (tab.run("document.querySelectorAll('.chart svg').length") > 0) == (word == "BUF001")
    finally:
        tab.call("Emulation.clearDeviceMetricsOverride")
