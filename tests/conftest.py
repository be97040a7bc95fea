"""What all tests share: the way to the shared material, and the real servers."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "plugins"), *(str(HERE.parent / "tools" / tool) for tool in ("fuzz", "lab", "mutate"))]

pytest_plugins = ["servers_plugin", "started_files", "failed_list"]

# How long an example takes is for the benchmarks to say: hosts that are busy would fail tests at random.
settings.register_profile("clockless", deadline=None)
settings.load_profile("clockless")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared material; the test skips by name where it is not at hand."""
    folder = Path(os.environ.get("MYCNF_SHARED", HERE.parent.parent / "shared"))
    if not folder.is_dir():
        pytest.skip(f"shared material is not at hand (MYCNF_SHARED={folder})")
    return folder
