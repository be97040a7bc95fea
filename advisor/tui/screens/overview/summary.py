"""The parts of the overview in words: the server, risks by area, what to do first, blocking and replication."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content

from advisor.analysis import sort_by_severity
from advisor.core.model import Severity, format_duration, format_size
from advisor.redaction import escape_text
from advisor.report import plural
from advisor.report.audit.fact_lines import source_address
from advisor.tui.text import MUTED, SEVERITY_SIGNS, SEVERITY_STYLES, fit_line, join_lines, safe_line, safe_text
from advisor.tui.view import running_subject
from rules.core.advice import value_of_actions
from rules.core.areas import by_urgency, group_by_area

if TYPE_CHECKING:
    from advisor.analysis.audited import AuditResult
    from advisor.core.model import Finding
    from advisor.facts import Server
    from advisor.tui.view import View

MOST_ACTIONS = 5
MOST_WAITS = 6  # lines of the tree of blocking sessions
MOST_MEMBERS = 8  # lines of channels and members
MOST_SOURCES = 2  # named in the role
MANY_SKIPPED = 4  # times the skipped rules: if more than those that ran, silence is no good news
AREA = 26  # columns of the name of an area with its count


def server_text(view: View, width: int, *, short: bool) -> Content:
    """Flavour, version, role and uptime, then the platform; `short` omits what the header shows, and cuts lines."""
    facts, platform = view.audited.facts, _platform(view.audited)
    server, taken = facts.server, facts.taken_at[:16].replace("T", " ")
    comment = server.version_comment.strip()
    if comment.startswith("(") and comment.endswith(")"):  # Debian's is "(Debian)", MySQL's ends with "(GPL)"
        comment = comment[1:-1]
    build = f" ({comment})" if comment else ""
    known_up = f"up {format_duration(server.uptime)}" if server.uptime else "uptime not known"
    up = "" if view.live else known_up  # the header has it, as it is now
    parts = [] if short else [f"{view.audited.context.target.label}{build}"]
    parts += [server_role(view.audited), _writes_refused(server), "" if short else up]
    parts += [view.place if view.live else f"recorded {taken} UTC"]  # two servers of a host differ in their place alone
    if short:
        lines = (" · ".join(filter(None, parts)), " · ".join(platform))
        return Content("\n").join(safe_line(line, longest=width) for line in lines)
    return safe_text(f"{join_lines(parts, width)}\n{join_lines(platform, width)}")


def server_role(audited: AuditResult) -> str:
    """`replica of db1, source of 2 replicas`, `Galera node`, `group member, PRIMARY`; or that it is not known."""
    part = audited.facts.server.replication
    if part is None:
        return "role not known"
    from rules.replication import replica_channels
    from rules.replication.galera import is_node

    hosts = list(dict.fromkeys(source_address(row) or "a source" for row in replica_channels(audited.context)))
    more = f" and {len(hosts) - MOST_SOURCES:,} more sources" if len(hosts) > MOST_SOURCES + 1 else ""
    named = hosts[:MOST_SOURCES] if more else hosts
    own = next((member for member in part.members or () if member.own), None)
    roles = [f"replica of {', '.join(named)}{more}"] if hosts else []
    roles += [f"source of {plural(part.replicas_connected, 'replica')}"] if part.replicas_connected else []
    roles += [f"group member{f', {own.role}' if own and own.role else ''}"] if part.group_members else []
    roles += ["Galera node"] if is_node(audited.context) else []
    return ", ".join(roles) or "no replication"


def _writes_refused(server: Server) -> str:
    """The variable with which the server refuses writes; empty if it accepts them."""
    switches = ("super_read_only", "read_only")
    return next((name for name in switches if server.variables.get(name, "").upper() not in ("", "OFF", "0")), "")


def _platform(audited: AuditResult) -> list[str]:
    facts = audited.facts
    host, managed = facts.host, facts.server.managed
    if host is None:
        return [f"managed service: {managed}" if managed else f"host not read: {facts.reason_missing('host')}"]
    cpu, system, memory = host.cpu, host.os, host.memory
    parts = [system.distribution or "", system.cloud or ""] if system else []
    parts += [plural(cpu.logical, "processor"), cpu.architecture or ""] if cpu else []
    parts += [f"{format_size(memory.total)} of memory"] if memory else []
    parts += [f"{cpu.hypervisor.vendor} virtualization"] if cpu and cpu.hypervisor and cpu.hypervisor.vendor else []
    parts += [f"in {', '.join(system.containers)}"] if system and system.containers else []
    return [part for part in parts if part]


def risk_lines(view: View, width: int) -> list[Content]:
    """One line for each area with errors or warnings, then notes, passed checks and skipped rules."""
    findings = view.open_findings
    grave = [f for f in findings if f.severity is not Severity.NOTE]
    notes = len(findings) - len(grave)
    lines = [_area_line(area.in_words(len(found)), found, width) for area, found in group_by_area(grave).items()]
    audited = view.audited
    skipped = len({skip.code for skip in audited.skipped})
    calm = "no errors and no warnings"
    if skipped * MANY_SKIPPED > len(audited.rules_run):
        lines = lines or [safe_line(f"{calm}, but {skipped:,} rules were skipped", "$text-warning", width)]
    lines = lines or [safe_line(calm, "" if audited.facts.lost else "$text-success", width)]
    rest = [
        plural(notes, "note"),
        f"{len(audited.rules_run):,} rules ran",
        f"{skipped:,} skipped" if skipped else "none skipped",
    ]
    rest += [f"{len(view.hidden):,} hidden" if view.hidden else ""]
    lost = audited.facts.lost
    partly = [safe_line(f"✖ read in part, r reads again: {lost}", "$text-error", width)] if lost else []
    return [*partly, *lines, safe_line(" · ".join(part for part in rest if part), MUTED, width)]


def _area_line(count: str, findings: list[Finding], width: int) -> Content:
    """`▲ 3 risks to data   lost-commits, no-doublewrite`, with the sign of the gravest finding."""
    worst = next(s for s in Severity if any(f.severity is s for f in findings))
    names = ", ".join(dict.fromkeys(f.name for f in sorted(findings, key=lambda f: list(Severity).index(f.severity))))
    sign = Content.styled(SEVERITY_SIGNS[worst], SEVERITY_STYLES[worst])
    if width < 2 * AREA:
        return sign + safe_line(f" {count}", longest=max(2, width - 1))
    return sign + safe_line(f" {count:<{AREA}} ") + safe_line(names, MUTED, max(2, width - AREA - 3))


class Advice(NamedTuple):
    """One line of "Do first": the finding, its subject with the change, and whether it needs a restart."""

    finding: Finding
    change: str
    restart: str


def first_advice(view: View) -> list[Advice]:
    """The most urgent findings with what to do; of those about several channels or connections the first."""
    urgent = by_urgency(view.open_findings)
    alike = Counter(finding.code for finding in urgent if running_subject(finding))
    shown: dict[object, Finding] = {}
    for finding in urgent:
        shown.setdefault(finding.code if running_subject(finding) else id(finding), finding)
    return [_advice(finding, max(0, alike[finding.code] - 1)) for finding in [*shown.values()][:MOST_ACTIONS]]


def _advice(finding: Finding, others: int) -> Advice:
    """The value that the finding's actions set, as the list of findings has it, otherwise its help."""
    change = value_of_actions(finding)
    if change is None:
        more = f" and {others:,} more" if others else ""
        return Advice(finding, f"{finding.canonical or finding.name}{more}: {finding.help or finding.message}", "")
    before = f"{change.before} → " if change.before else "→ "
    return Advice(finding, f"{change.option}  {before}{change.after}", change.restart_words)


def advice_line(advice: Advice, width: int, *, chosen: bool) -> Content:
    """One row: a mark if it is selected, severity, change, and restart at the right."""
    finding = advice.finding
    sign = Content.styled(SEVERITY_SIGNS[finding.severity], SEVERITY_STYLES[finding.severity])
    room = width - 4 - len(advice.restart) - (1 if advice.restart else 0)
    style = "bold reverse" if chosen else ""
    text = safe_text(fit_line(escape_text(advice.change), max(2, room)), style)
    mark = "▶" if chosen else " "
    return Content(mark) + sign + Content(" ") + text + safe_line(f" {advice.restart}" if advice.restart else "", MUTED)


def blocking_text(audited: AuditResult, width: int) -> Content:
    """Who blocks whom, as a tree."""
    from advisor.tui.lock_waits import blocking_lines, status_content  # after the first findings are shown

    return status_content(blocking_lines(audited, MOST_WAITS), width, whole=True)


def read_note(view: View, width: int) -> Content:
    """When sessions and replication of a running server were read: the samples do not read them again."""
    if not view.live:
        return Content("")
    read_at = time.strftime("%H:%M:%S", time.localtime(view.read_at))
    return Content("\n") + safe_line(f"read at {read_at}; r reads again", MUTED, width)


def blocking_finding(view: View) -> Finding | None:
    """The gravest finding about sessions that block others; None without one."""
    return next((f for f in sort_by_severity(view.open_findings) if f.code.startswith("BLK")), None)


def replication_text(audited: AuditResult, width: int) -> Content | None:
    """Channels with their lag, and the members of a cluster; None without replication."""
    from advisor.tui.lock_waits import BAD, PLAIN, StatusLine, replication_lines, status_content

    lines = replication_lines(audited)
    if len(lines) > MOST_MEMBERS:
        lines, hidden = lines[: MOST_MEMBERS - 1], lines[MOST_MEMBERS - 1 :]
        bad = sum(line.state == BAD for line in hidden)
        broken = f", {bad:,} of them with problems" if bad else ""
        lines += [StatusLine(f"and {len(hidden):,} more{broken}", BAD if bad else PLAIN)]
    return status_content(lines, width) if lines else None
