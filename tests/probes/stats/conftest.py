"""Arms of given values."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from advisor.facts.probes import Arm, Block

Made = Callable[..., tuple[Arm, ...]]


@pytest.fixture
def arms() -> Made:
    """A function that makes arms from lists of values, one a round: arms(a=[1, 2], b=[2, 3])."""

    def made(**values: Sequence[float]) -> tuple[Arm, ...]:
        return tuple(
            Arm(name, {}, tuple(Block(place + 1, 0.0, 1.0, {"rate": value}) for place, value in enumerate(row)))
            for name, row in values.items()
        )

    return made
