"""Judges the option lines of a file, in the server's order, for one target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.optionfile import groups_read
from advisor.optionfile.lines import Kind, Line, Placed
from advisor.verdict import effects
from advisor.verdict.outcome import REFUSED, FileVerdict, LineVerdict, Outcome
from advisor.verdict.plugins import loaded_by
from advisor.verdict.take import take_option

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.catalog.load import Catalog, Option
    from advisor.optionfile.lines import Resolved
    from advisor.verdict.names import Found
    from advisor.verdict.outcome import Taken

# Each of these adds to a list, so that a later line does not replace an earlier one.
LISTS = frozenset(
    "plugin_load_add early_plugin_load replicate_do_db replicate_ignore_db replicate_do_table replicate_ignore_table "
    "replicate_wild_do_table replicate_wild_ignore_table replicate_rewrite_db binlog_do_db binlog_ignore_db "
    "performance_schema_instrument".split()
)
LOOSE_HELPS = frozenset({Outcome.UNKNOWN, Outcome.REMOVED, Outcome.ACCEPTED, Outcome.ADJUSTED, Outcome.IGNORED})


def judge_file(resolved: Resolved, catalog: Catalog) -> FileVerdict:
    """How the target's server takes every option line of the groups that it reads, and which line counts for each option."""
    groups = groups_read(catalog.target)
    placed = [p for p in resolved.options if p.line.group in groups]
    lines = _judge_lines(placed, catalog)
    effective, overridden = _order(lines)
    effective = _settled(effective, catalog)
    return FileVerdict(tuple(lines), effective, overridden, resolved, catalog)


def take(option_name: str, value: str | None, catalog: Catalog) -> LineVerdict:
    """How the server takes one option given by itself, as a line of a file would give it."""
    line = Line(Kind.OPTION, 0, "", name=option_name, raw=value, value=value)
    return _judge_lines([Placed("", line)], catalog)[0]


def _judge_lines(placed: Iterable[Placed], catalog: Catalog) -> list[LineVerdict]:
    placed = list(placed)
    loaded = loaded_by(placed)
    values: dict[str, str] = {}
    lines = []
    for at in placed:
        verdict = _judge(at, catalog, values, loaded)
        lines.append(verdict)
        if verdict.canonical and verdict.value is not None and verdict.outcome not in REFUSED:
            values[verdict.canonical] = verdict.value
    return lines


def _judge(placed: Placed, catalog: Catalog, values: dict[str, str], loaded: frozenset[str]) -> LineVerdict:
    line = placed.line
    if line.templated:
        return _templated(placed, catalog)
    found, taken = take_option(line.name or "", line.value, catalog, values, loaded)
    option = catalog.get(found.canonical) if found.canonical else None
    return _verdict(placed, found, taken, option, catalog, values)


def _verdict(
    placed: Placed, found: Found, taken: Taken, option: Option | None, catalog: Catalog, values: dict[str, str]
) -> LineVerdict:
    outcome, value, reason = taken
    if option is not None and option.ignored and outcome not in REFUSED:
        outcome, reason = Outcome.IGNORED, f"The server accepts {option.name} and does nothing with it."
    if value is None and option is not None and outcome not in REFUSED and option.shown:
        value = values.get(option.name, option.default)
    return LineVerdict(
        placed=placed,
        outcome=outcome,
        canonical=option.name if option else None,
        option=option,
        value=None if outcome in REFUSED else value,
        running=None,
        deprecated=bool(option and option.deprecated),
        replaced_by=option.replaced_by if option else None,
        loose=found.loose and outcome in LOOSE_HELPS,
        certain=catalog.exact and not (option is None and outcome is Outcome.ACCEPTED),
        reason=reason,
        candidates=found.candidates,
    )


def _templated(placed: Placed, catalog: Catalog) -> LineVerdict:
    """A line whose value is made later: only its name is looked at, and that never refused."""
    found, _ = take_option(placed.line.name or "", placed.line.value, catalog, {})
    option = catalog.get(found.canonical) if found.canonical else None
    reason = "The value is a template: what the server makes of it, no one can tell before it is filled in."
    return LineVerdict(
        placed, Outcome.ACCEPTED, option.name if option else None, option, None, None,
        bool(option and option.deprecated), option.replaced_by if option else None, found.loose, False, reason, (),
    )  # fmt: skip


def _order(lines: list[LineVerdict]) -> tuple[dict[str, LineVerdict], dict[str, tuple[LineVerdict, ...]]]:
    effective: dict[str, LineVerdict] = {}
    overridden: dict[str, list[LineVerdict]] = {}
    for line in lines:
        name = line.canonical
        if name is None or line.outcome in REFUSED:
            continue
        before = effective.get(name)
        if before is not None and name not in LISTS:
            overridden.setdefault(name, []).append(before)
        effective[name] = line
    return effective, {name: tuple(earlier) for name, earlier in overridden.items()}


def _settled(effective: dict[str, LineVerdict], catalog: Catalog) -> dict[str, LineVerdict]:
    """The effective lines with the values that remain once options have acted on each other."""
    given = {name: line.value for name, line in effective.items() if line.value is not None}
    values = effects.settle(given, catalog)
    up = effects.running(values, catalog)
    return {
        name: line._replace(value=values.get(name, line.value), running=up.get(name)) for name, line in effective.items()
    }
