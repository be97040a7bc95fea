"""The rules' modules and their imports; executes changed modules next to the real ones."""

from __future__ import annotations

import ast
import glob
import os
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from types import CodeType, ModuleType
from typing import NamedTuple

import rules.core as rule_module
from rules import all_rules

# Modules that no case can test, and what tests them instead.
LEFT_OUT = {
    "rules": "tests/rules/test_registry.py",
    "rules.core": "tests/rules/test_registry.py",
    "rules.core.context": "tests/rules/test_context.py, since a case builds its context once",
    "rules.core.subject": "tests/fixing, with all places and edits",
    "rules.core.fixes": "tests/fixing, with all places and edits",
    "rules.core.passed": "tests/rules/test_passed.py",
    "rules.core.areas": "tests/rules/test_evidence.py",
    "rules.policy.house_rule": "tests/config, since house rules are read before any rule runs",
    "rules.optionfile.suppressions": "tests/suppress, since it runs after all other rules",
    "rules.measured.claims": "tests/rules/test_claims.py",
    "rules.measured.compare": "tests/rules/test_local_results.py",
    "rules.measured.answers": "tests/rules/test_local_results.py",
    "rules.measured.apply": "tests/rules/test_local_results.py",
}


class Module(NamedTuple):
    """One module: its dotted name, its file, its tree, its code, and the modules of its package that it imports."""

    name: str
    path: str
    tree: ast.Module
    code: CodeType
    imports: frozenset[str]


def read(name: str, path: str) -> Module:
    """Read the module with that name."""
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    imports = {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module}
    return Module(name, path, tree, compile_tree(tree, path), frozenset(imports))


def rule_modules(top: str) -> dict[str, Module]:
    """All modules of rules/ that cases can test, by dotted name; also imports the real ones."""
    all_rules()
    paths = sorted(glob.glob(os.path.join(top, "rules", "**", "*.py"), recursive=True))
    names = {_dotted_name(os.path.relpath(path, top)): path for path in paths}
    return {name: read(name, path) for name, path in names.items() if name not in LEFT_OUT}


def _dotted_name(path: str) -> str:
    return path.removesuffix(".py").replace(os.sep, ".").removesuffix(".__init__")


def compile_tree(tree: ast.Module, path: str) -> CodeType:
    """Compile a module's tree."""
    return compile(tree, path, "exec", dont_inherit=True)


def concerned_modules(name: str, modules: Mapping[str, Module]) -> list[str]:
    """A module and all modules that import it, directly or indirectly, in import order."""
    concerned = {name}
    while more := {m.name for m in modules.values() if m.imports & concerned} - concerned:
        concerned |= more
    return in_order(concerned, modules)


def in_order(names: Collection[str], modules: Mapping[str, Module]) -> list[str]:
    """The modules in import order."""
    ordered: list[str] = []
    while left := sorted(set(names).difference(ordered)):
        ordered.append(next((n for n in left if modules[n].imports.isdisjoint(left)), left[0]))
    return ordered


@contextmanager
def carried_out(codes: Mapping[str, CodeType]) -> Iterator[dict[str, rule_module.Rule]]:
    """Execute modules in this order, and yield the rules that they register, by name.

    The state is restored afterwards. In the context, imports find them instead of the real ones. Raises whatever they
    raise.
    """
    real = {name: sys.modules.get(name) for name in codes}
    listed, taken = rule_module.RULES, rule_module._TAKEN  # noqa: SLF001 - what a changed module lists stays out of the list
    rule_module.RULES, rule_module._TAKEN = [], set()  # noqa: SLF001
    try:
        for name, code in codes.items():
            sys.modules[name] = module = ModuleType(name)
            if (package := real[name]) is not None and hasattr(package, "__path__"):
                module.__path__ = package.__path__  # its modules may be imported later
            exec(code, module.__dict__)  # noqa: S102 - the project's own code, changed by this tool
        yield {rule.name: rule for rule in rule_module.RULES}
    finally:
        rule_module.RULES, rule_module._TAKEN = listed, taken  # noqa: SLF001
        sys.modules.update({name: module for name, module in real.items() if module is not None})
        for name in codes:
            if real[name] is None:
                sys.modules.pop(name, None)
