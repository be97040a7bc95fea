"""EnvironmentFile= of systemd units, by systemd.exec(5)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.carriers.conftest import Reader

UNIT = """\
[Service]
Environment=MYSQLD_OPTS=--port=1
EnvironmentFile=-/etc/default/mysql
ExecStart=/usr/sbin/mysqld $MYSQLD_OPTS $BARE --back-log=5"""


def unit_and(root: Path, text: str, carried: Reader, unit: str = UNIT) -> dict[str, str | None]:
    """The options of the unit with a file of that text in its place below the root."""
    (root / "etc" / "default").mkdir(parents=True)
    (root / "etc" / "default" / "mysql").write_text(text)
    return carried(unit, "x.service", str(root)).options()


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("MYSQLD_OPTS=--port=2 --tmpdir=/a\n", {"port": "2", "tmpdir": "/a"}),
        ("# c\n\nMYSQLD_OPTS=\"--port=2 \\\n --init-connect='a b'\" # no\n", {"port": "2", "init-connect": "a b"}),
        ("MYSQLD_OPTS='--port=2'\nBARE = --tmpdir=\\$x \n", {"port": "2", "tmpdir": "$x"}),
        ('MYSQLD_OPTS="--init-connect=\\"a\\" \\x"', {"init-connect": "a"}),
        ("MYSQLD_OPTS=\n", {}),
        ("OTHER=--port=7\n", {"port": "1"}),
        ('MYSQLD_OPTS="--port=\'2"\n', {}),
        ("", {"port": "1"}),
    ],
)
def test_variables(text: str, options: dict[str, str], carried: Reader, tmp_path: Path) -> None:
    """The file's variables stand above the unit's own, after the quotes of the file and those of the value."""
    found = unit_and(tmp_path, text, carried)
    assert {name: value for name, value in found.items() if name != "back-log"} == options
    assert found["back-log"] == "5"


def test_places(carried: Reader, tmp_path: Path) -> None:
    """Each option is at home in the file that holds it, at its line there; the unit's own stay where they are."""
    unit_and(tmp_path, "# c\nMYSQLD_OPTS=--port=2\n", carried)
    read = carried(UNIT, "x.service", str(tmp_path))
    homes = {line.name: read.carrier.document.file_line(line.number) for line in read.lines()}
    assert homes == {"port": (str(tmp_path / "etc/default/mysql"), 2), "back-log": ("x.service", 4)}
    assert {line.name: line.column for line in read.lines()} == {
        "port": len("MYSQLD_OPTS=--") + 1,
        "back-log": UNIT.split("\n")[3].index("back-log") + 1,
    }
    assert all(read.carrier.document.number(*home) in {2 + 4, 4} for home in homes.values())


@pytest.mark.parametrize("line", ["", "EnvironmentFile=\n", "EnvironmentFile=/no/such\n", "EnvironmentFile=/etc/%p\n"])
def test_what_is_not_here(line: str, carried: Reader, tmp_path: Path) -> None:
    """A file that isn't here, or that only the host can name, changes nothing; an empty setting takes files back."""
    unit = UNIT.replace("EnvironmentFile=-/etc/default/mysql\n", line and f"EnvironmentFile=/etc/default/mysql\n{line}")
    found = unit_and(tmp_path, "BARE=--tmpdir=/a\n", carried, unit)
    assert found["port"] == "1"
    assert ("tmpdir" in found) == (line not in ("", "EnvironmentFile=\n"))


def test_a_drop_in(carried: Reader, tmp_path: Path) -> None:
    """A drop-in that only names the file is read for the variables that the packages' units pass on."""
    assert unit_and(tmp_path, "MYSQLD_OPTS=--port=2\n", carried, "[Service]\nEnvironmentFile=/etc/default/mysql\n") == {
        "port": "2"
    }
