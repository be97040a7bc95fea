"""Documents that declare parameters in a form that is not read: one line names the kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.carriers.document import CarrierError
from advisor.commands.read_files import read_carrier

DOCUMENTS = {
    "db.tf": ('resource "aws_db_parameter_group" "p" {\n  parameter {\n    name = "port"\n  }\n}\n', "Terraform"),
    "db.tf.json": ('{"resource": {}}\n', "Terraform"),
    "params.pp": ("class mysql::params {\n  $port = 3306\n}\n", "Puppet"),
    "server.nix": ("{ services.mysql.settings.mysqld.port = 3307; }\n", "Nix"),
    "rds.json": ('{"Parameters": [{"ParameterName": "max_connections", "ParameterValue": "500"}]}\n', "RDS"),
    "azure.json": ('[{"name": "port", "defaultValue": "1", "value": "2", "allowedValues": "1-2"}]\n', "Azure"),
    "sql.yaml": ("settings:\n  databaseFlags:\n    - name: max_connections\n      value: '500'\n", "Cloud SQL"),
    "cf.yaml": ("Resources:\n  P:\n    Type: AWS::RDS::DBParameterGroup\n", "CloudFormation"),
    "play.yml": ("- hosts: all\n  tasks:\n    - amazon.aws.rds_instance_param_group:\n        name: p\n", "Ansible"),
    "cluster.yaml": ("kind: MysqlCluster\nspec:\n  mysqlConf:\n    max_connections: 500\n", "operator"),
    "parameters.txt": ("# ours\nmax_connections=500\nsort_buffer_size=1M\n", "list of parameters"),
    "flags.env": ("max_connections=500,sort_buffer_size=1M\n", "list of parameters"),
    "values.csv": ("max_connections,500\nsort_buffer_size,1M\n", "list of parameters"),
}
OTHERS = {
    "my.txt": "[mysqld]\nport = 3307\nmax_connections = 500\n",
    "my.cnf": "port = 3307\nmax_connections = 500\n",  # an option file that lacks its group, which a rule tells
    "variables.txt": "Variable_name\tValue\nport\t3306\n",  # of SHOW GLOBAL VARIABLES: mycnf audit --from reads it
    "notes.txt": "The server on db1 needs a larger pool.\nAsk before the restart.\n",
    "other.yaml": "kind: Deployment\nspec:\n  replicas: 3\n",
}
DECLARED = (
    *("rds.tf", "gcp.tf", "puppetlabs-params.pp", "az.json", "describe.json", "cf.yaml", "ansible_rds.yml"),
    *("bitpoke.yaml", "moco-cr.yaml", "moco-custom-mycnf.yaml"),
)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_one_line_names_the_kind_and_what_is_read(name: str) -> None:
    """The document is refused whole, with a remedy, and no line of it is judged."""
    text, kind = DOCUMENTS[name]
    with pytest.raises(CarrierError) as told:
        read_carrier(name, {name: text.encode()})
    message = str(told.value)
    assert message.startswith(f"{name}: ")
    assert kind in message
    assert "below [mysqld] and check that file" in message
    assert "\n" not in message


@pytest.mark.parametrize("name", OTHERS)
def test_other_documents_are_read_as_before(name: str) -> None:
    """Option files of any name, and documents that declare nothing of a server, are not refused."""
    carrier = read_carrier(name, {name: OTHERS[name].encode()})
    assert carrier is None or not carrier.sets


@pytest.mark.parametrize("name", DECLARED)
def test_documents_of_clouds_and_operators(name: str, shared: Path) -> None:
    """What reviewers gave is refused in one line."""
    path = shared / "review" / "declared" / name
    if not path.exists():
        pytest.skip(f"the reviewers' documents are not at hand ({path})")
    with pytest.raises(CarrierError):
        read_carrier(str(path), {})
