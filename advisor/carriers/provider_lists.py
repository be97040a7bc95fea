"""The lists of parameters that providers print as JSON: of RDS and Aurora, Azure, and Cloud SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.carriers.cloud_kinds import family_target
from advisor.carriers.declared import Declarations, DeclaredServer, blocks, first, flavours_of, is_null, text_of
from advisor.carriers.yaml_tree import Mapping, Scalar, Sequence
from advisor.catalog.targets import known_series
from advisor.core.model import Target
from advisor.verdict.declared import ProviderParameter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.carriers.document import Document, OptionSet

ASSUMED = (8, 0)
TRUTHS = ("true", "True")


def provider_sets(reader: Declarations) -> Iterator[OptionSet | None]:
    """Yield the values that users set in each list, with the ranges that the provider prints beside them."""
    for items, family in _lists(reader):
        rows = [(item, row) for item in items if (row := _parameter(item)) is not None]
        ranges = {row.name: row for _, row in rows}
        explicit = [item for item, row in rows if _is_explicit(row)]
        entries = [entry for item in explicit if (entry := reader.listed_entry(item)) is not None]
        server = _server(list(ranges), family, items)
        if server is not None and entries:
            yield reader.option_set(server.kind, entries, server, ranges)


def has_list(reader: Declarations) -> bool:
    """Whether a document is a provider's list of parameters."""
    return next(_lists(reader), None) is not None


def parameters_of(document: Document) -> dict[str, ProviderParameter]:
    """Return the parameters of all lists in a document by name; empty if it has none.

    Raises CarrierError if the document is not JSON or YAML.
    """
    from advisor.carriers.yaml_tree import parse_documents

    text = document.text.replace("\t", " ")
    reader = Declarations(document, text, parse_documents(text, document.path))
    return {row.name: row for items, _ in _lists(reader) for item in items if (row := _parameter(item)) is not None}


def _lists(reader: Declarations) -> Iterator[tuple[list[Mapping], str]]:
    """Yield each list of parameters, and the family beside it."""
    for root in reader.roots:
        if isinstance(root, Sequence) and _is_list(root):
            yield blocks(root), ""
    for _, node in reader.mappings():
        family = text_of(node.get("DBParameterGroupFamily")) or ""
        for key in ("Parameters", "value"):
            listed = node.get(key)
            if isinstance(listed, Sequence) and _is_list(listed):
                yield blocks(listed), family


def _is_list(node: Sequence) -> bool:
    items = blocks(node)
    return bool(items) and _parameter(items[0]) is not None


def _parameter(item: Mapping) -> ProviderParameter | None:
    """Return what a list shows about one parameter; None for a mapping of another kind."""
    if item.get("ParameterName") is not None:
        return _rds_parameter(item)
    if item.get("allowedValues") is not None or item.get("isReadOnly") is not None:
        return _azure_parameter(item)
    if text_of(item.get("kind")) == "sql#flag" or item.get("appliesTo") is not None:
        return _flag(item)
    return None


def _rds_parameter(item: Mapping) -> ProviderParameter | None:
    if not any(item.get(key) for key in ("AllowedValues", "IsModifiable", "ApplyType", "DataType", "Source")):
        return None
    return _made(
        item, "ParameterName", "ParameterValue", source=_text(item, "Source"), allowed=_text(item, "AllowedValues"),
        modifiable=_truth(item, "IsModifiable"), apply_type=_text(item, "ApplyType"), data_type=_text(item, "DataType"),
    )  # fmt: skip


def _azure_parameter(item: Mapping) -> ProviderParameter | None:
    read_only, dynamic = _truth(item, "isReadOnly"), _truth(item, "isDynamicConfig")
    return _made(
        item, "name", "value", default=text_of(item.get("defaultValue")), source=_text(item, "source"),
        allowed=_text(item, "allowedValues"), modifiable=None if read_only is None else not read_only,
        apply_type="" if dynamic is None else "dynamic" if dynamic else "static", data_type=_text(item, "dataType"),
    )  # fmt: skip


def _flag(item: Mapping) -> ProviderParameter | None:
    words = item.get("allowedStringValues")
    allowed = ",".join(text_of(one) or "" for one in words.items) if isinstance(words, Sequence) else ""
    low, high = text_of(item.get("minValue")), text_of(item.get("maxValue"))
    restart = _truth(item, "requiresRestart")
    return _made(
        item, "name", "value", allowed=allowed or (f"{low}-{high}" if low and high else ""), modifiable=True,
        apply_type="" if restart is None else "static" if restart else "dynamic", data_type=_text(item, "type"),
    )  # fmt: skip


def _made(item: Mapping, name_key: str, value_key: str, **facts: object) -> ProviderParameter | None:
    name = text_of(item.get(name_key))
    value = item.get(value_key)
    given = value.value if isinstance(value, Scalar) and not is_null(value) else None
    facts["data_type"] = str(facts["data_type"]).lower()
    return ProviderParameter(name, given, **facts) if name else None  # type: ignore[arg-type] # each caller's are typed


def _text(item: Mapping, key: str) -> str:
    return text_of(item.get(key)) or ""


def _truth(item: Mapping, key: str) -> bool | None:
    text = text_of(item.get(key))
    return None if text is None else text in TRUTHS


def _is_explicit(row: ProviderParameter) -> bool:
    """Whether the list has a value that a user set, or does not show who set it."""
    return row.value is not None and row.is_set_by_user is not False


def _server(names: list[str], family: str, items: list[Mapping]) -> DeclaredServer | None:
    """Return the server of a list; None if its parameters are those of another database."""
    known = [flavours for name in names if (flavours := flavours_of(name))]
    if len(known) * 2 < len(names):
        return None
    if first(items[0], ("ParameterName",)) is None:
        build, kind = ("cloudsql", "database flags") if items[0].get("appliesTo") else ("azure", "server parameters")
        return _assumed_server("mysql", build, kind)
    kind, target = "DB parameter group", family_target(family)
    if target is not None:
        return DeclaredServer(target, f"its family is {family}", kind)
    aurora = any(name.startswith("aurora_") for name in names)
    maria = any(flavours == {"mariadb"} for flavours in known)
    return _assumed_server("mariadb" if maria else "mysql", "aurora" if aurora else "rds", kind)


def _assumed_server(flavour: str, build: str, kind: str) -> DeclaredServer:
    series = (10, 11) if flavour == "mariadb" else ASSUMED
    target = Target(flavour, known_series(flavour, build)[series], build)
    return DeclaredServer(target, "the list does not name its version", kind)
