"""The host under a server in words, one section a part; a part that is missing says why."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content

from advisor.core.sizes import about, lasted, percent
from advisor.report.audit import fact_lines
from advisor.report.words import wrap
from advisor.tui.screens.host.limits import control_group, kernel, limits, nodes, process, processors
from advisor.tui.screens.host.storage_tree import stripe_words, tree
from advisor.tui.text import bar, line, plain
from advisor.tui.widgets.header import SIGNS, STYLES
from rules import find_rule
from rules.core.storage import is_solid_state
from rules.sizing.memory import memory_budget

if TYPE_CHECKING:
    from advisor.analysis.audited import Audited
    from advisor.core.model import Finding
    from advisor.facts import Facts, Host
    from advisor.facts.host import Storage
    from advisor.tui.view import View
    from rules.core.context import RuleContext


LABEL = 14
LEAST = 30
Rows = list[tuple[str, str]]  # names with their words, in order; a row without words is left out


TITLES = {
    "cpu": "Processors",
    "numa": "NUMA",
    "memory": "Memory",
    "storage": "Storage",
    "process": "Server process",
    "limits": "Limits",
    "cgroup": "Control group",
    "kernel": "Kernel",
    "os": "System",
    "said": "What the rules say of it",
}


class Section(NamedTuple):
    """One box of the screen: an id of TITLES, and what is in it."""

    id: str
    text: Content


def sections(view: View, width: int) -> list[Section]:
    """All that is known of the host, wrapped to `width` columns where words allow."""
    audited, width = view.audited, max(LEAST, width)
    tables = {
        "cpu": processors(audited.facts.host),
        "numa": nodes(audited),
        **_of_process(audited.facts),
        "os": _system(audited.facts.host),
    }
    texts = {part: _table(rows or _missing(audited.facts, part), width) for part, rows in tables.items()}
    texts |= {"memory": _memory(audited, width), "storage": _storage(audited, width), "said": _said(view, width)}
    return [Section(part, texts[part]) for part in TITLES]


def _of_process(facts: Facts) -> dict[str, Rows]:
    host, server = facts.host, facts.server
    if host is None:
        return {"process": [], "limits": [], "cgroup": [], "kernel": []}
    return {
        "process": process(host.process) if host.process else [],
        "limits": limits(host.process, server) if host.process else [],
        "cgroup": control_group(host.cgroup) if host.cgroup else [],
        "kernel": kernel(host, server),
    }


def _missing(facts: Facts, part: str) -> Rows:
    return [("", f"not known: {why(facts, part)}")]


def why(facts: Facts, part: str) -> str:
    """Why a part of the host is missing."""
    if facts.host is None:
        return facts.why_not("host")
    read = {"numa": "cpu", "limits": "process", "kernel": "memory"}.get(part, part)
    reasons = {skipped.part: skipped.reason for skipped in facts.host.skipped}
    return reasons.get(read) or reasons.get("host") or facts.why_not(f"host.{read}")


def _table(rows: Rows, width: int) -> Content:
    return Content("\n").join(_row(name, text, width) for name, text in rows if text)


def _row(name: str, text: str, width: int) -> Content:
    """The name before its words, whose further lines stand under the first."""
    first, _, rest = wrap(text, " " * (LABEL if name else 0), width=width).partition("\n")
    shown = Content.styled(f"{name:<{LABEL}}", "$text-accent") + line(first[LABEL:]) if name else line(first)
    return shown + plain("\n" + rest) if rest else shown


def _memory(audited: Audited, width: int) -> Content:
    """The bars, which need no host to be told apart but one to be measured against; then the machine's own memory."""
    facts, there_is = audited.facts, whole(audited.facts.host)
    bars = [_bar(amount, there_is[0] if there_is else None, width) for amount in amounts(audited)]
    unsure = [] if bars else [line("the server's share can't be told: a size that it rests on isn't known")]
    against = f"{about(there_is[0])}, {there_is[1]}" if there_is else f"not known: {why(facts, 'memory')}"
    return Content("\n").join([_row("there is", against, width), *bars, *unsure, *_machine(facts, width)])


def _bar(amount: Amount, there_is: int | None, width: int) -> Content:
    shown = Content.styled(f"{amount.name:<{LABEL}}", "$text-accent") + line(drawn(amount, there_is))
    beyond = there_is is not None and amount.size > there_is
    words = f"{amount.words}{'; more than there is' if beyond else ''}"
    if shown.cell_length + len(words) + 2 <= width:
        return shown + line(f"  {words}")
    return shown + plain("\n" + wrap(words, " " * LABEL, width=width))


def _machine(facts: Facts, width: int) -> list[Content]:
    memory = facts.host.memory if facts.host else None
    if memory is None:
        return []
    swap = f"{about(memory.swap_total - memory.swap_free)} of {about(memory.swap_total)} used"
    pages = f"{memory.huge_pages_free:,} of {memory.huge_pages_total:,} free, {about(memory.huge_page or 0)} each"
    taken = memory.total - (memory.available or memory.total)
    rows = [
        ("all programs", f"{bar(taken, memory.total)} {about(taken)} of {about(memory.total)}" if taken else ""),
        ("swap", swap if memory.swap_total else "none"),
        ("huge pages", pages if memory.huge_pages_total else "none reserved"),
    ]
    return [_row(name, text, width) for name, text in rows if text]


def _storage(audited: Audited, width: int) -> Content:
    facts = audited.facts
    storage = facts.host.storage if facts.host else None
    if storage is None:
        return _table(_missing(facts, "storage"), width)
    steps = [plain(wrap(step.text, step.lead, step.below, width)) for step in tree(storage)]
    rows = [
        ("ends here", storage.untraced or ""),
        ("options", " ".join(storage.mount.options)),
        ("stripe", stripe_words(storage)),
        ("medium", _medium(audited.known, storage)),
        ("one read", fact_lines.latency(audited).removeprefix(" · ")),
    ]
    return Content("\n").join([*steps, *(_row(name, text, width) for name, text in rows if text)])


def _medium(known: RuleContext, storage: Storage) -> str:
    """Whether the disks turn, by their latency or their word; empty where no disk was found."""
    solid = is_solid_state(known) if storage.disks else False
    if solid is None:
        return "not known: what a virtual disk says of turning proves nothing; the probe random-read tells"
    return "solid-state" if solid else "spinning" if storage.disks else ""


def _system(host: Host | None) -> Rows:
    system = host.os if host else None
    if system is None:
        return []
    inside = " ".join(part for part in (system.cloud, system.product, *system.containers) if part)
    return [
        ("name", system.hostname or ""),
        ("system", system.distribution or ""),
        ("kernel", system.kernel or ""),
        ("up", "" if system.uptime is None else lasted(system.uptime)),
        ("clock", system.clocksource or ""),
        ("machine", inside),
    ]


def _said(view: View, width: int) -> Content:
    """The findings of the rules that read the host."""
    found = [f for f in view.open_findings if (rule := find_rule(f.code)) is not None and "host" in rule.needs]
    return Content("\n").join(_finding(f, width) for f in found) if found else line(_silence(view))


def _finding(finding: Finding, width: int) -> Content:
    sign = Content.styled(SIGNS[finding.severity], STYLES[finding.severity])
    return sign + plain(wrap(f"{finding.code} {finding.message}", " ", "  ", width - 1))


def _silence(view: View) -> str:
    if view.audited.facts.host is None:
        return "nothing: the rules about the host were skipped"
    return "nothing: the rules about the host found it in order"


MOST = 10  # times the whole; from there on percents say nothing


class Amount(NamedTuple):
    """One bar: its name, the bytes, and what they are in words."""

    name: str
    size: int
    words: str


def amounts(audited: Audited) -> list[Amount]:
    """What the server takes, the smallest first; none where a size that they rest on isn't known."""
    host, estimate = audited.facts.host, memory_budget(audited.known)
    if estimate is None:
        return []
    resident = host is not None and host.process is not None and host.process.resident
    found = [
        Amount("measured", estimate.measured or 0, "resident now" if resident else "by the server's own account"),
        Amount("likely", estimate.likely or 0, "shared buffers, and sessions as at their peak"),
        Amount(
            "ceiling",
            estimate.ceiling,
            f"{estimate.connections:,} connections, {about(estimate.per_session)} each: no server reaches it",
        ),
    ]
    return [amount for amount in found if amount.size]


def whole(host: Host | None) -> tuple[int, str] | None:
    """Bytes that the server may use, and whose number that is; None where the host wasn't read."""
    size = host.usable_memory if host else None
    if not host or not size:
        return None
    limited = host.memory is None or size < host.memory.total
    return size, "the control group's limit" if limited else "the machine's memory"


def drawn(amount: Amount, there_is: int | None) -> str:
    """`███······  33.0G   18 %`; without a whole, the number alone."""
    if there_is is None:
        return about(amount.size)
    share = amount.size / there_is
    told = percent(share) if share < MOST else f"{share:,.0f} times"
    return f"{bar(amount.size, there_is)} {about(amount.size):>6} {told:>6}"
