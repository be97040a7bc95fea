"""Options that the file does not set and whose default differs on the new server."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from advisor.core.model import Confidence, Severity
from advisor.optionfile import normalise
from advisor.upgrade import keep
from advisor.upgrade.change import WARNING_AREAS, Area, DefaultChange
from advisor.upgrade.keep import is_equivalent, is_flags, members, moved_flags, new_flags
from advisor.verdict import Outcome
from advisor.verdict.names import plugins_loaded_by
from advisor.verdict.settings import SSL_FILES
from advisor.verdict.special import is_plugin
from advisor.verdict.words import full_charset_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.catalog import Catalog, Option
    from advisor.core.model import Target
    from advisor.verdict import FileVerdict, LineVerdict


# Defaults that servers derive from other options: where one of those is set, and not off, the value is another.
MADE_FROM = {
    "binlog_expire_logs_seconds": ("expire_logs_days",),
    "binlog_format": ("flashback",),
    "event_scheduler": ("skip_grant_tables",),
    "innodb_buffer_pool_instances": ("innodb_buffer_pool_size",),
    "innodb_flush_method": ("innodb_dedicated_server",),
    "innodb_io_capacity_max": ("innodb_io_capacity",),
    "innodb_log_file_size": ("innodb_dedicated_server",),
    "innodb_open_files": ("table_open_cache", "open_files_limit"),
    "innodb_page_cleaners": ("innodb_buffer_pool_instances", "innodb_buffer_pool_size"),
    "log_error_verbosity": ("log_warnings",),
    "sql_mode": ("ansi",),
    "ssl": SSL_FILES,
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
SCHEMA = "performance_schema"  # the switch, and the prefix of its options
LOG_UPDATES = frozenset({"log_slave_updates", "log_replica_updates"})
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
    """Yield the options with a different default, each under the new server's primary name, and switches left out."""
    given = names_set(old, new)
    plugins = plugins_loaded_by(old.resolved.options) & plugins_loaded_by(new.resolved.options)
    by_root: dict[str, list[DefaultPair]] = {}
    for name in new.catalog.options:
        known = _default_pair(name, old, new, plugins)
        if known is not None:
            by_root.setdefault(root(name, new.catalog), []).append(known)
    silent = (
        *(_inapplicable_prefixes(old) or _inapplicable_prefixes(new)),
        *_without_group(old, plugins),
    )
    for name, pairs in sorted(by_root.items()):
        names = {name, *(p.new.name for p in pairs), *(root(p.old.name, old.catalog) for p in pairs)}
        if names & given or _follows_file(name, old, new) or name.startswith(silent):
            continue
        # A default that differs only under some names of the variable is not reported.
        if all(p.flags or not is_equivalent(p.before, p.after, p.old, p.new) for p in pairs):
            best = pairs[0]
            under = new.catalog.get(name)
            yield best._replace(new=under) if under is not None else best
    yield from _other_switches(old, new)


def _default_pair(name: str, old: FileVerdict, new: FileVerdict, plugins: frozenset[str]) -> DefaultPair | None:
    mine, other = old.catalog.get(name), new.catalog.get(name)
    if mine is None or other is None or name in OF_THE_BUILD:
        return None
    if new.catalog.target.platform and name in OF_LINUX:
        return None
    if any(o.ignored or o.host or is_plugin(o) or (o.plugin and o.plugin not in plugins) for o in (mine, other)):
        return None
    before, after = _default_under(old, mine), _default_under(new, other)
    if before is None or after is None:
        return None
    return _with_new_flags(DefaultPair(mine, other, before, after), old, new)


def _default_under(file: FileVerdict, option: Option) -> str | None:
    """Return the default under this file: since MySQL 8.0 a replica logs its updates if there is a binary log."""
    unlogged = option.name in LOG_UPDATES and file.catalog.target.since("mysql", 8) and not writes_binlog(file)
    return "OFF" if unlogged else default_value(option)


def writes_binlog(file: FileVerdict) -> bool:
    """Whether the server writes a binary log with this file."""
    line, option = file.effective.get("log_bin"), file.catalog.get("log_bin")
    if line is not None:
        return line.running != "OFF"
    return option is not None and default_value(option) == "ON"


def _with_new_flags(pair: DefaultPair, old: FileVerdict, new: FileVerdict) -> DefaultPair:
    """Add the new switches; another flavour's optimizer has different ones throughout, so none is reported."""
    if old.catalog.target.flavour != new.catalog.target.flavour or not is_flags(pair.after, pair.new):
        return pair
    return pair._replace(flags=new_flags(pair.before, pair.after, pair.old, pair.new))


def _other_switches(old: FileVerdict, new: FileVerdict) -> Iterator[DefaultPair]:
    """Yield the lists of switches that the file sets in part: those that its line does not name have their defaults."""
    for name, after in new.effective.items():
        before = old.effective.get(name)
        if before is None or any(_is_unknown_list(line) for line in (before, after)):
            continue
        mine, other = before.option, after.option
        was, is_now = (line.running or line.value for line in (before, after))
        if mine is None or other is None or was is None or is_now is None:
            continue
        pair = _with_new_flags(DefaultPair(mine, other, was, is_now), old, new)
        if pair.flags or not is_equivalent(was, is_now, mine, other):
            yield pair


def _is_unknown_list(line: LineVerdict) -> bool:
    """Whether the line sets no list of switches, or one that is not known."""
    flags = line.option is not None and line.option.kind == "flagset"
    return not flags or line.outcome is not Outcome.ACCEPTED or line.placed.line.templated


def _follows_file(name: str, old: FileVerdict, new: FileVerdict) -> bool:
    """Whether the default follows from another option that the file sets, and does not switch off."""
    others = set(MADE_FROM.get(name, ()))
    return any(
        line.value != "FALSE"
        for file in (old, new) if others
        for line in file.lines if line.canonical and others & {line.canonical, root(line.canonical, file.catalog)}
    )  # fmt: skip


def _inapplicable_prefixes(file: FileVerdict) -> tuple[str, ...]:
    """Return name prefixes of options that change nothing: without the Performance Schema, or with it on MariaDB.

    MariaDB has it off by default; if it is on, the server chooses the sizes that are -1 by default.
    """
    line, schema = file.effective.get(SCHEMA), file.catalog.get(SCHEMA)
    values = (line.value if line is not None else None, default_value(schema) if schema is not None else None)
    return (f"{SCHEMA}_",) if "FALSE" in values else ()


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
