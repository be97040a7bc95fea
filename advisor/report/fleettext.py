"""The report of a fleet for people: versions, who was not reached, then by rule, by host, and who differs from whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.model import Severity
from advisor.redact import clean, redact_value
from advisor.report.fleetgroups import by_rule, by_series, called, counts, differs, few, state, unseen
from advisor.report.words import bold, painted, plural, wrap

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from advisor.fleet.alike import Difference, Equals, Outlier
    from advisor.report.fleet import Judged, Survey
    from advisor.report.fleetgroups import Seen

LONGEST = 60  # characters of a value
NAME = 24  # characters of a host's name in a table
MOST = 40  # rows of a section that may grow with the fleet; json has all


def report(survey: Survey, colour: bool) -> str:
    """The whole report, at most 80 columns wide where words allow."""
    parts = [
        _title(survey, colour),
        *([_tally(survey)] if survey.judged else []),
        *_section("versions", _versions(survey), colour),
        *_section("not audited", _absent(survey), colour),
        *_section("by rule", _rules(survey, colour), colour),
        *_section("by host", _hosts(survey), colour, heads=1),
        *_section("outliers of their group", _outliers(survey.outliers), colour),
        *(part for one in survey.equals for part in _section(clean(called(one)), _equals(one), colour)),
        *_section("not looked at", _unseen(survey.judged), colour),
        *_more(survey),
    ]
    return "\n\n".join(parts) + "\n"


def _more(survey: Survey) -> Iterator[str]:
    """Where the rest is told."""
    if survey.judged:
        yield wrap(
            "mycnf explain CODE tells why and what to do, mycnf audit --snapshot FILE what one server needs; the "
            f"snapshots are in {clean(survey.folder)}/snapshots."
        )


def _title(survey: Survey, colour: bool) -> str:
    all_ = len(survey.judged) + len(survey.absent)
    words = ["mycnf fleet", plural(all_, "host"), f"{len(survey.judged):,} audited"]
    words += [f"{len(survey.absent):,} not"] if survey.absent else []
    return bold(wrap(" · ".join([*words, f"{survey.now.replace('T', ' ')[:16]} UTC"]), rest="  "), colour)


def _tally(survey: Survey) -> str:
    found = counts(survey.findings)
    told = [plural(count, severity.value) for severity, count in found.items() if count] or ["nothing to say"]
    return "  " + "   ".join([*told, f"on {plural(len(survey.judged), 'server')}"])


def _section(title: str, lines: Iterable[str], colour: bool, heads: int = 0) -> Iterator[str]:
    """The title over its lines, the first of which may be heads of columns, as many as are worth reading."""
    told = list(lines)
    if told:
        left = len(told) - heads - MOST
        more = [f"  … and {left:,} more: --format json has all"] if left > 0 else []
        yield "\n".join([bold(title, colour), *told[: heads + MOST], *more])


def _versions(survey: Survey) -> Iterator[str]:
    series = by_series(survey.judged, survey.now)
    width = max((len(one.label) for one in series), default=0)
    for one in series:
        head = f"  {one.label:<{width}}  {len(one.hosts):>4,}  "
        yield wrap(clean(f"{state(one)} · {few(one.hosts)}"), head)


def _absent(survey: Survey) -> Iterator[str]:
    width = min(NAME, max((len(clean(row.name)) for row in survey.absent), default=0))
    for row in survey.absent:
        reason = redact_value("", row.reason)
        why = f"{row.status.value}: {reason}" if reason else row.status.value
        yield wrap(clean(f"{why}; {row.remedy}"), f"  {clean(row.name):<{width}}  ", " " * (width + 4))


def _rules(survey: Survey, colour: bool) -> Iterator[str]:
    seen = by_rule(survey.judged)
    width = max((len(one.name) for one in seen), default=0)
    for one in seen:
        yield _rule(one, len(survey.judged), width, colour)


def _rule(one: Seen, of: int, width: int, colour: bool) -> str:
    severity = painted(f"{one.severity.value:<7}", one.severity, colour)
    head = f"  {severity}  {one.code}  {one.name:<{width}}  {len(one.hosts):>3,} of {of:,}"
    hidden = len(severity) - len(f"{one.severity.value:<7}")
    where = clean(few(one.hosts, 3))
    if len(head) - hidden + 2 + len(where) <= 80:  # noqa: PLR2004 - the page's width
        return f"{head}  {where}"
    return f"{head}\n{wrap(clean(few(one.hosts)), ' ' * 11)}"


def _hosts(survey: Survey) -> Iterator[str]:
    if not survey.judged:
        return
    names = [clean(one.row.name) for one in survey.judged]
    width = min(NAME, max(4, *(len(name) for name in names)))
    servers = max(6, *(len(one.target.label) for one in survey.judged))
    yield f"  {'host':<{width}}  {'server':<{servers}}  error  warning  note  skipped"
    for name, one in sorted(zip(names, survey.judged, strict=True), key=lambda pair: _worst(pair[1])):
        yield _host(name, one, width, servers)


def _worst(one: Judged) -> tuple[int, ...]:
    found = counts(one.findings)
    return tuple(-found[severity] for severity in Severity)


def _host(name: str, one: Judged, width: int, servers: int) -> str:
    found = counts(one.findings)
    numbers = f"{found[Severity.ERROR]:>5}  {found[Severity.WARNING]:>7}  {found[Severity.NOTE]:>4}"
    told = [f"  {name:<{width}}  {one.target.label:<{servers}}  {numbers}  {len(one.skipped):>7}".rstrip()]
    if one.row.reason:
        words = redact_value("", f"{one.row.status.value}: {one.row.reason}")
        told.append(wrap(clean(words), " " * (width + 4)))
    if one.row.host:
        told.append(wrap(clean(f"without its machine: {one.row.host}"), " " * (width + 4)))
    return "\n".join(told)


def _outliers(found: Sequence[Outlier]) -> Iterator[str]:
    chosen = [one for one in found if one.is_set] or found
    for one in chosen:
        lines = [f"  {one.variable}"]
        for name, value in one.others[:MOST]:
            where = f", {value.where}" if value.where else ""
            lines.append(wrap(clean(f"{name}  {short(one.variable, value.text)}{where}"), "    ", " " * 6))
        lines.append(wrap(clean(f"{short(one.variable, one.usual)}: {differs(one)}"), "    ", " " * 6))
        yield "\n".join(lines)
    yield from _followed(one.variable for one in found if one not in chosen)


def _followed(variables: Iterable[str]) -> Iterator[str]:
    """Values that nobody set: the server sized them by others that are told above, or by its machine."""
    names = list(dict.fromkeys(variables))
    if names:
        yield wrap(f"sized by the servers themselves: {', '.join(names)}", "  ", "    ")


def _equals(one: Equals) -> Iterator[str]:
    versions = f" · {', '.join(one.versions)}" if len(one.versions) > 1 else ""
    yield wrap(clean(few(one.members) + versions), "  ")
    if not one.differences:
        yield "  no variable differs that should be alike"
    chosen = [d for d in one.differences if d.is_set] or one.differences
    for difference in chosen:
        yield _difference(difference)
    yield from _followed(d.variable for d in one.differences if d not in chosen)


def _difference(one: Difference) -> str:
    values = (f"{short(one.variable, text)} on {few(names, 3)}" for text, names in one.values)
    return wrap(clean(" · ".join(values)), f"  {one.variable}: ", "    ")


def _unseen(judged: tuple[Judged, ...]) -> Iterator[str]:
    for reason, hosts, count in unseen(judged):
        yield wrap(
            clean(f"{reason} · {few(hosts, 3)} · {plural(count, 'rule or part', 'rules or parts')}"), "  ", "    "
        )


def short(variable: str, text: str) -> str:
    """A value fit for a line: secrets masked, (empty) for nothing, cut where it is long."""
    told = redact_value(variable, text) or "(empty)"
    return told if len(told) <= LONGEST else f"{told[: LONGEST - 1]}…"
