"""The one-file form of mycnf unpacks itself once and then works as an installed one."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def zipapp(wheel: Path, checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """mycnf.pyz without audit's dependencies, which would need a network here."""
    out = tmp_path_factory.mktemp("zipapp") / "mycnf.pyz"
    tool = [
        sys.executable,
        str(checkout / "tools" / "onefile" / "build.py"),
        "--no-deps",
        "--wheel",
        str(wheel),
        str(out),
    ]
    subprocess.run(tool, capture_output=True, timeout=600, check=True)
    return out


def test_is_the_same_to_the_byte(zipapp: Path, wheel: Path, checkout: Path, tmp_path: Path) -> None:
    """Built again, elsewhere and later, it is the same; SOURCE_DATE_EPOCH is the time that its files bear."""
    build = [sys.executable, str(checkout / "tools" / "onefile" / "build.py"), "--no-deps", "--wheel", str(wheel)]
    plain = {k: v for k, v in os.environ.items() if k != "SOURCE_DATE_EPOCH"}
    for name, environment in (("again", plain), ("dated", {**plain, "SOURCE_DATE_EPOCH": "1700000000"})):
        subprocess.run([*build, str(tmp_path / name)], env=environment, capture_output=True, timeout=600, check=True)
    if "SOURCE_DATE_EPOCH" not in os.environ:
        assert (tmp_path / "again").read_bytes() == zipapp.read_bytes()
    with zipfile.ZipFile(tmp_path / "dated") as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(2023, 11, 14, 22, 13, 20)}


def run(zipapp: Path, *arguments: str, cache: Path) -> subprocess.CompletedProcess[str]:
    """Run the file by a Python that sees neither the checkout nor the environment's variables."""
    return subprocess.run(
        [sys.executable, "-I", str(zipapp), *arguments],
        env={"PATH": os.environ["PATH"], "HOME": str(cache), "XDG_CACHE_HOME": str(cache), "COLUMNS": "80"},
        cwd=zipapp.parent,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def test_lints_out_of_the_zip(zipapp: Path, checkout: Path, tmp_path: Path) -> None:
    """The zip lints with the catalogs that are inside it."""
    ran = run(zipapp, "lint", "--target", "mysql-8.4", str(checkout / "examples" / "refused.cnf"), cache=tmp_path)
    assert (ran.returncode, ran.stderr) == (1, "")
    assert "unknown-option" in ran.stdout


def test_unpacks_once(zipapp: Path, tmp_path: Path) -> None:
    """The second run finds what the first one unpacked, readable by its owner alone, and leaves nothing half-made."""
    run(zipapp, "--version", cache=tmp_path)
    (folder,) = (tmp_path / "mycnf" / "zipapp").iterdir()
    assert folder.stat().st_mode & 0o077 == 0
    made = folder.stat().st_mtime_ns
    assert run(zipapp, "--version", cache=tmp_path).stdout.startswith("mycnf ")
    (again,) = (tmp_path / "mycnf" / "zipapp").iterdir()
    assert (again, again.stat().st_mtime_ns) == (folder, made)


def test_says_where_it_cannot_unpack(zipapp: Path, tmp_path: Path) -> None:
    """A cache that can't be written is one line with the remedy."""
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where a folder should be")
    ran = run(zipapp, "--version", cache=blocked)
    assert ran.returncode == 1
    assert ran.stderr.count("\n") == 1
    assert "XDG_CACHE_HOME" in ran.stderr
