"""The shape of the code: how many files, how long, which class names occur twice, and no import circles.

A limit rises only if a review accepts the reason.
"""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

PACKAGES = ("advisor", "rules", "probes")
MOST_FILES = 480
MOST_LINES = 450
# Files of 60 lines or fewer that exactly one other module imports, and why they stand alone.
SMALL_LINES = 60
COMMAND = "a command has a module of its own, which is imported when the command runs"
SMALL_FILES = {"advisor/commands/completion.py": COMMAND, "advisor/commands/grants.py": COMMAND}
# Functions are named by what they do or return; properties, which are values, may be adjectives.
PARTICIPLE = (
    r"_*([a-z]*[a-z]ed|told|said|found|kept|whole|fine|known|own|shown|written|given|taken|held|hidden|left|seen|short)"
)
# Names that say nothing of a value: for a binding and the line after it only.
VAGUE = frozenset({"found", "heard", "it", "one", "said", "stuff", "thing", "things", "told"})
SCOPES = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)
MOST_SHARED_CLASS_NAMES = 0.08  # of all classes, those whose name another class has too


@cache
def modules(checkout: Path) -> dict[str, ast.Module]:
    """The syntax trees of the product's modules by dotted name."""
    files = [path for package in PACKAGES for path in sorted((checkout / package).rglob("*.py"))]
    return {module_name(path.relative_to(checkout)): ast.parse(path.read_text()) for path in files}


def module_name(path: Path) -> str:
    """The dotted name of a file."""
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def lines_of(checkout: Path) -> dict[str, int]:
    """The lines of each file by its path in the checkout."""
    files = [path for package in PACKAGES for path in (checkout / package).rglob("*.py")]
    return {path.relative_to(checkout).as_posix(): len(path.read_text().splitlines()) for path in files}


def imports_of(name: str, tree: ast.Module, known: dict[str, ast.Module]) -> set[str]:
    """The modules of the product that a module imports anywhere: at the top, in functions and for type checking."""
    imported: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            paths = [f"{node.module}.{alias.name}" for alias in node.names]
            imported.update(path if path in known else node.module for path in paths)
        elif isinstance(node, ast.Import):
            imported.update(alias.name for alias in node.names)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "writer_in":
            imported.add(ast.literal_eval(node.args[0]))  # the registry of formats imports writers by name
    return {module for module in imported if module in known and module != name}


@cache
def import_graph(checkout: Path) -> dict[str, set[str]]:
    """What each module imports."""
    known = modules(checkout)
    return {name: imports_of(name, tree, known) for name, tree in known.items()}


def circles(graph: dict[str, set[str]]) -> Iterator[list[str]]:
    """Groups of modules each of which imports, over others, all the rest: Tarjan's algorithm."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []

    def visit(module: str) -> Iterator[list[str]]:
        index[module] = low[module] = len(index)
        stack.append(module)
        for other in sorted(graph[module]):
            if other not in index:
                yield from visit(other)
                low[module] = min(low[module], low[other])
            elif other in stack:
                low[module] = min(low[module], index[other])
        if low[module] == index[module]:
            at = stack.index(module)
            group = stack[at:]
            del stack[at:]
            if len(group) > 1:
                yield sorted(group)

    for module in graph:
        if module not in index:
            yield from visit(module)


def test_number_of_files(checkout: Path) -> None:
    """A concept has one file: a new file replaces another or needs a higher limit, which a review has to accept."""
    assert len(modules(checkout)) <= MOST_FILES, "put the code into the module of its concept, or raise MOST_FILES"


def test_length_of_files(checkout: Path) -> None:
    """No file is longer than the limit."""
    longer = {path: lines for path, lines in lines_of(checkout).items() if lines > MOST_LINES}
    assert not longer, "move one of its concepts into the module where it belongs"


def test_small_files_with_one_importer(checkout: Path) -> None:
    """A file so small and so private belongs into the module that imports it, unless it has a reason not to."""
    importers: dict[str, set[str]] = defaultdict(set)
    for module, imported in import_graph(checkout).items():
        for other in imported:
            importers[other].add(module)
    small = {
        path
        for path, lines in lines_of(checkout).items()
        if lines <= SMALL_LINES and not path.endswith("__init__.py") and len(importers[module_name(Path(path))]) == 1
    }
    assert small == SMALL_FILES.keys(), "move it into its importer, or name the reason in SMALL_FILES"


def test_class_names_that_occur_twice(checkout: Path) -> None:
    """A class has a name of its own; few names are used for two classes."""
    trees = modules(checkout).values()
    names = Counter(node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    shared = {name: count for name, count in names.items() if count > 1}
    assert sum(shared.values()) <= MOST_SHARED_CLASS_NAMES * names.total(), shared


def test_function_names(checkout: Path) -> None:
    """No function has a participle or an adjective alone for its name: told, found, wrapped."""
    named = [
        f"{module}.{node.name}"
        for module, tree in modules(checkout).items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and re.fullmatch(PARTICIPLE, node.name)
        and not any("property" in ast.unparse(decorator) for decorator in node.decorator_list)
    ]
    assert named == []


def test_class_names(checkout: Path) -> None:
    """No class has a participle alone for its name; messages of textual, which are events, have one by convention."""
    named = [
        f"{module}.{node.name}"
        for module, tree in modules(checkout).items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        and re.fullmatch(PARTICIPLE, node.name.lower())
        and len(re.findall("[A-Z]", node.name)) == 1
        and not any(ast.unparse(base) == "Message" for base in node.bases)
    ]
    assert named == []


def own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a scope and the scopes in it, without what is in those."""
    todo = list(ast.iter_child_nodes(scope))
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, SCOPES):
            todo += ast.iter_child_nodes(node)


def bound_names(scope: ast.AST) -> set[str]:
    """The parameters and local variables of a scope."""
    return {
        node.arg if isinstance(node, ast.arg) else node.id
        for node in own_nodes(scope)
        if isinstance(node, ast.arg) or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    }


def lines_with(name: str, scope: ast.AST) -> Iterator[int]:
    """The lines that bind or use a name of this scope, in inner scopes too unless they have one of that name."""
    for node in own_nodes(scope):
        if (isinstance(node, ast.Name) and node.id == name) or (isinstance(node, ast.arg) and node.arg == name):
            yield node.lineno
        elif isinstance(node, SCOPES) and name not in bound_names(node):
            yield from lines_with(name, node)


def vague_bindings(tree: ast.AST) -> Iterator[str]:
    """Line and name of each vague name that lives for more than two lines."""
    scopes = [node for node in ast.walk(tree) if isinstance(node, SCOPES)]
    for scope in scopes:
        for name in sorted(bound_names(scope) & VAGUE):
            lines = list(lines_with(name, scope))
            if max(lines) - min(lines) > 1:
                yield f"{min(lines)} {name}"


def test_vague_names_are_for_two_lines(checkout: Path) -> None:
    """A value that is used further on has a name that says what it is."""
    tools = sorted((checkout / "tools").rglob("*.py"))
    trees = {**modules(checkout), **{str(path.relative_to(checkout)): ast.parse(path.read_text()) for path in tools}}
    assert [f"{module}:{place}" for module, tree in trees.items() for place in vague_bindings(tree)] == []


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def f():\n    found = 1\n    return found", []),
        ("def f():\n    found = 1\n    g()\n    return found", ["2 found"]),
        ("def f(one):\n    g()\n    return lambda: one", ["1 one"]),
        ("def f(one):\n    g(one)\n    h()\n    return [one for one in h()]", []),
        ("def f():\n    return [\n        g(one)\n        for a in b\n        for one in a\n    ]", ["3 one"]),
    ],
)
def test_vague_names_are_noticed(code: str, expected: list[str]) -> None:
    """A name counts from its binding to its last use, and an inner scope's own name apart."""
    assert list(vague_bindings(ast.parse(code))) == expected


def test_no_import_circles(checkout: Path) -> None:
    """Modules import in one direction, in functions and for type checking too."""
    assert [" <> ".join(circle) for circle in circles(import_graph(checkout))] == []


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        ({"a": {"b"}, "b": {"c"}, "c": set()}, []),
        ({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}, [["a", "b", "c"]]),
        ({"a": {"b"}, "b": {"a"}, "c": {"d", "a"}, "d": {"c"}}, [["a", "b"], ["c", "d"]]),
    ],
)
def test_circles_are_found(graph: dict[str, set[str]], expected: list[list[str]]) -> None:
    """The search for circles finds each of them once."""
    assert list(circles(graph)) == expected
