"""The wheel holds the three packages with their data, and works where nothing else is installed."""

from __future__ import annotations

import os
import shutil
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
    subprocess.run([*pip, "--no-deps", "--no-index", str(wheel)], capture_output=True, timeout=600, check=True)
    return folder / "bin"


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder and a home of its own, far from the checkout."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "COLUMNS": "80"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False
    )


def test_holds_three_packages(wheel: Path) -> None:
    """At the top of the wheel stand our three packages, its own metadata and what goes to share, nothing else."""
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.partition("/")[0] for name in archive.namelist()}
    assert {t for t in tops if not t.endswith((".dist-info", ".data"))} == {"advisor", "rules", "probes"}


def test_the_command_imports_nothing_itself(empty_environment: Path) -> None:
    """The installed command is our script, executable and without the imports of those that pip writes."""
    script = empty_environment / "mycnf"
    assert os.access(script, os.X_OK)
    imports = [line for line in script.read_text().splitlines() if "import" in line and not line.startswith("#")]
    assert imports == ["from advisor.__main__ import entry"]


def test_what_man_and_shells_find(empty_environment: Path, checkout: Path) -> None:
    """Man page and completions lie where man and the shells look below the prefix of an installation."""
    share = empty_environment.parent / "share"
    found = {str(path.relative_to(share)): path.read_bytes() for path in share.rglob("*") if path.is_file()}
    completions = checkout / "advisor" / "completions"
    assert found == {
        "man/man1/mycnf.1": (checkout / "docs" / "man" / "mycnf.1").read_bytes(),
        "bash-completion/completions/mycnf": (completions / "mycnf.bash").read_bytes(),
        "zsh/site-functions/_mycnf": (completions / "mycnf.zsh").read_bytes(),
        "fish/vendor_completions.d/mycnf.fish": (completions / "mycnf.fish").read_bytes(),
    }


def test_holds_every_source_and_data_file(wheel: Path, checkout: Path) -> None:
    """Each module, catalog, evidence file, style and script of the checkout is in the wheel, byte for byte."""
    with zipfile.ZipFile(wheel) as archive:
        packed = {name: archive.read(name) for name in archive.namelist()}
    kinds = {".py", ".json", ".toml", ".css", ".js", ".tcss", ".bash", ".zsh", ".fish"}
    here = {
        str(path.relative_to(checkout)): path.read_bytes()
        for package in ("advisor", "rules", "probes")
        for path in (checkout / package).rglob("*")
        if path.suffix in kinds
    }
    assert {name for name in here if name.endswith(".json")}
    assert {name for name in here if name.endswith(".toml")}
    assert "advisor/report/render/page.css" in here
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


def test_completes_without_dependencies(empty_environment: Path, checkout: Path, tmp_path: Path) -> None:
    """The completions are in the wheel, too."""
    ran = run([str(empty_environment / "mycnf"), "completion", "bash"], tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == (checkout / "advisor" / "completions" / "mycnf.bash").read_text()


def test_the_source_archive_builds_the_same_wheel(checkout: Path, tmp_path: Path) -> None:
    """The sdist holds all that a wheel is made of: the one that is built from it is the same to the byte."""
    source = tmp_path / "checkout"  # a copy, for the checkout may change between two builds
    shutil.copytree(checkout, source, ignore=shutil.ignore_patterns(".git", ".venv", "dist", ".*_cache", "__pycache__"))
    packed = tmp_path / "packed"
    wheel, archive = build("wheel", source, packed), build("sdist", source, packed)
    subprocess.run(["tar", "-xzf", str(archive), "-C", str(packed)], timeout=600, check=True)
    (unpacked,) = (path for path in packed.iterdir() if path.is_dir())
    assert build("wheel", unpacked, tmp_path / "again").read_bytes() == wheel.read_bytes()
    assert (unpacked / "action.yml").is_file()


def build(what: str, source: Path, out: Path) -> Path:
    """The sdist or wheel of a source, as make builds it."""
    command = [sys.executable, "-m", "build", f"--{what}", "--no-isolation", "--outdir", str(out), str(source)]
    subprocess.run(command, capture_output=True, timeout=300, check=True)
    return next(out.glob("*.whl" if what == "wheel" else "*.tar.gz"))
