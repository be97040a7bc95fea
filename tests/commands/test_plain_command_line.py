"""Plain command lines are parsed without argparse, and exactly as argparse parses them."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from advisor.cli import parse_plainly
from advisor.cli.parser import build_parser

PARSERS = {name: build_parser(only=name) for name in ("lint", "show", "explain")}
OPTIONS = {
    "lint": [
        *("--target", "--fix", "--diff", "--statistics", "--exit-zero", "--platform", "--stdin-filename", "--isolated"),
        *(
            "--config",
            "--select",
            "--ignore",
            "--fail-on",
            "--baseline",
            "--format",
            "-o",
            "--output",
            "--ram",
            "--cpus",
        ),
    ],
    "show": ["--target", "--platform", "--format", "-o", "--output", "--root", "--config", "--isolated"],
    "explain": ["--target", "--format", "-o", "--ram", "--cpus", "--disk", "--instance-class", "--host-tar"],
}
VALUES = [
    "my.cnf",
    "-",
    "mysql-8.4",
    "json",
    "text",
    "linux",
    "error",
    "16G",
    "8",
    "ssd",
    "a b",
    "--",
    "",
    "x=y",
    "-1",
    "8x",
]


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    """Command lines of whole, shortened and joined options, with fitting and other values, in any order."""
    command = draw(st.sampled_from(sorted(OPTIONS)))
    words = [command]
    for _ in range(draw(st.integers(0, 5))):
        option, value = draw(st.sampled_from(OPTIONS[command])), draw(st.sampled_from(VALUES))
        forms = [[option, value], [option], [value], [f"{option}={value}"], [f"{option}{value}"], [option[:-1], value]]
        words += draw(st.sampled_from(forms))
    return words


@given(command_lines())
@example(["lint", "a.cnf", "--fix", "b.cnf"])
@example(["lint", "--format", "json", "-o", "a.json", "--format", "text", "my.cnf"])
@example(["lint", "--select", "BUF", "--select", "CON", "--target", "mysql-8.4", "--target=mariadb-11.4", "a", "b"])
@example(["lint"])
@example(["show", "--isolated"])
@example(["explain", "sort_buffer_size", "--cpus", "4"])
def test_plain_command_lines_give_what_argparse_gives(words: list[str]) -> None:
    """What is parsed plainly has the same values as argparse gives, and argparse would not refuse it."""
    plain = parse_plainly(words)
    if plain is not None:
        assert vars(plain) == vars(PARSERS[words[0]].parse_args(words))


@pytest.mark.parametrize(
    "line",
    [
        "lint",
        "lint my.cnf",
        "lint --target mysql-8.4 --format json -o report.json a.cnf b.cnf",
        "lint a.cnf --fix --isolated --fail-on error",
        "lint --ram 64G --cpus 8 --select BUF --ignore=BUF001 -",
        "show --target mariadb-11.4 --format json my.cnf",
        "explain sort_buffer_size --target mysql-8.0",
    ],
)
def test_usual_command_lines_are_plain(line: str) -> None:
    """The command lines of the documentation and of hooks do without argparse."""
    assert parse_plainly(shlex.split(line)) is not None


@pytest.mark.parametrize(
    "line",
    [
        "",
        "lint --help",
        "lint --targ mysql-8.4 a.cnf",
        "lint --target",
        "lint --fix=yes",
        "show",
        "audit --demo",
        "lint -- a",
    ],
)
def test_other_command_lines_are_left_to_argparse(line: str) -> None:
    """Help, abbreviations, mistakes and other commands are argparse's."""
    assert parse_plainly(shlex.split(line)) is None
