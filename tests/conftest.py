"""What all tests share: the way to the shared material, and the real servers."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "plugins"), str(HERE.parent / "tools" / "fuzz")]

pytest_plugins = ["servers_plugin", "started_files"]


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared material; the test skips by name where it is not at hand."""
    folder = Path(os.environ.get("MYCNF_SHARED", HERE.parent.parent / "shared"))
    if not folder.is_dir():
        pytest.skip(f"shared material is not at hand (MYCNF_SHARED={folder})")
    return folder
