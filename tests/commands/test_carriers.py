"""What lint and show report for documents that carry options."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from pathlib import Path

import pytest
from mycnf_command import CHECKOUT, Mycnf

from advisor.core.model import Edit
from advisor.optionfile.lines import apply_edits

EXAMPLES = CHECKOUT / "examples"
DECLARED = CHECKOUT / "tests" / "carriers" / "declared"
SECRETS = """\
services:
  db: {image: "mysql:8", environment: {MYSQL_ROOT_PASSWORD: hunter2}, command: [--nonsense, --report-password=hunter3]}
  other:
    image: mysql:8.4
    command: --report-password hunter4 --nonsense=2
configs: {my.cnf: {content: "[mysqld]\\nnonsense=1\\nreport-password = hunter5\\n"}}
"""


def findings(mycnf: Mycnf, *args: str | Path, code: int = 1) -> dict[str, list[dict[str, object]]]:
    """The findings by target, of a run that ends with the code."""
    ended = mycnf("lint", "--isolated", "--format", "json", *args)
    assert ended.code == code, ended.err
    return {entry["target"]: entry["findings"] for entry in json.loads(ended.out)["files"]}


def test_each_service_for_its_own_server(mycnf: Mycnf) -> None:
    """The findings of a compose file stand at their places, and are those of the server that the image names."""
    path = EXAMPLES / "compose.yaml"
    found = findings(mycnf, path)
    assert list(found) == ["mysql-8.4.8", "mariadb-11.4.5"]
    lines = path.read_text().split("\n")
    at = {(f["name"], lines[f["line"] - 1][f["column"] - 1 : f["end_column"] - 1]) for fs in found.values() for f in fs}
    assert ("removed-option", "default-authentication-plugin=mysql_native_password") in at
    assert ("unknown-option", "max-conections=500") in at
    assert ("adjusted-value", "innodb-flush-log-at-trx-commit=7") in at
    assert {f["group"] for fs in found.values() for f in fs} == {None}
    assert not any(f["option"] == "innodb_buffer_pool_size" for fs in found.values() for f in fs)


def test_a_manifest(mycnf: Mycnf) -> None:
    """An option file in a ConfigMap is for the server whose image stands beside it."""
    (found,) = findings(mycnf, EXAMPLES / "configmap.yaml").values()
    places = {(f["name"], f["line"]) for f in found}
    assert {("removed-option", 10), ("invalid-value", 11), ("syntax-error", 26)} <= places


def test_the_target_that_is_named(mycnf: Mycnf) -> None:
    """A target on the command line counts for all sets of a document."""
    found = findings(mycnf, EXAMPLES / "compose.yaml", "--target", "mysql-5.7", "--target", "mariadb-10.11")
    assert list(found) == ["mysql-5.7.44", "mariadb-10.11.19"]


def test_the_memory_of_a_container(mycnf: Mycnf, tmp_path: Path) -> None:
    """The limit of a service's memory is what its pool is compared with, also where --ram names a larger host."""
    text = "services: {db: {image: 'mysql:8.4.8', mem_limit: 1g, command: [--innodb-buffer-pool-size=4G]}}\n"
    (tmp_path / "compose.yml").write_text(text)
    for option in ([], ["--ram", "64G"]):
        (found,) = findings(mycnf, "compose.yml", *option).values()
        (pool,) = [f for f in found if f["code"] == "MEM001"]
        assert "does not fit in the 1G of the control group" in str(pool["message"])


@pytest.mark.parametrize("option", [["--format", "text"], ["--format", "concise"], ["--format", "json"]])
def test_secrets(option: list[str], mycnf: Mycnf, tmp_path: Path) -> None:
    """No secret of the document is shown, from any place in it."""
    (tmp_path / "compose.yml").write_text(SECRETS)
    ended = mycnf("lint", *option, "compose.yml")
    assert "nonsense" in ended.out
    assert "hunter" not in ended.out + ended.err


MANIFEST = """\
kind: Secret
data:
  my.cnf: {data}
  # mycnf: ignore[OPT001] a plugin's
  other.cnf: {data}
"""


@pytest.mark.parametrize("form", ["text", "concise", "json", "sarif", "github", "gitlab", "junit", "markdown"])
def test_base64(form: str, mycnf: Mycnf, tmp_path: Path) -> None:
    """A finding stands at the value and names the line of the decoded text, of which no format shows a secret."""
    data = base64.b64encode(b"[mysqld]\nport=1\nnonsense=1\nreport-password = hunter2\n").decode()
    (tmp_path / "s.yml").write_text(MANIFEST.replace("{data}", data))
    target = ("--target", "mysql-8.4", "--select", "OPT")
    (found,) = findings(mycnf, *target, "s.yml").values()
    assert [(f["name"], f["line"], f["column"], f["fix"]) for f in found] == [("unknown-option", 3, 11, None)]
    assert str(found[0]["message"]).endswith("(Line 3 of the decoded my.cnf.)")
    ended = mycnf("lint", "--isolated", *target, "--format", form, "s.yml")
    assert "of the decoded" in " ".join(ended.out.split())
    assert data not in ended.out
    assert "hunter2" not in ended.out


ENVIRONMENT = """\
MYSQLD_OPTS="--max-conections=5 --report-password=hunter2" # why
# mycnf: ignore[OPT001] a plugin's
MORE=--nonsense
"""


@pytest.mark.parametrize("flags", [(), ("--unsafe-fixes",)])
def test_an_environment_file(flags: tuple[str, ...], mycnf: Mycnf, tmp_path: Path) -> None:
    """Options in the file that a unit names stand at their places there; comments there count, fixes stay out of it."""
    (tmp_path / "root" / "etc").mkdir(parents=True)
    (tmp_path / "root" / "etc" / "mysqld").write_text(ENVIRONMENT)
    unit = "[Service]\nEnvironmentFile=-/etc/mysqld\nExecStart=/usr/sbin/mysqld --max-conections=4 $MYSQLD_OPTS $MORE\n"
    (tmp_path / "x.service").write_text(unit)
    common = ("lint", "--isolated", "--target", "mysql-8.4", "--root", "root", "--select", "OPT", *flags)
    ended = mycnf(*common, "--format", "json", "x.service")
    (entry,) = json.loads(ended.out)["files"]
    places = [(f["path"], f["line"], f["column"]) for f in entry["findings"]]
    assert places == [("root/etc/mysqld", 1, 16), *([] if flags else [("x.service", 3, 30)])]
    assert (tmp_path / "root" / "etc" / "mysqld").read_text() == ENVIRONMENT
    assert ("--max-connections=4" in (tmp_path / "x.service").read_text()) == bool(flags)
    text = mycnf(*common, "x.service").out
    assert "  1 │ MYSQLD_OPTS=" in text
    assert "hunter2" not in text


def test_a_dockerfile_is_fixed(mycnf: Mycnf, tmp_path: Path) -> None:
    """Fixes change what the Dockerfile's own text says, in commands and here-documents, and nothing around it."""
    text = (
        "FROM mysql:8.4\nCOPY <<EOF /etc/mysql/conf.d/x.cnf\n[mysqld]\nmax_conections = 5 # why\nEOF\n"
        'CMD ["--max-conections=5", \\\n     "--nonsense"]\n'
    )
    (tmp_path / "Dockerfile").write_text(text)
    ended = mycnf("lint", "--isolated", "--unsafe-fixes", "Dockerfile")
    assert (tmp_path / "Dockerfile").read_text() == text.replace("conections", "connections")
    assert "Dockerfile:7:9  error  unknown-option OPT001" in ended.out
    assert ended.code == 1


@pytest.mark.parametrize("name", ["a.yml", "a.yaml.j2", "a.json", "a.service", "Dockerfile"])
def test_nothing_of_a_server(name: str, mycnf: Mycnf, tmp_path: Path) -> None:
    """A file without options of a server is one line on stderr and no failure, even where it can't be parsed."""
    (tmp_path / name).write_text("a: [\n")
    ended = mycnf("lint", name)
    assert (ended.code, ended.err) == (0, f"mycnf: {name}: it has no options of a MySQL or MariaDB server\n")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.yml", "services:\n  db:\n\timage: mysql\n"),
        ("a.yml", "# mysql\n" + "[" * 100_000),
        ("a.yml", "mysql: \xff"),
        ("mysqld-auto.cnf", '{"Version": 1,\n'),
        ("x.service", "[Service]\nExecStart=mysqld 'x\n"),
    ],
)
def test_what_cannot_be_read(name: str, text: str, mycnf: Mycnf, tmp_path: Path) -> None:
    """A broken document is one line with its name, and exit code 2."""
    (tmp_path / name).write_bytes(text.encode("latin-1"))
    ended = mycnf("lint", "--target", "mysql-8.4", name)
    assert ended.code == 2
    (line,) = ended.err.splitlines()
    assert line.startswith(f"mycnf: {name}:")


def test_stdin(mycnf: Mycnf) -> None:
    """A document on stdin is known by the name that is given for it, or by how it begins."""
    text = (EXAMPLES / "compose.yaml").read_bytes()
    named = mycnf("lint", "--stdin-filename", "compose.yml", "-", stdin=text)
    begun = mycnf("lint", "-", stdin=b'{"Version": 1, "mysql_server": {"nonsense": {"Value": "1", "Metadata": {}}}}')
    assert "max_conections" in named.out or "max-conections" in named.out
    assert "nonsense" in begun.out


def test_fixes_fit_the_document(mycnf: Mycnf, tmp_path: Path) -> None:
    """The edits that are offered change the option and nothing around it."""
    path = tmp_path / "compose.yml"
    text = (
        "services:\n  db:\n    image: mysql:8.4\n    command:\n      - '--innodb-bufer-pool-size=1G'  # why\n"
        "      - --skip-host-cache\n  flow: {image: 'mysql:8.4', command: [--max-conections=5, --nonsense]}\n"
    )
    path.write_text(text)
    (found,) = findings(mycnf, path).values()
    edits = [Edit(**{k: e[k] for k in Edit._fields}) for f in found if f["fix"] for e in f["fix"]["edits"]]
    changed = apply_edits(text.encode(), edits).decode()
    assert "      - '--innodb-buffer-pool-size=1G'  # why\n" in changed
    assert "command: [--max-connections=5, --nonsense]}" in changed


def test_conditions_of_a_template(mycnf: Mycnf, tmp_path: Path) -> None:
    """Lines that a template chooses between are no duplicates of each other."""
    text = "[mysqld]\n{% if a %}\nmax_connections=5\n{% else %}\nmax_connections=6\n{% endif %}\n"
    (tmp_path / "my.cnf.j2").write_text(text)
    (found,) = findings(mycnf, "my.cnf.j2", "--target", "mysql-8.4", "--select", "OPT012", code=0).values()
    assert found == []


def test_show(mycnf: Mycnf, tmp_path: Path) -> None:
    """Show reads a document of one server, after option files too, and prints each set of a document of several."""
    (tmp_path / "my.cnf").write_text("[mysqld]\nmax_connections=5\n")
    (tmp_path / "compose.yml").write_text("services: {db: {image: 'mysql:8.0', command: --max-connections=6}}\n")
    ended = mycnf("show", "--format", "json", "my.cnf", "compose.yml")
    report = json.loads(ended.out)
    assert report["target"] == "mysql-8.0.43"
    assert report["options"]["max_connections"]["value"] == "6"
    assert report["options"]["max_connections"]["overridden"][0]["file"] == "my.cnf"
    several = mycnf("show", "--format", "json", EXAMPLES / "compose.yaml")
    assert (several.code, len(json.loads(several.out)["sets"]) > 1) == (0, True)
    refused = mycnf("show", "my.cnf", EXAMPLES / "compose.yaml")
    assert (refused.code, "write --set NAME with one of" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("name", "text", "parsed"),
    [("my.cnf", "[mysqld]\nport=1\n", False), ("a.yml", "a: b\n", False), ("b.yml", "# mysql\n", True)],
)
def test_the_parser_is_imported_for_files_that_need_it(name: str, text: str, parsed: bool, tmp_path: Path) -> None:
    """YAML's parser is imported for YAML about a server, and for nothing else."""
    (tmp_path / name).write_text(text)
    code = (
        "import sys; from advisor.__main__ import main; main(['lint', '--target', 'mysql-8.4', sys.argv[1]]);"
        "print('yaml' in sys.modules, any(m.startswith('advisor.carriers') for m in sys.modules))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, tmp_path / name], cwd=CHECKOUT, capture_output=True, text=True, check=True
    )
    assert ran.stdout.splitlines()[-1] == f"{parsed} {name != 'my.cnf'}"


UNIT = """\
[Service]
ExecStart=/usr/sbin/mysqld --log-bin --server-id=1 --sync-binlog=0 --innodb-force-recovery=1
"""
PERSISTED = {
    "Version": 2,
    "mysql_dynamic_variables": {"sync_binlog": {"Value": "0"}},
    "mysql_static_variables": {"innodb_force_recovery": {"Value": "1"}},
}


@pytest.mark.parametrize(
    ("name", "text", "sync", "recovery"),
    [
        (
            "mysql.service",
            UNIT,
            "write --sync-binlog=1 in place of --sync-binlog=0 in",
            "--innodb-force-recovery=1 from",
        ),
        (
            "mysqld-auto.cnf",
            json.dumps(PERSISTED),
            "run SET PERSIST sync_binlog = 1;",
            "RESET PERSIST innodb_force_recovery",
        ),
    ],
)
def test_advice_follows_the_origin_of_a_value(  # noqa: PLR0917 - a row of the table
    mycnf: Mycnf, tmp_path: Path, name: str, text: str, sync: str, recovery: str
) -> None:
    """An argument of a command line is replaced there, a persisted value is persisted again or reset."""
    path = tmp_path / name
    path.write_text(text)
    (found,) = findings(mycnf, path, "--target", "mysql-8.0").values()
    helps = {str(f["option"]): str(f["help"]) for f in found}
    assert helps["sync_binlog"].startswith(sync)
    assert recovery in helps["innodb_force_recovery"]


def test_advice_of_an_option_that_is_missing_is_an_argument_too(mycnf: Mycnf, tmp_path: Path) -> None:
    """The document has a command line and no option file, so a further option is an argument as well."""
    path = tmp_path / "compose.yaml"
    path.write_text("services:\n  db:\n    image: mysql:8.0\n    command: --innodb-buffer-pool-size=8G\n")
    (found,) = findings(mycnf, path, code=0).values()
    assert "write --innodb-flush-method=O_DIRECT" in [f["help"] for f in found]


def test_a_command_has_arguments_to_remove(mycnf: Mycnf, tmp_path: Path) -> None:
    """A line of the document may hold the whole command: without it the other arguments would go too."""
    path = tmp_path / "compose.yml"
    path.write_text("services:\n  db:\n    image: mysql:8.0\n    command: --query-cache-size=0 --skip-name-resolve\n")
    found = json.loads(mycnf("lint", "--isolated", "--format", "json", str(path)).out)["files"][0]["findings"]
    assert [f["help"] for f in found if f["code"] == "OPT007"] == ["remove the argument"]


COMMENTED = """\
resource "aws_db_parameter_group" "p" {{
  family = "mysql8.0"
  {above_block}
  parameter {{
    {above_name}
    name  = "innodb_flush_log_at_trx_commit" {behind}
    value = "2"
  }}
}}
"""


@pytest.mark.parametrize("place", ["above_block", "above_name", "behind"])
@pytest.mark.parametrize("mark", ["#", "//", "# mycnf: is a program. #"])
def test_suppressions_in_terraform(place: str, mark: str, mycnf: Mycnf, tmp_path: Path) -> None:
    """A comment above a block, above a name or behind it suppresses the finding there, in both of HCL's notations."""
    places = dict.fromkeys(("above_block", "above_name", "behind"), "")
    places[place] = f"{mark} mycnf: ignore[DUR001] a replica"
    lines = COMMENTED.format(**places).split("\n")
    (tmp_path / "db.tf").write_text("\n".join(line for line in lines if line.strip()))
    ended = mycnf("lint", "--isolated", "--format", "concise", tmp_path / "db.tf")
    assert ("DUR001" in ended.out) is (mark not in ("#", "//"))


def test_a_family_that_is_too_old(mycnf: Mycnf, tmp_path: Path) -> None:
    """Parameters for a server that no catalog covers are not checked, which one line says."""
    (tmp_path / "db.tf").write_text(
        'resource "aws_db_parameter_group" "p" {\n  family = "mysql5.6"\n  parameter {\n'
        '    name  = "max_connections"\n    value = "none"\n  }\n}\n'
    )
    ended = mycnf("lint", "--isolated", tmp_path / "db.tf")
    assert (ended.code, ended.out) == (0, "")
    assert ended.err.count("\n") == 1
    assert "p: not checked: Amazon RDS for MySQL 5.6 is older than mysql-5.7" in ended.err


def test_terraform_on_stdin(mycnf: Mycnf) -> None:
    """A document without a name is known by its first words."""
    text = (
        (DECLARED / "cloudsql.tf")
        .read_text()
        .replace("MYSQL_8_0_36", "MYSQL_8_0")
        .replace("slow_query_log", "slow_log")
    )
    ended = mycnf("lint", "--isolated", "--format", "concise", "-", stdin=text.encode())
    assert "<stdin>:7:16: PAR001" in ended.out


def test_places_in_sarif(mycnf: Mycnf) -> None:
    """SARIF has the place of the name in the document."""
    ended = mycnf("lint", "--isolated", "--format", "sarif", DECLARED / "rds.tf")
    results = json.loads(ended.out)["runs"][0]["results"]
    regions = [r["locations"][0]["physicalLocation"]["region"] for r in results if r["ruleId"] == "DUR001"]
    assert [(r["startLine"], r["startColumn"], r["endColumn"]) for r in regions] == [(11, 14, 44)]


def test_a_provider_s_list_for_another_document(mycnf: Mycnf, tmp_path: Path) -> None:
    """--parameters FILE judges a group by the provider's ranges; a file without a list is refused in one line."""
    (tmp_path / "db.tf").write_text(
        'resource "aws_db_parameter_group" "p" {\n  family = "mysql8.0"\n  parameter {\n'
        '    name  = "max_connections"\n    value = "20000"\n  }\n}\n'
    )
    listed = DECLARED / "describe-db-parameters.json"
    ended = mycnf("lint", "--isolated", "--format", "concise", "--parameters", listed, tmp_path / "db.tf")
    assert "db.tf:4:14: PAR003" in ended.out
    assert ended.code == 1
    assert mycnf("lint", "--isolated", tmp_path / "db.tf").code == 0
    refused = mycnf("lint", "--isolated", "--parameters", DECLARED / "rds.tf", tmp_path / "db.tf")
    assert refused.code == 2
    assert "Traceback" not in refused.err


def test_an_option_file_has_no_sets(mycnf: Mycnf, tmp_path: Path) -> None:
    """--set without a document is one line, not an option without effect; beside a document it is that one's."""
    (tmp_path / "my.cnf").write_text("[mysqld]\nmax_connections = 77\n")
    document = (
        "kind: ConfigMap\ndata:\n  a.cnf: |\n    [mysqld]\n    port = 1\n  b.cnf: |\n    [mysqld]\n    port = 2\n"
    )
    (tmp_path / "map.yml").write_text(document)
    moved = ("upgrade", "--from", "mysql-8.0", "--to", "mysql-8.4")
    for words in (("show", "my.cnf"), (*moved, "my.cnf"), ("diff", "my.cnf", "mysql-8.4")):
        ended = mycnf(*words, "--set", "a.cnf")
        assert (ended.code, ended.out, "my.cnf is an option file" in ended.err) == (2, "", True)
    assert "max_connections" in mycnf("show", "map.yml", "my.cnf", "--set", "b.cnf").out
    ended = mycnf("diff", "my.cnf", "map.yml", "--set", "b.cnf", "--only", "port", "--all")
    assert (ended.code, "map.yml:8" in ended.out) == (1, True), ended
