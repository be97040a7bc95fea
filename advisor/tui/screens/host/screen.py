"""The host screen: processors, memory, storage and limits, in sections."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual.binding import Binding
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from advisor.core.model import format_duration, format_percent, format_size
from advisor.report import plural, wrap
from advisor.report.audit import fact_lines
from advisor.tui.screens.base import Pane
from advisor.tui.screens.host.fact_rows import (
    Rows,
    cgroup_rows,
    kernel_rows,
    limit_rows,
    numa_rows,
    process_rows,
    processor_rows,
    storage_tree,
    stripe_text,
)
from advisor.tui.text import SEVERITY_SIGNS, SEVERITY_STYLES, bar, safe_line, safe_text
from rules import find_rule
from rules.core.storage import is_solid_state
from rules.sizing.memory import IN_GROUP, memory_budget, memory_source

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.events import Resize

    from advisor.analysis.audited import AuditResult
    from advisor.core.model import Finding
    from advisor.facts import Facts, Host
    from advisor.facts.storage import Storage
    from advisor.tui.view import View
    from rules.core.context import RuleContext


LABEL = 14
LEAST = 30


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
    "findings": "Findings on the host",
}


class Section(NamedTuple):
    """One box of the screen: an id of TITLES and its text."""

    id: str
    text: Content


def build_sections(view: View, width: int) -> list[Section]:
    """All sections about the host, wrapped to `width` columns."""
    audited, width = view.audited, max(LEAST, width)
    tables = {
        "cpu": processor_rows(audited.facts.host),
        "numa": numa_rows(audited),
        **_process_tables(audited.facts),
        "os": _system_rows(audited.facts.host),
    }
    texts = {part: _table(rows or _missing(audited.facts, part), width) for part, rows in tables.items()}
    texts |= {
        "memory": _memory(audited, width),
        "storage": _storage(audited, width),
        "findings": _host_findings(view, width),
    }
    return [Section(part, texts[part]) for part in TITLES]


def _process_tables(facts: Facts) -> dict[str, Rows]:
    host, server = facts.host, facts.server
    if host is None:
        return {"process": [], "limits": [], "cgroup": [], "kernel": []}
    return {
        "process": process_rows(host.process) if host.process else [],
        "limits": limit_rows(host.process, server) if host.process else [],
        "cgroup": cgroup_rows(host.cgroup) if host.cgroup else [],
        "kernel": kernel_rows(host, server),
    }


def _missing(facts: Facts, part: str) -> Rows:
    return [("", f"not known: {missing_reason(facts, part)}")]


def missing_reason(facts: Facts, part: str) -> str:
    """The reason why a part of the host is missing."""
    if facts.host is None:
        return facts.reason_missing("host")
    read = {"numa": "cpu", "limits": "process", "kernel": "memory"}.get(part, part)
    reasons = {skipped.part: skipped.reason for skipped in facts.host.skipped}
    return reasons.get(read) or reasons.get("host") or facts.reason_missing(f"host.{read}")


def _table(rows: Rows, width: int) -> Content:
    return Content("\n").join(_row(name, text, width) for name, text in rows if text)


def _row(name: str, text: str, width: int) -> Content:
    """A label and its text; further lines are indented."""
    first, _, rest = wrap(text, " " * (LABEL if name else 0), width=width).partition("\n")
    shown = Content.styled(f"{name:<{LABEL}}", "$text-accent") + safe_line(first[LABEL:]) if name else safe_line(first)
    return shown + safe_text("\n" + rest) if rest else shown


def _memory(audited: AuditResult, width: int) -> Content:
    """The server's memory as bars, then the memory of the machine."""
    facts, total = audited.facts, usable_memory(audited.facts.host)
    bars = [_bar(amount, total[0] if total else None, width) for amount in memory_amounts(audited)]
    unknown = [] if bars else [safe_line("the server's memory use cannot be computed: a size is unknown")]
    against = f"{format_size(total[0])}, {total[1]}" if total else f"not known: {missing_reason(facts, 'memory')}"
    return Content("\n").join([_row("total", against, width), *bars, *unknown, *_machine(facts, width)])


def _bar(amount: MemoryAmount, total: int | None, width: int) -> Content:
    shown = Content.styled(f"{amount.name:<{LABEL}}", "$text-accent") + safe_line(bar_text(amount, total))
    beyond = total is not None and amount.size > total
    words = f"{amount.words}{'; more than the total' if beyond else ''}"
    if shown.cell_length + len(words) + 2 <= width:
        return shown + safe_line(f"  {words}")
    return shown + safe_text("\n" + wrap(words, " " * LABEL, width=width))


def _machine(facts: Facts, width: int) -> list[Content]:
    memory = facts.host.memory if facts.host else None
    if memory is None:
        return []
    swap = f"{format_size(memory.swap_total - memory.swap_free)} of {format_size(memory.swap_total)} used"
    pages = f"{memory.huge_pages_free:,} of {memory.huge_pages_total:,} free, {format_size(memory.huge_page or 0)} each"
    taken = memory.total - (memory.available or memory.total)
    rows = [
        (
            "all processes",
            f"{bar(taken, memory.total)} {format_size(taken)} of {format_size(memory.total)}" if taken else "",
        ),
        ("swap", swap if memory.swap_total else "none"),
        ("huge pages", pages if memory.huge_pages_total else "none reserved"),
    ]
    return [_row(name, text, width) for name, text in rows if text]


def _storage(audited: AuditResult, width: int) -> Content:
    facts = audited.facts
    storage = facts.host.storage if facts.host else None
    if storage is None:
        return _table(_missing(facts, "storage"), width)
    steps = [safe_text(wrap(step.text, step.lead, step.below, width)) for step in storage_tree(storage)]
    rows = [
        ("not traced", storage.untraced or ""),
        ("options", " ".join(storage.mount.options)),
        ("stripe", stripe_text(storage)),
        ("medium", _medium(audited.context, storage)),
        ("one read", fact_lines.latency(audited).removeprefix(" · ")),
        ("files", _server_files(facts.host)),
    ]
    return Content("\n").join([*steps, *(_row(name, text, width) for name, text in rows if text)])


def _server_files(host: Host | None) -> str:
    """The files that grow by themselves: `binary log 3.2G in 40 files, …`; empty if they were not listed."""
    files = (host.files or ()) if host else ()
    return ", ".join(f"{one.kind} {format_size(one.bytes)} in {plural(one.count, 'file')}" for one in files)


def _medium(known: RuleContext, storage: Storage) -> str:
    """Solid-state or spinning, by measured latency or the rotational flag; empty without a disk."""
    solid = is_solid_state(known) if storage.disks else False
    if solid is None:
        return "unknown: the rotational flag of a virtual disk is unreliable; run the random-read probe"
    return "solid-state" if solid else "spinning" if storage.disks else ""


def _system_rows(host: Host | None) -> Rows:
    system = host.os if host else None
    if system is None:
        return []
    inside = " ".join(part for part in (system.cloud, system.product, *system.containers) if part)
    return [
        ("name", system.hostname or ""),
        ("system", system.distribution or ""),
        ("kernel", system.kernel or ""),
        ("up", "" if system.uptime is None else format_duration(system.uptime)),
        ("clock", system.clocksource or ""),
        ("machine", inside),
    ]


def _host_findings(view: View, width: int) -> Content:
    """The findings of rules that need host facts."""
    found = [f for f in view.open_findings if (rule := find_rule(f.code)) is not None and "host" in rule.needs]
    return Content("\n").join(_finding(f, width) for f in found) if found else safe_line(_no_findings(view))


def _finding(finding: Finding, width: int) -> Content:
    sign = Content.styled(SEVERITY_SIGNS[finding.severity], SEVERITY_STYLES[finding.severity])
    return sign + safe_text(wrap(f"{finding.code} {finding.message}", " ", "  ", width - 1))


def _no_findings(view: View) -> str:
    if view.audited.facts.host is None:
        return "none: the rules about the host were skipped"
    return "none: the checks of the host passed"


MOST = 10  # times the total; above it a factor is shown, not a percentage


class MemoryAmount(NamedTuple):
    """One bar: its name, the bytes and a description."""

    name: str
    size: int
    words: str


def memory_amounts(audited: AuditResult) -> list[MemoryAmount]:
    """The server's memory, the smallest amount first; empty if a size is unknown."""
    host, estimate = audited.facts.host, memory_budget(audited.context)
    if estimate is None:
        return []
    resident = host is not None and host.process is not None and host.process.resident
    amounts = [
        MemoryAmount("measured", estimate.measured or 0, "resident now" if resident else "as reported by the server"),
        MemoryAmount("likely", estimate.likely or 0, "shared buffers, and sessions as at their peak so far"),
        MemoryAmount(
            "ceiling",
            estimate.ceiling,
            f"{estimate.connections:,} connections, {format_size(estimate.per_session)} each, all at once",
        ),
    ]
    return [amount for amount in amounts if amount.size]


def usable_memory(host: Host | None) -> tuple[int, str] | None:
    """The memory that the server may use, and its source; None if the host was not read."""
    size = host.usable_memory if host else None
    if not host or not size:
        return None
    source = {"memory": "the machine's memory", IN_GROUP: "the control group's limit"}
    return size, source.get(memory_source(host), memory_source(host))


def bar_text(amount: MemoryAmount, total: int | None) -> str:
    """`███······  33.0G   18 %`; without a total, only the number."""
    if total is None:
        return format_size(amount.size)
    share = amount.size / total
    share_text = format_percent(share) if share < MOST else f"{share:,.0f} times"
    return f"{bar(amount.size, total)} {format_size(amount.size):>6} {share_text:>6}"


WIDE = 110  # columns from which two sections fit side by side
FRAME = 4  # columns of border and padding of a box
BAR = 1  # the column of the scroll bar
COLUMNS = (("cpu", "numa", "memory", "storage"), ("process", "limits", "cgroup", "kernel", "os", "findings"))


class HostPane(Pane):
    """The host screen."""

    BINDINGS: ClassVar = [
        Binding("n", "section(1)", "next part", id="host.next"),
        Binding("N", "section(-1)", "previous part", show=False, id="host.before"),
        Binding("y", "copy", "copy", id="host.copy"),
    ]

    def compose(self) -> ComposeResult:
        """One box for each section, in one or two columns."""
        with VerticalScroll(id="host-scroll"), Container(id="host-sections"):
            for column in COLUMNS:
                with Vertical(classes="host-column"):
                    yield from map(_box, column)

    def refill(self) -> None:
        """Write all sections again; the scroll position stays."""
        if self.view is None or not self.size.width:
            return
        wide = self.size.width >= WIDE
        self.set_class(wide, "-wide")
        width = (self.size.width - BAR) // (2 if wide else 1) - FRAME
        for section in build_sections(self.view, width):
            self.query_one(f"#host-{section.id}", Static).update(section.text)

    def on_resize(self, _: Resize) -> None:
        """Wrap the text to the new width."""
        self.refill()

    def action_section(self, step: int) -> None:
        """Scroll to the next or previous section."""
        scroll = self.query_one("#host-scroll", VerticalScroll)
        tops = sorted({box.virtual_region.y for box in self.query(".host-column > Static")})
        later = [top for top in tops if top > scroll.scroll_offset.y]
        before = [top for top in tops if top < scroll.scroll_offset.y]
        goal = next(iter(later), None) if step > 0 else next(reversed(before), None)
        if goal is not None:
            scroll.scroll_to(y=goal, animate=False)

    def action_copy(self) -> None:
        """Copy all sections as text."""
        if self.view is not None:
            sections = build_sections(self.view, self.app.size.width)
            text = "\n\n".join(f"{TITLES[section.id]}\n{section.text.plain}" for section in sections)
            self.app.copy(text, "the facts about the host")


def _box(part: str) -> Static:
    box = Static("", id=f"host-{part}", classes="box", markup=False)
    box.border_title = TITLES[part]
    return box
