"""Documents of kinds that are not read: one line names the kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.carriers.document import CarrierError
from advisor.commands.read_files import read_carrier

DOCUMENTS = {
    "main.tfvars": ('family = "mysql8.0"\n', "Terraform variables"),
    "README.md": ("# Options\n\nSet these: port\n", "Markdown"),
    "set.sql": ("SET GLOBAL port = 1;\n", "SQL"),
    "params.pp": ("class mysql::params {\n  $port = 3306\n}\n", "Puppet"),
    "server.nix": ("{ services.mysql.settings.mysqld.port = 3307; }\n", "Nix"),
    "parameters.txt": ("# ours\nmax_connections=500\nsort_buffer_size=1M\n", "list of parameters"),
    "flags.env": ("max_connections=500,sort_buffer_size=1M\n", "list of parameters"),
    "values.csv": ("max_connections,500\nsort_buffer_size,1M\n", "list of parameters"),
    "db.bicep": ("param location string\n", "Bicep"),
    "stack.ts": ("new rds.ParameterGroup(this, 'p');\n", "TypeScript"),
}
UNNAMED = {
    "pillar.example": ("# ours\nmysql:\n  server:\n    mysqld:\n      port: 3307\n", "YAML"),
    "stream": ("---\nkind: ConfigMap\n", "YAML"),
    "rds.tf.bak": ('variable "family" {\n  default = "mysql8.0"\n}\n', "HCL"),
    "group.old": ('{\n  "Parameters": []\n}\n', "JSON"),
}
OTHERS = {
    "my.txt": "[mysqld]\nport = 3307\nmax_connections = 500\n",
    "my.cnf": "port = 3307\nmax_connections = 500\n",  # an option file that lacks its group, which a rule reports
    "my.cnf.dpkg-old": "key: value\n[mysqld]\nport = 3307\n",
    "variables.txt": "Variable_name\tValue\nport\t3306\n",  # of SHOW GLOBAL VARIABLES: mycnf audit --from reads it
    "notes.txt": "The server on db1 needs a larger pool.\nAsk before the restart.\n",
    "other.yaml": "kind: Deployment\nspec:\n  replicas: 3\n",
    "vpc.tf": 'resource "aws_vpc" "main" {\n  cidr_block = "10.0.0.0/16"\n}\n',
    "cache.tf": 'resource "aws_elasticache_parameter_group" "c" {\n  family = "redis7"\n'
    '  parameter {\n    name  = "timeout"\n    value = "1"\n  }\n}\n',
}
DECLARED = (
    *("rds.tf", "gcp.tf", "tappo1-dbpg.tf", "tfmodules-rds-complete-mysql.tf", "az.json", "describe.json", "cf.yaml"),
    *("ansible_rds.yml", "bitpoke.yaml", "moco-cr.yaml", "moco-custom-mycnf.yaml", "ps-cr.yaml"),
    "geerlingguy-defaults-main.yml",
)
WITHOUT_USER_VALUES = "az.json"  # all of its values are the provider's


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_one_line_names_the_kind_and_what_is_read(name: str) -> None:
    """The document is refused whole, with a remedy, and no line of it is judged."""
    text, kind = DOCUMENTS[name]
    with pytest.raises(CarrierError) as caught:
        read_carrier(name, {name: text.encode()})
    message = str(caught.value)
    assert message.startswith(f"{name}: ")
    assert kind in message
    assert "below [mysqld] and check that file" in message
    assert "\n" not in message


@pytest.mark.parametrize("name", UNNAMED)
def test_documents_without_their_ending(name: str) -> None:
    """YAML, JSON and HCL without their endings are no option files: one line says how to have them read."""
    text, kind = UNNAMED[name]
    with pytest.raises(CarrierError) as refused:
        read_carrier(name, {name: text.encode()})
    assert str(refused.value).startswith(f"{name}: looks like {kind}, ")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", OTHERS)
def test_other_documents_are_read_as_before(name: str) -> None:
    """Option files of any name, and documents that declare nothing of a server, are not refused."""
    carrier = read_carrier(name, {name: OTHERS[name].encode()})
    assert carrier is None or not carrier.sets


@pytest.mark.parametrize("name", DECLARED)
def test_documents_of_clouds_and_operators(name: str, shared: Path) -> None:
    """Documents from public projects are read, and have options except for a list of a provider's own values."""
    carrier = read_carrier(str(shared / "review" / "declared" / name), {})
    assert carrier is not None
    assert bool(carrier.sets) is (name != WITHOUT_USER_VALUES)


PROXY = 'datadir="/var/lib/proxysql"\nmysql_variables=\n{\n  threads=4\n  max_connections=2048\n}\n'


@pytest.mark.parametrize("name", ["proxysql.cnf", "etc/maxscale.cnf", "openssl.cnf"])
def test_files_of_other_programs(name: str) -> None:
    """A file of another program, whose name ends like that of an option file, is not judged as one."""
    carrier = read_carrier(name, {name: PROXY.encode()})
    assert carrier is not None
    assert carrier.sets == ()
    assert carrier.empty.startswith("not checked: it is a configuration of ")


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("Dockerfile", "FROM mysql:8.4\nRUN echo '[mysqld]\\nport=1' > /etc/mysql/conf.d/x.cnf\n", 2),
        ("x.tf", 'locals {\n  mysql = <<-EOT\n    #!/bin/sh\n    echo "[mysqld]" > x\n  EOT\n}\n', 4),
        ("x.yml", "a: |\n  #cloud-config\n  content: |\n    [mysqld]\n    port=1\n", 4),
        ("y.yml", "# [mysqld]\nmysql: 1\n", 0),
    ],
)  # fmt: skip
def test_option_files_within_other_texts(name: str, text: str, line: int) -> None:
    """An option file within a script is not read: the notice says so, instead of that there are no options."""
    carrier = read_carrier(name, {name: text.encode()})
    assert carrier is not None
    assert carrier.sets == ()
    assert (f"in line {line} " in carrier.empty) is bool(line)


@pytest.mark.parametrize(
    ("text", "sets"),
    [
        ("mysqld: {port: 3306, host: 127.0.0.1}\n", 0),
        ("mysqld: {enabled: true, port: 3306}\n", 0),
        ("mysqld: {port: 3306, user: mysql}\n", 1),
        ("mysqld: {port: 3306, sync_binlgo: 1, sync_binlog: 1}\n", 1),
    ],
)
def test_where_a_server_is_reached(text: str, sets: int) -> None:
    """A mapping that says where a server is reached is no group of its options."""
    carrier = read_carrier("x.yml", {"x.yml": text.encode()})
    assert carrier is not None
    assert len(carrier.sets) == sets


@pytest.mark.parametrize(
    ("name", "text", "refused"),
    [
        (
            "mysql.nomad.tpl",
            'job [[ template "name" . ]] {\n  group "mysql" { count = [[ var "count" . ]] }\n}\n',
            True,
        ),
        ("mysql.hcl", 'job "mysql" {\n  [[- if .my.region ]]\n  region = "x"\n  [[- end ]]\n}\n', True),
        ("rds.tf", 'locals {\n  mysql = [["a", "b"], [var.x, local.y]]\n  more = [[local.env, var.a]]\n}\n', False),
        ("mysql.nomad", 'job "mysql" {\n  constraints = [["${attr.kernel.name}", "linux"]]\n}\n', False),
    ],
)
def test_templates_of_nomad_pack(name: str, text: str, refused: bool) -> None:
    """One line names the kind and what can be checked instead; lists in lists are no templates."""
    if not refused:
        carrier = read_carrier(name, {name: text.encode()})
        assert carrier is not None
        return
    with pytest.raises(CarrierError) as caught:
        read_carrier(name, {name: text.encode()})
    assert str(caught.value) == (
        f"{name}: a template of Nomad Pack is not read; check what it renders to: nomad-pack render"
    )
