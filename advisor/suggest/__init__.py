"""An option file for a host and a workload: few lines, each with its reason, evidence and risk."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from advisor.catalog.load import load
from advisor.core.model import exact_size
from advisor.optionfile import resolve
from advisor.suggest.choices import CHOOSERS, POOL, SuggestedLine
from advisor.verdict import judge_file
from advisor.verdict.settings import Settings
from rules.core.context import RuleContext
from rules.sizing.memory import CHUNK, GIB, instances

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from advisor.core.model import Target
    from advisor.facts import Host
    from advisor.verdict import FileVerdict

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
    from advisor.suggest.amend import existing_lines, lowered_lines

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
        f"{' and '.join(CHOSEN_BY_SERVICES)} stay as the service chooses them for the instance; it has defaults of its "
        "own for others too: compare each line with them"
    )
    return tuple(lines), tuple(omitted)


def _omissions(host: Host) -> Iterator[str]:
    if not host.usable_memory:
        yield "the memory of the host is unknown, so there is no line for the buffer pool: give --ram"
    if not host.storage or not host.storage.disks:
        yield "the disks under the data are unknown, so there are no lines for flushing: give --disk"
