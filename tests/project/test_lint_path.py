"""What the offline commands import: the standard library alone, and little of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from advisor.catalog import load
from advisor.catalog.targets import parse_target
from advisor.optionfile import resolve
from advisor.verdict import LineVerdict, judge_file
from rules import rule_modules_for
from rules._index import ANY_OPTION, BEYOND_FILES, BY_OPTION

CHECKOUT = Path(__file__).resolve().parents[2]
# Modules at exit besides families of rules, by the first word of the case; a bare interpreter has about 33.
LIMITS = {"lint": 86, "show": 71, "explain": 151, "help": 70, "version": 66}
WITH_FINDINGS = 67  # beyond a bare interpreter, families of rules included: a hundred in all
ALWAYS = set(ANY_OPTION)
ASLEEP = {*BY_OPTION, *BEYOND_FILES}
HEAVY = {
    "cryptography", "dataclasses", "importlib.metadata", "importlib.resources", "inspect", "logging", "nacl", "pathlib",
    "msgspec", "psutil", "pydantic", "pymysql", "rich", "socket", "ssl", "subprocess", "textual",
}  # fmt: skip
# What usual files do without: re takes a dozen modules with it, and json takes re.
PATTERNS = {"datetime", "enum", "functools", "json", "re"}
DRIVER = """
import sys
from advisor.__main__ import main
try:
    code = main(sys.argv[1:])
except SystemExit as end:  # argparse's own way to end --help and --version
    code = end.code
sys.stderr.write("\\nMODULES " + " ".join(sorted(sys.modules)))
sys.exit(code)
"""
OFFLINE = {
    "lint": ["lint", "--target", "mysql-8.4", "examples/refused.cnf"],
    "lint, nothing assumed": ["lint", "examples/bad.cnf"],
    "lint as JSON": ["lint", "--format", "json", "--target", "mariadb-10.11", "examples/bad.cnf"],
    "lint, concise": ["lint", "--format", "concise", "--target", "mysql-9.7", "examples/refused.cnf"],
    "show": ["show", "--target", "mysql-8.0", "examples/bad.cnf"],
    "show as JSON": ["show", "--format", "json", "--target", "mysql-8.0", "examples/bad.cnf"],
    "explain a rule": ["explain", "unknown-option"],
    "explain a measured rule": ["explain", "oversized-read-buffer"],
    "explain an option": ["explain", "sort_buffer_size", "--target", "mysql-8.4"],
    "help": ["--help"],
    "help of a command": ["lint", "--help"],
    "version": ["--version"],
}


def modules_after(arguments: list[str]) -> set[str]:
    """The modules that a fresh interpreter holds after the command line ran in it."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("COV_", "COVERAGE_"))}
    ran = subprocess.run(
        [sys.executable, "-c", DRIVER, *arguments],
        cwd=CHECKOUT,
        env={**environment, "PYTHONPATH": str(CHECKOUT), "COLUMNS": "80"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ran.returncode in (0, 1), ran.stderr  # a command that broke off would have loaded too little
    return set(ran.stderr.rpartition("\nMODULES ")[2].split())


@pytest.mark.parametrize("name", OFFLINE)
def test_offline_commands_load_little(name: str) -> None:
    """An offline command leaves no more modules behind than it may, and none of the slow ones."""
    modules = modules_after(OFFLINE[name])
    assert not HEAVY & modules
    assert not PATTERNS & modules or not name.startswith(("lint", "show"))
    assert len(modules - ALWAYS - ASLEEP) <= LIMITS[name.replace(",", "").split()[0]]


def test_a_file_with_many_findings_needs_a_hundred_modules() -> None:
    """Sixty lines that concern twelve families of rules load few modules, all families included."""
    modules = modules_after(["lint", "--isolated", "--target", "mariadb-10.11", "examples/bad.cnf"])
    assert len(modules - bare_modules()) <= WITH_FINDINGS


@pytest.mark.parametrize("line", ["max_connections = abc", "innodb_flush_method = O_DIRECTT", "sort_bufer_size = 1M"])
def test_misspelt_lines_load_no_patterns(line: str, tmp_path: Path) -> None:
    """What is suggested for a mistyped name, word or number is found without re, and within a hundred modules."""
    file = tmp_path / "my.cnf"
    file.write_text(f"[mysqld]\n{line}\n")
    modules = modules_after(["lint", "--isolated", "--target", "mysql-8.0", str(file)])
    assert not PATTERNS & modules
    assert len(modules - bare_modules()) <= WITH_FINDINGS


@pytest.mark.parametrize("form", ["text", "json", "concise", "github"])
def test_lint_wakes_the_families_that_a_file_gives_reason_to(form: str, tmp_path: Path) -> None:
    """A family of rules is imported where the file sets one of its options, and no other."""
    file = tmp_path / "my.cnf"
    file.write_text("[mysqld]\nmax_allowed_packet = 1K\nsort_buffer_size = 256K\n")
    modules = modules_after(["lint", "--isolated", "--format", form, "--target", "mysql-8.4", str(file)])
    woken = rule_modules_for(lines_in("max_allowed_packet = 1K\nsort_buffer_size = 256K"), parse_target("mysql-8.4"))
    assert set(woken) == {"rules.connections.packets", "rules.memory.session_buffers"} == ASLEEP & modules


def lines_in(text: str, server: str = "mysql-8.4") -> dict[str, LineVerdict]:
    """The lines in effect of a file with these options."""
    target = parse_target(server)
    read = resolve(
        ["my.cnf"], flavour=target.flavour, version=target.version, loader=lambda _: f"[mysqld]\n{text}".encode()
    )
    return judge_file(read, load(target)).effective


def test_a_family_sleeps_where_its_rules_do_not_concern_the_flavour() -> None:
    """read_only alone shows a writable replica on MySQL, where super_read_only exists, and nothing on MariaDB."""
    for server, woken in (("mysql-8.4", ("rules.replication.running",)), ("mariadb-10.11", ())):
        assert rule_modules_for(lines_in("read_only = ON", server), parse_target(server)) == woken


@pytest.mark.parametrize(
    ("line", "woken"),
    [
        ("thread_cache_size = 0", ("rules.connections.threads",)),
        ("thread_cache_size = 1", ()),
        ("wait_timeout = 30", ("rules.connections.timeouts",)),
        ("wait_timeout = 31", ()),
        ("wait_timeout = 604800", ()),
        ("wait_timeout = 604801", ("rules.connections.timeouts",)),
        ("innodb_file_per_table = OFF", ("rules.innodb.tablespaces",)),
        ("innodb_file_per_table = ON", ()),
        ("innodb_file_per_table = {{ per_table }}", ("rules.innodb.tablespaces",)),
    ],
)
def test_a_family_sleeps_where_the_value_causes_no_finding(line: str, woken: tuple[str, ...]) -> None:
    """A value that is quiet for all rules of a module does not wake it; the value of a template is unknown."""
    assert rule_modules_for(lines_in(line), parse_target("mysql-8.4")) == woken


@pytest.mark.parametrize("name", OFFLINE)
def test_offline_commands_need_the_standard_library_alone(name: str) -> None:
    """All that an offline command adds to a bare interpreter is ours or the standard library's."""
    assert not foreign(modules_after(OFFLINE[name]))


def test_a_configuration_is_checked_by_the_standard_library_alone() -> None:
    """House rules, targets and rules per file are checked in full by each lint that reads them: see docs/adr/0006."""
    modules = modules_after(["lint", "--config", "examples/house/mycnf.toml", "examples/bad.cnf"])
    assert "advisor.config.read" in modules
    assert not foreign(modules)


def test_rules_do_without_typing_and_enum() -> None:
    """One module of rules that imports typing or enum brings it back into every lint that loads the module."""
    slow = [
        f"{path.relative_to(CHECKOUT)}: {line}"
        for path in sorted((CHECKOUT / "rules").rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith(("from typing", "import typing", "from enum", "import enum"))
    ]
    assert slow == [], "write TYPE_CHECKING = False, and take NamedTuple and StrEnum from advisor.core"


def foreign(modules: set[str]) -> set[str]:
    """The modules that are neither ours, nor the standard library's, nor in every interpreter of this environment."""
    known = sys.stdlib_module_names | {"advisor", "rules", "probes"}
    return {module for module in modules - bare_modules() if module.partition(".")[0] not in known}


def bare_modules() -> set[str]:
    """The modules of an interpreter that did nothing; what this environment hooks into every start is among them."""
    code = "import sys; print(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.parametrize(
    ("words", "package"),
    [
        (["lint", "--isolated", "--ram", "64G", "examples/bad.cnf"], "msgspec"),
        (["suggest"], "msgspec"),
        (["diff", "examples/bad.cnf", "mysql-8.4"], "msgspec"),
        (["audit", "--demo", "--format", "json"], "msgspec"),
    ],
)
def test_a_package_that_is_missing_is_named(words: list[str], package: str, tmp_path: Path) -> None:
    """Where mycnf was installed without dependencies, a command that needs one names it and is no internal error."""
    ran = subprocess.run(
        [sys.executable, "-S", "-m", "advisor", *words],
        cwd=CHECKOUT,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(CHECKOUT), "HOME": str(tmp_path), "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    line = ran.stderr.splitlines()[-1]
    assert (ran.returncode, ran.stdout, list(tmp_path.iterdir())) == (2, "", [])
    assert line.startswith(f"mycnf: this needs the Python package {package}, which is not installed; install mycnf")
