"""Parameter groups and database flags of clouds, as Terraform, CloudFormation, Crossplane and Ansible declare them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from advisor.carriers.declared import TRUTHS, DeclaredServer, first, flavours_of, is_null, repeated_blocks, text_of
from advisor.carriers.yaml_tree import Mapping, Scalar, Sequence
from advisor.catalog.managed import SESSION_VARIABLES
from advisor.catalog.targets import known_series
from advisor.core.model import Target

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.carriers.declared import Declarations, Entry
    from advisor.carriers.document import OptionSet
    from advisor.carriers.yaml_tree import Node

# What the platform calls the resources of Terraform and CloudFormation.
GROUPS = {
    "aws_db_parameter_group": "DB parameter group", "aws_rds_cluster_parameter_group": "DB cluster parameter group",
    "AWS::RDS::DBParameterGroup": "DB parameter group",
    "AWS::RDS::DBClusterParameterGroup": "DB cluster parameter group",
}  # fmt: skip
AZURE = ("azurerm_mysql_flexible_server_configuration", "azurerm_mysql_configuration")
AZURE_SERVERS = ("azurerm_mysql_flexible_server", "azurerm_mysql_server")
AZURE_TYPE = r"Microsoft\.DBforMySQL/(?:flexibleServers|servers)/configurations"
AZURE_MODULES = ("azure_rm_mysqlconfiguration", "azure_rm_mysqlflexconfiguration")
RESOURCES = (*GROUPS, *AZURE, *AZURE_SERVERS, "google_sql_database_instance")
FAMILY_KEYS = (
    *("family", "Family", "dbParameterGroupFamily", "db_parameter_group_family"),
    *("parameter_group_family", "db_cluster_parameter_group_family", "cluster_parameter_group_family"),
    *("cluster_family", "rds_family"),
)
# Where `engine` stands for a family: a module's arguments, or Ansible's.
ENGINE_PATHS = (("module",), ("inputs",))
INSTANCE_KEYS = (
    *("parameter", "parameters", "Parameters", "parameterOverrides", "params", "db_parameter", "db_parameters"),
    *("db_parameter_group_parameters", "instance_parameters", "parameter_group_parameters"),
)
CLUSTER_KEYS = ("db_cluster_parameter_group_parameters", "cluster_parameters", "cluster_parameter_group_parameters")
# Pulumi's names, with or without the module's file: aws:rds:ParameterGroup, aws:rds/parameterGroup:ParameterGroup.
PULUMI = (
    r"(?:aws:rds|gcp:sql|azure:mysql)(?:/\w+)?:"
    r"(ParameterGroup|ClusterParameterGroup|DatabaseInstance|FlexibleServerConfiguration)"
)
PULUMI_KINDS = {"FlexibleServerConfiguration": AZURE[0]}
# Requests of the AWS CLI (modify-db-parameter-group --cli-input-json) name a group instead of a family.
REQUEST_KEYS = ("DBParameterGroupName", "DBClusterParameterGroupName")
FLAG_KEYS = ("database_flags", "databaseFlags")
MODULE_FLAGS = ("flags",)  # of a module, beside the version
VERSION_KEYS = ("database_version", "databaseVersion")
PARAM_MODULES = r"(?:^|\.)rds_(?:instance_|cluster_)?param(?:eter)?_group$"
AT_ONCE_KEYS = ("immediate", "apply_immediately")
_FAMILY = r"(aurora-mysql|aurora|mysql|mariadb)-?(\d+)\.(\d+)"
_CLOUD_SQL = r"MYSQL_(\d+)_(\d+)(?:_(\d+))?"
# The series that a platform's server is taken for if the document does not name it.
ASSUMED = (8, 0)
IF_PARTS = 3  # a condition, and a value for each of its results
MOST_UNKNOWN = 0.5  # share of unknown names above which parameters belong to another database


def cloud_sets(reader: Declarations) -> Iterator[OptionSet | None]:
    """Yield the sets of all parameter groups, flags and server configurations of a document."""
    azure: dict[str, list[Entry]] = {}
    versions: dict[str, str] = {}  # of Azure's servers, by name and by address
    done: set[int] = set()
    for path, mapping in reader.mappings():
        node, kind = _resource(path, mapping)
        if id(mapping) in done:
            continue
        done.add(id(node))
        if re.fullmatch(AZURE_TYPE, text_of(node.get("type")) or ""):
            entry = _template_entry(reader, node)
            azure.setdefault("configurations", []).extend([entry] if entry else [])
        elif kind in AZURE_SERVERS:
            names = (".".join((kind, *path[-1:])), text_of(node.get("name")) or "")
            versions |= dict.fromkeys(names, text_of(node.get("version")) or "")
        elif kind in AZURE or kind.rpartition(".")[2] in AZURE_MODULES:
            entry = reader.listed_entry(node)
            if entry is not None:
                azure.setdefault(_server_of(reader, node), []).append(entry)
        else:
            named = text_of(mapping.get("address")) if node is not mapping else None
            yield from _groups(reader, (*path, named) if named else path, node, kind)
            yield from _flags(reader, path, node)
            yield _user_config(reader, path, node)
    for server, entries in azure.items():
        yield reader.option_set(server, entries, _azure(_azure_version(server, versions)))


def _resource(path: tuple[str, ...], node: Mapping) -> tuple[Mapping, str]:
    """Return the fields of a resource and its type, for Terraform, its plans, CloudFormation, Pulumi and Ansible."""
    kind = text_of(first(node, ("Type", "type"))) or ""
    fields = first(node, ("Properties", "values")) if kind in RESOURCES else None
    pulumi = re.fullmatch(PULUMI, kind)
    if pulumi is not None:
        fields, kind = node.get("properties"), PULUMI_KINDS.get(pulumi[1], kind)
    if isinstance(fields, Mapping):
        return fields, kind
    if path[-2:-1] and path[-2] in RESOURCES:
        return node, path[-2]
    return node, path[-1] if path else ""


def _groups(reader: Declarations, path: tuple[str, ...], node: Mapping, kind: str) -> Iterator[OptionSet | None]:
    module = re.search(PARAM_MODULES, kind)
    family = first(node, FAMILY_KEYS)
    if family is None and (module is not None or path[:1] in ENGINE_PATHS):
        family = node.get("engine")
    if path[:1] == ("resource",) and kind not in GROUPS:  # of another provider
        return
    requested = first(node, REQUEST_KEYS) is not None and isinstance(node.get("Parameters"), Sequence)
    if family is None and kind not in GROUPS and module is None and not requested:
        return
    named = f"{kind} {_kind(reader, node)} {text_of(node.get('arn')) or ''}"  # a state has the type in the ARN only
    on_cluster = "cluster" in named.lower() or node.get(REQUEST_KEYS[1]) is not None
    given = [(keys, one, cluster) for keys, cluster in ((INSTANCE_KEYS, on_cluster), (CLUSTER_KEYS, True))
             for one in _alternatives(node, keys)]  # fmt: skip
    for keys, one, cluster in given:
        entries = [entry for key in keys for entry in _entries(reader, one, key)]
        if module is not None:
            entries = [_of_module(entry, node, cluster=on_cluster) for entry in entries]
        elif kind.startswith("aws_"):
            entries = [entry._replace(apply_method=entry.apply_method or "immediate") for entry in entries]
        server = _rds(family, text_of(node.get("engine_version")), entries, cluster=cluster) if entries else None
        if server is not None:
            yield reader.option_set(_label(reader, path, node), entries, server)


def _alternatives(node: Mapping, keys: tuple[str, ...]) -> list[Mapping]:
    """Return a mapping for each of the values between which CloudFormation's If decides; else the mapping itself."""
    for key in keys:
        value = node.get(key)
        chosen = value.get("Fn::If") if isinstance(value, Mapping) else value
        items = chosen.items if isinstance(chosen, Sequence) else []
        if len(items) == IF_PARTS and isinstance(items[0], Scalar):
            return [_of_one(key, item) for item in items[1:] if isinstance(item, Mapping)]
    return [node]


def _of_one(key: str, value: Mapping) -> Mapping:
    made = Mapping()
    made.pairs = [(Scalar(key, "", 0, 0), value)]
    return made


def _kind(reader: Declarations, node: Mapping) -> str:
    """Return the kind of the Kubernetes resource that has these fields below its spec."""
    for root in reader.roots:
        spec = root.get("spec") if isinstance(root, Mapping) else None
        if isinstance(root, Mapping) and isinstance(spec, Mapping) and node in (spec, spec.get("forProvider")):
            return text_of(root.get("kind")) or ""
    return ""


def _entries(reader: Declarations, node: Mapping, key: str) -> list[Entry]:
    """Return the parameters below a key: blocks and lists of name and value, or a mapping from names to values."""
    value = node.get(key)
    if isinstance(value, Mapping) and first(value, ("name", "Name")) is None:
        return reader.named_entries(value)
    listed = repeated_blocks(node, key)
    if not listed.items and isinstance(value, Mapping | Sequence):
        return reader.listed_entries(value)
    return reader.listed_entries(listed)


def _of_module(entry: Entry, node: Mapping, *, cluster: bool) -> Entry:
    """Return a parameter as Ansible's module passes it on.

    The module for groups of instances expands 16M and makes numbers of true and false; it applies parameters
    immediately only with `immediate: true`.
    """
    at_once = (text_of(first(node, AT_ONCE_KEYS)) or "").lower() in (*TRUTHS, "1")
    method = entry.apply_method or ("immediate" if at_once else "pending-reboot")
    text = entry.value.text if entry.value else ""
    number = re.fullmatch(r"(\d{1,15})([KMGT])", text)
    if cluster or entry.value is None:
        expanded = text
    elif number is not None:
        expanded = str(int(number[1]) << 10 * ("KMGT".index(number[2]) + 1))
    else:
        expanded = {"true": "1", "yes": "1", "false": "0", "no": "0"}.get(text.lower(), text)
    value = entry.value and entry.value._replace(text=expanded, source=expanded, places=None)
    return entry._replace(apply_method=method, value=entry.value if expanded == text else value)


def _rds(node: Node | None, version: str | None, entries: list[Entry], *, cluster: bool) -> DeclaredServer | None:
    """Return the server of an RDS or Aurora family; None if the family is that of another engine."""
    kind, scope = ("DB cluster parameter group", "cluster") if cluster else ("DB parameter group", "instance")
    family = text_of(node)
    if family and version and not any(c.isdigit() for c in family) and (numbers := re.match(r"\d+\.\d+", version)):
        family += numbers[0]
    target = family_target(family or "")
    if target is not None:
        return DeclaredServer(target, f"its family is {family}", kind, scope)
    if family and not re.fullmatch(r"(?:aurora-)?(?:mysql|mariadb)", family.lower()):
        return None
    flavour = _flavour(entries) if family is None else "mariadb" if "mariadb" in family else "mysql"
    if flavour is None:
        return None
    flavour = "mysql" if cluster else flavour  # only Aurora has groups of clusters
    aurora = cluster or (family or "").startswith("aurora") or any(e.name.text.startswith("aurora_") for e in entries)
    build, series = ("rds", (10, 11)) if flavour == "mariadb" else ("aurora" if aurora else "rds", ASSUMED)
    target = Target(flavour, known_series(flavour, build)[series], build)
    return DeclaredServer(target, "its family is not in the document", kind, scope)


def family_target(family: str) -> Target | None:
    """Return the target of a family such as aurora-mysql5.7, whose series may be too old; None for other families."""
    match = re.fullmatch(_FAMILY, family.lower())
    if match is None:
        return None
    engine, series = match[1], (int(match[2]), int(match[3]))
    flavour = "mariadb" if engine == "mariadb" else "mysql"
    build = "aurora" if engine.startswith("aurora") else "rds"
    return Target(flavour, known_series(flavour, build).get(series, series), build)


def _flavour(entries: list[Entry]) -> str | None:
    """Return the flavour whose options these are; None for the parameters of another database."""
    flavours = [flavours_of(entry.name.text) or _session_variable(entry.name.text) for entry in entries]
    if sum(1 for known in flavours if not known) > MOST_UNKNOWN * len(flavours) or _is_postgres(entries):
        return None
    return "mariadb" if any(known == {"mariadb"} for known in flavours) else "mysql"


def _session_variable(name: str) -> frozenset[str]:
    """Return both flavours for a variable that parameter groups have and option files have not."""
    return frozenset({"mysql", "mariadb"}) if name.lower() in SESSION_VARIABLES else frozenset()


def _is_postgres(entries: list[Entry]) -> bool:
    """Whether a name occurs that only PostgreSQL's parameters have, such as a module's name before a dot."""
    words = (
        *("shared_preload", "log_statement", "work_mem", "rds.", "cloudsql.", "pg_", "autovacuum", "max_wal"),
        "log_min_duration",
    )
    return any(word in entry.name.text for entry in entries for word in words)


def _label(reader: Declarations, path: tuple[str, ...], node: Mapping) -> str:
    """Return the name of the resource: in Kubernetes that of its metadata, else the last key that leads to it."""
    for root in reader.roots:
        metadata = root.get("metadata") if isinstance(root, Mapping) and path[:1] == ("spec",) else None
        if isinstance(root, Mapping) and isinstance(metadata, Mapping) and _holds(root, node):
            return text_of(metadata.get("name")) or path[-1]
    if path[-1:] in (("values",), ("attributes",), ()):
        return text_of(node.get("name")) or "parameters"
    return path[-1]


def _holds(root: Mapping, node: Mapping) -> bool:
    spec = root.get("spec")
    return spec is node or (isinstance(spec, Mapping) and any(value is node for _, value in spec.pairs))


def _flags(reader: Declarations, path: tuple[str, ...], node: Mapping) -> Iterator[OptionSet | None]:
    """Yield the database flags of a Cloud SQL instance, whose version stands beside its settings."""
    version = text_of(first(node, VERSION_KEYS))
    named = first(node, VERSION_KEYS) is not None
    settings = [node, *repeated_blocks(node, "settings").items] if named else []
    keys = (*FLAG_KEYS, *MODULE_FLAGS) if named else FLAG_KEYS
    entries = [
        entry
        for block in settings
        if isinstance(block, Mapping)
        for key in keys
        for entry in _entries(reader, block, key)
    ]
    if not entries:
        return
    match = re.fullmatch(_CLOUD_SQL, version) if version else None
    if version and match is None:
        return
    if match is None and _flavour(entries) != "mysql":
        return
    series = (int(match[1]), int(match[2])) if match else ASSUMED
    full = (*series, int(match[3])) if match and match[3] else known_series("mysql").get(series, series)
    why = f"its database version is {version}" if match else "its database version is not in the document"
    server = DeclaredServer(Target("mysql", full, "cloudsql"), why, "database flags")
    label = text_of(node.get("name")) if path[-1:] in (("values",), ()) else None
    yield reader.option_set(label or _label(reader, path, node), entries, server)


def _user_config(reader: Declarations, path: tuple[str, ...], node: Mapping) -> OptionSet | None:
    """Return the variables that smaller clouds take as arguments beside their own, whose names are not changed."""
    oracle = path[-1:] == ("variables",) and path[1:2] == ("oci_mysql_mysql_configuration",)
    ocean, aiven = path[-2:-1] == ("digitalocean_database_mysql_config",), path[-2:] == ("mysql_user_config", "mysql")
    if not (oracle or ocean or aiven):
        return None
    entries = [e for e in reader.named_entries(node) if flavours_of(e.name.text)]
    target = Target("mysql", known_series("mysql")[ASSUMED])
    server = DeclaredServer(target, "its version is not in the document", "configuration", lenient=True)
    return reader.option_set(path[-2] if path[-1] in ("mysql", "variables") else path[-1], entries, server)


def _azure_version(server: str, versions: dict[str, str]) -> str:
    """Return the version of the server that a configuration names; empty if the document does not show it."""
    if server in versions:
        return versions[server]
    named = [v for name, v in versions.items() if "." in name and re.search(rf"{re.escape(name)}(?![\w-])", server)]
    candidates = set(named or versions.values())
    return candidates.pop() if len(candidates) == 1 else ""


def _azure(version: str) -> DeclaredServer:
    """Return a server of Azure, whose version number says the series only: 8.0.21 is the newest 8.0."""
    numbers = re.match(r"(\d+)\.(\d+)", version)
    series = (int(numbers[1]), int(numbers[2])) if numbers else ASSUMED
    target = Target("mysql", known_series("mysql", "azure").get(series, series), "azure")
    why = f"its version is {version}" if numbers else "its version is not in the document"
    return DeclaredServer(target, why, "server parameters")


def _template_entry(reader: Declarations, node: Mapping) -> Entry | None:
    """Return the configuration of a template of Azure: the last part of its name, and the value in its properties.

    A text in brackets is an expression, of which the last literal may still be the name.
    """
    name, properties = node.get("name"), node.get("properties")
    value = properties.get("value") if isinstance(properties, Mapping) else None
    if not isinstance(name, Scalar) or not isinstance(value, Scalar):
        return None
    entry = reader.entry(name, value)
    last = re.search(r"(?:^|/|,\s*')([A-Za-z]\w*)(?:'\)\])?$", entry.name.text)
    if last is None:
        return None
    known = entry.is_complete and not value.value.startswith("[")
    return entry._replace(name=entry.name.cut(*last.span(1)), is_complete=known)


def _server_of(reader: Declarations, node: Mapping) -> str:
    """Return what names the server of a configuration: an expression as written, or a name."""
    named = first(node, ("server_name", "server_id", "serverName"))
    if not isinstance(named, Scalar) or is_null(named):
        return "server parameters"
    return reader.document.text[named.start : named.end].strip("\"'") if not named.is_known else named.value
