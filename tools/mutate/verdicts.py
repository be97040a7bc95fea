"""Mutants of the verdict, each in a copy of the checkout and tested with the verdict's tests."""

from __future__ import annotations

import ast
import glob
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from changes import apply_mutant, mutants

PACKAGE, TESTS = os.path.join("advisor", "verdict"), os.path.join("tests", "verdict")


class ChangedModule(NamedTuple):
    """A module of the verdict with one change: its path, the line, a description, and the changed text."""

    path: str
    line: int
    change: str
    text: str


def try_verdicts(top: str, paths: Sequence[str], sample: int, seed: int) -> bool:
    """Try a sample of the changes, print those that no test detects, and return whether there were none."""
    changes = [mutant for path in paths or _modules(top) for mutant in _changed_verdicts(top, path)]
    chosen = random.Random(seed).sample(changes, min(sample, len(changes)))  # noqa: S311 - no secret
    with tempfile.TemporaryDirectory() as folder:
        tree = os.path.join(folder, "tree")
        shutil.copytree(top, tree, ignore=shutil.ignore_patterns(".venv", ".git", "__pycache__", "dist", "build"))
        if not _pass(tree):
            sys.exit(f"mutate: {TESTS} must pass before anything is changed")
        survivors = [mutant for mutant in sorted(chosen) if _survives(top, tree, mutant)]
    print(f"verdict: {len(chosen)} of {len(changes)} changes tried, {len(survivors)} not noticed")
    return not survivors


def _modules(top: str) -> list[str]:
    return sorted(os.path.relpath(path, top) for path in glob.glob(os.path.join(top, PACKAGE, "*.py")))


def _changed_verdicts(top: str, path: str) -> Iterator[ChangedModule]:
    with open(os.path.join(top, path), encoding="utf-8") as file:
        tree = ast.parse(file.read())
    for mutant in mutants(tree):
        with apply_mutant(mutant):
            yield ChangedModule(path, mutant.line, mutant.change, ast.unparse(tree))


def _survives(top: str, tree: str, mutant: ChangedModule) -> bool:
    path = os.path.join(tree, mutant.path)
    with open(path, "w", encoding="utf-8") as file:
        file.write(mutant.text)
    survives = _pass(tree)
    shutil.copy(os.path.join(top, mutant.path), path)
    if survives:
        print(f"{mutant.path}:{mutant.line}: no test notices {mutant.change}", flush=True)
    return survives


def _pass(tree: str) -> bool:
    """Whether the tests pass; a timeout counts as failed."""
    pytest = [sys.executable, "-m", "pytest", "-q", "-x", TESTS]
    try:
        return subprocess.run(pytest, cwd=tree, capture_output=True, timeout=600, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False
