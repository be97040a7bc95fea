"""Removes host names and addresses from an audit, for reports that are shared with others."""

from __future__ import annotations

import ipaddress
import re

from msgspec import Struct
from msgspec.structs import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from advisor.analysis.audited import AuditResult
    from advisor.core.model import Finding
    from advisor.facts import Facts

NAMED_BY = ("hostname", "report_host", "wsrep_node_name")
HOST = "some-host"
ADDRESS = "some-address"
# Names that do not identify a host, and that occur in the paths of all servers.
COMMON = frozenset({"", "localhost", "mysql", "mysqld", "mariadb", "mariadbd"})
_SCHEMA_PARTS = ("auto_increments", "without_key", "other_engines", "redundant_indexes")
_NAMED_FIELDS = ("schema", "table", "column", "index", "covered_by")
_KINDS = {"covered_by": "index"}
_QUOTED = re.compile(r"`(?:[^`]|``)+`")
_ADDRESS = re.compile(
    r"(?<![\w.:])(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7})(?![\w:]|\.\d)"
)


def anonymize(audited: AuditResult) -> AuditResult:
    """Return the audit with its hosts' names and addresses replaced, in facts, findings and reasons.

    Numbers, settings and rules stay; so do addresses of the host itself (127.0.0.1, 0.0.0.0, ::).
    """
    names = _names(audited)
    tables = _table_names(audited)

    def without(text: str) -> str:
        text = _QUOTED.sub(lambda found: tables.get(found[0], found[0]), text) if tables else text
        for pattern in names:
            text = pattern.sub(HOST, text)
        return _ADDRESS.sub(_address, text)

    return audited._replace(
        facts=_map_texts(_without_tables(audited.facts, tables), without),
        findings=tuple(_finding(f, without) for f in audited.findings),
        skipped=tuple(skip._replace(reason=without(skip.reason)) for skip in audited.skipped),
        suppressed=tuple((_finding(f, without), without(why)) for f, why in audited.suppressed),
    )


def _names(audited: AuditResult) -> list[re.Pattern[str]]:
    """Return patterns for the host names, with and without their domain, longest first."""
    facts = audited.facts
    candidates = {facts.server.variables.get(name, "") for name in NAMED_BY}
    candidates |= {row.get(name) or "" for row in _replicas(audited) for name in ("Master_Host", "Source_Host")}
    candidates |= {facts.host.os.hostname or ""} if facts.host and facts.host.os else set()
    candidates |= {name.partition(".")[0] for name in candidates if not re.fullmatch(r"[\d.]+", name)}
    candidates |= _of_accounts(audited)
    names = sorted((name for name in candidates if name.lower() not in COMMON), key=lambda name: (-len(name), name))
    return [re.compile(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", re.IGNORECASE) for name in names]


def _of_accounts(audited: AuditResult) -> set[str]:
    """Return the hosts in account names, including networks with a wildcard (10.1.%), without % and the local host."""
    names = [name for kind in audited.facts.server.accounts or () for name in kind.names.split(", ")]
    blocking = audited.facts.server.blocking
    names += [session.account for session in blocking.sessions if "@" in session.account] if blocking else []
    setters = (origin.set_by for origin in audited.facts.server.origins.values())
    names += [setter.account for setter in setters if setter and "@" in setter.account]
    return {name.rpartition("@")[2] for name in names} - {"", "%", "127.0.0.1", "::1"}


def _table_names(audited: AuditResult) -> dict[str, str]:
    """Return a replacement for each name of a schema, table, column or index, both quoted as in findings."""
    risks = audited.facts.schema_risks
    if risks is None:
        return {}
    replacements: dict[str, str] = {}
    for risk in (entry for part in _SCHEMA_PARTS for entry in getattr(risks, part) or ()):
        for kind in _NAMED_FIELDS:
            name = getattr(risk, kind, None)
            if name is not None:
                replacements.setdefault(_quote(name), f"`{_KINDS.get(kind, kind)}_{len(replacements) + 1}`")
    left = (
        name[0]
        for gap in audited.facts.unavailable
        if gap.part.startswith("schema")
        for name in _QUOTED.finditer(gap.reason)
    )
    for name in left:
        replacements.setdefault(name, f"`schema_{len(replacements) + 1}`")
    return replacements


def _without_tables(facts: Facts, names: dict[str, str]) -> Facts:
    """Return the facts with the names of schemas, tables, columns and indexes replaced."""
    risks = facts.schema_risks
    if risks is None:
        return facts

    def without(risk: Any) -> Any:
        fields = {kind: names[_quote(getattr(risk, kind))][1:-1] for kind in _NAMED_FIELDS if hasattr(risk, kind)}
        lists = {kind: "" for kind in ("columns", "covering_columns") if hasattr(risk, kind)}
        return replace(risk, **fields, **lists)

    parts = {name: getattr(risks, name) for name in _SCHEMA_PARTS}
    masked = {name: None if part is None else tuple(map(without, part)) for name, part in parts.items()}
    return replace(facts, schema_risks=replace(risks, **masked))


def _quote(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _replicas(audited: AuditResult) -> tuple[dict[str, str | None], ...]:
    replication = audited.facts.server.replication
    return replication.replica_rows if replication else ()


def _address(match: re.Match[str]) -> str:
    try:
        address = ipaddress.ip_address(match[0])
    except ValueError:
        return match[0]
    return match[0] if address.is_loopback or address.is_unspecified else ADDRESS


def _finding(f: Finding, without: Callable[[str], str]) -> Finding:
    """Replace names in the parts of a finding that depend on the server; the texts of its rule stay."""
    return f._replace(
        message=without(f.message),
        help=without(f.help),
        value=None if f.value is None else without(f.value),
        set_by=without(f.set_by),
        location=f.location and f.location._replace(path=without(f.location.path)),
        actions=tuple(a.with_texts(without) for a in f.actions),
        local=f.local and f.local._replace(words=without(f.local.words)),
        fix=f.fix and f.fix._replace(edits=tuple(e._replace(text=without(e.text)) for e in f.fix.edits)),
    )


def _map_texts(value: Any, without: Callable[[str], str]) -> Any:
    """Apply `without` to every text in the facts; keys of dictionaries stay."""
    if isinstance(value, str):
        return without(value)
    if isinstance(value, tuple):
        return tuple(_map_texts(item, without) for item in value)
    if isinstance(value, dict):
        return {key: _map_texts(item, without) for key, item in value.items()}
    if isinstance(value, Struct):
        return replace(value, **{name: _map_texts(getattr(value, name), without) for name in value.__struct_fields__})
    return value
