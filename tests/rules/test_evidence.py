"""The evidence store: whole, well-formed, and with the numbers as they were published."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from probes.registry import load_all
from rules import find_rule
from rules.core import areas
from rules.core.areas import Evidence, all_evidence, find_evidence

STRENGTHS = {"measured", "server", "source-code", "vendor-doc", "expert-opinion"}
# The five articles that the project began with, and what they measured.
FOUNDING = ("RBS-01", "RBS-02", "IO-01", "FS-01", "BPI-01", "SCAN-01", "PGSZ-01", "PGSZ-02")
# Entries whose title or page was wrong as gathered: another page or edition says what is cited, or the page has another
# title.
CORRECTED = {"CONN-02", "RND-01", "DBLW-05", "DUR-02", "SSL-02"}
QUOTED = re.compile(r'"([A-Z][A-Z-]*-[0-9]+)"')
UNCITED = {"PATH-ASKED-01"}  # servers asked about the paths that `upgrade` cites the manuals for
ROOT = Path(__file__).resolve().parents[2]


def test_an_entry_is_whole() -> None:
    """Each entry says who found out what, how sure that is and on which versions, in whole sentences."""
    for entry in all_evidence().values():
        assert entry.strength in STRENGTHS, entry.id
        assert entry.conclusion.endswith("."), entry.id
        assert not entry.caveats or entry.caveats.endswith("."), entry.id
        assert entry.title, entry.id
        assert entry.author, entry.id
        assert entry.versions, entry.id


@pytest.mark.parametrize("entry", [e for e in all_evidence().values() if e.table], ids=lambda e: e.id)
def test_a_table_fits_its_points(entry: Evidence) -> None:
    """Every series of a table has one number for each point, and points that are numbers ascend."""
    table = entry.table
    assert table is not None
    assert table.unit
    assert len(table.values) in (0, len(table.labels))
    assert list(table.values) == sorted(table.values)
    assert all(len(ys) == len(table.labels) for ys in table.series.values())


def test_the_founding_articles_are_there() -> None:
    """The five articles that the project began with are in the store."""
    assert [identity for identity in FOUNDING if find_evidence(identity) is None] == []


@pytest.mark.parametrize("code", ["BUF001", "INN004"])
def test_figures_of_own_runs_are_those_of_the_evidence(code: str) -> None:
    """A rule that says what mycnf's own runs found has the figures of the evidence that it cites, and no older ones."""
    rule = find_rule(code)
    assert rule is not None
    own = [source for i in rule.evidence if (source := find_evidence(i)) and "docs/experiments/" in source.title]
    known = " ".join(source.conclusion for source in own)
    text = f"{rule.docs.why} {rule.docs.risk}"
    sentences = [s for s in re.split(r"(?<=[.;]) ", text) if re.search("own run|virtual disk", s)]
    figures = [figure for sentence in sentences for figure in re.findall(r"[\d.]+ to [\d.]+\b", sentence)]
    assert figures
    assert [figure for figure in figures if figure not in known] == []


def test_probes_cite_what_is_there() -> None:
    """Each id that a probe cites is in the store: its description would silently leave out one that is not."""
    cited = {(probe.name, identity) for probe in load_all() for identity in probe.evidence}
    assert [pair for pair in sorted(cited) if find_evidence(pair[1]) is None] == []


def test_each_entry_is_cited() -> None:
    """Each entry is cited by the code that shows it: a text that only names an id in parentheses shows nothing."""
    sources = [path for folder in ("advisor", "probes", "rules") for path in (ROOT / folder).rglob("*.py")]
    cited = {identity for path in sources for identity in QUOTED.findall(path.read_text("utf-8"))}
    assert [identity for identity in all_evidence() if identity not in cited | UNCITED] == []


def test_ids_are_found_in_any_case() -> None:
    """An id is found however it is written, and one that isn't there is None."""
    found = find_evidence("rbs-01")
    assert found is not None
    assert found.id == "RBS-01"
    assert find_evidence("XXX-99") is None


def test_an_entry_alone_is_that_of_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry that is read by itself is the same as among all others; nothing else is taken for an id."""
    store = dict(all_evidence())
    monkeypatch.setattr(areas, "_STORE", {})
    monkeypatch.setattr(areas, "_CITED", {})
    assert {identity: find_evidence(identity) for identity in store} == store
    for other in ("", "RBS", "RBS-01.table", "RBS-01]\n[RBS-02", "*"):
        assert find_evidence(other) is None


@pytest.fixture(scope="session")
def published(shared: Path) -> dict[str, dict[str, Any]]:
    """The evidence as it was gathered, by id."""
    path = shared / "evidence" / "evidence.json"
    if not path.is_file():
        pytest.skip(f"the gathered evidence is missing ({path})")
    return {e["id"]: e for e in json.loads(path.read_text("utf-8"))}


@pytest.mark.parametrize(
    "identity", ["RBS-01", "RBS-02", "RBS-11", "PGSZ-01", "PGSZ-02", "SCHED-01", "DUR-01", "IOC-01"]
)
def test_numbers_are_as_published(identity: str, published: dict[str, dict[str, Any]]) -> None:
    """The numbers of a table are those of the source, in its order."""
    entry = find_evidence(identity)
    assert entry is not None
    assert entry.table is not None
    assert [list(ys) for ys in entry.table.series.values()] == [published[identity]["numbers"]["y"]]


def test_what_was_gathered_is_quoted_with_its_source(published: dict[str, dict[str, Any]]) -> None:
    """Source, strength and page of each entry are those that were gathered, unless a comparison corrected them."""
    for entry in all_evidence().values():
        if entry.id in published and entry.id not in CORRECTED:
            source = published[entry.id]
            assert (entry.strength, entry.title, entry.url) == (
                source["strength"],
                source["source_title"],
                source["source_url"],
            )
