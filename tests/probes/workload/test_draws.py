"""Our own driver picks rows as sysbench does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from probes.workload.own_driver import percentile
from probes.workload.worker import PER_DOUBLING, KeyDraw, WorkerOrders

DRAWS = 20_000


def orders(**fields: Any) -> WorkerOrders:
    """Orders for one connection to a table of 1,000 rows."""
    numbers = {"tables": 1, "rows": 1000, "span": 100, "connections": 1, "seconds": 1, "seed": 1}
    words = {"socket": "", "database": "", "go": "", "kind": "uniform"}
    others = {"login": {}, "steps": [], "bracketed": False, "connecting": False, "keys_file": None}
    return WorkerOrders({**numbers, **words, **others, **fields})


@pytest.mark.parametrize(("kind", "share"), [("uniform", 0.2), ("pareto", 0.8)])
def test_pareto_puts_four_fifths_on_the_first_fifth(kind: str, share: float) -> None:
    """That is what a shape of 0.2 means; uniform draws put a fifth there. All rows can be drawn, no other."""
    draw = KeyDraw(orders(kind=kind), seed=7)
    ids = [draw.values()["id"] for _ in range(DRAWS)]
    assert sum(number <= 200 for number in ids) / DRAWS == pytest.approx(share, abs=0.015)
    assert min(ids) == 1
    assert max(ids) == 1000


def test_keys_are_drawn_from_their_file_alone(tmp_path: Path) -> None:
    """A file of keys bounds what is drawn, and each of them is."""
    (tmp_path / "keys").write_text("5\n17\n900\n")
    draw = KeyDraw(orders(keys_file=str(tmp_path / "keys")), seed=7)
    assert {draw.values()["id"] for _ in range(200)} == {5, 17, 900}


def test_texts_have_sysbench_shapes_and_equal_seeds_draw_equally() -> None:
    """c is ten groups of eleven digits, pad five; the range ends span rows on."""
    values, again = (KeyDraw(orders(tables=3), seed=3).values() for _ in range(2))
    assert [len(group) for group in values["c"].split("-")] == [11] * 10
    assert [len(group) for group in values["pad"].split("-")] == [11] * 5
    assert values["end"] == values["id"] + 99
    assert values["table"] in ("sbtest1", "sbtest2", "sbtest3")
    assert (values["id"], values["table"]) == (again["id"], again["table"])


def test_a_percentile_is_right_to_a_bucket() -> None:
    """Of 95 fast and 5 slow transactions the 95th is fast, the 96th slow."""
    fast, slow = -9 * PER_DOUBLING, -3 * PER_DOUBLING  # 2^-9 s and 2^-3 s
    latencies = {fast: 95, slow: 5}
    assert percentile(latencies, 0.95) == pytest.approx(1000 / 512, rel=0.05)
    assert percentile(latencies, 0.96) == pytest.approx(1000 / 8, rel=0.05)
    assert percentile({}, 0.95) == 0.0
