"""An audit for a ticket or as a page: what to do first, the findings with evidence, what was skipped, the facts."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from advisor import __version__
from advisor.analysis.engine import RANK
from advisor.core.model import Confidence, Severity
from advisor.core.sizes import format_duration
from advisor.report.audit import fact_lines
from advisor.report.audit.document import after, since
from advisor.report.audit.fitting import Room, fit_findings, fit_lists, fit_steps
from advisor.report.audit.masking import masked
from advisor.report.document import Bars, Chart, Code, Document, Entries, Facts, Paragraph, Section, shortened
from advisor.report.finding import Detail, Lengths, as_step
from advisor.report.paper import Paper
from advisor.report.words import counted, plural
from rules.core.statements import permanent_setting

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from advisor.analysis.audited import Audited
    from advisor.core.model import Finding
    from advisor.facts.probes import ProbeResult
    from advisor.report import Page
    from advisor.report.audit.fitting import Fitted
    from advisor.report.document import Entry, Words

# Jira's default for a description; GitHub takes 65,536 characters and GitLab 1,048,576.
TICKET = 32_767
PAGE = 800_000  # bytes, beside those of style and script: a page is to be opened by anybody, and sent by mail
FIRST = 10  # steps that are still "first"; the rest stand with their findings
NAMED = 40  # rules of which findings were left out
SPARE = 400 + NAMED * 25  # for the titles of the findings, and the words that say what is shown shorter
FILES = 40
RESULTS = 12  # results of experiments, the newest first
SURE = list(Confidence)
ORDERS = (("", "weight"), ("severity", "severity"), ("code", "code"), ("confidence", "how sure"), ("option", "option"))


def in_markdown(audited: Audited, page: Page) -> str:  # noqa: ARG001 - every format is called alike
    """The whole ticket, at most as long as the description of an issue may be in GitHub, GitLab and Jira."""
    from advisor.report.render.markdown import length, write

    room = Room("a ticket", length, TICKET, TICKET // 3, 4_000, Lengths(120, 80), Detail.CITED, tracker=True)
    return write(document(audited, room), Paper())


def in_html(audited: Audited, page: Page) -> str:  # noqa: ARG001 - every format is called alike
    """The whole page, below 1 MB."""
    from advisor.report.render.html import size, write

    room = Room("a page", size, PAGE, PAGE // 4, PAGE // 10, Lengths(300, 160), Detail.EVERYTHING)
    return write(document(audited, room), Paper())


def document(audited: Audited, room: Room) -> Document:
    """The whole audit; where findings take more than there is room for, the least important ones are shown shorter."""
    audited = audited._replace(findings=tuple(map(masked, audited.findings)))
    title = tuple(_title(audited, room))
    pressing = first(audited.findings)
    places = {id(f): order for order, f in enumerate(audited.findings, 1)}
    steps = fit_steps([as_step(f, places[id(f)], room.lengths) for f in pressing], room)
    before = [*_head(audited), fit_lists(since(audited), room), _first(audited, steps)]
    behind = [fit_lists(block, room) for block in (*_measured(audited, room), *after(audited), _facts(audited, room))]
    foot = _version(audited)
    words = (Paragraph(" · ".join(title)), Paragraph(foot))
    left = room.most - SPARE - sum(map(room.size, (*words, *before, *behind)))
    numbers = {places[id(f)]: number for number, f in enumerate(pressing[: len(steps)], 1)} if room.tracker else {}
    found = _findings(audited, fit_findings(audited.findings, numbers, left, room), room)
    return Document(title, (*before, found, *behind), foot)


def _title(audited: Audited, room: Room) -> Iterator[str]:
    host = audited.facts.server.variables.get("hostname", "")
    yield f"mycnf audit of {shortened(host, room.lengths.value)}" if host else "mycnf audit"
    yield audited.known.target.label
    yield shortened(_when(audited.facts.taken_at), room.lengths.value)
    yield counted(audited.findings)


def _when(taken_at: str) -> str:
    try:
        return f"{datetime.fromisoformat(taken_at).astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    except (ValueError, OverflowError):
        return taken_at


def _head(audited: Audited) -> Iterator[Paragraph]:
    about = audited.facts
    if about.lost:
        words = (about.lost, ". What follows is what was read until then.")
        yield Paragraph(words, lead="The server was lost during the audit:")
    window = f" and a window of {about.workload.seconds:.0f} s" if about.workload else ""
    parts = [f"Up {format_duration(about.server.uptime)}."] if about.server.uptime else []  # a text may leave it out
    parts.append(f"Read with {plural(about.statements, 'statement')}")
    parts.append(f"in {about.seconds:.1f} s{window}; nothing was changed.")
    parts += [f"{plural(len(audited.asked), 'rule')} asked."] if audited.asked else []
    if audited.suppressed:
        parts.append(f"Left out: {plural(len(audited.suppressed), 'finding')} suppressed, see below.")
    yield Paragraph(" ".join(parts))


def first(findings: Sequence[Finding]) -> list[Finding]:
    """Errors, then warnings; of these what is ready to be carried out, then what is surest, then without a restart."""
    pressing = [f for f in findings if f.severity is not Severity.NOTE and (f.actions or f.help)]
    return sorted(pressing, key=_weight)[:FIRST]


def _weight(f: Finding) -> tuple[int, bool, int, bool]:
    ready = any(a.statement or permanent_setting(a) for a in f.actions)
    return RANK[f.severity], not ready, SURE.index(f.confidence), any(a.restart for a in f.actions)


def _first(audited: Audited, steps: tuple[Entry, ...]) -> Section:
    """What presses, in the order of need, and how many other steps there are."""
    more = sum(bool(f.actions or f.help) for f in audited.findings) - len(steps)
    words = ""
    if more:
        words = f"{plural(more, 'more step' if steps else 'step')} with the findings below"
        words = f"{words}." if steps else f"{words}; none presses."
    elif not audited.findings:
        passed = "every check that could run passed" if audited.asked else "no rule was asked"
        words = f"No findings: {passed}."
    title = "do first" if steps else ""
    return Section(title, (Entries(steps, numbered=True), Paragraph(words)), name="first")


def _findings(audited: Audited, found: Fitted, room: Room) -> Section:
    entries = Entries(found.entries, what="findings", orders=ORDERS)
    return Section("findings", (entries, Paragraph(tuple(_shorter(audited, found, room)))), name="findings")


def _shorter(audited: Audited, found: Fitted, room: Room) -> Iterator[str]:
    """What is shown shorter, and which rules' findings are not shown."""
    pieces: list[tuple[str, ...]] = []
    if found.named:
        pieces.append((f"{plural(found.named, 'finding')} with the names of their evidence only",))
    if found.brief:
        pieces.append((f"{plural(found.brief, 'finding')} on one line",))
    if found.without:
        rules = _rules(audited.findings[-found.without :])
        pieces.append((f"{plural(found.without, 'finding')} not at all (", *rules, ")"))
    for at, piece in enumerate(pieces):
        yield ", " if at else f"To fit {room.what} this report shows "
        yield from piece
    if pieces:
        yield from (": ", Code("mycnf audit --format json"), " has everything.")


def _rules(findings: Sequence[Finding]) -> Iterator[str]:
    """`TST001 3 times, TST002, …` of findings."""
    counts = Counter(f.code for f in findings)
    for at, (code, count) in enumerate(counts.items()):
        if at == NAMED:
            yield ", …"
            return
        yield from [", "] * bool(at)
        yield Code(code)
        yield f" {count:,} times" if count > 1 else ""


def _measured(audited: Audited, room: Room) -> Iterator[Section]:
    """The newest results of experiments on this host, for a format that can draw them."""
    if room.tracker:
        return
    results = [result for result in audited.facts.probes if result.metrics and result.arms]
    newest = sorted(results, key=lambda result: result.began_at, reverse=True)
    older = len(newest) - RESULTS
    more = Paragraph(f"{older:,} older results are in the snapshot." if older > 0 else "")
    yield Section("measured on this host", (*map(_result, newest[:RESULTS]), more), name="measured")


def _result(result: ProbeResult) -> Section:
    from advisor.report.probe.names import axis_name, numeric
    from advisor.report.probe.published import curves
    from advisor.report.probe.words import answer, headline, question, relation

    title, asked, found = headline(result), question(result), answer(result)
    chart = Chart(curves(result), relation(result), axis_name(result), numeric(result), asked or title, found)
    return Section(f"probe {title}", (Paragraph(asked), Paragraph(found, strong=True), chart))


def _facts(audited: Audited, room: Room) -> Section:
    """Server, host, memory, storage and workload."""
    server = audited.facts.server
    managed = f"managed by {server.managed}" if server.managed else ""
    about = ", ".join(part for part in (server.version, server.version_comment, server.vendor, managed) if part)
    paths = [copy.path for copy in audited.facts.files.files] if audited.facts.files else []
    named = [piece for path in paths[:FILES] for piece in (", ", Code(shortened(path, room.lengths.value)))]
    files: Words = (*named[1:], " and more" if len(paths) > FILES else "")
    rows = Facts((("Server", about), *fact_lines.rows(audited), ("Option files", files if paths else "")))
    return Section("facts", (rows, _bars(audited)), folded=room.tracker, name="facts")


def _bars(audited: Audited) -> Bars:
    """The memory that is measured, likely and allowed, and where it ends."""
    from rules.sizing.memory import memory_budget, usable_memory

    estimate = memory_budget(audited.known)
    if estimate is None:
        return Bars((), "")
    sizes = (("measured", estimate.measured), ("likely", estimate.likely), ("ceiling", estimate.ceiling))
    known = tuple((name, size) for name, size in sizes if size)
    return Bars(known, "Memory of the server", usable_memory(audited.known) if audited.known.has("host") else None)


def _version(audited: Audited) -> str:
    """The version, and the rules that were asked, by family."""
    families = Counter(code[:3] for code in audited.asked)
    rules = ", ".join(f"{family} {count}" for family, count in sorted(families.items()))
    asked = f"asked for {audited.known.target.label}: {rules}" if rules else "none asked"
    return f"mycnf {__version__} · rules {asked} · secrets are masked"
