"""Option files and containers in Kubernetes manifests, and in charts that are no YAML yet."""

from __future__ import annotations

import pytest

from advisor.carriers.document import CarrierError
from advisor.core.model import Target
from tests.carriers.conftest import Reader

MANIFESTS = """\
apiVersion: v1
kind: List
items:
- kind: ConfigMap
  data:
    primary.cnf: |
      [mysqld]
      # é
      log-bin = x   # why

      port=1
    replica.cnf: |2-
        [mysqld]
        port =  2
    run.sh: |
      cat > x <<END
      [mysqld]
      port=9
      END
---
kind: Secret
data:
  my.cnf: W215c3FsZF0Kbm9uc2Vuc2U9MQo=
stringData:
  my.cnf: "[mysqld]\\nport=3\\n"
  flat.cnf: >
    [mysqld]
    port=4
---
kind: StatefulSet
spec:
  template:
    spec:
      initContainers:
      - {name: first, image: busybox, command: [sh, -c, "echo mysqld --port=9"]}
      containers:
      - name: db
        image: mysql:8.4
        command: [mysqld]
        args:
        - --port=5
        - "--sql-mode=$(MODE)"
"""


def test_manifests(carried: Reader) -> None:
    """Each option file and each container is a set, for the server that the containers name."""
    document = carried(MANIFESTS)
    assert document.labels == ["primary.cnf", "replica.cnf", "my.cnf", "my.cnf#2", "flat.cnf", "db"]
    assert {one.hint for one in document.carrier.sets} == {Target("mysql", (8, 4, 8))}
    assert [document.options(at=i).get("port") for i in range(6)] == ["1", "2", None, "3", None, "5"]
    assert document.options(at=2) == {"nonsense": "1"}


def test_places(carried: Reader) -> None:
    """Lines of a literal block stand where they stand; escaped and folded ones where their text begins."""
    document = carried(MANIFESTS)
    assert document.slices(at=0) == ["log-bin = x", "port=1"]
    assert document.values(at=1) == ["2"]
    assert document.slices(at=2) == ["W215c3FsZF0Kbm9uc2Vuc2U9MQo="]
    assert document.slices(at=3) == [r'"[mysqld]\nport=3\n"']
    assert document.slices(at=5) == ["port=5", "sql-mode=$(MODE)"]
    assert [line.templated for line in document.lines(at=5)] == [False, True]


CHART = """\
{{- if .Values.on }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ include "mysql.name" . }}
{{ include "labels" . | indent 2 }}
data:
  my.cnf: |
    [mysqld]
    port={{ .Values.port }}
{{- if .Values.more }}
    max_connections=5
{{- end }}
    {{- range $k, $v := .Values.extra }}
    {{ $k }}={{ $v }}
    {{- end }}
    back_log=7
{{- end }}
"""


@pytest.mark.parametrize("text", [CHART, CHART.replace("kind:", "kind: {{ a }} [:", 1)])
def test_a_chart(text: str, carried: Reader) -> None:
    """The option file in a chart is read where it stands, even where the rest isn't YAML before it is rendered."""
    document = carried(text)
    assert document.slices() == ["port={{ .Values.port }}", "max_connections=5", "back_log=7"]
    assert [line.templated for line in document.lines()] == [True, False, False]
    assert [line.conditional for line in document.lines()] == [False, True, False]


def test_a_chart_without_an_option_file(carried: Reader) -> None:
    """A chart without an option file that is no YAML is one line that says what to do."""
    with pytest.raises(CarrierError, match="it is a template: check what it renders to"):
        carried("# mysql\n{{- with .a }}\nb: [\n{{- end }}\n")


def test_values_of_charts(carried: Reader) -> None:
    """Blocks that charts take for option files, their image and the flags of Bitnami's images are read as well."""
    text = (
        "image: {repository: bitnami/mariadb, tag: 10.11.6}\n"
        "primary:\n  configuration: |-\n    [mysqld]\n    port=1\n  extraFlags: --port=2 --sql-mode=ANSI\n"
        "env:\n- MARIADB_EXTRA_FLAGS=--port=3\n"
    )
    document = carried(text, "values.yaml")
    assert document.labels == ["configuration", "extraFlags", "MARIADB_EXTRA_FLAGS"]
    assert document.slices(at=1) == ["port=2", "sql-mode=ANSI"]
    assert document.slices(at=2) == ["port=3"]


OF_OTHERS = """\
image: {repository: bitnami/mysql, tag: 8.4.4}
primary: {extraFlags: "--max-connect-errors=1000"}
valkey: {primary: {extraFlags: ["--maxmemory-policy noeviction"]}}
prometheus: {extraFlags: [web.enable-lifecycle]}
data:
  proxysql.cnf: |
    datadir="/var/lib/proxysql"
    mysql_variables=
    {
      max_connections=2048
    }
  proxy.cnf: |
    admin_variables=
    {
    }
  maxscale.cnf: |
    [server1]
    type=server
"""


def test_flags_and_files_of_other_programs(carried: Reader) -> None:
    """Flags of other charts in the same values, and configurations of proxies, are not those of a server."""
    document = carried(OF_OTHERS, "values.yaml")
    assert document.labels == ["extraFlags"]
    assert document.options() == {"max-connect-errors": "1000"}


@pytest.mark.parametrize("name", ["MYSQL_EXTRA_FLAGS", "MARIADB_EXTRA_FLAGS"])
def test_flags_in_the_environment_of_a_pod(name: str, carried: Reader) -> None:
    """A pod has the name of a variable apart from its value."""
    document = carried(f"env:\n- name: {name}\n  value: --port=1 --sql-mode=ANSI\n- {{name: OTHER, value: --port=2}}\n")
    assert document.labels == [name]
    assert document.slices() == ["port=1", "sql-mode=ANSI"]


def test_the_memory_limit_beside_a_text(carried: Reader) -> None:
    """The limit in a chart's values or an operator's resource is that of the server with the option file beside it."""
    text = (
        "kind: MariaDB\nspec:\n  resources: {limits: {memory: 1Gi}}\n  myCnf: |\n    [mariadb]\n    port=1\n"
        "---\nkind: ConfigMap\ndata:\n  my.cnf: |\n    [mysqld]\n    port=2\n"
    )
    assert [one.memory for one in carried(text, "db.yaml").carrier.sets] == [1 << 30, 0]
