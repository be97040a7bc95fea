"""A configuration file is found, read into values, and what is wrong with it is reported in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from mycnf_command import CHECKOUT

from advisor.config import find_configuration
from advisor.config.read import ConfigError, find_line, read_configuration
from rules.policy.house_rule import HouseRule

if TYPE_CHECKING:
    from pathlib import Path


def said(text: str, folder: Path, name: str = "mycnf.toml") -> str:
    """What is said about a configuration, without the folder."""
    path = folder / name
    path.write_text(text)
    with pytest.raises(ConfigError) as raised:
        read_configuration(str(path))
    message = str(raised.value)
    assert "\n" not in message
    assert raised.value.code == 2
    return message.removeprefix(f"{folder}/")


def test_the_closest_one_is_found(tmp_path: Path) -> None:
    """The folder's own or the closest above; a pyproject.toml counts with our table alone, and after mycnf.toml."""
    deep = tmp_path / "a" / "b" / "c"
    deep.mkdir(parents=True)
    (tmp_path / "mycnf.toml").write_text("")
    assert find_configuration(str(deep)) == str(tmp_path / "mycnf.toml")
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.ruff]\n# mycnf\n")
    assert find_configuration(str(deep)) == str(tmp_path / "mycnf.toml")
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.mycnf]\n")
    assert find_configuration(str(deep)) == str(tmp_path / "a" / "pyproject.toml")
    (tmp_path / "a" / "mycnf.toml").write_text("")
    assert find_configuration(str(deep)) == str(tmp_path / "a" / "mycnf.toml")
    (tmp_path / "a" / "b" / "mycnf.toml").mkdir()
    assert find_configuration(str(deep)) == str(tmp_path / "a" / "mycnf.toml")


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("[tool.mycnf]", True),
        ('[tool."mycnf"]\n', True),
        ("[ tool . mycnf ]", True),
        ("[tool.mycnf.house.port]\nrequired = true", True),
        ("tool.mycnf.target = 'mysql-8.4'", True),
        ("[tool]\nmycnf = {}", True),
        ("[tool]\nmycnf.target = 'mysql-8.4'", True),
        ("tool = { mycnf = {} }", True),
        ("[tool.mycnf\nbroken", True),
        ("# [tool.mycnf]", False),
        ("[project]\nname = 'mycnf'\n[tool.x]\na = 1", False),
        ("[tool.mycnfx]", False),
        ("broken", False),
        ("\ufeff[tool.mycnf]", True),
    ],
)
def test_which_pyproject_counts(text: str, counts: bool, tmp_path: Path) -> None:
    """A pyproject.toml counts if it holds the table, however it is spelled."""
    (tmp_path / "pyproject.toml").write_text(text)
    assert (find_configuration(str(tmp_path)) == str(tmp_path / "pyproject.toml")) is counts


def test_values(tmp_path: Path) -> None:
    """Every key is read; paths are relative to the file, one word does for a list, commas part words."""
    path = tmp_path / "pyproject.toml"
    path.write_text(
        "[tool.mycnf]\ntarget = 'mysql-8.4'\nselect = 'BUF, SEC'\nignore = ['oversized-sort-buffer']\n"
        "fail-on = 'note'\nbaseline = 'b.json'\nroot = '/srv'\nformat = 'json'\nram = '64G'\ncpus = 4\ndisk = 'ssd'\n"
        "[tool.mycnf.per-file-ignores]\n'x/*' = 'HOU'\n"
        "[tool.mycnf.house.read-buffer-size]\nminimum = 4096\nmaximum = '1M'\nallowed = [4096, 8192.0]\n"
        "severity = 'error'\nmessage = 'why'\ntargets = ['mysql', 'mariadb-10.11']\n"
    )
    config = read_configuration(str(path))
    assert config.target == ("mysql-8.4",)
    assert config.select == ("BUF", "SEC")
    assert config.ignore == ("oversized-sort-buffer",)
    assert (config.fail_on, config.format, config.ram, config.cpus, config.disk) == ("note", "json", "64G", 4, "ssd")
    assert (config.baseline, config.root) == (str(tmp_path / "b.json"), "/srv")
    assert config.per_file == (("x/*", ("HOU",)),)
    assert config.house == (
        HouseRule(
            "read_buffer_size",
            minimum="4096",
            maximum="1M",
            allowed=("4096", "8192"),
            message="why",
            severity=config.house[0].severity,
            targets=(("mysql", ()), ("mariadb", (10, 11))),
        ),
    )
    assert config.house[0].severity == "error"


def test_nothing_said(tmp_path: Path) -> None:
    """An empty file says nothing."""
    (tmp_path / "mycnf.toml").write_bytes(b"\xef\xbb\xbf")
    config = read_configuration(str(tmp_path / "mycnf.toml"))
    assert set(config[2:]) == {None, ()}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a =\n", "mycnf.toml: invalid TOML: Invalid value (at line 1, column 4)"),
        ("\n\ntargt = 'x'", "mycnf.toml:3: targt: unknown key; did you mean target?"),
        (
            "fail-on = 'warn'",
            "mycnf.toml:1: fail-on: 'warn' is none of error, warning, note, never; did you mean warning?",
        ),
        ("fail-on = 1", "mycnf.toml:1: fail-on: 1 is none of error, warning, note, never"),
        ("cpus = true", "mycnf.toml:1: cpus: an integer of 1 or more is needed, not True"),
        ("ram = '0G'", "mycnf.toml:1: ram: memory must not be 0; write it as 64G or 512M"),
        ("select = []", "mycnf.toml:1: select: the list is empty; add an entry, or remove the key"),
        ("ignore = ['BUF01']", "mycnf.toml:1: ignore: unknown rule, name or family 'BUF01'; did you mean BUF001?"),
        (
            "[per-file-ignores]\n'a*' = 'SEK'",
            "mycnf.toml:2: per-file-ignores.a*: unknown rule, name or family 'SEK'; did you mean SEC?",
        ),
        ("house = 1", "mycnf.toml:1: house: a table is needed, not a number"),
        ("root = 2020-01-01", "mycnf.toml:1: root: a text is needed, not a date or a time; write it as a path"),
        (
            "[house.max_conections]\nmaximum = 5",
            (
                "mycnf.toml:1: house.max_conections: no supported series has an option max_conections; "
                "did you mean max_connections?"
            ),
        ),
        (
            "[house.skip_log_bin]\nforbidden = true",
            (
                "mycnf.toml:1: house.skip_log_bin: skip_log_bin sets log_bin; "
                "write the rule for that option and its values"
            ),
        ),
        (
            "[house.query_cache_size]\nmaximum = 5\ntargets = ['mysql-8.4']",
            "mycnf.toml:1: house.query_cache_size: no supported series of its targets has an option query_cache_size",
        ),
        (
            "[house.port]\nrequired = true\ntargets = 'mysql-3.2'",
            "mycnf.toml:3: house.port.targets: none of the targets is a supported series",
        ),
        (
            "[house.innodb_flush_method]\nminimum = 3",
            (
                "mycnf.toml:2: house.innodb_flush_method.minimum: innodb_flush_method can't have this minimum: "
                "it is not numeric"
            ),
        ),
        (
            "[house.port]\nmaximum = 1.5",
            "mycnf.toml:2: house.port.maximum: port can't have this maximum: 1.5 is not a number that it accepts",
        ),
        (
            "[house.long_query_time]\nmaximum = nan",
            (
                "mycnf.toml:2: house.long_query_time.maximum: long_query_time can't have this maximum: "
                "nan is not a number that it accepts"
            ),
        ),
        ("[house.port]\nminimum = 5\nmaximum = 4", "mycnf.toml:1: house.port: the minimum 5 is above the maximum 4"),
        (
            (
                "[[house.sort_buffer_size]]\nminimum = '1M'\ntargets = 'mysql'\n"
                "[[house.sort-buffer-size]]\nmaximum = '128K'"
            ),
            "mycnf.toml:4: house.sort-buffer-size: the minimum 1M is above the maximum 128K",
        ),
        (
            "[house.slave_net_timeout]\nminimum = 60\n[house.replica_net_timeout]\nforbidden = true",
            "mycnf.toml:3: house.replica_net_timeout: it is forbidden, and another rule sets a condition for it",
        ),
        (
            "[house.max_connections]\nallowed = [100, 200]\nminimum = 500",
            "mycnf.toml:1: house.max_connections: none of the allowed values (100, 200) satisfies all rules",
        ),
    ],
)
def test_what_is_wrong_is_reported_in_one_line(text: str, message: str, tmp_path: Path) -> None:
    """File, line and key are named, and what to write instead."""
    assert said(text, tmp_path) == message


def test_a_value_that_no_server_takes(tmp_path: Path) -> None:
    """An allowed value that all servers which list their values refuse is reported, with the list."""
    message = said("[house.innodb_flush_method]\nallowed = ['O_DIRCT']", tmp_path)
    assert message.startswith("mycnf.toml:2: house.innodb_flush_method.allowed: no supported server accepts 'O_DIRCT'")
    assert "O_DIRECT" in message


def test_an_unknown_target(tmp_path: Path) -> None:
    """A target without a catalog is reported with the known ones."""
    assert "mycnf.toml:1: target: unknown target 'mysql-3.2': known are mysql-5.7" in said(
        "target = 'mysql-3.2'", tmp_path
    )


def test_other_targets_may_differ(tmp_path: Path) -> None:
    """Rules for different servers contradict nothing."""
    path = tmp_path / "mycnf.toml"
    path.write_text(
        "[[house.sort_buffer_size]]\nminimum = '1M'\ntargets = 'mysql'\n"
        "[[house.sort_buffer_size]]\nmaximum = '128K'\ntargets = 'mariadb'\n"
    )
    assert len(read_configuration(str(path)).house or ()) == 2


def test_a_pyproject_names_the_whole_key(tmp_path: Path) -> None:
    """In a pyproject.toml the key is named with its tables."""
    message = said("[tool.mycnf.house.port]\nminimum = 'x'", tmp_path, "pyproject.toml")
    assert message.startswith("pyproject.toml:2: tool.mycnf.house.port.minimum: 'x' can't be used here")


@pytest.mark.parametrize("text", ["", "tool = 1", "[tool]\nmycnf = 1"])
def test_a_pyproject_without_our_table(text: str, tmp_path: Path) -> None:
    """One that is named and has no table of ours is reported."""
    assert said(text, tmp_path, "pyproject.toml").endswith("no table [tool.mycnf]")


def test_what_can_not_be_read(tmp_path: Path) -> None:
    """A missing file, a folder, bytes that are no text, and a nesting without end are reported, never raised."""
    for make in (
        lambda _: None,
        lambda p: p.mkdir(),
        lambda p: p.write_bytes(b"\xff"),
        lambda p: p.write_text("a=" + "[" * 5000),
    ):
        path = tmp_path / f"{id(make)}.toml"
        make(path)
        with pytest.raises(ConfigError, match=str(path)):
            read_configuration(str(path))


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        (("target",), 1),
        (("house", "port", "minimum"), 4),
        (("house", "port"), 3),
        (("house", "x.y"), 5),
        (("house", "inner", "maximum"), 7),
        (("house", "list"), 9),
        (("nothing",), None),
    ],
)
def test_lines_of_keys(keys: tuple[str, ...], line: int | None) -> None:
    """The line of a key is that of its own assignment, else of the innermost table that is written out."""
    text = (
        "target = 1\n\n[house.port]\nminimum = 2\n[house.'x.y']\n[house]\ninner = { maximum = 1 }\n\n[[house.list]]\n"
    )
    assert find_line(text, keys) == line


def test_the_example_is_sound() -> None:
    """The example of the documentation has no fault, and shows every key of a house rule."""
    config = read_configuration(str(CHECKOUT / "examples" / "house" / "mycnf.toml"))
    house = config.house or ()
    assert all(any(getattr(rule, field) for rule in house) for field in ("required", "forbidden", "minimum", "maximum"))
    assert any(rule.allowed and rule.targets for rule in house)


def test_last_days(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries of `ignore` and `per-file-ignores` end after their last day; what is no date is one line."""
    path = tmp_path / "mycnf.toml"
    path.write_text(
        'ignore = ["BUF001, BUF002 until 2027-01-31", "SEC"]\n[per-file-ignores]\n"a" = "CON until 2027-02-01"\n'
    )
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1801440000")
    config = read_configuration(str(path))
    assert (config.ignore, config.per_file) == (("SEC",), (("a", ("CON",)),))
    assert config.ended == (f"{path}: ignore: BUF001, BUF002 ended on 2027-01-31 and no longer applies",)
    for written in ("31.01.2027", "2027-02-30", "8.4", ""):
        words = f"'{written}' is not a date; write BUF until 2027-01-31, year first"
        assert said(f'ignore = "BUF until {written}"', tmp_path) == f"mycnf.toml:1: ignore: {words}"
    assert said('ignore = "BUFX until 2027-01-31"', tmp_path).startswith("mycnf.toml:1: ignore: unknown rule")
