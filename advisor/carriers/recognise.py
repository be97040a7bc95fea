"""Recognises the kind of a document by its name and first bytes, and returns its option sets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from advisor.carriers.document import CarrierError, Document, document_of

if TYPE_CHECKING:
    from advisor.carriers.sets import Carrier


_PERSISTED = r"\s*\{\s*\"(?:Version|mysql_server)\""
_UNIT = r"(?m)^\[(?:Service|Unit)\]\s*$"
_IMAGE_NAME = r"(?s)(?:docker|container)file.*|.*\.(?:docker|container)file"
_OPTION_FILES = (".cnf", ".ini")
_YAML_NAMES = (".yml", ".yaml", ".json")


def carrier_of(data: bytes, path: str, name: str, root: str | None = None) -> Carrier | None:
    """Return the document's sets; None if it is an option file.

    `name` is the file name without a template ending; `root` is prepended to absolute paths in the document. Raises
    CarrierError if the document cannot be read.
    """
    from advisor.carriers.words import TooLongError

    try:
        return _carrier_of(data, path, name, root)
    except TooLongError as error:
        raise CarrierError(f"{path}: {error}") from error


def _carrier_of(data: bytes, path: str, name: str, root: str | None) -> Carrier | None:
    refuse_language(path, name)
    head = data[:4096].decode("utf-8", "replace").removeprefix("\ufeff")
    if "mysqld-auto" in name or re.match(_PERSISTED, head):
        return _persisted(document_of(data, path))
    if name.endswith(_YAML_NAMES):
        from advisor.carriers.yaml_documents import read_yaml

        carrier = read_yaml(document_of(data, path))
        if not carrier.sets:
            refuse_content(path, carrier.document.text)
        return carrier
    text = data.decode("utf-8", "replace")
    refuse_list(path, name, text)
    if name.endswith(".service") or re.search(_UNIT, text):
        from advisor.carriers.systemd_unit import read_unit

        return read_unit(document_of(data, path), root)
    if re.fullmatch(_IMAGE_NAME, name) and not name.endswith(_OPTION_FILES):
        from advisor.carriers.dockerfile import read_dockerfile

        return read_dockerfile(document_of(data, path))
    return None


def _persisted(document: Document) -> Carrier:
    from advisor.carriers.json_tree import check_json
    from advisor.carriers.persisted import read_persisted

    check_json(document)
    return read_persisted(document)


# By file name ending.
LANGUAGES = {
    ".tf": "Terraform", ".tfvars": "Terraform", ".hcl": "HCL", ".pp": "a Puppet manifest", ".nix": "a Nix expression",
}  # fmt: skip
# File name endings of parameter lists, which may also be option files.
LISTS = (".txt", ".list", ".params", ".parameters", ".properties", ".csv", ".env")
# By a pattern in the text of a YAML or JSON document.
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
_LEAST = 2  # minimum lines of a list


def refuse_language(path: str, name: str) -> None:
    """Raise CarrierError for a file in an unsupported language, by its file name ending."""
    ending = next((ending for ending in LANGUAGES if name.endswith((ending, f"{ending}.json"))), None)
    if ending is not None:
        raise refusal(path, LANGUAGES[ending])


def refuse_list(path: str, name: str, text: str) -> None:
    """Raise CarrierError for a list of names and values without a group, if the file name suggests a list."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith(("#", ";"))]
    if not name.endswith(LISTS) or any(line.lstrip().startswith("[") for line in lines):
        return
    one_line = len(lines) == 1 and lines[0].count("=") > 1 and "," in lines[0]
    if one_line or (len(lines) >= _LEAST and all(re.fullmatch(_PAIR, line) for line in lines)):
        raise refusal(path, "a list of parameters without a group")


def refuse_content(path: str, text: str) -> None:
    """Raise CarrierError for a document of parameters in an unsupported format."""
    kind = next((kind for mark, kind in MARKS.items() if re.search(mark, text)), None)
    if kind is not None:
        raise refusal(path, kind)


def refusal(path: str, kind: str) -> CarrierError:
    """Return the error that names the kind of file and the remedy, in one line."""
    remedy = "write its parameters as name = value lines below [mysqld] and check that file"
    return CarrierError(f"{path}: {kind} is not read; mycnf reads {READ}: {remedy}")
