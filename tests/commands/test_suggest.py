"""`mycnf suggest` as its user runs it."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
import yaml

if TYPE_CHECKING:
    from pathlib import Path

    from mycnf_command import Mycnf

HOST = ("--ram", "64G", "--cpus", "16", "--disk", "nvme", "--target", "mysql-8.0")


def test_a_file_for_a_described_host(mycnf: Mycnf, tmp_path: Path) -> None:
    """It lints without a finding, says for what it is, and has a reason above each line."""
    file = tmp_path / "my.cnf"
    assert mycnf("suggest", *HOST, "--workload", "oltp", "-o", str(file)).code == 0
    text = file.read_text("utf-8")
    assert "64G of memory, 16 processors, nvme" in text.replace("\n# ", " ")
    assert "\n# Based on BP-01 (measured)" in text
    assert "\ninnodb_buffer_pool_size = 52G\n" in text
    linted = mycnf("lint", "--isolated", *HOST, str(file))
    assert linted.code == 0, linted.out


def test_this_host_is_read_where_none_is_described(mycnf: Mycnf) -> None:
    """The pool is a share of what this machine, or its control group, has; the target that was assumed is named."""
    ended = mycnf("suggest", "--format", "json", "--workload", "dev")
    report = json.loads(ended.out)
    assert ended.code == 0
    assert "mycnf: assuming MySQL" in ended.err
    assert report["version"] == 1
    assert report["workload"] == "dev"
    installed = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    pools = [one["value"] for one in report["options"] if one["option"] == "innodb_buffer_pool_size"]
    assert all(int(pool[:-1]) << {"M": 20, "G": 30}[pool[-1]] <= installed // 4 for pool in pools)


def test_a_configuration_gives_target_and_host(mycnf: Mycnf, tmp_path: Path) -> None:
    """mycnf.toml names the server and the host where the command line does not, and its house rules are compared."""
    (tmp_path / "mycnf.toml").write_text(
        'target = "mariadb-10.11"\nram = "64G"\ncpus = 16\ndisk = "nvme"\n'
        '[house.innodb_buffer_pool_size]\nmaximum = "8G"\n'
    )
    ended = mycnf("suggest", "--format", "json")
    report = json.loads(ended.out)
    assert report["target"].startswith("mariadb-10.11.")
    (pool,) = [one["value"] for one in report["options"] if one["option"] == "innodb_buffer_pool_size"]
    host, house = ended.err.splitlines()
    assert host.endswith("mycnf.toml: ram = 64G, cpus = 16, disk = nvme; describe another with --ram, --cpus, --disk")
    assert house.endswith(
        f"mycnf.toml: house rule for innodb_buffer_pool_size: at most 8G; {pool} is suggested for the host"
    )
    small = mycnf("suggest", "--ram", "4G", "--cpus", "2", "--target", "mysql-8.0", "--format", "json")
    assert json.loads(small.out)["target"].startswith("mysql-8.0.")
    assert small.err == ""
    isolated = mycnf("suggest", "--isolated", "--format", "json")
    assert "mycnf: assuming MySQL" in isolated.err
    (tmp_path / "mycnf.toml").write_text("target = 1\n")
    assert mycnf("suggest").code == 2


def test_json_has_the_reasons(mycnf: Mycnf) -> None:
    """Each option with its line, reason, evidence, risk and what to watch."""
    report = json.loads(mycnf("suggest", *HOST, "--format", "json").out)
    assert report["target"].startswith("mysql-8.0.")
    assert {tuple(one) for one in report["options"]} == {
        ("option", "value", "reason", "evidence", "risk", "watch", "line")
    }


def test_a_diff_of_a_file(mycnf: Mycnf, tmp_path: Path) -> None:
    """The diff changes what differs, the file is unchanged, and the target comes from it where none is named."""
    file = tmp_path / "my.cnf"
    file.write_text("[mariadb]\naria_pagecache_buffer_size = 128M\ninnodb_buffer_pool_size = 1G\npassword = secret\n")
    before = file.read_bytes()
    ended = mycnf("suggest", "--ram", "16G", "--disk", "ssd", "--write-diff", str(file))
    assert ended.code == 0
    assert "-innodb_buffer_pool_size = 1G\n" in ended.out
    assert "+innodb_buffer_pool_size = 12G\n" in ended.out
    assert "secret" not in ended.out
    assert "MariaDB" in ended.err
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("target", "text", "names"),
    [
        ("mysql-8.0", "innodb_log_file_size = 48M\ninnodb_log_files_in_group = 2",
         ("-innodb_log_file_size", "-innodb_log_files_in_group", "+innodb_redo_log_capacity")),
        ("mysql-8.0", "datadir = C:/mysql/data", ("+innodb_redo_log_capacity",)),
        ("mariadb-11.4", "wsrep_on = ON\nwsrep_provider = /g.so\nwsrep_cluster_address = gcomm://a,b,c",
         ("+innodb_log_file_size",)),
    ],
    ids=["redo log", "windows", "galera"],
)  # fmt: skip
def test_a_diff_brings_no_new_finding(
    target: str, text: str, names: tuple[str, ...], mycnf: Mycnf, tmp_path: Path
) -> None:
    """What the added lines replace goes; Windows gets no O_DIRECT, and a node no log without its replicated changes."""
    file = tmp_path / "my.cnf"
    file.write_text(f"[mysqld]\ninnodb_buffer_pool_size = 4G\n{text}\n")
    ended = mycnf("suggest", "--target", target, "--ram", "16G", "--disk", "ssd", "--write-diff", str(file))
    assert ended.code == 0, ended.err
    assert "+innodb_io_capacity = 2000\n" in ended.out
    changed = {line.partition(" ")[0] for line in ended.out.splitlines() if line[:1] in "+-"}
    assert set(names) <= changed
    direct = {"+innodb_flush_method"} & changed
    assert bool(direct) is ("files_in_group" in text)
    assert not {"+log_bin", "+binlog_expire_logs_seconds"} & changed


def test_nothing_to_change_is_said(mycnf: Mycnf, tmp_path: Path) -> None:
    """A file that says all of it gives an empty diff and one line."""
    file = tmp_path / "my.cnf"
    mycnf("suggest", *HOST, "-o", str(file))
    ended = mycnf("suggest", *HOST, "--write-diff", str(file))
    assert (ended.code, ended.out) == (0, "")
    assert "has all suggested lines already" in ended.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--ram", "much"), "is not a size; write it as 64G or 512M"),
        (("--target", "oracle-23"), "oracle-23"),
        (("--write-diff", "/nowhere/my.cnf", "--target", "mysql-8.4"), "/nowhere/my.cnf"),
        (("--write-diff", "my.cnf", "--format", "json"), "Leave out"),
        (("-o", "/nowhere/my.cnf"), "/nowhere"),
    ],
)
def test_bad_words_are_one_line(mycnf: Mycnf, words: tuple[str, ...], message: str) -> None:
    """What makes no sense is refused with a remedy and exit code 2."""
    ended = mycnf("suggest", "--ram", "8G", *words)
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err.splitlines()[-1]


def test_a_parameter_group_for_an_instance_class(mycnf: Mycnf) -> None:
    """A managed target gets Terraform or CloudFormation with plain numbers, and nothing that Aurora keeps to itself."""
    args = ("suggest", "--target", "rds-mysql-8.0", "--instance-class", "db.r6g.2xlarge", "--disk", "ssd")
    ended = mycnf(*args, "--format", "terraform")
    assert ended.code == 0
    assert 'resource "aws_db_parameter_group" "suggested"' in ended.out
    assert 'family = "mysql8.0"' in ended.out
    assert 'value        = "2147483648"' in ended.out
    assert "64G of memory, 8 processors" in ended.out.replace("\n# ", " ")
    assert "innodb_buffer_pool_size stay" not in ended.out
    assert '"innodb_buffer_pool_size"' not in ended.out
    plain = mycnf(*args).out
    assert "[mysqld]" not in plain
    assert "\ninnodb_redo_log_capacity = 2147483648\n" in plain
    aurora = mycnf(*args[:2], "aurora-mysql-3", *args[3:], "--format", "cloudformation")
    template = yaml.safe_load(aurora.out)["Resources"]["SuggestedDBParameterGroup"]
    assert template["Properties"]["Family"] == "aurora-mysql8.0"
    assert template["Properties"]["Parameters"]["slow_query_log"] == "1"
    assert "innodb_redo_log_capacity" not in template["Properties"]["Parameters"]


def test_a_config_map(mycnf: Mycnf, tmp_path: Path) -> None:
    """The ConfigMap holds the option file, which lint reads without a finding."""
    file = tmp_path / "map.yaml"
    assert mycnf("suggest", *HOST, "--format", "k8s", "-o", str(file)).code == 0
    held = yaml.safe_load(file.read_text("utf-8"))["data"]["my.cnf"]
    assert held == mycnf("suggest", *HOST).out
    linted = mycnf("lint", "--isolated", *HOST, str(file))
    assert linted.code == 0, linted.out


@pytest.mark.parametrize(
    ("target", "form"), [("mysql-8.0", "terraform"), ("azure-mysql-8.0", "cloudformation"), ("rds-mysql-8.0", "k8s")]
)
def test_a_format_that_does_not_fit_the_target(mycnf: Mycnf, target: str, form: str) -> None:
    """It is refused in one line that names targets that fit."""
    ended = mycnf("suggest", "--target", target, "--ram", "16G", "--format", form)
    assert ended.code == 2
    assert "--target" in ended.err or "such as" in ended.err


def test_a_request_of_the_aws_cli(mycnf: Mycnf, tmp_path: Path) -> None:
    """The request has the three fields of each parameter that the AWS CLI takes, and lint reads it."""
    args = ("suggest", "--instance-class", "db.r6g.2xlarge", "--disk", "ssd", "--format", "aws", "--target")
    request = json.loads(mycnf(*args, "rds-mysql-8.0").out)
    assert sorted(request) == ["DBParameterGroupName", "Parameters"]
    rows = {row["ParameterName"]: row for row in request["Parameters"]}
    assert len(rows) <= 20
    assert all(sorted(row) == ["ApplyMethod", "ParameterName", "ParameterValue"] for row in rows.values())
    assert rows["innodb_redo_log_capacity"]["ParameterValue"] == "2147483648"
    file = tmp_path / "request.json"
    file.write_text(json.dumps(request))
    linted = mycnf("lint", "--isolated", "--target", "rds-mysql-8.0", str(file))
    assert (linted.code, "1 file checked" in linted.out) == (0, True)
    assert mycnf(*args, "cloudsql-mysql-8.0").code == 2


def test_json_for_a_service_has_plain_numbers(mycnf: Mycnf) -> None:
    """Values and lines are as the service takes them, without suffixes; those for a server keep theirs."""
    args = ("suggest", "--ram", "64G", "--cpus", "16", "--disk", "ssd", "--format", "json", "--target")
    for target, value in (("rds-mysql-8.0", "2147483648"), ("mysql-8.4", "2G")):
        (redo,) = [
            one
            for one in json.loads(mycnf(*args, target).out)["options"]
            if one["option"] == "innodb_redo_log_capacity"
        ]
        assert (redo["value"], redo["line"]) == (value, f"innodb_redo_log_capacity = {value}")
