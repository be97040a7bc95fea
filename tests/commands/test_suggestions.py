"""A mistyped command, option, target, name or value is answered with the one that was probably meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from advisor.catalog.targets import parse_target
from advisor.cli.parser import build_parser
from advisor.core.errors import MycnfError, nearest_word

if TYPE_CHECKING:
    from pathlib import Path

    from mycnf_command import Mycnf


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("lnt",), "did you mean lint?"),
        (("lint", "--targt", "x"), "did you mean --target?"),
        (("lint", "--memory", "64G", "my.cnf"), "did you mean --ram?"),
        (("audit", "--json"), "did you mean --format?"),
        (("lint", "--fail-on=warn"), "did you mean warning?"),
        (("lint", "--target", "mysql8", "my.cnf"), "did you mean mysql-8.4?"),
        (("lint", "--target", "mariadb10.11", "my.cnf"), "did you mean mariadb-10.11?"),
        (("explain", "innodb_bufer_pool"), "did you mean innodb_buffer_pool_size?"),
        (("explain", "innodb_bufer_pool_size"), "did you mean innodb_buffer_pool_size?"),
        (("explain", "unknwn_option"), "did you mean unknown-option?"),
    ],
)
def test_mistyped_words_of_the_command_line(mycnf: Mycnf, words: tuple[str, ...], meant: str) -> None:
    """One line on stderr with the suggestion, exit code 2."""
    ran = mycnf(*words)
    assert ran.code == 2
    assert meant in ran.err


def test_an_unknown_option_is_one_of_its_command(mycnf: Mycnf) -> None:
    """The help that the message points to is that of the command, which lists the option that was meant."""
    assert mycnf("audit", "--seect", "BUF").err == (
        "mycnf audit: unrecognized arguments: --seect BUF; did you mean --select? (see mycnf audit --help)\n"
    )
    assert mycnf("--vesion").err.endswith("(see mycnf --help)\n")


def test_a_file_in_place_of_a_command(mycnf: Mycnf, tmp_path: Path) -> None:
    """Whoever names a file alone is told the command that checks it."""
    (tmp_path / "my.cnf").write_text("[mysqld]\n")
    ended = mycnf("my.cnf")
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert "; mycnf lint 'my.cnf' checks an option file (see mycnf --help)" in ended.err


@pytest.mark.parametrize("choices", ["'lint', 'show', 'audit'", "lint, show, audit"])
def test_choices_of_every_python(choices: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Newer ones write choices without quotes."""
    with pytest.raises(SystemExit):
        build_parser("--help").error(f"argument COMMAND: invalid choice: 'lnt' (choose from {choices})")
    assert "; did you mean lint?" in capsys.readouterr().err


@pytest.mark.parametrize("words", [("zzzzzz",), ("lint", "--qqqqqq"), ("explain", "qqqq")])
def test_no_suggestion_for_what_resembles_nothing(mycnf: Mycnf, words: tuple[str, ...]) -> None:
    """A wrong suggestion is worse than none."""
    ran = mycnf(*words)
    assert ran.code == 2
    assert "did you mean" not in ran.err


def test_no_series_is_suggested_for_another_version() -> None:
    """A well-formed target of a series that is not known is no typing error."""
    with pytest.raises(MycnfError) as raised:
        parse_target("mysql-3.2")
    assert "did you mean" not in str(raised.value)


def test_underscores_and_hyphens_are_equal() -> None:
    """Options are written with both."""
    assert nearest_word("sort-bufer-size", ["sort_buffer_size", "join_buffer_size"]) == "sort_buffer_size"


def test_a_refused_value_names_the_nearest_one(mycnf: Mycnf, tmp_path: Path) -> None:
    """The help of a finding about one of a few values suggests one of them; carets underline the value."""
    file = tmp_path / "my.cnf"
    file.write_text("[mysqld]\ninnodb_flush_method = O_DIRECTT\n")
    ran = mycnf("lint", "--isolated", "--target", "mysql-8.4", str(file))
    assert "help: did you mean O_DIRECT?" in ran.out
    assert f"    │ {' ' * 22}{'^' * 9}\n" in ran.out


def test_carets_underline_an_unknown_name(mycnf: Mycnf, tmp_path: Path) -> None:
    """The value of an unknown option is not what is wrong."""
    file = tmp_path / "my.cnf"
    file.write_text("[mysqld]\ninnodb_bufer_pool_size = 1G\n")
    ran = mycnf("lint", "--isolated", "--target", "mysql-8.4", str(file))
    assert f"    │ {'^' * 22}\n" in ran.out


@pytest.mark.parametrize(
    ("words", "order"),
    [
        (("--target", "mysql-8.4", "lint", "my.cnf"), "lint --target mysql-8.4 my.cnf"),
        (("--target=mysql-8.4", "show", "a b.cnf"), "show --target=mysql-8.4 'a b.cnf'"),
        (("-o", "x.json", "--format", "json", "audit", "--demo"), "audit -o x.json --format json --demo"),
        (("--isolated", "rules"), "rules --isolated"),
        (("-pkanarienvogel", "audit", "-u", "root"), "audit '-p********' -u root"),
    ],
)
def test_options_before_the_command(words: tuple[str, ...], order: str, mycnf: Mycnf) -> None:
    """Options belong to a command, so they come after it: one line with the right order, without passwords."""
    ended = mycnf(*words)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == f"mycnf: options come after the command: mycnf {order}\n"


@pytest.mark.parametrize(
    "words", [("--help", "lint"), ("--version", "lint"), ("-h", "lint"), ("--vers", "lint"), ("--he",)]
)
def test_own_options_come_first(words: tuple[str, ...], mycnf: Mycnf) -> None:
    """The help and the version need no command."""
    ended = mycnf(*words)
    assert (ended.code, ended.err) == (0, "")
