"""action.yml is what GitHub takes for an action, and its steps, run as a runner runs them, do what its inputs say."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import advisor

# What GitHub documents for an action of steps; any other key is a mistake.
KEYS = {
    "": {"name", "author", "description", "inputs", "outputs", "runs", "branding"},
    "inputs": {"description", "required", "default", "deprecationMessage"},
    "outputs": {"description", "value"},
    "runs": {"using", "steps"},
    "steps": {"name", "id", "if", "shell", "run", "env", "working-directory", "uses", "with", "continue-on-error"},
}
GOOD = "[mysqld]\nmax_connections = 200\n"
BAD = "[mysqld]\ninnodb_bufer_pool_size = 1G\n"


@pytest.fixture(scope="session")
def action(checkout: Path) -> dict[str, Any]:
    """The action as YAML has it."""
    loaded: dict[str, Any] = yaml.safe_load((checkout / "action.yml").read_text())
    return loaded


@pytest.fixture(scope="session")
def runner(
    action: dict[str, Any], wheel: Path, checkout: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """What a job's steps find in their environment, after the step that installs mycnf, from the wheel of this tree."""
    folder = tmp_path_factory.mktemp("runner")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "RUNNER_TEMP": str(folder),
        "GITHUB_ACTIONS": "true",
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(wheel.parent),
        "PIP_NO_COMPILE": "0",  # nothing is compiled: pip takes the word for its option that does
    }
    inputs = {"version": advisor.__version__, "python": sys.executable}
    ran = step(action, 0, inputs, environment, folder, checkout)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.startswith("mycnf ")
    return environment


def step(
    action: dict[str, Any], number: int, inputs: dict[str, str], environment: dict[str, str], *places: Path
) -> subprocess.CompletedProcess[str]:
    """Run one step as GitHub's runner does: its expressions filled in, its script handed to bash with -eo pipefail.

    `places` are the folder that the step runs in and the one that holds the action.
    """
    folder, source = places
    asked = action["runs"]["steps"][number]
    given = {name: str(about.get("default", "")) for name, about in action["inputs"].items()} | inputs
    known = {"github.action_path": str(source), **{f"inputs.{name}": value for name, value in given.items()}}
    filled = {
        name: re.sub(r"\$\{\{ *([\w.-]+) *\}\}", lambda found: known[found[1]], text)
        for name, text in asked["env"].items()
    }
    script = folder / f"step-{number}.sh"
    script.write_text(asked["run"])
    output = folder / "output"
    output.write_text("")
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
        cwd=folder,
        env={**environment, **filled, "GITHUB_OUTPUT": str(output), "GITHUB_WORKSPACE": str(folder)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def linted(
    action: dict[str, Any], runner: dict[str, str], folder: Path, **inputs: str
) -> subprocess.CompletedProcess[str]:
    """Run the step that lints, in a repository with a good file and a bad one below deploy/."""
    for name, text in (("deploy/a/my.cnf", BAD), ("deploy/b c/good.cnf", GOOD), ("other.cnf", GOOD)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    given = {name.replace("_", "-"): value for name, value in inputs.items()}
    return step(action, 1, {"target": "mysql-8.4", **given}, runner, folder, folder)


def test_keys(action: dict[str, Any]) -> None:
    """Every key is one that GitHub knows, each step has its shell, and each expression names what there is."""
    assert set(action) <= KEYS[""]
    assert all(set(about) <= KEYS["inputs"] and about["description"] for about in action["inputs"].values())
    assert all(set(about) <= KEYS["outputs"] for about in action["outputs"].values())
    assert set(action["runs"]) == KEYS["runs"]
    assert action["runs"]["using"] == "composite"
    for one in action["runs"]["steps"]:
        assert set(one) <= KEYS["steps"]
        assert one["shell"] == "bash"
        assert "${{" not in one["run"]  # an input within a script would be a part of the script
    named = set(re.findall(r"\$\{\{ inputs\.([\w-]+) \}\}", json.dumps(action)))
    assert named == set(action["inputs"])


def test_packages_of_documents(action: dict[str, Any], checkout: Path) -> None:
    """For documents, the action installs what lint imports for them, in the ranges of pyproject.toml.

    msgspec is one: with a memory limit in a Compose file, lint has the facts of a host.
    """
    script = action["runs"]["steps"][0]["run"]
    installed = set(re.findall(r'"([A-Za-z][\w-]*>=[\d.]+)"', script))
    assert installed <= set(tomllib.loads((checkout / "pyproject.toml").read_text())["project"]["dependencies"])
    assert {name.partition(">")[0] for name in installed} == {"PyYAML", "tree-sitter", "tree-sitter-hcl", "msgspec"}


def test_a_host_in_the_configuration(action: dict[str, Any], wheel: Path, checkout: Path, tmp_path: Path) -> None:
    """With the memory of the host in a mycnf.toml, the step that installs asks pip for msgspec, and for no parser."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "RUNNER_TEMP": str(tmp_path),
        "PIP_NO_INDEX": "1",  # so that pip says what it misses
        "PIP_FIND_LINKS": str(wheel.parent),
    }
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "mycnf.toml").write_text('ram = "64G"\n')
    inputs = {"version": advisor.__version__, "python": sys.executable, "files": "etc/my.cnf"}
    ran = step(action, 0, inputs, environment, tmp_path, checkout)
    assert ran.returncode != 0
    assert "msgspec>=0.19" in ran.stderr
    assert "PyYAML" not in ran.stderr


def test_a_validator_agrees(checkout: Path) -> None:
    """action-validator, which carries the schema that editors use, has no findings."""
    validator = shutil.which("action-validator")
    if validator is None:
        pytest.skip("needs action-validator (npm install @action-validator/core @action-validator/cli)")
    ran = subprocess.run(
        [validator, str(checkout / "action.yml")], capture_output=True, text=True, timeout=600, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_annotates_and_fails(action: dict[str, Any], runner: dict[str, str], tmp_path: Path) -> None:
    """A pattern finds the files at any depth, and a finding is an annotation and fails the step."""
    ran = linted(action, runner, tmp_path, files="deploy/**/*.cnf\n")
    assert ran.returncode == 1
    assert re.search(r"^::error file=deploy/a/my\.cnf,line=2,.*unknown-option", ran.stdout, re.MULTILINE)


def test_files_are_lines(action: dict[str, Any], runner: dict[str, str], tmp_path: Path) -> None:
    """Names with blanks are whole, and good files pass."""
    ran = linted(action, runner, tmp_path, files="deploy/b c/good.cnf\n\nother.cnf\n", target="mysql-8.4 mariadb-10.11")
    assert (ran.returncode, ran.stdout) == (0, "")


def test_sarif_and_threshold(action: dict[str, Any], runner: dict[str, str], tmp_path: Path) -> None:
    """SARIF is written where it is asked for and named as the step's output; `never` lets the step pass."""
    ran = linted(action, runner, tmp_path, files="deploy/a/my.cnf", sarif="mycnf.sarif", fail_on="never")
    assert ran.returncode == 0
    assert json.loads((tmp_path / "mycnf.sarif").read_text())["runs"][0]["results"]
    assert (tmp_path / "output").read_text() == "sarif=mycnf.sarif\n"


def test_what_fits_nothing(action: dict[str, Any], runner: dict[str, str], tmp_path: Path) -> None:
    """A pattern without a file, and no files at all, are errors and no silence."""
    missing = linted(action, runner, tmp_path, files="etc/*.cnf")
    assert missing.returncode == 2
    assert "etc/*.cnf" in missing.stderr + missing.stdout
    assert linted(action, runner, tmp_path, files="\n").returncode == 2


def test_inputs_are_no_code(action: dict[str, Any], runner: dict[str, str], tmp_path: Path) -> None:
    """What an input says is never run."""
    linted(action, runner, tmp_path, files="$(touch run)\n`touch run`\n", target="$(touch${IFS}run)")
    assert not (tmp_path / "run").exists()


@pytest.mark.whole  # one more installation, seven seconds of a processor: the others install the wheel of this tree
def test_the_ref_of_the_action(action: dict[str, Any], checkout: Path, tmp_path: Path) -> None:
    """Without a version the action's own files are installed; pip needs an index then, for what builds them."""
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "RUNNER_TEMP": str(tmp_path)}
    environment["PIP_NO_COMPILE"] = "0"
    ran = step(action, 0, {"python": sys.executable}, environment, tmp_path, checkout)
    if ran.returncode and "hatchling" in ran.stderr:
        pytest.skip("needs a package index that pip can reach")
    assert (ran.returncode, ran.stdout) == (0, f"mycnf {advisor.__version__}\n"), ran.stderr
