"""What the host reader's tests share: trees made by hand, and the recorded machines."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from advisor.collect.host.root import DirectoryRoot

if TYPE_CHECKING:
    from collections.abc import Callable

SHARED = Path(os.environ.get("MYCNF_SHARED", Path(__file__).resolve().parents[4] / "shared"))
RECORDED = {"lscpu_machine": ("lscpu", "*.tar.gz"), "lsblk_machine": ("lsblk", "*.tar.xz")}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test every recorded machine of its kind: all that are in the folder, none by name."""
    for fixture, (folder, pattern) in RECORDED.items():
        if fixture in metafunc.fixturenames:
            found = sorted((SHARED / "hardware" / folder).glob(pattern))
            reason = f"no recorded machines (MYCNF_SHARED={SHARED})"
            absent = [pytest.param(None, marks=pytest.mark.skip(reason=reason), id="none")]
            metafunc.parametrize(fixture, found or absent, ids=lambda path: path and path.name.split(".tar")[0])


@pytest.fixture
def tree(tmp_path: Path) -> Callable[[dict[str, str]], DirectoryRoot]:
    """Make a root from paths and texts; a text that begins with "-> " makes a link, an empty name a directory."""

    def make(files: dict[str, str]) -> DirectoryRoot:
        for name, text in files.items():
            path = tmp_path / name.lstrip("/")
            path.parent.mkdir(parents=True, exist_ok=True)
            if name.endswith("/"):
                path.mkdir(exist_ok=True)
            elif text.startswith("-> "):
                path.symlink_to(text[3:])
            else:
                path.write_text(text)
        return DirectoryRoot(str(tmp_path))

    return make
