"""Options that operators, configuration management and roles keep as data: names and values in mappings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from advisor.carriers.blocks import block_option_set, holds_options
from advisor.carriers.containers import memory_limit
from advisor.carriers.declared import DeclaredServer, Entry, first, flavours_of, is_null, key_text, text_of
from advisor.carriers.images import UNVERSIONED, ServerImage, collection_series, image_of
from advisor.carriers.yaml_tree import BLOCKS, Mapping, Scalar, Sequence, block_lines, piece_of
from advisor.catalog.targets import known_series, newest_target
from advisor.core.model import Target

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.carriers.declared import Declarations
    from advisor.carriers.document import OptionSet
    from advisor.carriers.yaml_tree import Node

# Keys of mappings that become a server's group of an option file.
_GROUP_KEY = r"(?:mysqld|mariadbd)(?:-\d+(?:\.\d+)?)?"
_OTHER_GROUPS = ("server", "mariadb", "galera")
_INI_SECTION = rf"{_GROUP_KEY}|server|mariadb|galera"
_ROLE_NAME = r"(mysql|mariadb|percona)_([a-z]\w*)"
# Variables of applications and roles that are no evidence of an option file: everyone who connects has them.
_CONNECTION = frozenset(
    ("port", "user", "socket", "datadir", "bind_address", "version", "basedir", "tmpdir", "pid_file")
)
_LEAST_ROLE_OPTIONS = 3
_LEAST_KNOWN = 0.5  # share of the keys that must be options, so that a mapping is a group of options
_SURE = 0.8  # the same for keys such as `server`, which have other meanings too
WITHOUT_VALUE = "noarg_present"  # Salt's word for an option without a value
PILLARS = (".sls", "pillar.example")
PERCONA = "PerconaServerMySQL"
OPERATORS = {PERCONA: "percona", "PerconaXtraDBCluster": "pxc"}
# Operators that set sizes, logs and more by themselves; the others add paths and what replication needs.
ADDING = (*OPERATORS, "MysqlCluster", "MySQLCluster", "VitessCluster")
# Sizes that Percona's operator computes: {{containerMemoryLimit * 3/4}}
FILLS = r"\{\{[^{}\n]*\}\}"
ASSUMED = (8, 0)
ORACLE = (8, 4)  # Oracle's operator starts the version that it was released with, 8.1 or later
# Options that images of Software Collections read from variables such as MYSQL_MAX_CONNECTIONS, by their documentation.
COLLECTION_PREFIX = "MYSQL_"
COLLECTION_OPTIONS = frozenset(
    (
        *("lower_case_table_names", "max_connections", "max_allowed_packet", "ft_min_word_len", "ft_max_word_len"),
        *("table_open_cache", "key_buffer_size", "sort_buffer_size", "read_buffer_size", "innodb_buffer_pool_size"),
        *("innodb_log_file_size", "innodb_log_buffer_size", "binlog_format"),
    )
)


def operator_sets(reader: Declarations) -> Iterator[OptionSet | None]:
    """Yield the sets of all mappings of options, and of texts that an operator adds to its server's group."""
    maps = _moco_maps(reader)
    for path, node in reader.mappings():
        key = path[-1] if path else ""
        if _is_group(path, node):
            entries = _without_marks(reader.named_entries(node, flags=_is_puppet(path)))
            if reader.is_item(node):
                entries = [entry for entry in entries if flavours_of(entry.name.text)]
            partial = _is_puppet(path) or reader.document.path.endswith(PILLARS)
            yield reader.option_set(key, entries, _hint(path)._replace(partial=partial))
        elif (key == "mysqlConf" or path[-2:] == ("mysql", "tunable")) and _options_share(node) >= _LEAST_KNOWN:
            server = DeclaredServer(partial=True, lenient=key == "tunable")  # a cookbook's template decides
            yield reader.option_set(key, reader.named_entries(node), server)
        elif re.fullmatch(_ROLE_NAME, key) and _is_group_of(node, _SURE, _LEAST_ROLE_OPTIONS):
            server = DeclaredServer(*_hint(path)[:2], lenient=True)
            yield reader.option_set(key, reader.named_entries(node), server)
        elif _config_map_name(node) in maps and not path:
            yield from _moco_sets(reader, node)
        elif key == "vars" or not path:
            yield _role_set(reader, key or "variables", node)
        yield from _texts(reader, path, node)
        yield _collection_set(reader, key, node)
    yield from _ini_sets(reader)


def _collection_set(reader: Declarations, key: str, node: Mapping) -> OptionSet | None:
    """Return the options in the environment of a container whose image is one of Software Collections.

    A script of the image decides what becomes of them, so only options that the server has are judged, and values that
    it accepts.
    """
    reference = text_of(node.get("image")) or ""
    image = image_of(reference)
    if collection_series(reference) is None or image is None:
        return None
    entries = [
        entry._replace(prefix=COLLECTION_PREFIX)
        for entry in _environment(reader, first(node, ("environment", "env")))
        if entry.name.text.startswith(COLLECTION_PREFIX)
        and entry.name.text.removeprefix(COLLECTION_PREFIX).lower() in COLLECTION_OPTIONS
    ]
    label = text_of(node.get("name")) or key or "environment"
    made = reader.option_set(label, entries, DeclaredServer(image.target, image.why, lenient=True))
    return made and made._replace(memory=memory_limit(node))


def _environment(reader: Declarations, node: Node | None) -> list[Entry]:
    """Return the variables of a container: a mapping, NAME=VALUE, or names with values."""
    if isinstance(node, Mapping):
        return reader.named_entries(node)
    entries: list[Entry | None] = []
    for item in node.items if isinstance(node, Sequence) else []:
        if isinstance(item, Mapping):
            entries.append(reader.listed_entry(item))
        elif isinstance(item, Scalar) and item.is_known:
            entries.append(_assignment(reader, item))
    return [entry for entry in entries if entry is not None]


def _assignment(reader: Declarations, item: Scalar) -> Entry | None:
    piece = piece_of(reader.document, reader.parsed, item)
    name, equals, _ = piece.text.partition("=")
    if not equals:
        return None
    value = piece.cut(len(name) + 1)
    return Entry(piece.cut(0, len(name)), value, not value.templated and "$" not in value.text, is_key=True)


def _ini_sets(reader: Declarations) -> Iterator[OptionSet | None]:
    """Yield the options that tasks of Ansible's ini_file write into option files, by file."""
    files: dict[tuple[str, str], list[Entry]] = {}
    for _, node in reader.mappings():
        section, option = text_of(node.get("section")) or "", node.get("option")
        path = text_of(first(node, ("path", "dest"))) or "ini_file"
        sections = _INI_SECTION if path.endswith(".cnf") else rf"{_GROUP_KEY}|mariadb"
        if not re.fullmatch(sections, section) or text_of(node.get("state")) == "absent":
            continue
        if isinstance(option, Scalar):
            entry = reader.entry(option, node.get("value") or Sequence())
            files.setdefault((path, section), []).append(entry)
    for (path, section), entries in files.items():
        yield reader.option_set(path, entries, _hint((section,))._replace(partial=True))


def _is_group(path: tuple[str, ...], node: Mapping) -> bool:
    """Whether a mapping holds the options of a server's group: by its key, and because most of its keys are options."""
    key = path[-1] if path else ""
    sure = re.fullmatch(_GROUP_KEY, key) is not None
    if not sure and key not in _OTHER_GROUPS:
        return False
    if not sure:
        return _is_group_of(node, _SURE, _LEAST_ROLE_OPTIONS)
    return _is_group_of(node, _LEAST_KNOWN, 1) and (_options_share(node) == 1 or _says_more(node))


def _is_group_of(node: Mapping, share: float, least: int) -> bool:
    return len(node.pairs) >= least and _options_share(node) >= share


def _says_more(node: Mapping) -> bool:
    """Whether the options are more than a single one that everyone who connects has, such as the port."""
    names = [key_text(key).lower().replace("-", "_") for key, _ in node.pairs]
    known = [name for name in names if flavours_of(name)]
    return len(known) > 1 or not _CONNECTION.issuperset(known)


def _options_share(node: Mapping) -> float:
    """Return the share of keys that are options and have a value, of all keys; 0 for an empty mapping."""
    known = sum(1 for k, v in node.pairs if not isinstance(v, Mapping) and flavours_of(key_text(k)))
    return known / len(node.pairs) if known else 0.0


def _is_puppet(path: tuple[str, ...]) -> bool:
    return any("override_options" in key or "::" in key for key in path)


def _without_marks(entries: list[Entry]) -> list[Entry]:
    return [
        entry._replace(value=None) if entry.value and entry.value.text == WITHOUT_VALUE else entry for entry in entries
    ]


def _hint(path: tuple[str, ...]) -> DeclaredServer:
    if any("mariadb" in key.lower() for key in path):
        return DeclaredServer(newest_target("mariadb"), "its key names MariaDB")
    return DeclaredServer()


def _role_set(reader: Declarations, label: str, node: Mapping) -> OptionSet | None:
    """Return the variables of a role that are named after options, such as mysql_max_connections.

    The role's template decides what becomes of them: only options that the server has are judged, and values that it
    accepts.
    """
    entries, prefixes = [], []
    for key, value in node.pairs:
        match = re.fullmatch(_ROLE_NAME, key_text(key))
        if match is None or not flavours_of(match[2]) or not isinstance(key, Scalar):
            continue
        if isinstance(value, Scalar) and value.value and not is_null(value) and not _is_switch(value):
            entry = reader.entry(key, value)
            entries.append(entry._replace(prefix=f"{match[1]}_", is_key=True))
            prefixes.append(match[1])
    if sum(1 for entry in entries if entry.option not in _CONNECTION) < _LEAST_ROLE_OPTIONS:
        return None
    maria = set(prefixes) == {"mariadb"}
    target = newest_target("mariadb") if maria else None
    why = "its variables are named after MariaDB" if maria else ""
    return reader.option_set(label, entries, DeclaredServer(target, why, lenient=True))


def _is_switch(value: Scalar) -> bool:
    """Whether a value is YAML's true or false, which a template tests instead of printing it."""
    return not value.style and value.value.lower() in ("true", "false", "yes", "no", "on", "off")


def _moco_maps(reader: Declarations) -> set[str]:
    """Return the names of the ConfigMaps that MOCO's clusters in the document use."""
    named = {text_of(node.get("mysqlConfigMapName")) for path, node in reader.mappings() if path == ("spec",)}
    return {name for name in named if name}


def _config_map_name(node: Mapping) -> str | None:
    metadata = node.get("metadata")
    if text_of(node.get("kind")) != "ConfigMap" or not isinstance(metadata, Mapping):
        return None
    return text_of(metadata.get("name"))


def _moco_sets(reader: Declarations, node: Mapping) -> Iterator[OptionSet | None]:
    data = node.get("data")
    if isinstance(data, Mapping):
        entries = [e for e in reader.named_entries(data) if e.name.text != "_include"]
        yield reader.option_set(_config_map_name(node) or "data", entries, DeclaredServer(partial=True))
        yield _group_text(reader, "_include", data.get("_include"))


def _texts(reader: Declarations, path: tuple[str, ...], node: Mapping) -> Iterator[OptionSet | None]:
    """Yield the texts that an operator adds to the server's group; they need no group of their own."""
    if path[-1:] == ("mysqld",):
        yield _group_text(reader, "configOverrides", node.get("configOverrides"))
    if path == ("spec", "mysql") and any(_kind_of(root) == PERCONA for root in reader.roots):
        yield _group_text(reader, "configuration", node.get("configuration"))


def _group_text(reader: Declarations, key: str, value: Node | None) -> OptionSet | None:
    if not isinstance(value, Scalar) or holds_options(key, value.value):
        return None
    if value.style not in BLOCKS:
        return reader.option_set(key, _lines_of(reader, value), DeclaredServer(partial=True))
    placed = block_lines(reader.document, value)
    if not placed:
        return None
    return block_option_set(reader.document, key, placed, FILLS, "mysqld")._replace(partial=True)


def _lines_of(reader: Declarations, value: Scalar) -> list[Entry]:
    """Return the lines of a text in quotes or without."""
    piece = piece_of(reader.document, reader.parsed, value)
    found = re.finditer(r"(?m)^[ \t]*([A-Za-z][\w.-]*)[ \t]*=[ \t]*(\S.*?)?[ \t]*$", piece.text)
    return [Entry(piece.cut(*line.span(1)), piece.cut(*line.span(2)) if line[2] else None, True) for line in found]


def _kind_of(root: Node) -> str:
    return text_of(root.get("kind")) or "" if isinstance(root, Mapping) else ""


def adds_options(root: Node) -> bool:
    """Whether a Kubernetes resource is that of an operator which sets other options too, or made by one."""
    return _kind_of(root) in ADDING or _maker_of(root) in ADDING


def group_of_texts(root: Node) -> str:
    """Return the group in which the resource's operator puts texts without groups; empty if it does not."""
    return "mysqld" if PERCONA in (_kind_of(root), _maker_of(root)) else ""


def _maker_of(root: Node) -> str:
    """Return the kind of the resource that owns this one; empty if it names none."""
    metadata = root.get("metadata") if isinstance(root, Mapping) else None
    owners = metadata.get("ownerReferences") if isinstance(metadata, Mapping) else None
    kinds = [_kind_of(owner) for owner in owners.items] if isinstance(owners, Sequence) else []
    return kinds[0] if kinds else ""


def operator_image(node: Mapping) -> ServerImage | None:
    """Return the server that an operator's resource asks for by a version or its kind; None for other resources.

    An image that the resource names precedes it.
    """
    kind, spec = text_of(node.get("kind")) or "", node.get("spec")
    if not isinstance(spec, Mapping):  # perhaps values of the chart of Oracle's operator
        return _image_of_version(text_of(node.get("serverVersion")) if node.get("serverInstances") else None)
    if kind == "InnoDBCluster" and is_null(spec.get("version")):
        return ServerImage(Target("mysql", known_series("mysql")[ORACLE]), f"its {UNVERSIONED}")
    if kind in ("InnoDBCluster", "MysqlCluster"):
        version = text_of(spec.get("version" if kind == "InnoDBCluster" else "mysqlVersion"))
        return _image_of_version(version)
    if kind == "MariaDB":
        return ServerImage(newest_target("mariadb"), f"its kind is MariaDB, and its {UNVERSIONED}")
    if kind in OPERATORS:
        build = OPERATORS[kind]
        return ServerImage(Target("mysql", known_series("mysql", build)[ASSUMED], build), f"its {UNVERSIONED}")
    return _vitess_image(spec)


def _image_of_version(version: str | None) -> ServerImage | None:
    found = image_of(f"mysql:{version}") if version else None
    return found and found._replace(why=f"its version is {version}")


def _vitess_image(spec: Mapping) -> ServerImage | None:
    images = spec.get("images")
    mysqld = images.get("mysqld") if isinstance(images, Mapping) else None
    named = [key_text(k) for k, _ in mysqld.pairs] if isinstance(mysqld, Mapping) else []
    found = re.fullmatch(r"mysql(\d)(\d)Compatible", named[0]) if len(named) == 1 else None
    series = (int(found[1]), int(found[2])) if found else (0, 0)
    if series not in known_series("mysql"):
        return None
    return ServerImage(Target("mysql", known_series("mysql")[series]), f"its image is {named[0]}")
