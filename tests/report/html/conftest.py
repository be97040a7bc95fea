"""A browser for the pages, and axe-core, which judges how well everybody can use them; both are no part of ours."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Tab, browsing

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "mycnf" / "axe"
PACKAGE = "axe-core@4.10.3"


@pytest.fixture(scope="session")
def shared_tab() -> Iterator[Tab]:
    """One browser for all tests; skipped by name where there is none."""
    with browsing() as tab:
        yield tab


@pytest.fixture
def tab(shared_tab: Tab) -> Iterator[Tab]:
    """The browser as it starts: light, on a screen."""
    yield shared_tab
    shared_tab.call("Emulation.setEmulatedMedia", media="", features=[])


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The script of axe-core, brought from the registry once; skipped by name where it can't be had."""
    kept = CACHE / f"{PACKAGE}.js"
    if not kept.exists():
        if shutil.which("npm") is None:
            pytest.skip("axe-core can't be had: npm is not installed")
        folder = tmp_path_factory.mktemp("axe")
        ran = subprocess.run(
            ["npm", "pack", "--silent", PACKAGE], cwd=folder, capture_output=True, timeout=300, check=False
        )
        archives = list(folder.glob("*.tgz"))
        if ran.returncode or not archives:
            pytest.skip(f"{PACKAGE} can't be had: npm or its registry is out of reach")
        CACHE.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(_script(archives[0].read_bytes()))
    return kept.read_text(encoding="utf-8")


def _script(archive: bytes) -> bytes:
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        opened = packed.extractfile("package/axe.min.js")
        assert opened is not None
        return opened.read()
