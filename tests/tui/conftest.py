"""Each test of the app has a state and a configuration of its own."""

from __future__ import annotations

from pathlib import Path

import controlled_experiment
import pytest
from simulated_scan import Scans

from probes import registry


@pytest.fixture(autouse=True)
def own_places(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """State and configuration in a directory of the test's own."""
    place = tmp_path_factory.mktemp("own")
    monkeypatch.setenv("XDG_STATE_HOME", str(place))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(place))
    return place


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> Scans:
    """The only experiment of the list."""
    experiment = Scans()
    monkeypatch.setattr(controlled_experiment, "EXPERIMENT", experiment)
    monkeypatch.setattr(registry, "MODULES", {"read-buffer": "controlled_experiment"})
    return experiment
