"""Asking a server about an option file without starting it."""

from __future__ import annotations

from pathlib import Path

import pytest
from real_servers import Binaries

from probes.sandbox import (
    Binary,
    SandboxError,
    ask_help,
    help_values,
    host_binaries,
    print_defaults,
    server_defaults,
    validate_config,
)


@pytest.fixture
def option_file(tmp_path: Path) -> Path:
    """An option file with a value that every server takes."""
    file = tmp_path / "my.cnf"
    file.write_text("[mysqld]\nmax_connections = 77\ntmpdir = /tmp\n[client]\nport = 3307\n")
    return file


@pytest.mark.servers("all")
def test_help_prints_the_files_values(binary: Binary, option_file: Path) -> None:
    """A server prints the value that it takes from the file, and for an option that the file leaves alone its own."""
    answer = ask_help(binary, option_file)
    values = help_values(answer.stdout)
    assert answer.returncode == 0
    assert values["max-connections"] == "77"
    assert values["net-retry-count"] == "10"


@pytest.mark.servers("all")
def test_help_without_complaints(binary: Binary, option_file: Path) -> None:
    """A clean file brings no complaint of the server about its own whereabouts."""
    assert "[ERROR]" not in ask_help(binary, option_file).stderr


@pytest.mark.servers("mysql-5.7", "mariadb")
def test_help_refuses_what_the_server_refuses(binary: Binary, tmp_path: Path) -> None:
    """An unknown option is refused by name."""
    file = tmp_path / "my.cnf"
    file.write_text("[mysqld]\ninnodb_bufer_pool_size=1G\n")
    answer = ask_help(binary, file)
    assert answer.returncode != 0
    assert "innodb_bufer_pool_size" in answer.stderr


@pytest.mark.servers("all")
def test_arguments_outrank_the_file(binary: Binary, option_file: Path) -> None:
    """Options that are passed along come after the file's."""
    values = help_values(ask_help(binary, option_file, arguments=["--max-connections=99"]).stdout)
    assert values["max-connections"] == "99"


@pytest.mark.servers("all")
def test_the_files_data_directory_is_asked_for_by_name(binary: Binary, tmp_path: Path) -> None:
    """The data directory is a scratch one, and the file's own only when the caller says so."""
    file, data = tmp_path / "my.cnf", tmp_path / "data"
    data.mkdir()
    file.write_text(f"[mysqld]\ndatadir={data}\n")
    assert help_values(ask_help(binary, file).stdout)["datadir"].rstrip("/") != str(data)
    assert help_values(ask_help(binary, file, own_datadir=True).stdout)["datadir"].rstrip("/") == str(data)


@pytest.mark.servers("all")
def test_no_file_is_no_defaults(binary: Binary) -> None:
    """Without a file the server prints its compiled-in values."""
    assert help_values(ask_help(binary).stdout)["max-connections"] == "151"


def test_validate_config_judges(binaries: Binaries, option_file: Path, tmp_path: Path) -> None:
    """MySQL 9.7 passes a good file and names the line that would keep it from starting."""
    binary = binaries("mysql-9.7")
    assert validate_config(binary, option_file).returncode == 0
    bad = tmp_path / "bad.cnf"
    bad.write_text("[mysqld]\ninnodb_log_file_size=1G\n")
    refused = validate_config(binary, bad)
    assert refused.returncode != 0
    assert "innodb_log_file_size" in refused.stderr


@pytest.mark.servers("mysql-5.7", "mysql-8.0", "mariadb-10.11")
def test_validate_config_where_it_is_unknown(binary: Binary, option_file: Path) -> None:
    """A server without --validate-config isn't asked, and the error says whom to ask."""
    with pytest.raises(SandboxError, match=r"does not support --validate-config"):
        validate_config(binary, option_file)


@pytest.mark.servers("mysql-9.7", "mariadb")
def test_print_defaults_reads_the_groups(binary: Binary, option_file: Path) -> None:
    """my_print_defaults of the flavour gives the options of the groups that were named."""
    assert print_defaults(binary, option_file, "client") == ["--port=3307"]
    assert len(print_defaults(binary, option_file, "mysqld")) == 2


@pytest.mark.servers("mysql-5.7", "mysql-8.0")
def test_print_defaults_where_it_is_missing(binary: Binary, option_file: Path) -> None:
    """A server that came without my_print_defaults says so and names the way round."""
    with pytest.raises(SandboxError, match=r"has no my_print_defaults: install it, or use server_defaults"):
        print_defaults(binary, option_file, "mysqld")


@pytest.mark.servers("mariadb-10.11", "mysql-9.7")
def test_print_defaults_of_no_file(binary: Binary, tmp_path: Path) -> None:
    """A file that can't be opened is one clear error."""
    with pytest.raises(SandboxError, match=r"gone\.cnf can't be read"):
        print_defaults(binary, tmp_path / "gone.cnf", "mysqld")


@pytest.mark.servers("all")
def test_server_defaults_is_the_servers_own_reader(binary: Binary, tmp_path: Path) -> None:
    """Every server prints what it reads from its groups, those with a suffix too."""
    file = tmp_path / "my.cnf"
    file.write_text("[mysqld]\nmax_connections=77\n[mysqld-two]\nwait_timeout=9\n")
    answer = server_defaults(binary, file, suffix="-two")
    assert answer.stdout.splitlines()[-1].split() == ["--max_connections=77", "--wait_timeout=9"]


def test_host_binaries_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, binaries: Binaries) -> None:
    """A server on PATH is found once, under its own version, and a broken one beside it is ignored."""
    program = binaries("mariadb-10.11").program
    for name in ("mariadbd", "mysqld"):
        (tmp_path / name).write_text(f'#!/bin/sh\nexec "{program}" "$@"\n')
        (tmp_path / name).chmod(0o755)
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "mysqld").write_text("#!/bin/sh\nexit 1\n")
    (broken / "mysqld").chmod(0o755)
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / "mysqld").symlink_to(tmp_path / "mariadbd")
    monkeypatch.setenv("PATH", f"{broken}:{tmp_path / 'link'}:/bin:/usr/bin")
    monkeypatch.setattr("probes.sandbox.binary.USUAL_FOLDERS", ())
    found = [binary for binary in host_binaries() if binary.program.startswith(str(tmp_path))]
    assert [binary.program for binary in found] == [str(tmp_path / "link" / "mysqld")]
    assert found[0].target == binaries("mariadb-10.11").target
