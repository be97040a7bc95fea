"""`mycnf lint` of documents of managed services, as its user runs it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from advisor.catalog.targets import parse_target
from advisor.verdict.declared import Instance, ProviderParameter, service_settings

if TYPE_CHECKING:
    from mycnf_command import Mycnf

GROUP = """resource "aws_db_parameter_group" "main" {
  family = "mysql8.0"
  parameter {
    name  = "innodb_flush_log_at_trx_commit"
    value = "2"
  }
  parameter {
    name  = "sort_buffer_size"
    value = "1M"
  }
  parameter {
    name         = "max_connections"
    value        = "{DBInstanceClassMemory/125828}"
    apply_method = "immediate"
  }
  parameter {
    name  = "port"
    value = "3307"
  }
}
"""
ROWS = [
    {"ParameterName": "innodb_flush_log_at_trx_commit", "ApplyType": "dynamic", "AllowedValues": "0-2"},
    {
        "ParameterName": "sort_buffer_size", "ApplyType": "dynamic", "DataType": "integer",
        "AllowedValues": "32768-18446744073709551615", "IsModifiable": True,
    },
    {"ParameterName": "max_connections", "ApplyType": "dynamic", "DataType": "integer", "AllowedValues": "1-100000"},
    {"ParameterName": "port", "ParameterValue": "{EndPointPort}", "ApplyType": "static", "IsModifiable": False},
]  # fmt: skip


@pytest.fixture
def group(tmp_path: Path) -> str:
    """A Terraform file with a parameter group."""
    (tmp_path / "group.tf").write_text(GROUP)
    return str(tmp_path / "group.tf")


def codes(mycnf: Mycnf, *args: str) -> list[tuple[str, str, str]]:
    """The findings of lint: severity, code and option."""
    out = json.loads(mycnf("lint", "--isolated", "--format", "json", *args).out)
    return [(f["severity"], f["code"], f["option"]) for file in out["files"] for f in file["findings"]]


def test_findings_are_lines_of_the_document(mycnf: Mycnf, group: str) -> None:
    """What is advised is a value of the Terraform file, in plain numbers."""
    ended = mycnf("lint", "--isolated", group)
    assert 'write value = "1"' in ended.out
    assert "write 1048576" in ended.out
    assert "[mysqld]" not in ended.out


def test_rules_can_be_selected(mycnf: Mycnf, group: str) -> None:
    """--select and --ignore decide about the rules of parameters as about others."""
    assert codes(mycnf, "--select", "PAR003", group) == [("warning", "PAR003", "sort_buffer_size")]
    assert codes(mycnf, "--select", "DUR001", group) == [("warning", "DUR001", "innodb_flush_log_at_trx_commit")]
    assert [code for _, code, _ in codes(mycnf, "--ignore", "PAR,DUR", group)] == []


def test_comments_suppress_findings(mycnf: Mycnf, group: str) -> None:
    """A comment beside the name suppresses a finding about a parameter, and one that suppresses nothing is reported."""
    text = Path(group).read_text().replace('"sort_buffer_size"\n', '"sort_buffer_size" # mycnf: ignore[PAR003] known\n')
    Path(group).write_text(text.replace('"port"\n', '"port" # mycnf: ignore[PAR001] none\n'))
    assert [code for _, code, _ in codes(mycnf, group)] == ["DUR001", "PAR004", "SUP001"]


def test_the_ranges_of_a_provider_s_list(mycnf: Mycnf, group: str, tmp_path: Path) -> None:
    """With --parameters, what the list refuses is an error, and without it at most a warning."""
    listed = tmp_path / "list.json"
    listed.write_text(json.dumps({"EngineDefaults": {"DBParameterGroupFamily": "mysql8.0", "Parameters": ROWS}}))
    assert codes(mycnf, group) == [
        ("warning", "DUR001", "innodb_flush_log_at_trx_commit"),
        ("warning", "PAR003", "sort_buffer_size"),
        ("warning", "PAR004", "port"),
    ]
    assert codes(mycnf, "--parameters", str(listed), group) == [
        ("warning", "DUR001", "innodb_flush_log_at_trx_commit"),
        ("error", "PAR003", "sort_buffer_size"),
        ("error", "PAR002", "port"),
        ("error", "PAR004", "port"),
    ]


def test_a_list_without_parameters_to_check(mycnf: Mycnf, tmp_path: Path) -> None:
    """--parameters has no effect on the files of a server, and stderr says so."""
    (tmp_path / "my.cnf").write_text("[mysqld]\nport = 3306\n")
    ended = mycnf("lint", "--isolated", "--target", "mysql-8.0", "--parameters", "list.json", "my.cnf")
    assert (ended.code, "--parameters list.json has no effect" in ended.err) == (0, True)


def test_a_file_that_is_no_list_is_refused(mycnf: Mycnf, group: str, tmp_path: Path) -> None:
    """--parameters with another document, or with an option file, ends in one line with what to give."""
    (tmp_path / "my.cnf").write_text("[mysqld]\nport = 3307\n")
    for path in (group, tmp_path / "my.cnf"):
        ended = mycnf("lint", "--isolated", "--parameters", path, group)
        assert ended.code == 2
        assert f"{path}: not a provider's list" in ended.err
        assert "describe-engine-default-parameters" in ended.err


def test_formulas_are_judged_for_an_instance_class(mycnf: Mycnf, group: str) -> None:
    """A formula that gives too many connections for the memory is found once the instance class is known."""
    found = mycnf("lint", "--isolated", "--instance-class", "db.r6g.large", group)
    assert "136534 is above the maximum" in found.out
    assert "136534" not in mycnf("lint", "--isolated", group).out
    assert "formulas are evaluated with 16G" in found.err


def test_defaults_are_those_of_the_service() -> None:
    """The flush method and the pool of RDS are its own, and the choices of other services are unknown."""
    from rule_cases import declared_set  # the plugin of the rules' cases

    from advisor.catalog import load
    from advisor.verdict.managed import judge_managed

    target = parse_target("rds-mysql-8.0")
    verdict = judge_managed(declared_set({"options": [["port", "1"]]}, target), load(target)).file
    listed = {"sync_binlog": ProviderParameter("sync_binlog", "7", source="system")}
    rds = service_settings(verdict, target, listed, Instance(memory=1 << 36))
    assert (rds.text("innodb_flush_method"), rds.number("max_connections")) == ("O_DIRECT", 5461)
    assert (rds.number("sync_binlog"), rds.is_set("sync_binlog")) == (7, False)
    other = service_settings(verdict, parse_target("cloudsql-mysql-8.0"), {}, None)
    assert other.text("innodb_flush_method") is None
    assert other.text("innodb_autoinc_lock_mode") == "2"


def test_default_groups_have_no_error(mycnf: Mycnf, shared: Path) -> None:
    """Default groups of Aurora and RDS, dumped with all their parameters, have no error and no unknown parameter."""
    found = codes(mycnf, str(shared / "review" / "declared" / "tappo1-dbpg.tf"))
    assert [row for row in found if row[0] == "error" or row[1] == "PAR001"] == []
    assert Counter(code for _, code, _ in found)["PAR002"] == 20


def test_a_group_is_compared_by_what_it_sets(mycnf: Mycnf, group: str, tmp_path: Path) -> None:
    """diff compares the parameters of the group and the lines of the other file, not the defaults of the server."""
    (tmp_path / "my.cnf").write_text("[mysqld]\ninnodb_flush_log_at_trx_commit = 1\nsync_binlog = 0\nport = 3307\n")
    ended = mycnf("diff", "--isolated", "--format", "json", group, str(tmp_path / "my.cnf"))
    found = json.loads(ended.out)
    assert ended.code == 1
    assert "settings that neither side sets are not compared" in ended.err
    names = {one["variable"] for one in found["differences"]}
    assert names == {"innodb_flush_log_at_trx_commit", "sync_binlog"}
    reasons = {one["variable"]: one["reason"] for one in found["not_told"]}
    assert reasons["sort_buffer_size"] == "a value that is not valid for the service: mycnf lint shows the reason"


def test_an_upgrade_from_family_to_family(mycnf: Mycnf, group: str) -> None:
    """A parameter that the new family lacks is found, and defaults that the service chooses are not reported."""
    text = Path(group).read_text().replace("mysql8.0", "mysql5.7").replace('"port"', '"query_cache_type"')
    Path(group).write_text(text.replace("3307", "1"))
    ended = mycnf(
        "upgrade", "--isolated", "--format", "json", "--from", "rds-mysql-5.7", "--to", "rds-mysql-8.0", group
    )
    found = json.loads(ended.out)
    assert [(one["line"], one["change"]) for one in found["lines"]] == [(17, "removed")]
    options = {one["option"] for one in found["defaults"]}
    assert options
    assert options.isdisjoint({"innodb_flush_method", "log_bin", "innodb_buffer_pool_size", "server_id"})


def test_an_option_file_for_a_managed_target(mycnf: Mycnf, tmp_path: Path) -> None:
    """Lines of an option file are checked as parameters of the service: suffixes, and what its users cannot set."""
    file = tmp_path / "my.cnf"
    text = (
        "[mysqld]\nskip-name-resolve\nsort_buffer_size = 1M\nsync_binlog = 1\nlong_query_time = 1\n[client]\nport = 1\n"
    )
    file.write_text(text)
    assert codes(mycnf, "--target", "aurora-mysql-3", str(file)) == [
        ("warning", "PAR002", "skip_name_resolve"),
        ("warning", "PAR003", "sort_buffer_size"),
        ("warning", "PAR002", "sync_binlog"),
        ("note", "OBS003", "long_query_time"),
    ]


def test_documents_are_no_files_to_amend(mycnf: Mycnf, group: str) -> None:
    """suggest --write-diff refuses a document in one line."""
    ended = mycnf("suggest", "--ram", "16G", "--target", "rds-mysql-8.0", "--write-diff", group)
    assert ended.code == 2
    assert "only with option files" in ended.err


@pytest.mark.parametrize(
    ("name", "target", "note"),
    [
        ("innodb_io_capacity", "aurora-mysql-3", "has no effect"),
        ("sync_binlog", "aurora-mysql-3", "does not let you change it"),
        ("innodb_page_cleaners", "aurora-mysql-3", "not among the parameters"),
        ("binlog_format", "aurora-mysql-3", "set it in the DB cluster parameter group"),
        ("sort_buffer_size", "azure-mysql-8.0", "set it in the server parameters"),
        ("server_id", "cloudsql-mysql-8.0", "does not let you change it"),
    ],
)
def test_explain_says_what_users_of_a_service_can_do(mycnf: Mycnf, name: str, target: str, note: str) -> None:
    """explain of an option for a managed target has a line about the service, and none for other servers."""
    assert note in " ".join(mycnf("explain", name, "--target", target).out.split())
    assert "  service" not in mycnf("explain", name, "--target", "mysql-8.0").out


TWO_GROUPS = """resource "aws_db_parameter_group" "new" {
  family = "mysql8.0"
  parameter {
    name  = "innodb_buffer_pool_size"
    value = "{DBInstanceClassMemory*3/4}"
  }
  parameter {
    name  = "max_connections"
    value = "LEAST({DBInstanceClassMemory/9531392},1000)"
  }
}
resource "aws_db_parameter_group" "old" {
  family = "mysql5.7"
  parameter {
    name  = "query_cache_type"
    value = "1"
  }
}
"""


@pytest.fixture
def groups(tmp_path: Path) -> str:
    """A Terraform file with two parameter groups, of two families."""
    (tmp_path / "groups.tf").write_text(TWO_GROUPS)
    return str(tmp_path / "groups.tf")


def test_show_prints_each_set(mycnf: Mycnf, groups: str) -> None:
    """show prints each set of a document for its own server, one of them with --set, and evaluates formulas."""
    found = json.loads(mycnf("show", "--isolated", "--format", "json", "--ram", "32G", groups).out)
    assert [(one["set"], one["target"][:13], sorted(one["options"])) for one in found["sets"]] == [
        ("new", "rds-mysql-8.0", ["innodb_buffer_pool_size", "max_connections"]),
        ("old", "rds-mysql-5.7", ["query_cache_type"]),
    ]
    assert found["sets"][0]["options"]["innodb_buffer_pool_size"]["value"] == str(24 << 30)
    one = mycnf("show", "--isolated", "--set", "old", groups)
    assert one.out.startswith("old: 1 option set, as Amazon RDS for MySQL 5.7.44 takes it\n")
    assert "[mysqld]" not in one.err
    wrong = mycnf("show", "--isolated", "--set", "older", groups)
    assert (wrong.code, "write --set with one of new, old" in wrong.err) == (2, True)


@pytest.mark.parametrize(
    ("pool", "words", "expected"),
    [
        ("24G", (), "a formula: --instance-class or --ram evaluates it"),
        ("24G", ("--instance-class", "db.r6g.xlarge"), "A is at most 24G by the formula"),
        ("25G", ("--ram", "32G"), "differs"),
        ("8G", ("--ram", "32G"), "differs"),
    ],
)
def test_diff_evaluates_formulas(mycnf: Mycnf, groups: str, pool: str, words: tuple[str, ...], expected: str) -> None:
    """A formula differs from a value only where it does so for all memory that the service may keep for itself."""
    file = Path(groups).with_name("my.cnf")
    file.write_text(f"[mysqld]\ninnodb_buffer_pool_size = {pool}\nmax_connections = 1000\n")
    ended = mycnf("diff", "--isolated", "--set", "new", "--format", "json", *words, groups, str(file))
    found = json.loads(ended.out)
    differs = [one["variable"] for one in found["differences"]]
    assert differs == (["innodb_buffer_pool_size"] if expected == "differs" else [])
    reasons = {one["variable"]: one["reason"] for one in found["not_told"]}
    assert reasons.get("innodb_buffer_pool_size", "differs").startswith(expected)
    assert "max_connections" not in reasons or not words  # LEAST is 1000 for half of the memory too


def test_diff_of_two_sets(mycnf: Mycnf, groups: str) -> None:
    """Two sets of one document are compared with --set for each, and each is read for its own family."""
    ended = mycnf("diff", "--isolated", "--set", "new", "--set", "old", "--format", "json", groups, groups)
    found = json.loads(ended.out)
    assert (found["a"]["target"][:13], found["b"]["target"][:13]) == ("rds-mysql-8.0", "rds-mysql-5.7")
    assert [one["name"] for one in found["only_b"]] == ["query_cache_type"]
    several = mycnf("diff", "--isolated", groups, groups)
    assert (several.code, "2 sets of options: write --set NAME with one of new, old" in several.err) == (2, True)


def test_sets_with_one_name_are_numbered(mycnf: Mycnf, tmp_path: Path) -> None:
    """Pools of tablets in Vitess all have configOverrides; --set chooses the second one by its number."""
    texts = [f"  - mysqld:\n      configOverrides: |\n        max_connections={n}\n" for n in (500, 600)]
    file = tmp_path / "vitess.yaml"
    file.write_text("kind: VitessCluster\nspec:\n  tabletPools:\n" + "".join(texts))
    words = ("show", "--isolated", "--target", "mysql-8.0", "--format", "json")
    sets = [one["set"] for one in json.loads(mycnf(*words, str(file)).out)["sets"]]
    assert sets == ["configOverrides", "configOverrides#2"]
    second = json.loads(mycnf(*words, "--set", sets[1], str(file)).out)
    assert second["options"]["max_connections"]["value"] == "600"


def test_diff_knows_which_defaults_are_the_service_s(mycnf: Mycnf, groups: str, tmp_path: Path) -> None:
    """A default that a service chooses itself is unknown, not different; known ones of Amazon are compared."""
    file = tmp_path / "my.cnf"
    file.write_text("[mysqld]\ntable_open_cache = 4000\nsync_binlog = 0\n")
    found = json.loads(mycnf("diff", "--isolated", "--set", "new", "--format", "json", groups, str(file)).out)
    assert [one["variable"] for one in found["differences"]] == ["sync_binlog"]
    reasons = {one["variable"]: one["reason"] for one in found["not_told"]}
    assert reasons["table_open_cache"] == "a default of the service, which mycnf does not know"


def test_upgrade_names_families(mycnf: Mycnf, groups: str) -> None:
    """Upgrade reports name the service and the new family, as likely, and advise lines of the document."""
    text = Path(groups).read_text().rstrip().removesuffix("}")
    Path(groups).write_text(f'{text}  parameter {{\n    name  = "tx_isolation"\n    value = "SERIALIZABLE"\n  }}\n}}\n')
    words = ("upgrade", "--isolated", "--from", "rds-mysql-5.7", "--to", "rds-mysql-8.0", "--set", "old", groups)
    ended = mycnf(*words)
    assert (ended.code, mycnf(*words, "--fail-on", "warning").code) == (0, 1)
    assert "Amazon RDS for MySQL 5.7.44 → Amazon RDS for MySQL 8.0.43" in ended.out
    assert "2 parameters are not valid in the new family" in ended.out
    assert "tx_isolation  removed in 8.0.3." in ended.out
    assert 'keep:  name = "explicit_defaults_for_timestamp", value = "0"' in ended.out
    assert "server" not in " ".join(line for line in ended.out.splitlines() if line.startswith("warning"))
    found = json.loads(mycnf(*words, "--format", "json").out)
    assert {(one["severity"], one["confidence"]) for one in found["lines"]} == {("warning", "likely")}


def test_lines_that_keep_defaults_of_a_service(mycnf: Mycnf, groups: str) -> None:
    """They have no group and the notation of the service, whose users cannot paste a [mysqld] group."""
    words = ("upgrade", "--isolated", "--from", "rds-mysql-5.7", "--to", "rds-mysql-8.0", "--set", "old", groups)
    kept = mycnf(*words, "--keep-lines").out
    assert "[mysqld]" not in kept
    assert "\nexplicit_defaults_for_timestamp = 0\n" in kept
    assert "as names and values for the service" in " ".join(mycnf(*words).out.split())
