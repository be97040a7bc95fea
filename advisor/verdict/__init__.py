"""Interprets option files as a server does, line by line in its order; the only package that interprets values."""

from __future__ import annotations

from advisor.optionfile import groups_read
from advisor.optionfile.lines import Line, LineKind, PlacedLine
from advisor.redaction import EMPTY
from advisor.verdict import effects, startup
from advisor.verdict.names import LOADERS, NOT_LOADED, check_libraries, plugins_loaded_by
from advisor.verdict.outcome import REFUSED, FileVerdict, LineVerdict, Outcome, TakenValue
from advisor.verdict.take import judge_option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.catalog import Catalog, Option
    from advisor.optionfile.lines import ResolvedFiles
    from advisor.verdict.outcome import NameMatch

__all__ = [
    "FIRST_WINS", "LISTS", "REFUSED", "FileVerdict", "LineVerdict", "Outcome", "accepted_parts",
    "judge_file", "judge_value",
]  # fmt: skip

# Options that add to a list: a later line does not replace an earlier one.
LISTS = frozenset(
    [
        "plugin_load_add",
        "replicate_do_db",
        "replicate_ignore_db",
        "replicate_do_table",
        "replicate_ignore_table",
        "replicate_wild_do_table",
        "replicate_wild_ignore_table",
        "replicate_rewrite_db",
        "binlog_do_db",
        "binlog_ignore_db",
        "ignore_db_dir",
        "ignore_db_dirs",
        "performance_schema_instrument",
        "performance_schema_logger",
        "performance_schema_meter",
    ]
)
# Every server takes the first of these lines, and logs a warning for each further one.
FIRST_WINS = frozenset({"user"})
# Options whose values the servers look up in a list of their own, Index.xml.
OF_INDEX = frozenset(
    {"character_set_collations", "character_set_filesystem", "character_set_server", "collation_server"}
)
# Options with a list of which the server takes some parts; their separators.
TLS_LISTS = {
    **dict.fromkeys(("tls_version", "admin_tls_version"), ","),
    **dict.fromkeys(("ssl_cipher", "admin_ssl_cipher", "tls_ciphersuites", "admin_tls_ciphersuites"), ":"),
}
OF_NAMES = (Outcome.UNKNOWN, Outcome.REMOVED, Outcome.AMBIGUOUS)  # the server refuses the name with any value
LOOSE_HELPS = frozenset(
    {Outcome.UNKNOWN, Outcome.REMOVED, Outcome.ACCEPTED, Outcome.ADJUSTED, Outcome.IGNORED, Outcome.UNEXAMINED}
)


def judge_file(resolved: ResolvedFiles, catalog: Catalog) -> FileVerdict:
    """Judge every option line of the groups that the target reads, and find the effective line of each option.

    A line that the server refuses after parsing is effective too: the option parser has already stored its value.
    """
    groups = groups_read(catalog.target)
    lines = _judge_lines([p for p in resolved.options if (p.line.group or "").lower() in groups], catalog)
    lines = _accept_replaced(_accept_of_index(_accept_of_loader(lines), catalog))
    effective, overridden = _split_by_effect(lines)
    settled = _settle_lines(effective, catalog, {line.canonical for line in lines if line.outcome in REFUSED})
    if startup.may_stop(effective, catalog.target):
        _apply_stops(settled, effective, catalog, plugins_loaded_by(line.placed for line in lines))
    lines = [settled.get(id(line), line) for line in lines]
    effective = {name: settled[id(line)] for name, line in effective.items()}
    return FileVerdict(tuple(lines), effective, overridden, resolved, catalog)


def judge_value(option_name: str, value: str | None, catalog: Catalog) -> LineVerdict:
    """Judge one option on its own, as if it were a line of a file."""
    key = (option_name, value)
    known: LineVerdict | None = catalog.kept.get(key)
    if known is None:
        line = Line(LineKind.OPTION, 0, "", None, option_name, value, value)
        known = _judge_lines([PlacedLine("", line)], catalog)[0]
        catalog.keep(key, known)
    return known


def accepted_parts(name: str, value: str, catalog: Catalog) -> str | None:
    """Return a list of TLS versions or ciphers without those that the server refuses; None if nothing is left or lost.

    Spaces around the parts are left out, since servers refuse them.
    """
    separator = TLS_LISTS.get(name)
    if separator is None:
        return None
    parts = [part.strip() for part in value.split(separator)]
    taken = [part for part in parts if part and judge_value(name, part, catalog).outcome is Outcome.ACCEPTED]
    kept = separator.join(taken)
    return kept if kept not in ("", value) else None


def _judge_lines(placed: Iterable[PlacedLine], catalog: Catalog) -> list[LineVerdict]:
    placed = list(placed)
    loaded = plugins_loaded_by(placed)
    short = _read_switch(placed, catalog, "getopt_prefix_matching", on=True)
    if catalog.target.is_mariadb and _read_switch(placed, catalog, "ignore_builtin_innodb", on=False):
        from advisor.verdict.names import drop_innodb

        catalog = drop_innodb(catalog)
    values: dict[str, str] = {}
    lines = []
    for at in placed:
        verdict = _judge_line(at, catalog, values, loaded, short=short)
        if verdict.canonical in LOADERS and verdict.outcome is Outcome.ACCEPTED:
            verdict = check_libraries(verdict, catalog.target)
        lines.append(verdict)
        if verdict.canonical and "maximum" in (at.line.name or ""):
            from advisor.verdict.number import overwrite_neighbour

            overwrite_neighbour(lines, values, catalog)
        if verdict.canonical and verdict.value is not None and verdict.outcome not in REFUSED:
            alias = verdict.option.alias_of if verdict.option else None
            values[verdict.canonical] = values[alias or verdict.canonical] = verdict.value
    return lines


def _read_switch(placed: list[PlacedLine], catalog: Catalog, name: str, *, on: bool) -> bool:
    """Return the value of a boolean that decides how other lines are read; `on` is its default."""
    option = catalog.get(name)
    if option is None:
        return False
    for at in placed:
        if (at.line.name or "").replace("-", "_").lower().endswith(name):
            match, taken = judge_option(at.line.name or "", at.line.value, catalog, {})
            on = taken.value != "FALSE" if match.canonical == name and taken.value else on
    return on


def _judge_line(
    placed: PlacedLine, catalog: Catalog, values: dict[str, str], loaded: frozenset[str], *, short: bool
) -> LineVerdict:
    line = placed.line
    if line.templated:
        return _judge_template_line(placed, catalog, loaded, short=short)
    match, taken = judge_option(line.name or "", line.value, catalog, values, loaded, short=short)
    option = catalog.get(match.canonical) if match.canonical else None
    if option is not None and taken.outcome not in REFUSED:
        taken = _value_after(taken, option, values)
    return _build_verdict(placed, match, taken, option, certain=catalog.exact)


def _value_after(taken: TakenValue, option: Option, values: dict[str, str]) -> TakenValue:
    """Fill in what `--verbose --help` prints after an accepted line: the previous value if the line sets none."""
    if not option.shown:
        taken = taken._replace(value=None)
    elif option.name == "log_error" and not taken.value:
        taken = taken._replace(value=None)  # the file is (host name).err, whatever an earlier line sets
    elif taken.value is None:
        taken = taken._replace(value=values.get(option.alias_of or option.name, option.default))
    if not option.ignored:
        return taken
    if taken.outcome is Outcome.ADJUSTED:  # the server warns about the adjustment only
        return taken._replace(reason=f"{taken.reason} The server then ignores {option.name}.")
    return TakenValue(Outcome.IGNORED, taken.value, f"The server accepts {option.name} but ignores it.")


def _build_verdict(
    placed: PlacedLine, match: NameMatch, taken: TakenValue, option: Option | None, *, certain: bool
) -> LineVerdict:
    outcome, value, reason, likely = taken
    reason = reason[:1].upper() + reason[1:] if reason.startswith(EMPTY) else reason
    certain = certain and not likely and not _is_uncertain(option, outcome)
    return LineVerdict(  # one of these a line: keywords would double the time
        placed, outcome, option.name if option else None, option, value, None,
        bool(option and option.deprecated), option.replaced_by if option else None,
        match.loose and (outcome in LOOSE_HELPS or _is_lost_with_plugin(option, outcome)), certain, reason,
        match.candidates,
    )  # fmt: skip


def _is_lost_with_plugin(option: Option | None, outcome: Outcome) -> bool:
    """Whether MySQL starts without the X Plugin, to which it passes all values of these options."""
    return outcome is Outcome.INVALID and option is not None and option.name.startswith("mysqlx_")


def _is_uncertain(option: Option | None, outcome: Outcome) -> bool:
    """Whether the verdict assumes a plugin's usual options, or a server that was not examined."""
    if outcome is Outcome.UNEXAMINED:
        return True
    return bool(option.plugin) if option else outcome is Outcome.ACCEPTED


def _judge_template_line(placed: PlacedLine, catalog: Catalog, loaded: frozenset[str], *, short: bool) -> LineVerdict:
    """Judge a line with a template as its value: it is refused for its name only, whatever the value will be."""
    match, taken = judge_option(placed.line.name or "", placed.line.value, catalog, {}, loaded, short=short)
    option = catalog.get(match.canonical) if match.canonical else None
    if option is None or taken.outcome in OF_NAMES:
        return _build_verdict(placed, match, taken, option, certain=catalog.exact)
    reason = "The value is a template: it is unknown until the template is filled in."
    return LineVerdict(
        placed, Outcome.ACCEPTED, option.name, option, None, None,
        bool(option.deprecated), option.replaced_by, match.loose, False, reason, (),
    )  # fmt: skip


def _accept_of_loader(lines: list[LineVerdict]) -> list[LineVerdict]:
    """Refuse no option of a plugin for not being loaded where a template fills in which plugins are."""
    loaders = [line for line in lines if line.canonical in LOADERS and line.placed.line.templated]
    if not loaders:
        return lines
    may_load = f"which the template in {loaders[-1].canonical} may load"
    return [
        line._replace(outcome=Outcome.UNEXAMINED, reason=line.reason.replace(NOT_LOADED, may_load))
        if line.outcome is Outcome.UNKNOWN and NOT_LOADED in line.reason
        else line
        for line in lines
    ]


def _accept_of_index(lines: list[LineVerdict], catalog: Catalog) -> list[LineVerdict]:
    """Refuse no name of a character set or collation where a line names another directory with their list.

    MySQL 9.7 rejects utf8 and collations of that name itself, even if the list has them.
    """
    if not any(line.canonical == "character_sets_dir" and line.outcome not in REFUSED for line in lines):
        return lines
    unless = ", unless the Index.xml in character_sets_dir adds it."
    return [
        line._replace(outcome=Outcome.UNEXAMINED, certain=False, reason=line.reason.removesuffix(".") + unless)
        if line.outcome in (Outcome.INVALID, Outcome.ADJUSTED)
        and line.canonical in OF_INDEX
        and not (catalog.target.since("mysql", 9) and (line.value or "").lower().split("_")[0] == "utf8")
        else line
        for line in lines
    ]


def _accept_replaced(lines: list[LineVerdict]) -> list[LineVerdict]:
    """Accept values that fail a check after parsing if a later line replaces them: the check sees only the last one."""
    good: set[str] = set()
    reversed_lines = []
    for line in reversed(lines):
        if line.outcome in REFUSED and line.value is not None and line.canonical in good:
            line = line._replace(outcome=Outcome.ACCEPTED, reason="A later line replaces the value.")  # noqa: PLW2901
        elif line.outcome not in REFUSED and line.value is not None and line.canonical:
            good.add(line.canonical)
        reversed_lines.append(line)
    return reversed_lines[::-1]


def _split_by_effect(lines: list[LineVerdict]) -> tuple[dict[str, LineVerdict], dict[str, tuple[LineVerdict, ...]]]:
    effective: dict[str, LineVerdict] = {}
    overridden: dict[str, list[LineVerdict]] = {}
    for line in lines:
        name = line.canonical
        if name is None or (line.outcome in REFUSED and line.value is None):
            continue
        before = effective.get(name)
        if before is not None and name not in LISTS:
            overridden.setdefault(name, []).append(line if name in FIRST_WINS else before)
            if name in FIRST_WINS:
                continue
        if not _only_bounds(line):
            effective.pop(name, None)
        elif before is None:
            effective = {name: line, **effective}  # the default is in effect, and every line comes after it
        effective[name] = line
    return effective, {name: tuple(earlier) for name, earlier in overridden.items()}


def _only_bounds(line: LineVerdict) -> bool:
    """Whether the line is a `maximum-` that leaves the option's value unchanged, so that the order ignores it."""
    if line.option is None or line.option.maximum == "sets" or "maximum" not in (line.placed.line.name or "").lower():
        return False
    from advisor.verdict.number import is_bound

    return is_bound(line)


def _settle_lines(
    effective: dict[str, LineVerdict], catalog: Catalog, refused: set[str | None]
) -> dict[int, LineVerdict]:
    """Return the effective lines by `id()`, with their values after all options have affected each other.

    `refused` are the options with a line that the server refuses.
    """
    given = {name: line.value for name, line in effective.items() if line.value is not None}
    after = effects.settle_values(given, catalog, effective)
    if "server_id" in refused and after.refused.get("log_bin") == effects.NO_SERVER_ID:
        del after.refused["log_bin"]  # it is set, to a value that is refused
    up = startup.find_running_values(after.values, effective, catalog)
    settled = {}
    for name, line in effective.items():
        value = after.values.get(name)
        shown = startup.help_value(value, line.option, catalog.target)
        moved = line._replace(value=shown, running=up.get(name, value if shown != value else None))
        if name in after.refused and line.outcome not in REFUSED:
            outcome = Outcome.STOPS if name in startup.STOPPING else Outcome.INVALID
            moved = moved._replace(outcome=outcome, loose=False, reason=after.refused[name])
        elif name in after.why and line.outcome not in REFUSED:
            as_asked = value == "0" and _asks_for_zero(line)
            moved = moved._replace(
                outcome=Outcome.ACCEPTED if as_asked else Outcome.ADJUSTED, reason="" if as_asked else after.why[name]
            )
        settled[id(line)] = moved
    return settled


def _apply_stops(
    settled: dict[int, LineVerdict], effective: dict[str, LineVerdict], catalog: Catalog, loaded: frozenset[str]
) -> None:
    """Mark the effective lines whose values make a real start fail."""
    from advisor.verdict.startup.stops import find_stops

    lines = {name: settled[id(line)] for name, line in effective.items()}
    values = {name: line.value for name, line in effective.items() if line.value is not None}
    unread = frozenset(name for name, line in effective.items() if line.placed.line.templated)
    for name, stop in find_stops(values, loaded, catalog, unread).items():
        certain = lines[name].certain and stop.certain
        outcome, reason = Outcome.STOPS, stop.reason
        if not stop.certain and not catalog.whole:  # what is lacking here may be there in another version
            from advisor.verdict.unknown import not_examined

            outcome, reason = Outcome.UNEXAMINED, f"{reason} {not_examined(catalog)}"
        settled[id(effective[name])] = lines[name]._replace(
            outcome=outcome, loose=False, reason=reason, certain=certain
        )


def _asks_for_zero(line: LineVerdict) -> bool:
    """Whether the line itself sets 0, with or without a suffix; alone, 0 may be adjusted: port = 0 becomes 3306."""
    return (line.placed.line.value or "").strip("0")[:1].upper() in "KMGTPE"
