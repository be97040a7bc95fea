"""Warm-ups of one block: what the experiments measure is tried here, and how long a server takes to settle is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from probes.server_probes import under_load

if TYPE_CHECKING:
    from collections.abc import Callable

    from probes.stop import StopSignal

UNTIL_THEY_AGREE = under_load.warm_up


@pytest.fixture(autouse=True)
def _one_block_warms_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under load a second of a warm-up is a second or two of processor time, and there is one for each variant."""

    def warm(block: Callable[[], float | None], _bound: float, stop: StopSignal) -> under_load.WarmUp:
        return under_load.WarmUp(0.0, True)

    monkeypatch.setattr(under_load, "warm_up", warm)
