"""Change the rules and the verdict in small ways, one at a time, and list the changes that no test notices.

usage: mutate.py [--sample N] [--seed N] [FILE…]

Everything happens in a copy of the checkout. Exit 1 where a change survived.
"""

from __future__ import annotations

import argparse
import ast
import glob
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import Any, NamedTuple

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TESTS = {"rules": "tests/rules", "advisor/verdict": "tests/verdict"}
SWAPS: dict[type[ast.AST], type[Any]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult,
}  # fmt: skip


class Mutant(NamedTuple):
    """One change: the module's path in the checkout, its line, the number of the node in a walk, and what is done."""

    path: str
    line: int
    node: int
    change: str


def main() -> int:
    """Try a sample of all changes, each against the tests of its package."""
    args = _arguments()
    found = [mutant for path in args.files or _modules() for mutant in mutants(path)]
    chosen = random.Random(args.seed).sample(found, min(args.sample, len(found)))  # noqa: S311 - no secret
    with tempfile.TemporaryDirectory() as folder:
        tree = os.path.join(folder, "tree")
        shutil.copytree(TOP, tree, ignore=shutil.ignore_patterns(".venv", ".git", "__pycache__", "dist", "build"))
        for tests in sorted({_tests(m.path) for m in chosen}):
            if not _pass(tree, tests):
                sys.exit(f"mutate: {tests} must pass before anything is changed")
        survivors = [m for m in sorted(chosen) if _survives(tree, m)]
    print(f"{len(chosen)} of {len(found)} changes tried, {len(survivors)} not noticed")
    return int(bool(survivors))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="list the small changes that no test notices")
    parser.add_argument("--sample", type=int, default=100, help="how many to try (default: 100)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("files", nargs="*", help="modules of rules/ or advisor/verdict/ (default: all)")
    return parser.parse_args()


def _modules() -> list[str]:
    found = (p for package in TESTS for p in glob.glob(os.path.join(TOP, package, "*.py")))
    return sorted(os.path.relpath(p, TOP) for p in found)


def mutants(path: str) -> Iterator[Mutant]:
    """Every single change of one module."""
    for number, node in enumerate(ast.walk(_parsed(path))):
        for change in _changes(node):
            yield Mutant(path, getattr(node, "lineno", 0), number, change)


def _parsed(path: str) -> ast.Module:
    with open(os.path.join(TOP, path), encoding="utf-8") as file:
        return ast.parse(file.read())


def _text(mutant: Mutant) -> str:
    tree = _parsed(mutant.path)
    _apply(next(node for number, node in enumerate(ast.walk(tree)) if number == mutant.node))
    return ast.unparse(tree)


def _changes(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        yield f"{type(node.ops[0]).__name__} made {SWAPS[type(node.ops[0])].__name__}"
    elif isinstance(node, ast.BoolOp | ast.BinOp) and type(node.op) in SWAPS:
        yield f"{type(node.op).__name__} made {SWAPS[type(node.op)].__name__}"
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "not taken away"
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield f"{node.value} made {not node.value}"
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield f"{node.value} made {node.value + 1}"


def _apply(node: ast.AST) -> None:
    """Carry out the one change that `_changes` names for this node."""
    if isinstance(node, ast.Compare):
        node.ops[0] = SWAPS[type(node.ops[0])]()
    elif isinstance(node, ast.BoolOp | ast.BinOp):
        node.op = SWAPS[type(node.op)]()
    elif isinstance(node, ast.UnaryOp):
        node.operand = ast.UnaryOp(ast.Not(), node.operand)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        node.value = not node.value
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        node.value += 1


def _survives(tree: str, mutant: Mutant) -> bool:
    path = os.path.join(tree, mutant.path)
    with open(path, "w", encoding="utf-8") as file:
        file.write(_text(mutant))
    survives = _pass(tree, _tests(mutant.path))
    shutil.copy(os.path.join(TOP, mutant.path), path)
    if survives:
        print(f"{mutant.path}:{mutant.line}: no test notices {mutant.change}", flush=True)
    return survives


def _tests(path: str) -> str:
    return next(tests for package, tests in TESTS.items() if path.startswith(package))


def _pass(tree: str, tests: str) -> bool:
    """Whether the tests pass; ones that never end count as failed."""
    pytest = [sys.executable, "-m", "pytest", "-q", "-x", tests]
    try:
        return subprocess.run(pytest, cwd=tree, capture_output=True, timeout=600, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False


if __name__ == "__main__":
    sys.exit(main())
