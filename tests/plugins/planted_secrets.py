"""Passwords planted in all places where people store them, each with a unique mark that shows the source of a leak."""
# ruff: noqa: S608 - statements that options and errors quote

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

from mycnf_command import CHECKOUT

WORD = "kanarienvogel"
SNAPSHOT = CHECKOUT / "examples" / "snapshots" / "mariadb-10.11.json"


def canary(place: str) -> str:
    """The password that is planted in that place."""
    return f"{WORD}.{place}"


def out_of(text: str) -> list[str]:
    """The planted passwords, or parts of them, in a text, without duplicates; also decoded from base64."""
    return sorted(set(re.findall(rf"{WORD}[\w.]*", text + _decoded(text))))


def _decoded(text: str) -> str:
    """The decoded base64 parts of a text, even if they are truncated."""
    found = ""
    for run in re.findall(r"[A-Za-z0-9+/]{32,}", text):
        for start in range(4):
            part = run[start : start + (len(run) - start) // 4 * 4]
            found += base64.b64decode(part).decode("latin-1")
    return found


# Option lines, each with a password; names in every notation that may denote a secret.
LINES = {
    "loose": "loose-report_password = {}",
    "dashes": "report-password={}",
    "slip": "report_pasword = {}",
    "swapped": "report_passwrod = {}",
    "german": "report_passwort = {}",
    "short": "report_pass = {}",
    "upper": "REPORT_PASSWORD = {}",
    "flagged": "--report-password={}",
    "lost": "report_password {}",
    "colon": "report_password: {}",
    "quoted": 'report_password = "{} and more"',
    "master": "master_password = {}",
    "sst": "wsrep_sst_auth = root:{}",
    "abbreviated": "wsrep_sst_au = root:{}",
    "s3": "s3_secret_key = {}",
    "s3short": "s3_se = {}",
    "vault": "hashicorp_key_management_token = {}",
    "login": "hashicorp_key_management_vault_url = https://me:p@{}@vault.example/v1",
    "dotted": "component_keyring.password = {}",
    "ldap": "authentication_ldap_simple_bind_root_pwd = {}",
    "phrase": "ssl_passphrase = {}",
    "filekey": "file_key_management_filekey = {}",
    "galera": 'wsrep_provider_options = "socket.ssl_password={};gcs.fc_limit=1"',
    "cluster": "wsrep_cluster_address = gcomm://u:{}@10.0.0.1",
    "notify": "wsrep_notify_cmd = /usr/bin/mysql -uroot -p{} -e x",
    "statement": "init_connect = \"INSERT INTO log.t VALUES ('{}')\"",
    "statements": "init_slave = SET PASSWORD = PASSWORD('{}')",
    "user": "init_file = CREATE USER u IDENTIFIED VIA ed25519 USING '{}'",
    "number": "max_connections = password={}",
    "comment": "# password = {}",
    "prose": "#root password: {}",
    "cron": "# mysqldump -uroot -p{} --all-databases",
    "port": "# mysqldump -h db1 -P 3307 -uroot -p{} --all-databases",
}
GROUPS = {
    "client": "password = '{}'",
    "mysqldump": "password={}",
    "xtrabackup": "pass={}",
    "mycnf": "password = {}",
    "sst": "encrypt-key = {}",
    "xbcloud": "azure-access-key={}",
}


def option_file(*lines: str) -> str:
    """An option file with a password in every line and group, and lines with findings."""
    planted = [line.format(canary(place)) for place, line in LINES.items()]
    others = [f"[{group}]\n{line.format(canary(group))}" for group, line in GROUPS.items()]
    bad = ("read_buffer_size = 8M", "innodb_flush_log_at_trx_commit = 2", "innodb_bufer_pool_size = 1G", *lines)
    return "\n".join(["[mysqld]", *bad, *planted, *others]) + "\n"


ENCODED = f"[mysqld]\nnonsense=1\nwsrep_sst_auth=r:{canary('base64')}\n"
# Documents with options: Compose files, manifests, units, Dockerfiles, and persisted variables.
CARRIERS = {
    "compose.yaml": f"""services:
  db:
    image: mysql:8.0
    environment:
      MYSQL_ROOT_PASSWORD: {canary("compose")}
      DATA_SOURCE_NAME: "exporter:{canary("source")}@(db:3306)/"
    command: [--nonsense, --report-password={canary("flow")}, --read-buffer-size=8M]
""",
    "secret.yaml": f"""apiVersion: v1
kind: Secret
metadata: {{name: db}}
stringData:
  password: {canary("manifest")}
  my.cnf: |
    [mysqld]
    nonsense = 1
    report_password = {canary("secret")}
data:
  other.cnf: {base64.b64encode(ENCODED.encode()).decode()}
""",
    "mysqld.service": f"""[Service]
Environment=MYSQL_PWD={canary("unitpwd")}
ExecStartPre=/usr/bin/mysqladmin -uroot -p{canary("unitp")} ping
ExecStart=/usr/sbin/mysqld --nonsense --report-password={canary("unit")} --report-user=x
""",
    "Dockerfile": f"""FROM mysql:8.0
ENV MYSQL_ROOT_PASSWORD={canary("docker")}
ENV MYSQL_PASSWORD {canary("dockerspace")}
CMD ["mysqld", "--nonsense", "--report-password={canary("cmd")}"]
""",
    "deployment.yaml": f"""apiVersion: apps/v1
kind: Deployment
spec:
  template:
    spec:
      containers:
      - name: db
        image: mysql:8.4
        args: [--nonsense]
        command:
        - mysqld
        - --read-buffer-size=1M
        - --read-buffer-size=8M
        env:
        - name: MYSQL_ROOT_PASSWORD
          value: {canary("pod")} {canary("podrest")}
""",
    "task.json": json.dumps(
        {
            "containerDefinitions": [
                {
                    "image": "mysql:8.4",
                    "command": ["--nonsense"],
                    "environment": [{"name": "MYSQL_ROOT_PASSWORD", "value": canary("task")}],
                }
            ]
        }
    ),
    "mysqld-auto.cnf": json.dumps(
        {
            "Version": 2,
            "mysql_static_variables": {
                "report_password": {"Value": canary("persisted"), "Metadata": {"Timestamp": 1}},
                "init_connect": {"Value": f"INSERT INTO t VALUES ('{canary('persistedsql')}')", "Metadata": {}},
                "nonsense": {"Value": "1", "Metadata": {}},
            },
        }
    ),
}
# Variables of a server, and its command-line arguments.
VARIABLES = {
    "report_password": canary("variable"),
    "master_password": canary("mastervariable"),
    "wsrep_sst_auth": f"root:{canary('sstvariable')}",
    "init_connect": f"INSERT INTO t.log VALUES ('{canary('sqlvariable')}')",
    "init_slave": f"SET PASSWORD = PASSWORD('{canary('slavevariable')}')",
    "ssl_passphrase": canary("phrasevariable"),
    "file_key_management_filekey": canary("filekeyvariable"),
    "wsrep_cluster_address": f"gcomm://u:{canary('clustervariable')}@10.0.0.1",
    "wsrep_provider_options": f"socket.ssl_password={canary('galeravariable')};b=2",
}
WORDS = (f"--report-password={canary('word')}", "--report_password", canary("nextword"))
ERROR = (
    f"Error 'Duplicate entry '{canary('entry')}' for key 'mail'' on query. Default database: 'd'. "
    f"Query: 'INSERT INTO u VALUES ('{canary('query')}')'"
)


def snapshot(path: Path, **more: str) -> Path:
    """The recorded server as an unmasked snapshot, with these additional variables."""
    document: dict[str, Any] = json.loads(SNAPSHOT.read_text("utf-8"))
    document["server"]["variables"].update(VARIABLES, **more)
    first = next(copy for copy in document["files"]["files"] if copy.get("text"))
    first["text"] += f"\n{option_file()}"
    document["files"]["command_line"] = ["mariadbd", *WORDS]
    document["files"]["persisted_options"] = [
        {"name": "report_password", "value": canary("kept"), "line": 1, "column": 1, "section": ""}
    ]
    document["server"]["replication"] = {"replica_rows": [{"Last_SQL_Error": ERROR}], "replicas_connected": 0}
    path.write_text(json.dumps(document), encoding="utf-8")
    return path
