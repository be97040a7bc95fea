"""What filters, sorts and unfolds a list of the page; the script shows it, as without one it would do nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.report.audit.html.findings import badge
from advisor.report.render.markup import Html, tag

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from advisor.core.model import Severity


def controls(counts: Mapping[Severity, int], orders: Iterable[tuple[str, str]], what: str) -> Html:
    """The controls of the list of `what`: a box a severity that is there, and the orders as (name, words)."""
    options = [tag("option", words, value=value) for value, words in orders]
    return tag(
        "div",
        tag("label", "Search ", tag("input", type="search", id="words", autocomplete="off")),
        tag("fieldset", tag("legend", "Severity"), *(_box(*pair) for pair in counts.items() if pair[1])),
        tag("label", "Sort by ", tag("select", *options, id="order")),
        tag("button", "Unfold all", type="button", id="unfold", aria_pressed="false"),
        tag("p", role="status", id="shown"),
        class_="controls",
        role="search",
        aria_label=f"Filter and sort {what}",
        hidden=True,
    )


def _box(severity: Severity, count: int) -> Html:
    box = tag("input", type="checkbox", value=severity.value, checked=True, class_="severity")
    return tag("label", box, " ", badge(severity), f" {count:,}")
