"""Every format, byte for byte, of material that tries to break it."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from hostile_findings import GOLDEN, nasty, nothing, page

from advisor import __version__
from advisor.report import CheckedFile, Page
from advisor.report.formats import names
from advisor.report.formats import render_lint as render

UNREAD = ("gone\udcff.cnf", "can't read gone\udcff.cnf: No such file or directory; <b>name</b> another")
MATERIAL: dict[str, tuple[Callable[[], list[CheckedFile]], Page]] = {
    "nasty": (nasty, page()),
    "nothing": (nothing, page()),
    "unread": (list, page(UNREAD)),
}

AGAIN = "MYCNF_WRITE_GOLDEN=1 python -m pytest tests/report/test_golden.py"


@pytest.mark.parametrize("name", names("lint"))
@pytest.mark.parametrize("material", MATERIAL)
def test_report(material: str, name: str) -> None:
    """The report is the reviewed one; the version of mycnf is left out."""
    files, how = MATERIAL[material]
    made = render(name, files(), how).encode().replace(f'ersion": "{__version__}"'.encode(), b'ersion": "0"')
    golden = GOLDEN / f"{material}.{name}"
    if os.environ.get("MYCNF_WRITE_GOLDEN"):
        golden.write_bytes(made)
    assert golden.exists(), f"no golden yet: {AGAIN}"
    assert made == golden.read_bytes(), f"if the change is meant: {AGAIN}"


def test_report_in_colour() -> None:
    """In colour, the escapes are ours alone."""
    made = render("text", nasty(), page(colour=True)).encode()
    golden = GOLDEN / "nasty.colour"
    if os.environ.get("MYCNF_WRITE_GOLDEN"):
        golden.write_bytes(made)
    assert made == golden.read_bytes()


def test_no_golden_is_left_over() -> None:
    """Each golden is one that a test compares."""
    compared = {f"{material}.{name}" for material in MATERIAL for name in names("lint")}
    beside = {"README.md", "app", "nasty.cnf", "nasty.colour", "nasty.ticket", "nothing.ticket", "reports"}
    assert {path.name for path in GOLDEN.iterdir()} == compared | beside
