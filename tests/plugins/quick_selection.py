"""`pytest --quick` (`make quick`): the tests that need no server and no long-lived process of another program.

The choice is automatic. A test is left out if it asks for a fixture of real servers or of processes, or if its module
imports a helper that starts servers, browsers, terminals, probes or commands. Such modules are not even imported.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
SERVER_FIXTURES = frozenset(
    ("any_server", "binaries", "binary", "server", "server_name", "server_pool", "start", "templates", "untouched")
)
SLOW_FIXTURES = frozenset(("mycnf", "forks", "begin", "wheel", "shared_tab", "ground", "module_ground", "copied"))
# Modules that quick tests do not import: they start programs, or take longer than all others together.
SLOW_MODULES = frozenset(
    (
        "ansible",
        "app_driver",
        "background_runs",
        "browser",
        "fleet_process",
        "fleet_run",
        "fleet_sshd",
        "forked_commands",
        "hypothesis",
        "probe_process",
        "probes.sandbox",
        "provisioning",
        "simulated_experiment",
        "subprocess",
        "textual",
        "tmux",
    )
)
# Measured: each takes more than two seconds of CPU time.
SLOW_PATHS = (
    "collect/test_long_texts.py",
    "fuzz/",
    "hostile/",
    "optionfile/test_corpus.py",
    "optionfile/test_generated.py",
    "probes/disk/",
    "probes/stats/test_precision.py",
    "probes/test_no_result.py",
    "probes/test_rounds.py",
    "rules/test_mutating.py",
    "suppress/test_suppress.py",
    "tui/test_pictures.py",
    "upgrade/test_corpus.py",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --quick."""
    parser.addoption("--quick", action="store_true", help="run only tests that need no server and take no long time")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import modules of slow tests with --quick; None leaves the decision to pytest."""
    if not config.getoption("--quick") or collection_path.suffix != ".py" or collection_path.name == "conftest.py":
        return None
    path = collection_path.relative_to(TESTS).as_posix() if collection_path.is_relative_to(TESTS) else ""
    return path.startswith(SLOW_PATHS) or imports_slow_module(collection_path) or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect slow tests with --quick."""
    if not config.getoption("--quick"):
        return
    slow = [item for item in items if is_slow(item)]
    config.hook.pytest_deselected(items=slow)
    left = set(map(id, slow))
    items[:] = [item for item in items if id(item) not in left]


def is_slow(item: pytest.Item) -> bool:
    """Whether a test needs a server, or a program that runs in parallel."""
    fixtures = set(getattr(item, "fixturenames", ()))
    return bool(fixtures & (SERVER_FIXTURES | SLOW_FIXTURES))


def imports_slow_module(path: Path) -> bool:
    """Whether a test file imports one of the slow modules."""
    imported: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            imported.add(node.module)
        elif isinstance(node, ast.Import):
            imported.update(alias.name for alias in node.names)
    return any(module == slow or module.startswith(f"{slow}.") for module in imported for slow in SLOW_MODULES)
