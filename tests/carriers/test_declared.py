"""Options that documents declare: each kind has a golden with the places of all names and values."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from advisor.carriers import hcl_tree
from advisor.carriers.document import CarrierError, Document, OptionSet
from advisor.carriers.provider_lists import parameters_of
from advisor.catalog import load
from advisor.catalog.targets import newest_target, parse_target
from advisor.commands.carriers import check_carrier
from advisor.commands.read_files import read_carrier
from advisor.core.model import Confidence, Finding, Location, Severity
from advisor.verdict.declared import ProviderParameter
from rules import file_rules, parameter_rules
from rules.core.context import NO_HOST

SAMPLES = Path(__file__).parent / "declared"
NAMES = sorted(path.name for path in SAMPLES.iterdir() if path.suffix != ".places")


def places_of(name: str) -> str:
    """The sets of a sample: label, target, how the platform calls it, and names and values with their places."""
    carrier = read_carrier(str(SAMPLES / name), {})
    assert carrier is not None
    text = carrier.document.text.split("\n")
    return "".join(f"{line}\n" for one in carrier.sets for line in _set_lines(one, text))


def _set_lines(one: OptionSet, text: list[str]) -> list[str]:
    declared = one.declared
    scope = f" ({declared.scope})" if declared and declared.scope else ""
    found = [f"{one.label}: {one.hint or 'guessed'}, {declared.kind if declared else 'option file'}{scope}"]
    for option in declared.options if declared else ():
        value = "unknown" if option.value is None else f"{option.value!r} {_written(option.value_place, text)}"
        method = f", {option.apply_method}" if option.apply_method else ""
        found.append(f"  {option.name} {_written(option.name_place, text)} = {value}{method}")
    order = () if declared else one.read(load(one.hint or newest_target("mysql"))).order
    return found + [f"  {line.name} at {line.number}:{line.column} = {line.value!r}" for line in order]


def _written(place: Location, text: list[str]) -> str:
    there = text[place.line - 1][place.column - 1 : place.end_column - 1]
    return f"at {place.line}:{place.column} <{there}>"


@pytest.mark.parametrize("name", NAMES)
def test_places(name: str) -> None:
    """Each kind is read with the exact places of its names and values."""
    golden = SAMPLES / f"{name}.places"
    if os.environ.get("MYCNF_WRITE_GOLDEN"):
        golden.write_text(places_of(name))
    assert places_of(name) == golden.read_text()


def findings(path: Path, *targets: str) -> list[Finding]:
    """The findings of all rules in a document."""
    carrier = read_carrier(str(path), {})
    assert carrier is not None
    checked = check_carrier(carrier, [parse_target(target) for target in targets], file_rules(house=False), NO_HOST)
    return [finding for one in checked for finding in one.findings]


@pytest.mark.parametrize("name", NAMES)
def test_samples_have_no_errors(name: str) -> None:
    """Sound documents have no errors, on the server that they name."""
    targets = ("mysql-8.0",) if name in ("pillar.sls", "role.yml", "hiera.yaml", "chef.json") else ()
    if name == "nixos.json":  # its plugins are MariaDB's, which nothing in the document says
        targets = ("mariadb-11.4",)
    assert [f for f in findings(SAMPLES / name, *targets) if f.severity is Severity.ERROR] == []


def test_default_groups(shared: Path) -> None:
    """The default groups of RDS and Aurora, with a thousand parameters, have no errors."""
    path = shared / "review" / "declared" / "tappo1-dbpg.tf"
    assert [f for f in findings(path) if f.severity is Severity.ERROR] == []


AZURE_SERVERS = """\
resource "azurerm_mysql_flexible_server" "old" {
  version = "5.7"
}
resource "azurerm_mysql_flexible_server" "new" {
  name    = "db2"
  version = "8.0.21"
}
"""
AZURE_CONFIGURATION = """\
resource "azurerm_mysql_flexible_server_configuration" "c" {{
  name        = "wait_timeout"
  server_name = {server}
  value       = "600"
}}
"""


@pytest.mark.parametrize(
    ("server", "series", "why"),
    [
        ("azurerm_mysql_flexible_server.old.name", (5, 7), "its version is 5.7"),
        ('"${azurerm_mysql_flexible_server.new.name}"', (8, 0), "its version is 8.0.21"),
        ('"db2"', (8, 0), "its version is 8.0.21"),
        ("var.server", (8, 0), "its version is not in the document"),
    ],
)
def test_two_servers_of_azure(server: str, series: tuple[int, int], why: str) -> None:
    """A configuration is checked for the version of the server that it names, not for that of the file's last one."""
    text = AZURE_SERVERS + AZURE_CONFIGURATION.format(server=server)
    carrier = read_carrier("x.tf", {"x.tf": text.encode()})
    (one,) = carrier.sets
    assert (one.hint.version[:2], one.why) == (series, why)


def test_a_provider_s_ranges() -> None:
    """A list has the provider's ranges for all parameters, not only for those that users set."""
    text = (SAMPLES / "describe-db-parameters.json").read_text()
    ranges = parameters_of(Document("x.json", text))
    assert ranges["performance_schema"] == ProviderParameter(
        "performance_schema", None, None, "engine-default", "0,1", True, "static", "boolean"
    )
    assert ranges["max_connections"].allowed == "1-16000"
    flags = parameters_of(Document("x.json", (SAMPLES / "gcloud-flags.json").read_text()))
    assert flags["max_connections"].allowed == "1-4000000"
    assert flags["max_connections"].apply_type == "static"
    azure = parameters_of(Document("x.json", (SAMPLES / "az-parameters.json").read_text()))
    assert azure["slow_query_log"].source == "user-override"
    assert azure["slow_query_log"].default == "OFF"


def test_a_misspelt_option_of_an_operator(tmp_path: Path) -> None:
    """What an operator writes into an option file is judged like one, at its place in the document."""
    path = tmp_path / "cluster.yaml"
    path.write_text((SAMPLES / "bitpoke.yaml").read_text().replace("sync_binlog", "sync_binlgo"))
    (error,) = [f for f in findings(path) if f.severity is Severity.ERROR]
    assert (error.name, error.location.line, error.location.column) == ("unknown-option", 8, 5)


def test_a_version_that_nothing_names(tmp_path: Path) -> None:
    """An option that some version lacks is no error where nothing says which version runs; a misspelt one is."""
    path = tmp_path / "db.yaml"
    path.write_text("mysql:\n  mysqld:\n    innodb_log_file_size: 1G\n    innodb_log_file_szie: 1G\n    port: 3307\n")
    found = {f.name: (f.severity, f.confidence) for f in findings(path)}
    assert found["removed-option"] == (Severity.WARNING, Confidence.LIKELY)
    assert found["unknown-option"][0] is Severity.ERROR
    named = {f.name: f.severity for f in findings(path, "mysql-9.7")}
    assert named["removed-option"] is Severity.ERROR


def test_a_role_s_variables_are_no_option_file(tmp_path: Path) -> None:
    """A template decides what becomes of a variable: one that the server lacks, or a value it refuses, is no error."""
    found = findings(SAMPLES / "role.yml", "mysql-9.7")
    assert {f.name for f in found if f.severity is Severity.ERROR} == set()
    assert "lost-commits" in {f.name for f in found}


HOSTILE = {
    "nested.tf": 'resource "aws_db_parameter_group" "p" {\n  a = ' + "[" * 1_000_000,
    "blocks.tf": "parameter {" * 90_000,
    "closed.tf": "parameters = " + "[" * 400_000 + "]" * 400_000,
    "nested.yaml": "mysqld: " + "[" * 1_000_000,
    "nested.json": '{"ParameterName": ' + '{"a":' * 200_000,
    "lines.tf": "parameter {\n}\n" * 60_000,
    "sets.tf": 'resource "aws_db_parameter_group" "p" {\n family = "mysql8.0"\n'
    ' parameter {\n name = "port"\n value = 1\n }\n}\n' * 600,
    "broken.tf": 'resource "aws_db_parameter_group" "p" {\n  family = "mysql8.0"\n  parameter {\n    name = \n  }\n}\n',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_documents_are_one_line(name: str) -> None:
    """What is nested a million deep, too long or broken is refused in one line with the place."""
    with pytest.raises(CarrierError) as refused:
        read_carrier(name, {name: HOSTILE[name].encode()})
    assert str(refused.value).startswith(f"{name}:")
    assert "\n" not in str(refused.value)


def test_strings_in_a_row_do_not_keep_the_parser_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The parser's time grows with the square of the strings in a row: it is stopped, and one line says why."""
    monkeypatch.setattr(hcl_tree, "MAX_SECONDS", 0.1)
    with pytest.raises(CarrierError, match="too many syntax errors"):
        read_carrier("x.tf", {"x.tf": b"# parameter\n" + b'"" ' * 300_000})


def settings_of(text: str) -> list[tuple[str, str | None]]:
    """The names and values in a file of Terraform."""
    carrier = read_carrier("x.tf", {"x.tf": text.encode()})
    return [(option.name, option.value) for one in carrier.sets for option in one.declared.options]


REPEATED = """\
locals {{ {locals} }}
resource "aws_db_parameter_group" "p" {{
  family = "mysql8.0"
  dynamic "parameter" {{
    for_each = {each}
    content {{
      name  = parameter.key
      value = parameter.value
    }}
  }}
}}
"""


@pytest.mark.parametrize(
    ("locals_", "each", "expected"),
    [
        ("", '{ port = "3307" }', [("port", "3307")]),
        ('p = { port = "3307" }', "local.p", [("port", "3307")]),
        ('p = { port = local.q }\n q = "3307"', "local.p", [("port", "3307")]),
        ('p = { port = "3307" }', "merge(local.p, var.x)", [("port", None)]),
        ('p = { port = "3307" }', "merge(var.x, local.p)", [("port", "3307")]),
        ('p = { port = "3307" }', "{ port = local.q, user = var.user }", [("port", None), ("user", None)]),
        ('p = { port = "3307" }', "var.p", []),
        ("p = local.q\n q = local.p", "local.p", []),
    ],
)
def test_dynamic_blocks(locals_: str, each: str, expected: list[tuple[str, str | None]]) -> None:
    """Blocks that the file itself repeats are read; what a variable may replace has an unknown value."""
    assert settings_of(REPEATED.format(locals=locals_, each=each)) == expected


def test_repeated_blocks_are_bounded() -> None:
    """Blocks in blocks, each of which doubles what is in it, are refused in one line, and so are locals in locals."""
    twice = "".join(f"  a{i} = [local.a{i + 1}, local.a{i + 1}]\n" for i in range(40))
    text = f"locals {{\n{twice}  a40 = 1\n}}\n{REPEATED.format(locals='', each='local.a0')}"
    with pytest.raises(CarrierError, match="references make more than"):
        settings_of(text)
    deep = "".join(f"  a{i} = {'[' * 30}local.a{i + 1}{']' * 30}\n" for i in range(30))
    assert settings_of(f"locals {{\n{deep}}}\n{REPEATED.format(locals='', each='local.a0')}") == []


def test_an_apply_method_that_is_a_variable() -> None:
    """Nothing is said about when a static parameter is applied if a variable decides it."""
    text = GROUP.replace("sync_binlog", "performance_schema").replace('    value = "0"', '    value = "1"')
    method = "    apply_method = {}\n  }}"
    for given, expected in (("var.method", []), ('"immediate"', ["PAR004"]), ("null", ["PAR004"])):
        carrier = read_carrier("x.tf", {"x.tf": text.replace("  }", method.format(given), 1).encode()})
        (checked,) = check_carrier(carrier, [], [*file_rules(house=False), *parameter_rules()], NO_HOST)
        assert [f.code for f in checked.findings if f.code == "PAR004"] == expected


def test_aliases_do_not_multiply() -> None:
    """Aliases of aliases share their nodes: nine to the power of forty options are read as two."""
    nested = "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 40))
    text = f"mysqld: &a0 {{port: 1, user: x}}\n{nested}"
    carrier = read_carrier("x.yaml", {"x.yaml": text.encode()})
    assert [len(one.declared.options) for one in carrier.sets] == [2]


def test_secrets_stay_hidden(tmp_path: Path) -> None:
    """A secret in a mapping of options is masked in the lines that reports show."""
    path = tmp_path / "cluster.yaml"
    path.write_text((SAMPLES / "bitpoke.yaml").read_text().replace("sync_binlog: 1", "wsrep_sst_auth: 'root:hunter2'"))
    carrier = read_carrier(str(path), {})
    assert "hunter2" not in "".join(map(carrier.document.masked_line, range(1, carrier.document.lines + 1)))


UNEDITABLE = {
    "role.yml": "mysql_log_slave_updates: 1\nmysql_max_connections: 9\nmysql_sort_buffer_size: 32K\n",
    "hiera.yaml": "mysql::server::override_options:\n  mysqld:\n    log_slave_updates: true\n    port: 3307\n",
    "nixos.json": '{"mysqld": {\n  "port": 3307,\n  "log_slave_updates": 1\n}}\n',
}


@pytest.mark.parametrize("name", UNEDITABLE)
def test_what_fixes_leave_alone(name: str) -> None:
    """Fixes leave a role's variables, a value that only Puppet implies, and members of JSON alone."""
    carrier = read_carrier(name, {name: UNEDITABLE[name].encode()})
    reading = carrier.sets[0].read(load(parse_target("mysql-8.4")))
    line = next(line for line in reading.order if line.name == "log_slave_updates")
    assert line.number not in reading.whole
    assert name == "nixos.json" or (line.number, line.column) not in reading.editable


GROUP = """\
resource "aws_db_parameter_group" "p" {
  family = "mysql8.0"
  parameter {
    name  = "sync_binlog"
    value = "0"
  }
}
"""
ADVISED = [
    ("r.yml", "mysql_port: 3307\nmysql_max_connections: 500\nmysql_key_buffer_size: 16M\nmysql_sync_binlog: '0'\n",
     'write mysql_sync_binlog: "1"', "'0'"),
    ("hiera.yaml", "mysql::server::override_options:\n  mysqld:\n    sync-binlog: 0\n", 'write sync-binlog: "1"', "0"),
    ("nixos.json", '{"mysqld": {"port": 3307, "sync_binlog": 0}}', 'write "sync_binlog": "1"', "0"),
    ("task.yml", "- azure_rm_mysqlconfiguration:\n    server_name: s\n    name: sync_binlog\n    value: '0'\n",
     'write value: "1"', "'0'"),
    ("group.tf", GROUP, 'write value = "1"', '"0"'),
    ("do.tf", 'resource "digitalocean_database_mysql_config" "x" {\n  sync_binlog = 0\n}\n',
     'write sync_binlog = "1"', "0"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "help_", "old"), ADVISED)
def test_advice_is_written_as_the_document_writes_it(
    tmp_path: Path, name: str, text: str, help_: str, old: str
) -> None:
    """Advice has the document's name and notation; once its value is in the document, the finding is gone."""
    path = tmp_path / name
    path.write_text(text)
    (found,) = [f for f in findings(path) if f.name == "unsynced-binary-log"]
    assert found.help.partition(";")[0] == help_
    before, _, after = text.rpartition(old)
    path.write_text(f'{before}"1"{after}')
    assert "unsynced-binary-log" not in {f.name for f in findings(path)}


def test_a_role_s_variable_is_named_as_written(tmp_path: Path) -> None:
    """A finding names the variable of a role, at its first character, and so does advice."""
    path = tmp_path / "vars.yml"
    path.write_text(
        "mysql_port: 3307\nmysql_key_buffer_size: 16M\nmysql_query_cache_type: 1\nmysql_query_cache_size: 1M\n"
    )
    (found,) = [f for f in findings(path, "mysql-5.7") if f.name == "query-cache"]
    assert (found.option, found.canonical, found.location.column) == ("mysql_query_cache_type", "query_cache_type", 1)
    assert found.help == "remove the line and that of its size: the cache is off by default"


def test_a_cookbook_s_attributes_are_no_option_file(tmp_path: Path) -> None:
    """Attributes that no server has, and values that it refuses, are for the cookbook's template to use."""
    path = tmp_path / "node.json"
    tunable = {"max_connections": 800, "sync_binlog": 0, "innodb_log_fiel_size": 1, "log_slow_queries": "x"}
    path.write_text(json.dumps({"mysql": {"tunable": {**tunable, "key_buffer_size": "250M", "back_log": "128"}}}))
    assert {f.name for f in findings(path, "mysql-8.4")} == {"unsynced-binary-log"}


OPERATED = """\
kind: {kind}
metadata:
  name: db
spec:
  mysql:
    configuration: |
      {first}
      innodb_buffer_pool_size={{{{containerMemoryLimit * 3/4}}}}
---
kind: ConfigMap
metadata:
  name: own
  ownerReferences:
    - kind: {kind}
data:
  my.cnf: |
    innodb_buffer_pool_size = 16G
"""


def test_texts_to_which_an_operator_adds_the_group(tmp_path: Path) -> None:
    """Percona's operator writes [mysqld] above such texts, in its resource and in the ConfigMap that it makes."""
    path = tmp_path / "cluster.yaml"
    path.write_text(OPERATED.format(kind="PerconaServerMySQL", first="max_conections=250"))
    (error,) = [f for f in findings(path) if f.severity is Severity.ERROR]
    assert (error.name, error.location.line, error.location.column) == ("unknown-option", 7, 7)
    path.write_text(OPERATED.format(kind="Other", first="max_connections=250"))
    (found,) = [f for f in findings(path) if f.name == "option-outside-group"]
    assert (found.severity, found.location.line) == (Severity.WARNING, 17)


OWN_LOGS = """\
kind: MySQLCluster
spec:
  mysqlConfigMapName: own
---
kind: ConfigMap
metadata:
  name: own
data:
  long_query_time: "1"
  innodb_buffer_pool_size: 16G
"""
PARTIAL = {
    "moco.yaml": OWN_LOGS,
    "vars.yml": "mysql_long_query_time: 1\nmysql_innodb_buffer_pool_size: 16G\nmysql_max_connections: 200\n",
    "pillar.sls": "mysql:\n  server:\n    mysqld:\n      long_query_time: 1\n      innodb_buffer_pool_size: 16G\n",
    "common.yaml": "mysql::server::override_options:\n  mysqld:\n    long_query_time: 1\n    sort_buffer_size: 1M\n",
    "chef.json": '{"mysql": {"tunable": {"long_query_time": 1, "innodb_buffer_pool_size": "16G"}}}',
}  # fmt: skip


@pytest.mark.parametrize("name", PARTIAL)
def test_what_others_may_set(name: str, tmp_path: Path) -> None:
    """Nothing is said about a server's default where an operator, a template or a module may set the option.

    MOCO, for example, switches the slow log on and sizes the redo log.
    """
    path = tmp_path / name
    path.write_text(PARTIAL[name])
    assert {f.name for f in findings(path, "mysql-8.4")} & {"unused-slow-log-settings", "small-redo-log"} == set()
    own = tmp_path / "compose.yaml"
    own.write_text("services:\n  db:\n    image: mysql:8.4\n    command: --long-query-time=1\n")
    assert "unused-slow-log-settings" in {f.name for f in findings(own)}


def test_a_secret_in_a_document_without_groups(tmp_path: Path) -> None:
    """The finding names what holds the secret, where there is no group."""
    path = tmp_path / "x.yaml"
    path.write_text("mysqld:\n  report_password: hunter2\n")
    (found,) = [f for f in findings(path) if f.name == "plaintext-secret"]
    assert found.message.startswith("The document holds a secret")


def test_what_an_image_sets_from_its_environment(tmp_path: Path) -> None:
    """The address of a cluster in the option file of Bitnami's image is replaced by that in the environment."""
    path = tmp_path / "galera.yaml"
    text = "data:\n  my.cnf: |\n    [galera]\n    wsrep_on=ON\n    wsrep_cluster_address=gcomm://\n"
    path.write_text(text)
    assert "galera-founds-itself-anew" in {f.name for f in findings(path)}
    path.write_text(f"{text}env:\n- {{name: MARIADB_GALERA_CLUSTER_ADDRESS, value: 'gcomm://a,b'}}\n")
    assert "galera-founds-itself-anew" not in {f.name for f in findings(path)}


def test_a_text_that_others_may_complete(tmp_path: Path) -> None:
    """What a node of a cluster lacks may be in another text of the chart, whose images name the server."""
    path = tmp_path / "values.yaml"
    path.write_text(
        "images:\n  tags:\n    mariadb: quay.io/airshipit/mariadb:11.4-noble\nconf:\n  force: |\n    [mysqld]\n"
        "    wsrep_on = ON\n    wsrep_provider = /usr/lib/galera/libgalera_smm.so\n    binlog_format = ROW\n"
    )
    (found,) = [f for f in findings(path) if f.name == "refused-start"]
    assert (found.severity, found.confidence) == (Severity.WARNING, Confidence.LIKELY)
