"""Recognises the kind of a document by its name and first bytes, and returns its option sets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from advisor.carriers.document import CarrierError, Document, document_of

if TYPE_CHECKING:
    from advisor.carriers.document import Carrier


_PERSISTED = r"\s*\{\s*\"(?:Version|mysql_server)\""
_UNIT = r"(?m)^\[(?:Service|Unit|Container)\]\s*$"
# A server's group in any text, but in no comment.
_GROUP_IN_TEXT = r"(?m)^[^#\n]*(?P<group>\[(?:mysqld|mariadbd?)\])"
# Packages that lint needs for documents only, by the name of their module.
PARSERS = {
    "yaml": "PyYAML", "tree_sitter": "tree-sitter tree-sitter-hcl", "tree_sitter_hcl": "tree-sitter tree-sitter-hcl"
}  # fmt: skip
_IMAGE_NAME = r"(?s)(?:docker|container)file.*|.*\.(?:docker|container)file"
_OPTION_FILES = (".cnf", ".ini")
_YAML_NAMES = (".yml", ".yaml", ".json", ".sls", ".tfstate")
_HCL_NAMES = (".tf", ".tofu", ".hcl", ".nomad")
# What Terraform and Nomad fill in: ${var.name} and %{ if … }.
_HCL_FILLS = r"[$%]\{"
# What Nomad Pack fills in: [[ var "count" . ]], [[ .my.count ]], [[ if … ]]; lists in lists have no such words.
_PACK_WORDS = r"if|else|end|range|with|define|template|block|var|meta|include|env|fileContents|nomad\w*|toStringList"
_PACK = rf"\[\[-?\s*(?:/\*|\.[A-Za-z]|\$\w*\s*:?=|(?:{_PACK_WORDS})(?:\s|\]))"
# A resource that declares parameters, and what is said if none of them is in the file.
_DECLARING_RESOURCE = r'"(?:aws_(?:db|rds_cluster)_parameter_group|azurerm_mysql_\w*configuration)"'
_BY_VARIABLES = (
    "it shows no parameters of a MySQL or MariaDB server; if variables decide them, check what terraform show -json "
    "prints of the plan"
)
# A configuration without any of these words declares no options of a server, and is not parsed.
_HCL_WORDS = ("mysql", "mariadb", "parameter", "database_flags", "family")


def carrier_of(data: bytes, path: str, name: str, root: str | None = None) -> Carrier | None:
    """Return the document's sets; None if it is an option file.

    `name` is the file name without a template ending; `root` is prepended to absolute paths in the document. Raises
    CarrierError if the document cannot be read.
    """
    from advisor.carriers.document import Carrier, distinguish_labels
    from advisor.carriers.words import TooLongError

    other = next((program for file, program in OTHER_PROGRAMS.items() if name.endswith(file)), None)
    if other is not None:
        return Carrier(document_of(data, path), (), f"not checked: it is a configuration of {other}")
    try:
        carrier = _carrier_of(data, path, name, root)
    except TooLongError as error:
        raise CarrierError(f"{path}: {error}") from error
    except ModuleNotFoundError as error:
        if error.name not in PARSERS:
            raise
        raise CarrierError(f"{path}: its parser is not installed: pip install {PARSERS[error.name]}") from error
    if carrier is None:
        return None
    empty = carrier.empty or ("" if carrier.sets else _unread_text(carrier.document.text))
    return carrier._replace(sets=distinguish_labels(carrier.sets), empty=empty)


def _unread_text(text: str) -> str:
    """Say where a document without sets has an option file in a text that is not read, such as a script."""
    group = re.search(_GROUP_IN_TEXT, text)
    if group is None:
        return ""
    line = text.count("\n", 0, group.start("group")) + 1
    return (
        f"none of its options are read: {group['group']} in line {line} is in a script or another text; write that "
        "text to a file, and check the file"
    )


def _carrier_of(data: bytes, path: str, name: str, root: str | None) -> Carrier | None:
    refuse_language(path, name)
    head = data[:4096].decode("utf-8", "replace").removeprefix("\ufeff")
    if "mysqld-auto" in name or re.match(_PERSISTED, head):
        return _read_persisted(document_of(data, path))
    if name.endswith(_YAML_NAMES):
        from advisor.carriers.yaml_documents import read_yaml

        return read_yaml(document_of(data, path))
    if name.endswith(_HCL_NAMES):
        return _configuration(document_of(data, path))
    text = data.decode("utf-8", "replace")
    refuse_list(path, name, text)
    refuse_unnamed(path, name, text)
    if name.endswith((".service", ".container")) or re.search(_UNIT, text):
        from advisor.carriers.systemd import read_unit

        return read_unit(document_of(data, path), root)
    if re.fullmatch(_IMAGE_NAME, name) and not name.endswith(_OPTION_FILES):
        from advisor.carriers.dockerfile import read_dockerfile

        return read_dockerfile(document_of(data, path))
    return None


def _configuration(document: Document) -> Carrier:
    from advisor.carriers.document import Carrier

    lower = document.text.lower()
    if not any(word in lower for word in _HCL_WORDS):
        return Carrier(document, ())
    if re.search(_PACK, document.text):
        remedy = "check what it renders to: nomad-pack render"
        raise CarrierError(f"{document.path}: a template of Nomad Pack is not read; {remedy}")
    from advisor.carriers.hcl_tree import parse_hcl
    from advisor.carriers.yaml_documents import sets_of

    sets = sets_of(document, document.text, [parse_hcl(document)], "terraform", _HCL_FILLS)
    declared = "var." in document.text and re.search(_DECLARING_RESOURCE, document.text)
    return Carrier(document, tuple(sets), "" if sets or not declared else _BY_VARIABLES)


def _read_persisted(document: Document) -> Carrier:
    from advisor.carriers.persisted import check_json, read_persisted

    check_json(document)
    return read_persisted(document)


# By file name ending.
LANGUAGES = {
    ".tfvars": "a file of Terraform variables", ".pp": "a Puppet manifest", ".nix": "a Nix expression",
    ".md": "a Markdown document", ".rst": "a reStructuredText document", ".html": "an HTML document",
    ".xml": "an XML document", ".py": "a Python program", ".rb": "a Ruby program", ".sh": "a shell script",
    ".sql": "a file of SQL statements", ".bicep": "a Bicep file", ".ts": "a TypeScript program",
    ".php": "a PHP program", ".js": "a JavaScript program",
    ".go": "a Go program", ".java": "a Java program", ".cs": "a C# program",
    ".jsonnet": "a Jsonnet program", ".libsonnet": "a Jsonnet program", ".cue": "a CUE file",
}  # fmt: skip
# Files of other programs whose names end like those of option files.
OTHER_PROGRAMS = {"proxysql.cnf": "ProxySQL", "maxscale.cnf": "MaxScale", "openssl.cnf": "OpenSSL"}
# By the first line of a document whose name does not show its kind.
UNNAMED = {
    "YAML": r"(?:---|%YAML)(?:\s|$)|-?\s*[\w.\"'/-]+:(?:\s|$)",
    "JSON": r"\s*[\[{]\s*(?:[\"{\[]|$)",
    "HCL": r"(?:resource|module|variable|terraform|provider|locals|data|job)\s*(?:\"[^\"]*\"\s*){0,2}\{",
}
ENDINGS = {"YAML": ".yaml", "JSON": ".json", "HCL": ".tf"}
# File name endings of parameter lists, which may also be option files.
LISTS = (".txt", ".list", ".params", ".parameters", ".properties", ".csv", ".env")
READ = (
    "option files, Terraform, CloudFormation, Compose files, Kubernetes manifests, systemd units, Dockerfiles and "
    "mysqld-auto.cnf"
)
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


def refuse_unnamed(path: str, name: str, text: str) -> None:
    """Raise CarrierError for YAML, JSON or HCL in a file whose name does not end like one."""
    if name.endswith((*_OPTION_FILES, ".service", ".container", ".conf")) or re.fullmatch(_IMAGE_NAME, name):
        return
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith(("#", ";", "//"))]
    kind = next((kind for kind, pattern in UNNAMED.items() if lines and re.match(pattern, lines[0])), None)
    if kind is None or (kind != "HCL" and any(line.startswith("[") for line in lines[1:])):
        return
    ending = ENDINGS[kind]
    raise CarrierError(
        f"{path}: looks like {kind}, but its name does not end in {ending}: rename it, or give its text on standard "
        f"input (-) with --stdin-filename NAME{ending}"
    )


def refusal(path: str, kind: str) -> CarrierError:
    """Return the error that names the kind of file and the remedy, in one line."""
    remedy = "write its parameters as name = value lines below [mysqld] and check that file"
    return CarrierError(f"{path}: {kind} is not read; mycnf reads {READ}: {remedy}")
