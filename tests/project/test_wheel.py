"""The wheel holds the three packages with their data, and works where nothing else is installed."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def empty_environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the programs of an environment that holds the wheel and nothing that it depends on."""
    folder = tmp_path_factory.mktemp("empty")
    venv.create(folder, with_pip=False)
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install", "--quiet"]
    subprocess.run([*pip, "--no-deps", "--no-index", str(wheel)], capture_output=True, timeout=120, check=True)
    return folder / "bin"


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder and a home of its own, far from the checkout."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "COLUMNS": "80"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def test_holds_three_packages(wheel: Path) -> None:
    """At the top of the wheel stand our three packages and its own metadata, nothing else."""
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.partition("/")[0] for name in archive.namelist()}
    assert {t for t in tops if not t.endswith(".dist-info")} == {"advisor", "rules", "probes"}


def test_holds_every_source_and_data_file(wheel: Path, checkout: Path) -> None:
    """Each module, catalog and evidence file of the checkout is in the wheel, byte for byte."""
    with zipfile.ZipFile(wheel) as archive:
        packed = {name: archive.read(name) for name in archive.namelist()}
    kinds = {".py", ".json", ".toml"}
    here = {
        str(path.relative_to(checkout)): path.read_bytes()
        for package in ("advisor", "rules", "probes")
        for path in (checkout / package).rglob("*")
        if path.suffix in kinds
    }
    assert {name for name in here if name.endswith(".json")}
    assert {name for name in here if name.endswith(".toml")}
    assert {name: packed.get(name) for name in here} == here


def test_lints_without_dependencies(empty_environment: Path, checkout: Path, tmp_path: Path) -> None:
    """From an environment with nothing else in it, lint judges a file."""
    mycnf = str(empty_environment / "mycnf")
    assert run([mycnf, "--version"], tmp_path).stdout.startswith("mycnf ")
    ran = run([mycnf, "lint", "--target", "mysql-8.4", str(checkout / "examples" / "refused.cnf")], tmp_path)
    assert (ran.returncode, ran.stderr) == (1, "")
    assert "unknown-option" in ran.stdout


def test_explains_without_dependencies(empty_environment: Path, tmp_path: Path) -> None:
    """The evidence is in the wheel and explain finds it."""
    ran = run([str(empty_environment / "mycnf"), "explain", "oversized-read-buffer"], tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "128K" in ran.stdout
