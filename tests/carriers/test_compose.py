"""Commands of compose files and the like."""

from __future__ import annotations

import pytest

from advisor.carriers.document import CarrierError
from advisor.catalog import load
from advisor.catalog.targets import parse_target
from advisor.core.model import Target
from tests.carriers.conftest import Reader


def service(command: str, image: str = "mysql:8.0.36") -> str:
    """A compose file with one service."""
    return f"services:\n  db:\n    image: {image}\n{command}\n"


@pytest.mark.parametrize(
    "command",
    [
        "    command: --port=1 --skip-name-resolve",
        "    command: mysqld --port=1   --skip-name-resolve  # why",
        "    command: '--port=1 --skip-name-resolve'",
        '    command: "--port=1 --skip-name-resolve"',
        "    command: [--port=1, '--skip-name-resolve']",
        '    command: ["mysqld", "--port=1", "--skip-name-resolve"]',
        "    command:\n      - --port=1\n      # é\n      - --skip-name-resolve",
        "    command:\n    - 'mysqld'\n    - \"--port=1\" # b\n    - '--skip-name-resolve'",
        "    command: >\n      mysqld\n      --port=1\n      --skip-name-resolve",
        "    command: >-  # c\n      mysqld --port=1\n\n      --skip-name-resolve",
        "    command: |\n      mysqld --port=1 \\\n        --skip-name-resolve",
        "    command: mysqld\n      --port=1\n      --skip-name-resolve",
        "    entrypoint: /usr/local/bin/docker-entrypoint.sh\n    command: [--port=1, --skip-name-resolve]",
        "    entrypoint: [docker-entrypoint.sh, mysqld]\n    command: --port=1 --skip-name-resolve",
        "    command: docker-entrypoint.sh mysqld --defaults-file=/x --port=1 --skip-name-resolve",
        "    command: sh -c 'sleep 1; exec mysqld --port=1 --skip-name-resolve > /log'",
        "    command: [bash, -ec, 'A=1 mysqld --port=1 --skip-name-resolve && true']",
        "    command: sh -c 'mysqld --port=1 --skip-name-resolve 2>/log 1>&2'",
        "    command: [sh, -c, 'mysqld -I & exec mysqld --port=1 --skip-name-resolve']",
        "    command: |\n      sh -c '\n      # a\n      mysqld --port=1 --skip-name-resolve'",
        "    command: numactl --interleave=all gosu mysql mysqld --port=1 --skip-name-resolve",
        "    command: mysqld_safe --syslog --port=1 --skip-name-resolve",
        "    command: &c --port=1 --skip-name-resolve\n  other: {image: 'mysql:8', command: *c}",
    ],
)
def test_every_notation_of_a_command(command: str, carried: Reader) -> None:
    """The server gets the same options, and each is at the reported place."""
    document = carried(service(command))
    assert document.options() == {"port": "1", "skip-name-resolve": None}
    assert document.slices() == ["port=1", "skip-name-resolve"]
    assert document.values() == ["1", ""]


def test_values_apart(carried: Reader) -> None:
    """A value may be the next word where the option needs one; where it needs none the word stops the server."""
    document = carried(service("    command: --port 3307 -P 3308 -ah /data --general-log OFF --sql-mode --x"))
    assert document.slices() == ["port 3307", "P 3308", "a", "h /data", "general-log", "sql-mode --x"]
    assert document.strays() == ["OFF"]


def test_quotes_within_a_word(carried: Reader) -> None:
    """The shell's quotes are no part of the value, and those around it are none of the place."""
    document = carried(service("""    command: mysqld --init-connect='SET NAMES utf8' '--sql-mode=ANSI'"""))
    assert document.options() == {"init-connect": "SET NAMES utf8", "sql-mode": "ANSI"}
    assert document.slices() == ["init-connect='SET NAMES utf8'", "sql-mode=ANSI"]


def test_escapes_point_at_the_scalar(carried: Reader) -> None:
    """Where YAML's escapes hide the places, the finding stands where the text begins."""
    document = carried(service(r'    command: "mysqld\n--port=1"'))
    assert document.options() == {"port": "1"}
    assert document.slices() == [r'"mysqld\n--port=1"']


@pytest.mark.parametrize(
    "text", ["--port=${PORT:-1 2}", "--port=$PORT", "--port=$(PORT)", "--port={{ a | b }}", "--port=<%= a %>"]
)
@pytest.mark.parametrize(
    "form", ["    command: mysqld {}", "    command:\n      - {}", "    command: '{} --sql-mode=ANSI'"]
)
def test_templated_values(text: str, form: str, carried: Reader) -> None:
    """A value that is filled in later is unknown, in any notation of YAML."""
    line = carried(service(form.format(text))).lines()[0]
    assert (line.name, line.templated) == ("port", True)


def test_templated_words(carried: Reader) -> None:
    """Words that are filled in whole are skipped, with what may be their value; `$$` is a dollar sign."""
    document = carried(service("    command: $OPTS x --$NAME=1 {{ extra }} --init-connect=a$$b --port=1"))
    assert document.options() == {"init-connect": "a$b", "port": "1"}
    assert document.strays() == []


@pytest.mark.parametrize(
    "text",
    [
        service("    command: --config.my-cnf=/x", "prom/mysqld-exporter"),
        service("    command: mysqladmin ping --nonsense"),
        service("    command: bash -c 'mysqldump --nonsense'"),
        service("    command:"),
        service("    command: null"),
        service("    command: mysqld"),
        service("    ports: ['3306:3306']"),
        "services: []\n# mysql\n",
        "mysql\n",
        "",
        "# mysql\n---\n---\n",
    ],
)
def test_no_options(text: str, carried: Reader) -> None:
    """A file without options of a server has no sets."""
    assert carried(text).labels == []


@pytest.mark.parametrize(
    ("image", "target"),
    [
        ("mysql:8.0.36", Target("mysql", (8, 0, 36))),
        ("mysql:8.0.36-debian", Target("mysql", (8, 0, 36))),
        ("docker.io/library/mysql:5.7@sha256:00", Target("mysql", (5, 7, 44))),
        ("host:5000/bitnami/mysql:8.4", Target("mysql", (8, 4, 8))),
        ("mariadb:11.4", Target("mariadb", (11, 4, 5))),
        ("'mariadb:10'", Target("mariadb", (10, 11, 19))),
        ("percona:ps-8.0", Target("mysql", (8, 0, 43), "percona")),
        ("percona/percona-server:8.0.32-24.1", Target("mysql", (8, 0, 32), "percona")),
        ("percona/percona-xtradb-cluster:8.0.35-27.1", Target("mysql", (8, 0, 35), "pxc")),
        ("percona/percona-xtradb-cluster-operator:1.14.0-pxc8.0.35", Target("mysql", (8, 0, 35), "pxc")),
        ("greatsql/greatsql:8.0.32-25", Target("mysql", (8, 0, 32), "greatsql")),
        ("mysql", Target("mysql", (9, 7, 4))),
        ("mysql:latest", Target("mysql", (9, 7, 4))),
        ("mysql:${TAG:-8.0}", Target("mysql", (8, 0, 43))),
        ("mysql:${TAG}", Target("mysql", (9, 7, 4))),
        ("mysql:5.6", Target("mysql", (5, 7, 44))),
        ("own/thing", None),
    ],
)
def test_the_server_of_an_image(image: str, target: Target | None, carried: Reader) -> None:
    """The image names the server; one that says nothing leaves it open."""
    (one,) = carried(service("    command: mysqld --port=1", image)).carrier.sets
    assert one.hint == target


def test_several_services(carried: Reader) -> None:
    """Each service is a server of its own; merge keys and aliases count."""
    text = (
        "x-base: &base {image: 'mariadb:11.4', command: [--port=1]}\n"
        "services:\n  a:\n    <<: *base\n  b:\n    <<: [*base]\n    command: [--port=2]\n"
        'configs:\n  c: {content: "[mysqld]\\nport=3\\n"}\n'
    )
    document = carried(text)
    assert document.labels == ["x-base", "a", "b", "content"]
    assert [document.options(at=i)["port"] for i in range(4)] == ["1", "1", "2", "3"]
    assert {one.hint for one in document.carrier.sets} == {Target("mariadb", (11, 4, 5))}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (service("    command: mysqld 'open"), 4),
        ("# mysql\na:\n\tb: 1\n", 3),
        ("# mysql\na: [1\n", 3),
        ("# mysql\n? *nobody\n", 2),
        ("# mysql\n" + "[" * 5000, 2),
        ("# mysql\n\x01", 2),
    ],
)
def test_a_file_that_cannot_be_read(text: str, line: int, carried: Reader) -> None:
    """It is one line with the place and the remedy."""
    with pytest.raises(CarrierError, match=rf"^compose\.yml:{line}: [^\n]+[;,] [^\n]+$"):
        carried(text)


def test_aliases_that_swell(carried: Reader) -> None:
    """Aliases of aliases are looked at once each, and so end at once."""
    levels = "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 40))
    merges = "".join(f"m{i}: &m{i} {{<<: [{', '.join([f'*m{i - 1}'] * 9)}]}}\n" for i in range(1, 40))
    text = f"# mysql\na0: &a0 [x]\nm0: &m0 {{y: x}}\n{levels}{merges}services:\n  db: {{<<: *m39, command: *a39}}\n"
    assert carried(text).labels == []


@pytest.mark.parametrize(
    "text",
    [
        "# mysql\na: " + "{{" * 300_000,
        "# mysql\na: |\n  " + "{% " * 300_000,
        service("    command: mysqld --x=" + "${" * 300_000),
        service("    command: mysqld " + "--nonsense " * 90_000),
        service("    command:\n" + "    - --nonsense\n" * 50_000),
        "# mysql\na: |\n  [x\n" + "\n" * 900_000,
        "# mysql\nm0: &m0 {a: b}\n" + "".join(f"m{i}: &m{i} {{<<: *m{i - 1}}}\n" for i in range(1, 30_000)),
        "services:\n" + "".join(f"  s{i}: {{image: mysql, command: --port=1}}\n" for i in range(15_000)),
        "# mysql\n[" + "[]," * 300_000 + "]",
    ],
    ids=["braces", "statements", "variables", "words", "items", "lines", "merges", "services", "lists"],
)
def test_huge_files(text: str, carried: Reader) -> None:
    """A file made to keep its reader busy is read, or refused in one line, as soon as that is known."""
    try:
        assert carried(text).labels == []
    except CarrierError as error:
        if "\n" in str(error):
            raise


@pytest.mark.parametrize(
    ("limit", "size"),
    [
        ("    mem_limit: 512m", 512 << 20),
        ("    mem_limit: 1.5GB", 3 << 29),
        ('    mem_limit: "1073741824"', 1 << 30),
        ("    deploy:\n      resources:\n        limits:\n          memory: 2G", 2 << 30),
        ("    resources: {limits: {memory: 1Gi}}", 1 << 30),
        ("    resources: {limits: {memory: 1G}}", 10**9),
        ("    resources: {limits: {memory: 100m}}", 0),
        ("    mem_limit: ${MEMORY}", 0),
        ("    deploy: {resources: {reservations: {memory: 1G}}}", 0),
    ],
)
def test_the_memory_limit_of_a_service(limit: str, size: int, carried: Reader) -> None:
    """A service's limit is the memory of its server: compose counts in 1024s, pods in 1000s without an i."""
    (found,) = carried(service(f"    command: --port=1\n{limit}")).carrier.sets
    assert found.memory == size


def test_an_option_file_beside_several_servers(carried: Reader) -> None:
    """Which of the servers reads it is unknown, so it is taken for the newest, and depends on a version not named."""
    text = service("", "mysql:8.0") + '  old: {image: "mysql:5.7.44"}\nconfigs: {c: {content: "[mysqld]\\nport=3"}}\n'
    (one,) = carried(text).carrier.sets
    assert one.hint == Target("mysql", (8, 0, 43))
    assert one.why == "the newest of its images, as its version is not in the document"
    (one,) = carried(text.replace("mysql:5.7.44", "mariadb:11.4")).carrier.sets
    assert one.hint is None


def test_a_task_definition_of_cloudformation(carried: Reader) -> None:
    """CloudFormation begins the names of a container's fields with a capital; references are filled in later."""
    text = (
        "ContainerDefinitions:\n- Name: db\n  Image: mysql:8.0.36\n  Memory: 512\n"
        "  Command: [!Ref First, --port=1, !Sub '--sql-mode=${Mode}', !Ref Last]\n"
        "- {Name: app, Image: !Ref mysql, Command: [--nonsense]}\n"
    )
    document = carried(text)
    assert document.slices() == ["port=1", "sql-mode=${Mode}"]
    assert document.strays() == []
    assert document.carrier.sets[0].hint == Target("mysql", (8, 0, 36))
    assert document.carrier.sets[0].memory == 512 << 20


def test_the_last_item_of_a_list_in_json(carried: Reader) -> None:
    """Without its last line a list of JSON would end with a comma, so no fix removes such a line."""
    document = carried('{"image": "mysql:8.0", "command": [\n  "--port=1",\n  "--skip-name-resolve"\n]}\n', "task.json")
    reading = document.carrier.sets[0].read(load(parse_target("mysql-8.0")))
    assert document.labels == ["command"]
    assert document.options() == {"port": "1", "skip-name-resolve": None}
    assert reading.whole == frozenset()


@pytest.mark.parametrize(
    ("task", "own", "size"),
    [
        ("memory: '4096'", "", 4 << 30),
        ("memory: 2 GB", "", 2 << 30),
        ("memory: 0.5GB", "", 512 << 20),
        ("memory: 4096", "memory: 1024", 1 << 30),
        ("memory: 1024", "memory: 4096", 1 << 30),
        ("cpu: 256", "", 0),
        ("memory: !Ref Size", "", 0),
    ],
)
def test_the_memory_of_a_task(task: str, own: str, size: int, carried: Reader) -> None:
    """A container of a task has the memory of the task, as with Fargate, or its own limit if that is smaller."""
    text = (
        "Resources:\n  Task:\n    Type: AWS::ECS::TaskDefinition\n    Properties:\n"
        f"      {task.replace('memory', 'Memory')}\n      ContainerDefinitions:\n"
        "      - Name: db\n        Image: mysql:8.4\n        Command: [mysqld, --port=1]\n"
        f"        {own.replace('m', 'M', 1)}\n"
    )
    assert [one.memory for one in carried(text, "task.yaml").carrier.sets] == [size]


@pytest.mark.parametrize(
    ("image", "series", "why"),
    [
        ("mysql/mysql-server", "8.0", "assumed to be 8.0, the last series of this name"),
        ("mysql/mysql-server:latest", "8.0", "assumed to be 8.0, the last series of this name"),
        ("docker.io/mysql/mysql-server:latest", "8.0", "the last series of this name"),
        ("mysql/mysql-server:5.7", "5.7", "its image is"),
        ("example.org/mysql/mysql-server", "9.7", "assumed to be the newest version"),
        ("container-registry.oracle.com/mysql/community-server", "9.7", "assumed to be the newest version"),
        ("quay.io/sclorg/mysql-80-c9s:latest", "8.0", "its image is quay.io/sclorg/mysql-80-c9s:latest"),
        ("registry.redhat.io/rhel9/mysql-84", "8.4", "its image is"),
        ("centos/mysql-57-centos7", "5.7", "its image is"),
        ("quay.io/sclorg/mariadb-1011-c9s", "10.11", "its image is"),
        ("registry.redhat.io/rhel8/mariadb-103", "10.6", "and no older series is known"),
    ],
)
def test_versions_of_images(image: str, series: str, why: str, carried: Reader) -> None:
    """An image is of its tag's version, of that in its name, or of the last one under its name."""
    (found,) = carried(f"services:\n  db:\n    image: {image}\n    command: --port=1\n", "compose.yml").carrier.sets
    assert found.hint is not None
    assert ".".join(map(str, found.hint.version[:2])) == series
    assert why in found.why


@pytest.mark.parametrize(
    "environment",
    [
        "environment:\n      MYSQL_MAX_CONNECTIONS: 500\n      MYSQL_SORT_BUFFER_SIZE: 64M\n      MYSQL_USER: x",
        (
            "environment:\n    - MYSQL_MAX_CONNECTIONS=500\n    - MYSQL_SORT_BUFFER_SIZE=64M\n"
            "    - MYSQL_DATABASE=x\n    - X"
        ),
        (
            "env:\n    - {name: MYSQL_MAX_CONNECTIONS, value: '500'}\n"
            "    - {name: MYSQL_SORT_BUFFER_SIZE, value: 64M}\n"
            "    - name: MYSQL_KEY_BUFFER_SIZE\n      valueFrom: {secretKeyRef: {name: x}}"
        ),
    ],
)
def test_variables_of_software_collections(environment: str, carried: Reader) -> None:
    """Images of Software Collections set options by variables; the same variables mean nothing to other images."""
    text = f"services:\n  db:\n    image: quay.io/sclorg/mysql-80-c9s\n    mem_limit: 1g\n    {environment}\n"
    document = carried(text, "compose.yml")
    assert document.options() == {"max_connections": "500", "sort_buffer_size": "64M"}
    (found,) = document.carrier.sets
    assert (found.hint and found.hint.version[:2], found.memory, found.partial) == ((8, 0), 1 << 30, True)
    for value in ("$CONNECTIONS", "${CONNECTIONS}"):
        assert "max_connections" not in carried(text.replace("500", value), "compose.yml").options()
    assert carried(text.replace("quay.io/sclorg/mysql-80-c9s", "mysql:8.0"), "compose.yml").labels == []
