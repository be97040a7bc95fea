"""systemd units and drop-ins, by what systemd.service(5) and systemd.syntax(7) say."""

from __future__ import annotations

import pytest

from advisor.carriers.document import CarrierError
from advisor.core.model import Target
from tests.carriers.conftest import Reader

UNIT = r"""[Unit]
Description=MySQL
ExecStart=/usr/sbin/mysqld --port=9

[Service]
Environment="MYSQLD_OPTS=--port=1 --sql-mode='ANSI'" OTHER=x
ExecStartPre=+/usr/bin/mysqld_pre
ExecStart=
ExecStart=-/usr/sbin/mysqld --defaults-file=/etc/my.cnf \
  --datadir=/var/lib/%i \
# a comment
   ; another
  --tmpdir=/a%%b --log-error="/var/log/my sql.log" \
  $MYSQLD_OPTS $UNKNOWN ${EXTRA} --report-host=${HOST} --init-connect=a\x20b --init-file=$$x
"""


def test_a_unit(carried: Reader) -> None:
    """The server's words are read through prefixes, continuations, quotes, escapes, specifiers and variables."""
    document = carried(UNIT, "mysql.service")
    assert document.labels == ["ExecStart"]
    assert document.options() == {
        "datadir": "/var/lib/%i", "tmpdir": "/a%b", "log-error": "/var/log/my sql.log", "port": "1",
        "sql-mode": "ANSI", "report-host": "${HOST}", "init-connect": "a b", "init-file": "$x",
    }  # fmt: skip
    assert {line.name for line in document.lines() if line.templated} == {"datadir", "report-host"}
    assert document.slices() == [
        "datadir=/var/lib/%i", "tmpdir=/a%%b", 'log-error="/var/log/my sql.log"', "port=1", "sql-mode='ANSI'",
        "report-host=${HOST}", r"init-connect=a\x20b", "init-file=$$x",
    ]  # fmt: skip


def test_a_drop_in(carried: Reader) -> None:
    """A drop-in that only sets the variable which the packages' units pass on is read too."""
    document = carried('[Service]\nEnvironment=MYSQLD_OPTS=--port=1 "MYSQLD_OPTS_1=--port=2"\n', "10-x.conf")
    assert [document.options(at=i)["port"] for i in range(len(document.labels))] == ["1", "2"]


@pytest.mark.parametrize(
    "line",
    [
        *("ExecStart=/bin/true", "ExecStart=", "ExecStart=/usr/sbin/mysqld", "Environment=A=--port=1"),
        "ExecStart=/x/mysqld_exporter --y=1",
    ],
)
def test_no_options(line: str, carried: Reader) -> None:
    """A unit that gives no server options has no sets."""
    assert carried(f"[Service]\n{line}\n", "x.service").labels == []


def test_argv0_and_several_commands(carried: Reader) -> None:
    """With @ the second word is the program's own name; a lone semicolon parts commands."""
    document = carried("[Service]\nExecStart=@/usr/sbin/mariadbd db --port=1 ; mysqld --port=2\n", "x.service")
    assert [document.options("mariadb-11.4", at=i)["port"] for i in (0, 1)] == ["1", "2"]
    assert document.carrier.sets[0].hint.flavour == "mariadb"


def test_an_open_quote(carried: Reader) -> None:
    """It is reported with its line."""
    with pytest.raises(CarrierError, match=r"^x\.service:3: a quote"):
        carried("[Service]\nExecStart=/usr/sbin/mysqld \\\n --x='y\n", "x.service")


def test_an_option_file_named_conf(carried: Reader) -> None:
    """What has no section of systemd is an option file, under any name."""
    with pytest.raises(AssertionError):
        carried("[mysqld]\nport=1\n", "x.conf")


def test_a_container_of_podman(carried: Reader) -> None:
    """A unit of Podman gives the server of its image the words of Exec."""
    text = "[Container]\nImage=docker.io/library/mariadb:11.4\nExec=--port=1 \\\n  --sql-mode=ANSI\n\n[Service]\n"
    document = carried(text, "db.container")
    assert document.labels == ["Exec"]
    assert document.carrier.sets[0].hint == Target("mariadb", (11, 4, 5))
    assert document.slices("mariadb-11.4") == ["port=1", "sql-mode=ANSI"]
    assert carried(text.replace("mariadb", "nginx"), "db.container").labels == []
    assert carried(text.replace("Exec=", "Entrypoint=sleep\nExec="), "db.container").labels == []


@pytest.mark.parametrize(
    ("lines", "size"),
    [
        ("Memory=512m", 512 << 20),
        ("PodmanArgs=--cpus=2 --memory=1g", 1 << 30),
        ("PodmanArgs=--memory 2gb --pids-limit 5", 2 << 30),
        ("PodmanArgs=-m1g\nMemory=4g", 1 << 30),
        ("PodmanArgs=-m 1g", 1 << 30),
        ("Memory=%i", 0),
        ("PodmanArgs=--memory-swap=1g", 0),
    ],
)
def test_the_memory_of_a_container_of_podman(lines: str, size: int, carried: Reader) -> None:
    """The limit of the unit, or of the arguments for podman, which come later, is the memory of the server."""
    text = f"[Container]\nImage=docker.io/library/mariadb:11.4\n{lines}\nExec=--port=1\n"
    assert [one.memory for one in carried(text, "db.container").carrier.sets] == [size]
