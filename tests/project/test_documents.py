"""What README, docs, Makefile and changelog say is what the project does."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

import pytest

import advisor
from advisor.cli.parser import build_parser
from advisor.core import errors

PAGES = ("clidoc.py", "configschema.py", "formatpages.py", "readme.py", "rulepages.py", "statementpage.py")


@pytest.mark.parametrize("tool", PAGES)
def test_made_pages_are_current(tool: str, checkout: Path) -> None:
    """docs/cli.md is what the parser says, docs/statements.md the list, docs/rules the rules, README.md the program.

    schemas/mycnf.schema.json is what the model of the configuration says.
    """
    check = [sys.executable, str(checkout / "tools" / tool), "--check"]
    ran = subprocess.run(check, capture_output=True, text=True, timeout=600, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("page", ["README.md", "docs/cli.md"])
def test_exit_codes(page: str, checkout: Path) -> None:
    """The tables of exit codes name each code of the program, and no other."""
    rows = re.findall(r"^\| (\d+) \| (.+) \|$", (checkout / page).read_text(), re.MULTILINE)
    codes = {errors.OK, errors.FINDINGS, errors.USAGE, errors.CONNECTION, errors.INTERRUPTED}
    assert [int(code) for code, _ in rows] == sorted(codes)


def test_commands_in_pages_exist(checkout: Path) -> None:
    """Each `mycnf COMMAND --option` that a page names is one that the parser takes."""
    subcommands: dict[str, argparse.ArgumentParser] = build_parser()._subparsers._group_actions[0].choices  # type: ignore[assignment]
    for page in (checkout / "README.md", checkout / "CONTRIBUTING.md", *checkout.glob("docs/adr/*.md")):
        for words in re.findall(r"\bmycnf ([a-z]+(?: [^\n`#]*)?)", _code(page.read_text())):
            command, *rest = words.split()
            assert command in subcommands, f"{page.name}: mycnf {words}"
            taken = set(subcommands[command]._option_string_actions)
            assert {w.partition("=")[0] for w in rest if w.startswith("--")} <= taken, f"{page.name}: mycnf {words}"


def _code(page: str) -> str:
    """The fenced blocks and code spans of a page, a line each, without the program's own output."""
    spans = re.findall(r"`([^`\n]+)`", page)
    fenced = "\n".join(re.findall(r"^```[a-z]*\n(.*?)^```", page, re.MULTILINE | re.DOTALL))
    shown = [line.removeprefix("$ ") for line in fenced.splitlines() if line.startswith(("$ mycnf", "mycnf "))]
    return "\n".join([*spans, *(line for line in shown if not line.startswith("mycnf audit ·"))])


def test_make_targets(checkout: Path) -> None:
    """Every target that make knows has its line of comment, `make help` lists it, and the pages name no other."""
    makefile = (checkout / "Makefile").read_text()
    commented = set(re.findall(r"^([a-z]+):.*## ", makefile, re.MULTILINE))
    phony = set(re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)[0].split())
    make = ["make", "--no-print-directory", "help"]  # `make test` runs this, and make within make prints where it goes
    listed = subprocess.run(make, cwd=checkout, capture_output=True, text=True, check=True).stdout
    assert phony == commented == {line.split()[0] for line in listed.splitlines()}
    for page in ("README.md", "CONTRIBUTING.md"):
        assert set(re.findall(r"`make ([a-z]+)", (checkout / page).read_text())) <= phony


def test_changelog_has_this_version(checkout: Path) -> None:
    """The version in the package has its section, or stands under Unreleased, in the changelog."""
    changelog = (checkout / "CHANGELOG.md").read_text()
    assert re.search(rf"^## \[(Unreleased|{re.escape(advisor.__version__)})\]", changelog, re.MULTILINE)


def test_links_inside_the_project(checkout: Path) -> None:
    """Every relative link of README, CONTRIBUTING and the decisions leads to a file."""
    for page in (checkout / "README.md", checkout / "CONTRIBUTING.md", *checkout.glob("docs/**/*.md")):
        for link in re.findall(r"\]\((?!<?https?:|#)([^)#]+)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name} links to {link}"
