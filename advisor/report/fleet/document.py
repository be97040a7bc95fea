"""A fleet: versions, who was not reached, then by rule, by host, and who differs from whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.core.model import Severity
from advisor.redaction.secrets import redact_value
from advisor.report.document import Code, Document, Items, Paragraph, Section, Table
from advisor.report.fleet.survey import by_rule, by_series, called, counts, differs, few, state, unseen
from advisor.report.words import plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from advisor.fleet.outliers import Outlier, PeerGroup
    from advisor.report.document import Block, Words
    from advisor.report.fleet.survey import Judged, Survey

LONGEST = 60  # characters of a value
NAMED = 3  # hosts that a row names before it counts them


def document(survey: Survey) -> Document:
    """The whole report."""
    blocks: list[Block] = [Paragraph(_tally(survey) if survey.judged else "", indent=2)]
    blocks += [
        Section("versions", (_versions(survey),)),
        Section("not audited", (Items(tuple(_absent(survey)), grows=True),)),
        Section("by rule", (_rules(survey),)),
        Section("by host", (_hosts(survey),)),
        Section("outliers of their group", tuple(_outliers(survey.outliers))),
        *map(_equals, survey.equals),
        Section("not looked at", (Items(tuple(_unseen(survey.judged)), grows=True),)),
    ]
    if survey.judged:
        blocks.append(
            Paragraph(
                "mycnf explain CODE explains why and what to do, mycnf audit --snapshot FILE what one server needs; "
                f"the snapshots are in {survey.folder}/snapshots."
            )
        )
    return Document(_title(survey), tuple(blocks))


def _title(survey: Survey) -> tuple[str, ...]:
    count = plural(len(survey.judged) + len(survey.absent), "host")
    missing = f"{len(survey.absent):,} not" if survey.absent else ""
    when = f"{survey.now.replace('T', ' ')[:16]} UTC"
    return "mycnf fleet", count, f"{len(survey.judged):,} audited", missing, when


def _tally(survey: Survey) -> str:
    found = counts(survey.findings)
    told = [plural(count, severity.value) for severity, count in found.items() if count] or ["nothing to say"]
    return f"{', '.join(told)} on {plural(len(survey.judged), 'server')}"


def _versions(survey: Survey) -> Table:
    series = by_series(survey.judged, survey.now)
    rows = tuple((one.label, f"{len(one.hosts):,}", state(one), few(one.hosts)) for one in series)
    return Table(("version", "servers", "support", "hosts"), rows, (1,), grows=True)


def _absent(survey: Survey) -> Iterator[Words]:
    for row in survey.absent:
        why = f"{row.status.value}: {row.reason}" if row.reason else row.status.value
        yield Code(row.name), f"  {why}; {row.remedy}"


def _rules(survey: Survey) -> Table:
    of = f" of {len(survey.judged):,}"
    rows = tuple(
        (one.severity.value, one.code, one.name, f"{len(one.hosts):,}{of}", few(one.hosts, NAMED))
        for one in by_rule(survey.judged)
    )
    return Table(("severity", "rule", "name", "servers", "hosts"), rows, (3,), grows=True)


def _hosts(survey: Survey) -> Table:
    """The servers, those that need most first."""
    rows = tuple(_host(one) for one in sorted(survey.judged, key=_worst))
    heads = ("host", "server", *(severity.value for severity in Severity), "skipped", "remark")
    return Table(heads, rows, (2, 3, 4, 5), grows=True)


def _worst(one: Judged) -> tuple[int, ...]:
    found = counts(one.findings)
    return tuple(-found[severity] for severity in Severity)


def _host(one: Judged) -> tuple[Words, ...]:
    found = counts(one.findings)
    lost = f"{one.row.status.value}: {one.row.reason}" if one.row.reason else ""
    machine = f"without its machine: {one.row.host}" if one.row.host else ""
    remark = "; ".join(part for part in (lost, machine) if part)
    numbers = (f"{found[severity]:,}" for severity in Severity)
    return Code(one.row.name), one.target.label, *numbers, f"{len(one.skipped):,}", remark


def _outliers(found: Sequence[Outlier]) -> Iterator[Block]:
    chosen = [one for one in found if one.is_set] or found
    for one in chosen:
        lines: list[Words] = []
        for name, value in one.others:
            where = f", {value.where}" if value.where else ""
            lines.append((Code(name), "  ", Code(short(one.variable, value.text)), where))
        lines.append((Code(short(one.variable, one.usual)), f": {differs(one)}"))
        yield Section(Code(one.variable), (Items(tuple(lines), grows=True),))
    yield from _followed(one.variable for one in found if one not in chosen)


def _followed(variables: Iterable[str]) -> Iterator[Items]:
    """Values that nobody set: the server sized them by others that are told above, or by its machine."""
    names = list(dict.fromkeys(variables))
    if names:
        yield Items((f"sized by the servers themselves: {', '.join(names)}",))


def _equals(one: PeerGroup) -> Section:
    versions = f" · {', '.join(one.versions)}" if len(one.versions) > 1 else ""
    chosen = [d for d in one.differences if d.is_set] or one.differences
    lines = tuple(_difference(d.variable, d.values) for d in chosen)
    alike = Paragraph("" if one.differences else "no variable differs that should be alike")
    rest = _followed(d.variable for d in one.differences if d not in chosen)
    return Section(called(one), (Paragraph(few(one.members) + versions), alike, Items(lines, grows=True), *rest))


def _difference(variable: str, values: Iterable[tuple[str, Sequence[str]]]) -> Words:
    """`variable: 1M on a, b · 2M on c`."""
    parts: list[str] = [Code(variable), ": "]
    for at, (text, names) in enumerate(values):
        parts += [" · "] * bool(at) + [Code(short(variable, text)), f" on {few(names, NAMED)}"]
    return tuple(parts)


def _unseen(judged: tuple[Judged, ...]) -> Iterator[str]:
    for reason, hosts, count in unseen(judged):
        yield f"{reason} · {few(hosts, NAMED)} · {plural(count, 'rule or part', 'rules or parts')}"


def short(variable: str, text: str) -> str:
    """A value fit for a line: secrets masked, (empty) for nothing, cut where it is long."""
    told = redact_value(variable, text) or "(empty)"
    return told if len(told) <= LONGEST else f"{told[: LONGEST - 1]}…"
