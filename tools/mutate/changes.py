"""The small changes of a module: each one makes a mutant, which some test should detect.

Changed are comparisons (< to <=, == to !=, in to not in), numbers, compared strings, `and` and `or`, `not`, sums and
products, True and False, and each `return` is removed. Declarations and texts are not changed, because no condition
depends on them: the arguments of @rule except its targets, docs, annotations, messages (the first argument of
`finding`, every f-string, `help`, `risk` and `watch`), the choice between two sentences, and functions that return
only sentences.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

SWAPS: dict[type[ast.AST], type[Any]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult,
}  # fmt: skip
DECLARED = {"targets"}  # the decorator's arguments that decide where a rule applies
SAID = {"help", "risk", "watch"}
STATEMENTS = ("f'SET ", 'f"SET ')  # these are statements for a server, not sentences
BLOCKS = ("body", "orelse", "finalbody")


class Mutant(NamedTuple):
    """One change: its line, a description, and the node of the module's tree with the new value of a field."""

    line: int
    change: str
    node: ast.AST
    field: str
    value: object


@contextmanager
def apply_mutant(mutant: Mutant) -> Iterator[None]:
    """Apply the change to the mutant's tree, and undo it at the end."""
    before = getattr(mutant.node, mutant.field)
    setattr(mutant.node, mutant.field, mutant.value)
    try:
        yield
    finally:
        setattr(mutant.node, mutant.field, before)


def mutants(tree: ast.AST) -> Iterator[Mutant]:
    """All changes of one module, in the order of lines."""
    yield from sorted(_below(tree), key=lambda mutant: mutant.line)


def _below(node: ast.AST) -> Iterator[Mutant]:
    if isinstance(node, ast.FunctionDef) and _speaks(node):
        return
    yield from _changes(node)
    for part in _deciding(node):
        yield from _below(part)


def _deciding(node: ast.AST) -> list[ast.AST]:
    """The parts of a node that conditions may depend on."""
    match node:
        case ast.FunctionDef():
            targets = [k.value for d in node.decorator_list for k in getattr(d, "keywords", ()) if k.arg in DECLARED]
            return [*targets, *node.args.defaults, *filter(None, node.args.kw_defaults), *node.body]
        case ast.AnnAssign():
            return [node.value] if node.value else []
        case ast.JoinedStr():
            return []
        case ast.IfExp() if _is_said(node.body) and _is_said(node.orelse):
            return []
        case ast.Call():
            found = isinstance(node.func, ast.Attribute) and node.func.attr == "finding"
            return [node.func, *node.args[found:], *(k.value for k in node.keywords if k.arg not in SAID)]
    return list(ast.iter_child_nodes(node))


def _is_said(node: ast.AST | None) -> bool:
    """Whether this is a sentence or a part of one, or empty; an option's name contains no blank."""
    match node:
        case ast.IfExp():
            return _is_said(node.body) and _is_said(node.orelse)
        case ast.JoinedStr():
            return any(map(_is_said, node.values)) and not ast.unparse(node).startswith(STATEMENTS)
        case ast.Constant(value=str() as text):
            return " " in text or not text
    return False


def _speaks(node: ast.FunctionDef) -> bool:
    """Whether a function returns only sentences."""
    returns = [n.value for n in ast.walk(node) if isinstance(n, ast.Return)]
    return bool(returns) and all(map(_is_said, returns))


def _changes(node: ast.AST) -> Iterator[Mutant]:
    """The changes of the node itself."""
    match node:
        case ast.Compare():
            yield from _comparison_mutants(node)
        case ast.BoolOp() | ast.BinOp() | ast.AugAssign() if type(node.op) in SWAPS:
            other = SWAPS[type(node.op)]
            yield Mutant(node.lineno, f"{type(node.op).__name__} made {other.__name__}", node, "op", other())
        case ast.UnaryOp(op=ast.Not()):
            twice = ast.copy_location(ast.UnaryOp(ast.Not(), node.operand), node)
            yield Mutant(node.lineno, "not taken away", node, "operand", twice)
        case ast.Constant(value=bool() as truth):
            yield Mutant(node.lineno, f"{truth} made {not truth}", node, "value", not truth)
        case ast.Constant(value=int() | float() as number):
            yield Mutant(node.lineno, f"{number} made {number + 1}", node, "value", number + 1)
    for block in BLOCKS:
        yield from _without_returns(node, block)


def _comparison_mutants(node: ast.Compare) -> Iterator[Mutant]:
    for number, sign in enumerate(node.ops):
        other = SWAPS[type(sign)]
        signs = [*node.ops[:number], other(), *node.ops[number + 1 :]]
        yield Mutant(node.lineno, f"{type(sign).__name__} made {other.__name__}", node, "ops", signs)
    sides = (node.left, *node.comparators)
    for word in (w for side in sides for w in (side.elts if isinstance(side, ast.Set | ast.Tuple) else [side])):
        if isinstance(word, ast.Constant) and isinstance(word.value, str):
            yield Mutant(word.lineno, f"{word.value!r} made another word", word, "value", f"{word.value}?")


def _without_returns(node: ast.AST, block: str) -> Iterator[Mutant]:
    found = getattr(node, block, None)
    steps: list[ast.stmt] = found if isinstance(found, list) else []
    for number, step in enumerate(steps):
        if isinstance(step, ast.Return):
            others = [*steps[:number], ast.copy_location(ast.Pass(), step), *steps[number + 1 :]]
            yield Mutant(step.lineno, "return taken away", node, block, others)
