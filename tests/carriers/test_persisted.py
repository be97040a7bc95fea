"""mysqld-auto.cnf, beside the real servers that write and read it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from real_servers import Binaries, Start

from advisor.carriers.document import CarrierError
from advisor.catalog import load
from probes.sandbox import Sandbox, SandboxError
from probes.sandbox import start_server as start_sandbox
from tests.carriers.conftest import Carried, Reader

WRITTEN = (
    "SET PERSIST max_connections = 152",
    'SET PERSIST init_connect = "SET NAMES \'utf8mb4\' /* é \\\\ \\" */"',
    "SET PERSIST_ONLY back_log = 100",
    "SET PERSIST long_query_time = 2.5",
    "SET PERSIST general_log = OFF",
    "SET PERSIST hot.key_buffer_size = 1048576",
)


def version_1(dynamic: dict[str, object], static: dict[str, object] | None = None) -> str:
    """A file as MySQL 8.0.15 writes it."""
    sections: dict[str, object] = {name: entry(value) for name, value in dynamic.items()}
    if static:
        sections["mysql_server_static_options"] = {name: entry(value) for name, value in static.items()}
    return json.dumps({"Version": 1, "mysql_server": sections}, indent=1)


def version_2(dynamic: dict[str, object], static: dict[str, object] | None = None) -> str:
    """A file as MySQL 9.7.4 writes it."""
    written = {name: entry(value) for name, value in dynamic.items()}
    fixed = {name: entry(value) for name, value in (static or {}).items()}
    return json.dumps({"Version": 2, "mysql_static_variables": fixed, "mysql_dynamic_variables": written}, indent=1)


def entry(value: object) -> dict[str, object]:
    """One variable with who set it when."""
    return {"Value": value, "Metadata": {"Timestamp": 1795245067567178, "User": "root", "Host": "localhost"}}


@pytest.mark.servers("mysql-8.0", "mysql-9.7")
def test_what_a_server_writes(server_name: str, start: Start, tmp_path: Path) -> None:
    """Every variable that a server persisted is read with its value and its place, and none of them is wrong."""
    (tmp_path / "empty.cnf").write_text("[mysqld]\n")
    server = start(server_name, option_file=tmp_path / "empty.cnf", small=True)
    with server.connect() as connection, connection.cursor() as cursor:
        for statement in WRITTEN:
            cursor.execute(statement)
    text = Path(server.datadir, "mysqld-auto.cnf").read_text()
    document = Carried(text, "mysqld-auto.cnf")
    target = str(server.binary.target)
    read = document.options(target)
    assert {"max_connections": "152", "back_log": "100", "long_query_time": "2.500000"}.items() <= read.items()
    assert read["init_connect"] == "SET NAMES 'utf8mb4' /* é \\ \" */"
    assert set(document.slices(target)) == set(read)
    assert dict(zip(read, document.values(target), strict=True))["max_connections"] == "152"
    assert document.strays(target) == []


@pytest.fixture(scope="module")
def stopped(
    server_name: str, binaries: Binaries, templates: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Sandbox]:
    """A server that is to be started with one file after the other."""
    file = tmp_path_factory.mktemp("persisted") / "my.cnf"
    file.write_text("[mysqld]\nperformance_schema = OFF\n")
    with start_sandbox(binaries(server_name), option_file=file, small=True, templates=templates) as server:
        server.stop()
        yield server


@pytest.mark.servers("mysql-8.0", "mysql-9.7")
@pytest.mark.parametrize(
    ("dynamic", "static"),
    [
        ({"nonsense": "1"}, {"nonsense_too": "1"}),
        ({"sql_mode": "nope"}, {}),
        ({"general_log": "1"}, {}),
        ({}, {"innodb_log_buffer_size": "1.5M"}),
        ({"sort_buffer_size": "1M"}, {"innodb_log_buffer_size": "32M"}),
    ],
)
def test_servers_agree(
    dynamic: dict[str, object], static: dict[str, object], server_name: str, stopped: Sandbox
) -> None:
    """A file is called fatal where the server does not start with it, and nowhere else."""
    text = (version_2 if server_name == "mysql-9.7" else version_1)(dynamic, static)
    Path(stopped.datadir, "mysqld-auto.cnf").write_text(text)
    try:
        stopped.restart()
    except SandboxError:
        starts = False
    else:
        starts = True
    reading = Carried(text, "mysqld-auto.cnf").carrier.sets[0].read(load(stopped.binary.target))
    assert any(stray.fatal for stray in reading.strays) is not starts
    assert reading.strays


@pytest.mark.parametrize("form", [version_1, version_2])
def test_places(form: object, carried: Reader) -> None:
    """Names keep their places, static ones too, and the value that SET makes of a notation is shown."""
    assert callable(form)
    document = carried(form({"sort_buffer_size": "1M", "nonsense": "é"}, {"back_log": "7"}), "x.json")
    assert set(document.slices()) == {"sort_buffer_size", "back_log"}
    assert document.options()["sort_buffer_size"] == "1"
    assert set(document.strays()) == {"nonsense", "sort_buffer_size"}


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "{}", '{"Version": 3}', '{"Version": 1, "mysql_server": {"a": {"Value": 1}}}', '{"a":' * 100_000,
        '{"Version": 1, "mysql_server": {"a": "b"}}',
    ],
)  # fmt: skip
def test_no_such_file(text: str, carried: Reader) -> None:
    """What is none of the two formats is one line with the remedy."""
    with pytest.raises(CarrierError, match=r"^mysqld-auto\.cnf:[^\n]*; [^\n]*$"):
        carried(text, "mysqld-auto.cnf")


@pytest.mark.parametrize("target", ["mysql-5.7", "mariadb-11.4"])
def test_servers_without_persisted_variables(target: str, carried: Reader) -> None:
    """Only MySQL 8 and later read such a file."""
    with pytest.raises(CarrierError, match="has no persisted variables"):
        carried(version_1({"port": "1"}), "mysqld-auto.cnf").options(target)
