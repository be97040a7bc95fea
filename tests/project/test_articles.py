"""Pages of the articles' experiments: how a run is compared with the published result."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

CASES = {
    "the same direction, the published value within the interval": ((1.05, 1.4, True), "**reproduced**"),
    "the same direction, another size": ((1.4, 1.9, True), "**reproduced, in another size**"),
    "the other direction": ((0.7, 0.9, True), "**contradicted**"),
    "no difference, and the published one would have been seen": ((0.95, 1.1, False), "**not reproduced**"),
    "beyond 1, but the run claims nothing": ((0.9, 0.99, False), "**not reproduced**"),
    "too noisy to tell": ((0.8, 1.6, False), "**not distinguishable**"),
    "not measured": (None, "**not measured**"),
}


@pytest.fixture
def articles(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The tool as a module."""
    monkeypatch.setattr(sys, "path", [str(checkout / "tools" / "figures"), *sys.path])
    return importlib.import_module("articles")


@pytest.mark.parametrize(("difference", "expected"), CASES.values(), ids=CASES)
def test_comparison_with_the_published_result(
    difference: tuple[float, float, bool] | None, expected: str, articles: ModuleType
) -> None:
    """A published gain of 25 % is reproduced, contradicted, or neither, as the run has it."""
    effect = articles.PublishedEffect("XFS was 25 % faster", 1.25, ("xfs",))
    assert expected in articles.judge_difference(effect, difference and articles.Difference(*difference))


def test_pages_quote_the_evidence_as_it_is(articles: ModuleType, checkout: Path) -> None:
    """A page does not go on quoting a conclusion that was corrected since the run."""
    outdated = []
    for name, paper in articles.PAPERS.items():
        page = (checkout / "docs/experiments" / f"{name}.md").read_text().replace("`", "")
        for identity in articles.load(paper.runs[0].probe).evidence:
            source = articles.source(identity)
            if not re.search(rf"^- {identity} \(.*\): {re.escape(source.conclusion)}", page, re.MULTILINE):
                outdated.append(f"{name}: {identity}")
    assert outdated == []


def test_runs_of_one_page_have_names_of_their_own(articles: ModuleType) -> None:
    """Two runs on one server differ in engine or readers, and their verdicts say so."""
    for paper in articles.PAPERS.values():
        words = [run.words for run in paper.runs]
        assert len(set(words)) == len(words)
