"""Option files and containers in HCL: Terraform's resources of Kubernetes and Docker, and jobs of Nomad."""

from __future__ import annotations

import pytest

from advisor.carriers.document import CarrierError
from advisor.core.model import Target
from tests.carriers.conftest import Reader

KUBERNETES = """\
resource "kubernetes_config_map" "db" {
  data = {
    "my.cnf" = <<-EOT
      [mysqld]
      # é
      max_connections = 500
      server_id       = ${var.id}

      %{ if var.durable ~}
      sync_binlog     = 1
      %{ endif ~}
    EOT
    "flat.cnf" = <<EOF
[mysqld]
port=2
EOF
    "escaped.cnf" = "[mysqld]\\nport=3\\n"
    "run.sh"      = <<-EOT
      #!/bin/sh
      mysqld --port=9
    EOT
  }
}
resource "kubernetes_stateful_set" "db" {
  spec {
    template {
      spec {
        init_container {
          name    = "wait"
          image   = "mysql:8.0.36"
          command = ["sh", "-c", "mysqladmin ping --nonsense"]
        }
        container {
          name  = "server"
          image = "mysql:8.0.36"
          args  = ["--port=${var.port}", "--back-log=5", var.more, "--sql-mode=\\"ANSI\\""]
          resources {
            limits = { memory = "1Gi" }
          }
        }
      }
    }
  }
}
"""


def test_option_files_in_here_documents(carried: Reader) -> None:
    """Lines of a here-document stand where they stand; what Terraform fills in is unknown, its directives are none."""
    document = carried(KUBERNETES, "k8s.tf")
    assert document.labels == ["my.cnf", "flat.cnf", "escaped.cnf", "server"]
    assert {one.hint for one in document.carrier.sets} == {Target("mysql", (8, 0, 36))}
    assert document.slices() == ["max_connections = 500", "server_id       = ${var.id}", "sync_binlog     = 1"]
    assert document.values() == ["500", "${var.id}", "1"]
    assert [line.templated for line in document.lines()] == [False, True, False]
    assert [line.conditional for line in document.lines()] == [False, False, True]
    assert document.slices(at=1) == ["port=2"]
    assert document.options(at=2) == {"port": "3"}


def test_containers_of_terraform(carried: Reader) -> None:
    """A block's arguments are those of its image's server, with the block's limit of the memory."""
    document = carried(KUBERNETES, "k8s.tf")
    assert document.slices(at=3)[:2] == ["port=${var.port}", "back-log=5"]
    assert document.options(at=3)["sql-mode"] == '"ANSI"'
    assert [line.templated for line in document.lines(at=3)] == [True, False, False]
    assert document.strays(at=3) == []
    assert document.carrier.sets[3].memory == 1 << 30


JOB = """\
job "db" {
  group "db" {
    task "server" {
      driver = "docker"
      config {
        image = "mariadb:11.4"
        args  = ["--port=1"]
      }
      template {
        data        = <<EOH
[mariadb]
port = {{ env "PORT" }}
max_connections = 500
EOH
        destination = "local/my.cnf"
      }
      service {
        check {
          command = "/usr/bin/mysqladmin"
          args    = ["ping", "--nonsense"]
        }
      }
    }
  }
}
"""


@pytest.mark.parametrize("name", ["db.nomad", "db.nomad.hcl", "db.hcl"])
def test_jobs_of_nomad(name: str, carried: Reader) -> None:
    """A task's arguments and its template are read, for the server of its image."""
    document = carried(JOB, name)
    assert document.labels == ["config", "data"]
    assert {one.hint for one in document.carrier.sets} == {Target("mariadb", (11, 4, 5))}
    assert document.options("mariadb-11.4", at=1)["max_connections"] == "500"
    assert [line.templated for line in document.lines("mariadb-11.4", at=1)] == [True, False]


def test_a_job_by_another_name(carried: Reader) -> None:
    """A job in a file whose name does not show it is no option file."""
    with pytest.raises(CarrierError, match="looks like HCL"):
        carried(JOB, "job")


def test_a_broken_job(carried: Reader) -> None:
    """The remedy is the program that reads such files."""
    with pytest.raises(CarrierError, match=r"^x\.nomad:1: invalid HCL; nomad job validate shows more$"):
        carried('job "mysql" {\n  = template "x"\n}\n', "x.nomad")


ENCODED = """\
resource "aws_ecs_task_definition" "db" {
  container_definitions = jsonencode([
    { name = "db", image = "mysql:8.4", command = ["mysqld", "--port=1"], memory = 1024 }
  ])
}
resource "helm_release" "db" {
  values = [yamlencode({ primary = { configuration = <<-EOT
    [mysqld]
    port=2
  EOT
  } })]
}
"""


def test_encoded_values(carried: Reader) -> None:
    """What Terraform writes as JSON or YAML is read before it is written."""
    document = carried(ENCODED, "ecs.tf")
    assert [document.options(at=i) for i in range(2)] == [{"port": "1"}, {"port": "2"}]
    assert document.carrier.sets[0].memory == 1 << 30


def test_parameters_in_variables(carried: Reader) -> None:
    """A group whose parameters are all in variables is not said to have none."""
    text = 'resource "aws_db_parameter_group" "p" {\n  dynamic "parameter" {\n    for_each = var.x\n'
    text += "    content {\n      name = parameter.key\n    }\n  }\n}\n"
    document = carried(text, "x.tf")
    assert document.labels == []
    assert "if variables decide them" in document.carrier.empty
    assert carried(text.replace("var.x", "{}"), "x.tf").carrier.empty == ""


@pytest.mark.parametrize(
    "text",
    [
        'resource "x" "mysql" {\n  provisioner "local-exec" {\n    command = "echo \'it is; mysqld --port=1"\n  }\n}\n',
        'resource "docker_container" "mysql" {\n  image = var.mysql\n  command = null\n}\n',
        'resource "docker_container" "mysql" {\n  image = "mysql:8.4"\n  command = var.command\n}\n',
        'locals {\n  mysql = <<-EOT\n    [mysqld]\n    ${join(",", [\n      for k, v in var.x : k\n    ])}\n  EOT\n}\n',
        'resource "aws_db_parameter_group" "p" {\n  count = 0\n  parameter {\n   name = "port"\n   value = 1\n  }\n}\n',
    ],
    ids=["command", "null", "variable", "lines", "count"],
)
def test_no_options(text: str, carried: Reader) -> None:
    """Commands of other programs, what is unknown as a whole, and blocks of which there are none have no options."""
    assert carried(text, "x.tf").labels == []
