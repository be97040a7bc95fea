"""An audit as a ticket or a page, and a short ticket for selected findings: what to do first, then the evidence."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from itertools import chain, repeat
from typing import TYPE_CHECKING

from advisor import __version__
from advisor.core.model import format_duration
from advisor.report import count_findings, plural
from advisor.report.audit import fact_lines, summary
from advisor.report.audit.document import after, since
from advisor.report.audit.fitting import FittedFindings, Room, fit_findings, fit_lists, fit_whole, mask_finding
from advisor.report.document import (
    Code,
    Document,
    Entries,
    Facts,
    Listing,
    Paragraph,
    Section,
    list_words,
    shorten_text,
)
from advisor.report.finding import SHORT, Lengths, as_step, for_ticket, place_names
from advisor.report.output import Paper
from rules.core.advice import advised_value
from rules.core.areas import by_urgency, group_by_area

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from advisor.analysis.audited import AuditResult
    from advisor.core.model import Finding
    from advisor.facts.probes import ProbeResult
    from advisor.report import Page
    from advisor.report.document import Block, Entry, Words


TICKET = 12_288  # units of UTF-16: as much as people read; Jira's default for a description is 32,767
PAGE = 370_000  # bytes, beside those of style and script: a page must be small enough to be sent by mail
FIRST = 10  # steps that are still "first"; the rest stand with their findings
NAMED = 40  # rules of which findings were left out
TITLES = 60  # for those of sections
LOST, EACH = 150, 25  # for the words that say what is not shown, and for each rule in them
FILES = 40
RESULTS = 12  # results of experiments, the newest first
ORDERS = (("", "weight"), ("severity", "severity"), ("code", "code"), ("confidence", "how sure"), ("option", "option"))
LONGEST = 8_000  # characters
LENGTHS = Lengths(120, 80)


def in_markdown(audited: AuditResult, page: Page) -> str:  # noqa: ARG001 - every format is called alike
    """The whole ticket: what to do, each finding whole, and how many there was no room for."""
    from advisor.report.render.markdown import length, write

    return write(
        _ticket(_mask_findings(audited), Room("a ticket", length, TICKET, TICKET // 10, Lengths(SHORT, 80))), Paper()
    )


def in_html(audited: AuditResult, page: Page) -> str:  # noqa: ARG001 - every format is called alike
    """The whole page, below 400 KB."""
    from advisor.report.render.html import size, write

    return write(_page(_mask_findings(audited), Room("a page", size, PAGE, PAGE // 12, Lengths(300, 160))), Paper())


def _mask_findings(audited: AuditResult) -> AuditResult:
    return audited._replace(findings=tuple(map(mask_finding, audited.findings)))


def _ticket(audited: AuditResult, room: Room) -> Document:
    """Findings that press come first, as numbered steps."""
    title, pressing = tuple(_title(audited, room)), first(audited.findings)
    before = [*_head(audited), fit_lists(since(audited), room)]
    behind = [fit_lists(block, room) for block in (*after(audited, brief=True), _facts(audited, room, folded=True))]
    foot = f"mycnf {__version__} · mycnf explain CODE shows the evidence · secrets are masked"
    words = (Paragraph(" · ".join(title)), Paragraph(foot))
    left = room.most - TITLES - sum(map(room.size, (*words, *before, *behind)))
    others = [f for f in audited.findings if all(f is not step for step in pressing)]
    numbered, whole = _fit_entries(pressing, others, left, room)
    if len(numbered) + len(whole) < len(audited.findings):  # the words about the rest take room too
        numbered, whole = _fit_entries(pressing, others, left - LOST - NAMED * EACH, room)
    lost = [*pressing[len(numbered) :], *others[len(whole) :]]
    shorter = Paragraph(tuple(_shorter(FittedFindings((), 0, 0, 0), lost, room)))
    first_of = Section("do first" if numbered else "", (Entries(numbered, numbered=True), Paragraph(_nothing(audited))))
    found = Section("then" if numbered else "findings", (Entries(whole), shorter))
    return Document(title, (*before, first_of, found, *behind), foot)


def _fit_entries(
    pressing: Sequence[Finding], others: Sequence[Finding], left: int, room: Room
) -> tuple[tuple[Entry, ...], tuple[Entry, ...]]:
    """The findings that press as numbered steps, then the others, as many as there is room for."""
    steps = fit_whole([for_ticket(f, room.lengths) for f in pressing], left, lambda step: _step_size(step, room))
    if len(steps) < len(pressing):
        return steps, ()
    left -= sum(_step_size(step, room) for step in steps)
    return steps, fit_whole([for_ticket(f, room.lengths) for f in others], left, room.size)


def _step_size(step: Entry, room: Room) -> int:
    return room.size(Entries((step,), numbered=True))


def _page(audited: AuditResult, room: Room) -> Document:
    """A summary, the findings by weight, and the facts behind them; what there is no room for is shown shorter."""
    title = tuple(_title(audited, room))
    pressing = first(audited.findings)
    names = {id(f): name for f, name in zip(audited.findings, place_names(audited.findings), strict=True)}
    steps = tuple(as_step(f, names[id(f)]) for f in pressing)
    head: list[Block] = [*_head(audited), summary.comparison(audited, names), summary.cards(audited, names)]
    before = [fit_lists(block, room) for block in head]
    before.append(_first(audited, fit_whole(steps, room.items, lambda step: _step_size(step, room))))
    parts = [summary.workload(audited), *_measured_sections(audited), *after(audited), _facts(audited, room)]
    behind = [fit_lists(block, room) for block in parts]
    foot = _version(audited)
    words = (Paragraph(" · ".join(title)), Paragraph(foot))
    left = room.most - TITLES - LOST - NAMED * EACH - sum(map(room.size, (*words, *before, *behind)))
    fitted = fit_findings(audited.findings, left, room, audited.facts.probes)
    areas = tuple(area.value for area in group_by_area(audited.findings))
    entries = Entries(fitted.entries, what="findings", orders=ORDERS, areas=areas)
    lost = audited.findings[-fitted.without :] if fitted.without else ()
    shorter = Paragraph(tuple(_shorter(fitted, lost, room)))
    return Document(title, (*before, Section("findings", (entries, shorter), name="findings"), *behind), foot)


def _title(audited: AuditResult, room: Room) -> Iterator[str]:
    host = audited.facts.server.variables.get("hostname", "")
    yield f"mycnf audit of {shorten_text(host, room.lengths.value)}" if host else "mycnf audit"
    yield audited.context.target.label
    yield shorten_text(_when(audited.facts.taken_at), room.lengths.value)
    yield count_findings(audited.findings)


def _when(taken_at: str) -> str:
    try:
        return f"{datetime.fromisoformat(taken_at).astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    except (ValueError, OverflowError):
        return taken_at


def _head(audited: AuditResult) -> Iterator[Block]:
    about = audited.facts
    if about.lost:
        words = (about.lost, ". What follows is what was read until then.")
        yield Paragraph(words, lead="The server was lost during the audit:")
    window = f" and a window of {about.workload.seconds:.0f} s" if about.workload else ""
    parts = [f"Up {format_duration(about.server.uptime)}."] if about.server.uptime else []  # a text may leave it out
    parts.append(f"Read with {plural(about.statements, 'statement')}")
    parts.append(f"in {about.seconds:.1f} s{window}; nothing was changed.")
    parts += [f"{plural(len(audited.rules_run), 'rule')} ran."] if audited.rule_codes else []
    if audited.suppressed:
        parts.append(f"Left out: {plural(len(audited.suppressed), 'finding')} suppressed, see below.")
    yield Paragraph(" ".join(parts))


def first(findings: Sequence[Finding]) -> list[Finding]:
    """The most urgent findings with something to do."""
    return by_urgency(f for f in findings if f.actions or f.help)[:FIRST]


def _first(audited: AuditResult, steps: tuple[Entry, ...]) -> Section:
    """What presses, in the order of need, how many other steps there are, and all statements to copy at once."""
    more = sum(bool(f.actions or f.help) for f in audited.findings) - len(steps)
    words = _nothing(audited)
    if more:
        words = f"{plural(more, 'more step' if steps else 'step')} with the findings below"
        words = f"{words}." if steps else f"{words}; none presses."
    title = "do first" if steps else ""
    return Section(title, (Entries(steps, numbered=True), Paragraph(words), *_to_copy(audited)), name="first")


def _to_copy(audited: AuditResult) -> Iterator[Section]:
    """The statements of all findings, the lines for option files, and the way back, each to copy at once."""
    actions = [action for f in audited.findings for action in f.actions]
    undo = [action.undo for action in reversed(actions) if action.undo and action.undo.endswith(";")]
    lists = (
        ("statements of all findings", [action.statement for action in actions if action.statement], "sql"),
        ("lines for the option file", [line for action in actions if (line := action.option_line)], "ini"),
        ("statements to undo them, in reverse order", undo, "sql"),
    )
    for title, lines, language in lists:
        once = list(dict.fromkeys(lines))
        listing = Listing("\n".join(once), language)
        yield Section(f"{title}: {len(once)}", (listing,) if once else (), folded=True)


def _nothing(audited: AuditResult) -> str:
    if audited.findings:
        return ""
    return f"No findings: {'every check that could run passed' if audited.rule_codes else 'no rule ran'}."


def _shorter(fitted: FittedFindings, lost: Sequence[Finding], room: Room) -> Iterator[str]:
    """What is shown shorter, and which rules' findings are not shown."""
    pieces: list[tuple[str, ...]] = []
    if fitted.named:
        pieces.append((f"{plural(fitted.named, 'finding')} with only the names of their evidence",))
    if fitted.brief:
        pieces.append((f"{plural(fitted.brief, 'finding')} on one line",))
    if lost:
        pieces.append((f"{plural(len(lost), 'finding')} omitted (", *_rules(lost), ")"))
    for at, piece in enumerate(pieces):
        yield ", " if at else f"Shortened to fit {room.what}: "
        yield from piece
    if pieces:
        yield from ("; ", Code("mycnf audit --format json"), " has everything.")


def _rules(findings: Sequence[Finding]) -> Iterator[str]:
    """`TST001 3 times, TST002, …` of findings."""
    counts = Counter(f.code for f in findings)
    for at, (code, count) in enumerate([*counts.items()][:NAMED]):
        yield from [", "] * bool(at)
        yield Code(code)
        yield f" {count:,} times" if count > 1 else ""
    yield ", …" if len(counts) > NAMED else ""


def _measured_sections(audited: AuditResult) -> Iterator[Section]:
    """The newest results of experiments on this host, drawn."""
    results = [result for result in audited.facts.probes if result.metrics and result.arms]
    newest = sorted(results, key=lambda result: result.began_at, reverse=True)
    older = len(newest) - RESULTS
    more = Paragraph(f"{older:,} older results are in the snapshot." if older > 0 else "")
    shown = (_result(result, audited.facts.server.variables) for result in newest[:RESULTS])
    yield Section("measured on this host", (*shown, more), name="measured")


def _result(result: ProbeResult, variables: Mapping[str, str]) -> Section:
    from advisor.report.probe.figures import own_marks
    from advisor.report.probe.words import chart_of, headline, question

    chart = chart_of(result, own_marks(result, variables))
    words = (Paragraph(question(result)), Paragraph(chart.answer, strong=True))
    return Section(f"probe {headline(result)}", (*words, chart))


def _facts(audited: AuditResult, room: Room, *, folded: bool = False) -> Section:
    """Server, host, memory, storage, workload and option files; folded, the files that findings are in."""
    server = audited.facts.server
    managed = f"managed by {server.managed}" if server.managed else ""
    about = ", ".join(part for part in (server.version, server.version_comment, server.vendor, managed) if part)
    paths = [copy.path for copy in audited.facts.files.files] if audited.facts.files else []
    if folded:
        named_by = {f.location.path for f in audited.findings if f.location}
        paths = [path for path in paths if path in named_by]
    named = list_words(Code(shorten_text(path, room.lengths.value)) for path in paths[:FILES])
    files: Words = (*named, " and more" if len(paths) > FILES else "")
    rows = Facts((("Server", about), *fact_lines.rows(audited), ("Option files", files if paths else "")))
    return Section("facts", (rows,), folded=folded, name="facts")


def _version(audited: AuditResult) -> str:
    """The version, and the rules that ran, by family."""
    families = Counter(code[:3] for code in audited.rules_run)
    rules = ", ".join(f"{family} {count}" for family, count in sorted(families.items()))
    ran = f"for {audited.context.target.label}: {rules}" if rules else "that ran: none"
    return f"mycnf {__version__} · rules {ran} · secrets are masked"


def short_ticket(audited: AuditResult, findings: Sequence[Finding], states: Sequence[str] = ()) -> str:
    """The findings as a ticket of at most 8,000 characters, each finding whole or only named at the end.

    `states` says for each finding what became of it since it was selected, "" if that is unknown.
    """
    from advisor.report.render.markdown import length, write

    selected = [mask_finding(f) for f in findings]
    head = Paragraph(f"Read on {audited.facts.taken_at[:16].replace('T', ' ')} UTC. mycnf changed nothing.")
    entries = [
        Section("", (Entries((for_ticket(f, LENGTHS),)), Paragraph(f"State: {state}." if state else "")))
        for f, state in zip(selected, chain(states, repeat("")), strict=False)
    ]
    # What else takes room: the title, and the codes of all findings if none of them fits.
    reserved = 400 + sum(len(f.code) + 6 for f in selected)
    shown = fit_whole(entries, LONGEST - length(head) - reserved, length)
    left = list_words(Code(f.code) for f in selected[len(shown) :])
    foot = (Paragraph((f"{len(selected) - len(shown)} more do not fit into a short ticket: ", *left)),) if left else ()
    return write(Document(tuple(_finding_title(audited, selected)), (head, *shown, *foot), ""), Paper())


def _finding_title(audited: AuditResult, findings: Sequence[Finding]) -> Iterator[str]:
    host = audited.facts.server.variables.get("hostname", "")
    change = advised_value(findings[0]) if len(findings) == 1 else None
    if change is not None:
        yield f"{change.option}: {change.before} → {change.after}"
    elif len(findings) == 1:
        yield f"{findings[0].code} {findings[0].name}"
    else:
        yield count_findings(findings)
    yield " ".join(part for part in (host[:80], audited.context.target.label) if part)
