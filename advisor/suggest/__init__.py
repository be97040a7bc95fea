"""An option file for a host and a workload, new or merged into an existing one; each line has its reason and risk."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from advisor.catalog import load
from advisor.core.errors import MycnfError
from advisor.core.model import Edit, exact_size, format_size
from advisor.optionfile import resolve
from advisor.optionfile.lines import LineKind, apply_edits, groups_read
from advisor.suggest.choices import (
    CHOOSERS,
    CONNECTION_PERCENT,
    CONNECTIONS,
    SuggestedLine,
    affordable_connections,
)
from advisor.verdict import judge_file, judge_value
from advisor.verdict.settings import DEFAULT_CONNECTIONS, Settings
from rules.core.advice import default_number
from rules.core.context import RuleContext
from rules.core.subject import SAFE, remove_line
from rules.sizing.memory import (
    CHUNK,
    DEFAULT_POOL,
    GIB,
    POOL,
    instances,
    memory_budget,
    memory_parts,
    system_memory,
    usable_memory,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from advisor.core.model import Target
    from advisor.facts import Host
    from advisor.optionfile.lines import Line, OptionFile
    from advisor.verdict import FileVerdict, LineVerdict


FILE_NAME = "suggested.cnf"
GROUP = "[mysqld]\n"
SHOWN_OTHERWISE = frozenset({"log_bin"})  # a name in the file, a switch among the variables
CHOSEN_BY_SERVICES = (POOL, "innodb_flush_method")  # managed services size the pool by the instance
WHOLE_GIB_FROM = 8 * GIB  # from here on rounded to whole GiB


class Suggestion(NamedTuple):
    """The lines to set on a target, and sentences on lines omitted because facts are missing."""

    target: Target
    workload: str
    choices: tuple[SuggestedLine, ...]
    omitted: tuple[str, ...]


def suggest(target: Target, host: Host, workload: str, existing: FileVerdict | None = None) -> Suggestion:
    """Return the lines worth setting for the host, each confirmed by the target's verdict.

    `workload` is one of oltp, mixed, analytic, dev. `existing` is the verdict on a file that the lines are for: its
    values are kept where they fit the host.
    """

    kept = existing_lines(existing) if existing is not None else ()
    lowered = lowered_lines(kept, lambda lines: _rule_context(target, host, lines))
    kept = (*kept, *lowered.values())
    made: list[SuggestedLine] = []
    for chooser in CHOOSERS:
        for choice in chooser(_rule_context(target, host, (*kept, *made)), workload):
            line = _accepted_line(target, host, choice, kept)
            if line is not None:
                made.append(line)
    if target.is_managed:
        return Suggestion(target, workload, *_on_service(target, host, (*lowered.values(), *made)))
    chosen = {line.option for line in made}
    rest = [line for line in lowered.values() if line.option not in chosen]
    return Suggestion(target, workload, (*rest, *made), tuple(_omissions(host)))


def _rule_context(target: Target, host: Host, choices: Iterable[SuggestedLine]) -> RuleContext:
    verdict = judge_text(target, GROUP + "".join(f"{choice.line}\n" for choice in choices))
    return RuleContext(target, verdict.catalog, Settings.from_file(verdict), verdict, host=host)


def judge_text(target: Target, text: str) -> FileVerdict:
    """Judge a text as the target's only option file."""
    resolved = resolve(
        [FILE_NAME],
        flavour=target.flavour,
        version=target.version,
        loader=lambda _: text.encode("utf-8", "surrogateescape"),
    )
    return judge_file(resolved, load(target))


def _accepted_line(
    target: Target, host: Host, choice: SuggestedLine, kept: tuple[SuggestedLine, ...]
) -> SuggestedLine | None:
    """Return the choice with a value that the running server keeps, adjusted if needed; None if there is none."""
    if choice.option != POOL:
        return choice if _is_accepted(target, choice) else None
    sizes = _pool_sizes_in_chunks(_rule_context(target, host, kept), choice)
    return next((fitting for fitting in sizes if _is_accepted(target, fitting)), None)


def _pool_sizes_in_chunks(known: RuleContext, choice: SuggestedLine) -> Iterator[SuggestedLine]:
    """Yield pool sizes in steps of more and more chunks: servers round up to a multiple of chunks and instances."""
    size = choice.size
    step = max(CHUNK * instances(known, size), GIB if size >= WHOLE_GIB_FROM else CHUNK)
    while step <= size:
        yield choice._replace(value=exact_size(size // step * step))
        step *= 2


def _is_accepted(target: Target, choice: SuggestedLine) -> bool:
    line = judge_text(target, f"{GROUP}{choice.line}\n").effective.get(choice.option)
    return line is not None and (line.running is None or choice.option in SHOWN_OTHERWISE)


def _on_service(
    target: Target, host: Host, lines: Iterable[SuggestedLine]
) -> tuple[tuple[SuggestedLine, ...], tuple[str, ...]]:
    """Return the lines that a managed service lets its users set, and sentences on what was left out."""
    from advisor.catalog.managed import platform_parameters

    platform = platform_parameters(target)
    lines = [line for line in lines if platform.can_change(line.option) and line.option not in CHOSEN_BY_SERVICES]
    omitted = [sentence for sentence in _omissions(host) if "buffer pool" not in sentence]
    omitted.append(
        f"{' and '.join(CHOSEN_BY_SERVICES)} are left to the service, which sets them for the instance. It has its own "
        "defaults for other options too: compare each line with them"
    )
    return tuple(lines), tuple(omitted)


def _omissions(host: Host) -> Iterator[str]:
    if not host.usable_memory:
        yield "the memory of the host is unknown, so there is no line for the buffer pool: use --ram"
    if not host.storage or not host.storage.disks:
        yield "the disks under the data are unknown, so there are no lines for flushing: use --disk"


SHARED_GROUPS = frozenset(
    {"client-server", "galera", "mysql_cluster"}
)  # also read by other programs, or only by some servers
CONTENT_KINDS = frozenset({LineKind.GROUP, LineKind.OPTION})

# What an option takes is bounded by both limits of a temporary table: they come down together.
TABLES = ("tmp_table_size", "max_heap_table_size")
SPECIAL = frozenset("#'\"\\\n\r;")  # characters that would have to be quoted
LEAST_TEMPTABLE = 1 << 30  # the default of temptable_max_ram where it does not follow the memory


# Options that do nothing beside another one; their lines are removed when that is added.
REPLACED = {"innodb_redo_log_capacity": ("innodb_log_file_size", "innodb_log_files_in_group")}


class AmendedFile(NamedTuple):
    """The file's bytes with the suggestion, and sentences on the choices that could not be merged."""

    text: bytes
    omitted: tuple[str, ...]


def amend_file(
    path: str,
    data: bytes,
    verdict: FileVerdict,
    choices: tuple[SuggestedLine, ...],
    remarks: Callable[[SuggestedLine], Iterator[str]],
) -> AmendedFile:
    """Merge the choices into the file.

    `verdict` is on the file with its includes, `remarks` returns the comments of a choice. Lines that already set the
    value stay unchanged. Raises MycnfError if the file is not among the files read.
    """
    file = next((f for f in verdict.resolved.files if f.path == path), None)
    if file is None:
        raise MycnfError(f"{path} is not one of the files read")
    edits: list[Edit] = []
    added: list[str] = []
    omitted: list[str] = []
    for choice in choices:
        line = verdict.effective.get(choice.option)
        if line is None:
            added += [*remarks(choice), choice.line, ""]
            edits += _removed_lines(path, verdict, REPLACED.get(choice.option, ()))
        elif line.value != judge_value(choice.option, choice.value, verdict.catalog).value:
            edit = _replace_line(path, line, choice, remarks)
            edits += edit
            omitted += [] if edit else [f"{choice.option} is set in {line.placed.path}, not here"]
    if added:
        edits.append(_append_lines(file, verdict, added))
    return AmendedFile(apply_edits(data, edits), tuple(omitted))


def _replace_line(
    path: str, line: LineVerdict, choice: SuggestedLine, remarks: Callable[[SuggestedLine], Iterator[str]]
) -> list[Edit]:
    """Replace the option of a line in this file, with the reason above it."""
    placed = line.placed.line
    if line.placed.path != path or placed.templated or placed.conditional:
        return []
    above = "".join(f"{remark}\n" for remark in remarks(choice))
    end = placed.end_column
    return [
        Edit(placed.number, 1, placed.number, 1, above),
        Edit(placed.number, placed.column, placed.number, end, choice.line),
    ]


def _removed_lines(path: str, verdict: FileVerdict, names: tuple[str, ...]) -> list[Edit]:
    """Remove the lines of options in this file that have no effect any more."""
    lines = [v.placed for v in verdict.lines if v.canonical in names and v.placed.path == path]
    fixes = [remove_line(placed.line, SAFE) for placed in lines if not placed.line.templated]
    return [edit for fix in fixes if fix is not None for edit in fix.edits]


def _append_lines(file: OptionFile, verdict: FileVerdict, added: list[str]) -> Edit:
    """Append lines to the last group that only this server reads, in a new [mysqld] group if there is none."""
    groups = groups_read(verdict.catalog.target) - SHARED_GROUPS
    text = "\n".join(added).rstrip("\n") + "\n"
    within = [at for at, line in enumerate(file.lines) if _group(line) in groups and line.kind in CONTENT_KINDS]
    if not within:
        last = len(file.lines) - 1
        text = f"[mysqld]\n{text}"
    else:
        last = within[-1]
    if last < 0:
        return Edit(1, 1, 1, 1, text)
    line = file.lines[last]
    if line.text.endswith("\n"):
        return Edit(line.number + 1, 1, line.number + 1, 1, f"\n{text}")
    column = len(line.text) + 1
    return Edit(line.number, column, line.number, column, f"\n\n{text}")


def _group(line: Line) -> str:
    return ((line.name if line.kind is LineKind.GROUP else line.group) or "").lower()


def existing_lines(verdict: FileVerdict) -> tuple[SuggestedLine, ...]:
    """The options that the file sets, with the values that the server takes; templated ones are unknown."""
    return tuple(
        SuggestedLine(name, line.value, "")
        for name, line in verdict.effective.items()
        if line.option is not None
        and line.value is not None
        and not line.placed.line.templated
        and SPECIAL.isdisjoint(line.value)
    )


def lowered_lines(
    lines: tuple[SuggestedLine, ...], context_of: Callable[[tuple[SuggestedLine, ...]], RuleContext]
) -> dict[str, SuggestedLine]:
    """The lines to write instead of those that cannot fit the host together, the largest first, by option.

    `context_of` returns the rule context of a file with these lines.
    """
    lowered: dict[str, SuggestedLine] = {}
    while (part := _largest_excess(known := context_of((*lines, *lowered.values())), lines, lowered)) is not None:
        option, taken = part
        lowered |= {line.option: line for line in _lowered_lines(known, option, taken, lines)}
    return lowered


def _largest_excess(
    known: RuleContext, lines: tuple[SuggestedLine, ...], lowered: dict[str, SuggestedLine]
) -> tuple[str, int] | None:
    """The option with the largest part of a memory use that is beyond the host's; None if all fits or is a default."""
    room, budget = usable_memory(known), memory_budget(known)
    if room is None or budget is None or budget.loaded + system_memory(known, room[0]) <= room[0]:
        return None
    parts = memory_parts(known, budget.running)
    named = {line.option for line in lines} - lowered.keys()
    reducible = {
        name: size
        for name, size in parts.items()
        if name in named and (known.number(name) or 0) > (_default(known, name) or 0)
    }
    return max(reducible.items(), key=lambda part: part[1], default=None)


def _lowered_lines(
    known: RuleContext, option: str, taken: int, lines: tuple[SuggestedLine, ...]
) -> Iterator[SuggestedLine]:
    """The line that brings an option down to its default, and the other limit of temporary tables with it."""
    room = usable_memory(known)
    for name in TABLES if option in TABLES else (option,):
        default, value = _default(known, name), known.number(name)
        if default is None or value is None or value <= default or name not in {line.option for line in lines}:
            continue
        counted = name == CONNECTIONS
        less = f"This many take {CONNECTION_PERCENT} % of it while idle" if counted else "This is the default"
        yield SuggestedLine(
            name,
            str(default) if counted else exact_size(default),
            f"{name} = {value if counted else exact_size(value)} takes up to {format_size(taken)}, with which the file "
            f"does not fit in {room[1] if room else 'memory'}. {less}.",
            ("MEM-01",),
            "clients beyond that are refused" if counted else "less memory for its users",
        )


def _default(known: RuleContext, name: str) -> int | None:
    """The value that an option is brought down to: its default, and for connections what the memory is enough for."""
    if name == CONNECTIONS:
        room = usable_memory(known)
        return max(DEFAULT_CONNECTIONS, affordable_connections(known, room[0]) if room else 0)
    fixed = {POOL: DEFAULT_POOL, "temptable_max_ram": LEAST_TEMPTABLE}
    return fixed.get(name, default_number(known, name))
