"""Documents that declare a server's parameters in a form that is not read: each kind is named, in one line."""

from __future__ import annotations

import re

from advisor.carriers.document import CarrierError

# By the ending of the file's name.
LANGUAGES = {
    ".tf": "Terraform", ".tfvars": "Terraform", ".hcl": "HCL", ".pp": "a Puppet manifest", ".nix": "a Nix expression",
}  # fmt: skip
# Endings of files that may hold a list of parameters, or an option file.
LISTS = (".txt", ".list", ".params", ".parameters", ".properties", ".csv", ".env")
# By what the text of a YAML or JSON document holds.
MARKS = {
    r'"ParameterName"\s*:': "a list of a parameter group of RDS",
    r'"defaultValue"\s*:[\s\S]*"allowedValues"\s*:|"allowedValues"\s*:[\s\S]*"defaultValue"\s*:': (
        "a list of server parameters of Azure"
    ),
    r'["\s]databaseFlags"?\s*:': "a list of database flags of Cloud SQL",
    r"AWS::RDS::DB(?:Cluster)?ParameterGroup": "a parameter group of CloudFormation",
    r"\brds_(?:instance|cluster)_param_group\b": "a parameter group of an Ansible playbook",
    r"(?m)^\s*mysqlConf\s*:": "the mysqlConf of a MySQL operator",
    r"\bmysqlConfigMapName\b|moco\.cybozu\.com": "a ConfigMap of the operator MOCO",
}
READ = "option files, Compose files, Kubernetes manifests, systemd units, Dockerfiles and mysqld-auto.cnf"
_PAIR = r"\s*[\"']?[A-Za-z][\w.-]*[\"']?\s*[=,:]\s*\S.*"
_LEAST = 2  # lines of a list


def refuse_language(path: str, name: str) -> None:
    """Raise CarrierError for a file in a language of its own, by the ending of its name."""
    ending = next((ending for ending in LANGUAGES if name.endswith((ending, f"{ending}.json"))), None)
    if ending is not None:
        raise refusal(path, LANGUAGES[ending])


def refuse_list(path: str, name: str, text: str) -> None:
    """Raise CarrierError for lines of names and values, in a file of such a name, that stand below no group."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith(("#", ";"))]
    if not name.endswith(LISTS) or any(line.lstrip().startswith("[") for line in lines):
        return
    one_line = len(lines) == 1 and lines[0].count("=") > 1 and "," in lines[0]
    if one_line or (len(lines) >= _LEAST and all(re.fullmatch(_PAIR, line) for line in lines)):
        raise refusal(path, "a list of parameters without a group")


def refuse_content(path: str, text: str) -> None:
    """Raise CarrierError for a document of parameters that holds no options in a form that is read."""
    kind = next((kind for mark, kind in MARKS.items() if re.search(mark, text)), None)
    if kind is not None:
        raise refusal(path, kind)


def refusal(path: str, kind: str) -> CarrierError:
    """The one line that names the kind, and what to do."""
    remedy = "write its parameters as name = value lines below [mysqld] and check that file"
    return CarrierError(f"{path}: {kind} is not read; mycnf reads {READ}: {remedy}")
