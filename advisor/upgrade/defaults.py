"""Options that the file does not set and whose default differs on the new server."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from advisor.core.model import Confidence, Severity
from advisor.optionfile import normalise
from advisor.upgrade import keep
from advisor.upgrade.change import WARNING_AREAS, Area, DefaultChange
from advisor.upgrade.keep import is_equivalent, is_flags, is_plugin_state, members, moved_flags, new_flags
from advisor.verdict import Outcome
from advisor.verdict.names import plugins_loaded_by
from advisor.verdict.words import full_charset_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.catalog.load import Catalog, Option
    from advisor.core.model import Target
    from advisor.verdict import FileVerdict


# Defaults that servers derive from other options: if one of those is set, the default is unknown.
MADE_FROM = {
    "innodb_buffer_pool_instances": ("innodb_buffer_pool_size",),
    "innodb_io_capacity_max": ("innodb_io_capacity",),
    "innodb_open_files": ("table_open_cache", "open_files_limit"),
    "innodb_page_cleaners": ("innodb_buffer_pool_instances", "innodb_buffer_pool_size"),
    "thread_cache_size": ("max_connections",),
    "collation_server": ("character_set_server",),  # reported by changed_collation
}
# Defaults that depend on the package, the host or the pool size, besides those marked in the catalog. The first two
# depend on processors and are reported as behaviour changes.
OF_THE_BUILD = frozenset(
    {"innodb_log_writer_threads", "innodb_purge_threads"}
    | {"version", "ssl_ca", "ssl_cert", "ssl_key", "innodb_buffer_pool_chunk_size"}
)
# Options whose default on Windows and macOS is not the one of Linux, which the catalog has.
OF_LINUX = frozenset({"innodb_flush_method"})
GROUP = "group_replication"  # the plugin, and the prefix of its options
UNKNOWN = "(none)"  # value of a switch that the server does not have


class DefaultPair(NamedTuple):
    """One option as known by the old and the new server, with its values on servers without settings.

    `flags` are switches that only the new server has and that are on.
    """

    old: Option
    new: Option
    before: str
    after: str
    flags: tuple[str, ...] = ()


def changed_defaults(old: FileVerdict, new: FileVerdict) -> list[DefaultChange]:
    """Return the changed defaults of options that both servers know by a common name."""
    pairs = list(changed_pairs(old, new))
    lines = {p.new.name: keep.line_for(p.old, p.new, p.before, new, p.flags) for p in pairs}
    wanted = {line: (p.before, p.old, p.new) for p in pairs if (line := lines[p.new.name])}
    kept = keep.drop_rejected_lines(wanted, new)
    return [_default_change(pair, lines[pair.new.name], kept, new.catalog) for pair in pairs]


def default_value(option: Option) -> str | None:
    """Return the default on a running server; None if unknown."""
    return option.running if option.running is not None else option.default


def names_set(*verdicts: FileVerdict) -> frozenset[str]:
    """Return the options that the file sets for one of the servers, under all their names."""
    names = set()
    for verdict in verdicts:
        for line in verdict.lines:
            if line.canonical:
                names |= {line.canonical, root(line.canonical, verdict.catalog)}
    return frozenset(names)


def root(name: str, catalog: Catalog) -> str:
    """Return the name that this one is an alias of, else the name itself."""
    option = catalog.get(name)
    return (option.alias_of if option else None) or name


def changed_pairs(old: FileVerdict, new: FileVerdict) -> Iterator[DefaultPair]:
    """Yield the options with a different default, each under the new server's primary name."""
    given = names_set(old, new)
    plugins = plugins_loaded_by(old.resolved.options) & plugins_loaded_by(new.resolved.options)
    by_root: dict[str, list[DefaultPair]] = {}
    for name in new.catalog.options:
        known = _default_pair(name, old.catalog, new.catalog, plugins)
        if known is not None:
            by_root.setdefault(root(name, new.catalog), []).append(known)
    silent = (
        *(_inapplicable_prefixes(old.catalog) or _inapplicable_prefixes(new.catalog)),
        *_without_group(old, plugins),
    )
    for name, pairs in sorted(by_root.items()):
        names = {name, *(p.new.name for p in pairs), *(root(p.old.name, old.catalog) for p in pairs)}
        if names & given or given & set(MADE_FROM.get(name, ())) or name.startswith(silent):
            continue
        # A default that differs only under some names of the variable is not reported.
        if all(p.flags or not is_equivalent(p.before, p.after, p.old, p.new) for p in pairs):
            best = pairs[0]
            under = new.catalog.get(name)
            yield best._replace(new=under) if under is not None else best


def _default_pair(name: str, old: Catalog, new: Catalog, plugins: frozenset[str]) -> DefaultPair | None:
    mine, other = old.get(name), new.get(name)
    if mine is None or other is None or name in OF_THE_BUILD:
        return None
    if new.target.platform and name in OF_LINUX:
        return None
    if any(o.ignored or o.host or is_plugin_state(o) or (o.plugin and o.plugin not in plugins) for o in (mine, other)):
        return None
    before, after = default_value(mine), default_value(other)
    if before is None or after is None:
        return None
    # Another flavour's optimizer has different switches throughout, so none of them is reported.
    one_flavour = old.target.flavour == new.target.flavour
    flags = new_flags(before, after, mine, other) if one_flavour and is_flags(after, other) else ()
    return DefaultPair(mine, other, before, after, flags)


def _inapplicable_prefixes(catalog: Catalog) -> tuple[str, ...]:
    """Return name prefixes of options without effect on a server that has the Performance Schema off."""
    schema = catalog.get("performance_schema")
    return ("performance_schema_",) if schema is not None and default_value(schema) == "FALSE" else ()


def _without_group(old: FileVerdict, plugins: frozenset[str]) -> tuple[str, ...]:
    """Return name prefixes of options without effect outside a group; they may be refused without the plugin."""
    written = (normalise(at.line.name or "").removeprefix("loose_") for at in old.resolved.options)
    return () if GROUP in plugins or any(name.startswith(GROUP) for name in written) else (f"{GROUP}_",)


def _default_change(
    pair: DefaultPair, line: str | None, kept: dict[str, tuple[str, Option, Option]], catalog: Catalog
) -> DefaultChange:
    before, after = _notations(pair)
    area, message = consequence_of(pair.new.name, after)
    label = catalog.target.label
    withheld = keep.withheld_reason(pair.new, pair.before, catalog)
    lost = withheld or f"{label} has no equivalent value."
    if pair.new.kind == "set" and not withheld and (gone := _removed_members(pair)):
        lacking = f"{label} has no {', '.join(gone)}"
        if _is_default(pair):
            # The remaining members are the new default: nothing else changed, and there is nothing to add.
            area, message, line, lost = Area.REST, f"{lacking}, and nothing else changes.", None, f"{lacking}."
        else:
            message = f"{message} {lacking}."
    return DefaultChange(
        option=pair.new.name,
        formerly=pair.old.name if pair.old.name != pair.new.name else None,
        area=area,
        severity=Severity.WARNING if area in WARNING_AREAS else Severity.NOTE,
        confidence=_confidence(pair, catalog.target),
        before=before,
        after=after,
        message=message,
        keep=line if line in kept else None,
        lost="" if line in kept else lost,
    )


def _notations(pair: DefaultPair) -> tuple[str, str]:
    if is_flags(pair.before, pair.old):
        moved = moved_flags(pair.before, pair.after, pair.old, pair.new)
        moved |= dict.fromkeys(pair.flags, (UNKNOWN, "on"))
        both = [",".join(f"{flag}={values[side]}" for flag, values in moved.items()) for side in (0, 1)]
        return both[0], both[1]
    return keep.file_notation(pair.before, pair.old), keep.file_notation(pair.after, pair.new)


def _removed_members(pair: DefaultPair) -> list[str]:
    known = {value.lower() for value in pair.new.values}
    return [m for m in pair.before.split(",") if m and known and m.lower() not in known]


def _is_default(pair: DefaultPair) -> bool:
    """Whether the old set equals the new default, apart from members that the new server does not have."""
    return members(pair.before) - {m.lower() for m in _removed_members(pair)} == members(pair.after)


def _confidence(pair: DefaultPair, target: Target) -> Confidence:
    asked = not target.platform and all("default" in option.asked for option in (pair.old, pair.new))
    return Confidence.CERTAIN if asked else Confidence.LIKELY


def by_weight(changes: list[DefaultChange]) -> list[DefaultChange]:
    """Sort by area, within it by consequence, then by name."""
    areas = list(Area)
    return sorted(changes, key=lambda c: (areas.index(c.area), rank_of(c.option), c.option))


_FILE = __file__.rpartition("/")[0] + "/consequences.toml"


def consequence_of(name: str, after: str) -> tuple[Area, str]:
    """Return the area of an option and what its new default means; no text if it changes little."""
    meaning = _meanings().get(name)
    if meaning is None:
        return Area.REST, ""
    area = Area.REST if after in meaning.get("light", ()) else Area(meaning["area"])
    return area, str(meaning.get("now", {}).get(after.upper(), meaning["text"]))


def needs_binlog(name: str) -> bool:
    """Whether the option has no effect on a server without a binary log."""
    return bool(_meanings().get(name, {}).get("binlog"))


def rank_of(name: str) -> int:
    """Return the rank of the option within its area."""
    meanings = _meanings()
    return list(meanings).index(name) if name in meanings else len(meanings)


@cache
def _meanings() -> dict[str, dict[str, Any]]:
    import tomllib  # imported lazily: audits use this module's collations without the consequences

    with open(_FILE, "rb") as file:
        return tomllib.load(file)


CHARSET, COLLATION = "character_set_server", "collation_server"
# Default collations other than _general_ci.
LANGUAGES = {
    **dict.fromkeys(("big5", "gb18030", "gb2312", "gbk"), "chinese"),
    **dict.fromkeys(("cp932", "eucjpms", "sjis", "ujis"), "japanese"),
    **dict.fromkeys(("dec8", "latin1", "swe7"), "swedish"),
    "euckr": "korean",
    "hp8": "english",
    "latin5": "turkish",
    "tis620": "thai",
}
UNICODE = ("utf8mb3", "utf8mb4", "ucs2", "utf16", "utf32")


def changed_collation(old: FileVerdict, new: FileVerdict) -> DefaultChange | None:
    """Return the changed default collation for a file that sets the character set only; None if it does not change."""
    line = old.effective.get(CHARSET) or new.effective.get(CHARSET)
    if line is None or not line.value or COLLATION in {*old.effective, *new.effective}:
        return None
    charset = full_charset_name(line.value)
    before, after = default_collation(charset, old.catalog.target), default_collation(charset, new.catalog.target)
    if before == after:
        return None
    wanted = f"{COLLATION} = {before}"
    verdict = keep.judge_added_lines([wanted], new)[wanted]
    taken = verdict.outcome is Outcome.ACCEPTED
    asked = old.catalog.exact and new.catalog.exact
    return DefaultChange(
        option=COLLATION,
        formerly=None,
        area=Area.DATA,
        severity=Severity.WARNING,
        confidence=Confidence.CERTAIN if asked else Confidence.LIKELY,
        before=before,
        after=after,
        message=consequence_of(COLLATION, after)[1],
        keep=wanted if taken else None,
        lost="" if taken else f"{new.catalog.target.label} has no {before}.",
    )


def default_collation(charset: str, target: Target) -> str:
    """Return the default collation of a character set, tested on running servers; only Unicode ones ever changed."""
    if charset == "binary":
        return charset
    if charset not in UNICODE:
        return f"{charset}_{LANGUAGES.get(charset, 'general')}_ci"
    if charset == "utf8mb4" and target.since("mysql", 8):
        return "utf8mb4_0900_ai_ci"
    # Since 11.5 they are defined by character_set_collations.
    return f"{charset}_uca1400_ai_ci" if target.since("mariadb", 11, 5) else f"{charset}_general_ci"
