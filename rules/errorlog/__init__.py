"""Rules about what the server's error log says: the events recent enough to report, and how findings describe them."""

from __future__ import annotations

from datetime import date

from advisor.core.model import Severity
from rules.core.context import MissingFact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from advisor.core.model import Finding
    from advisor.facts.server import LogEvent
    from rules.core import Rule
    from rules.core.context import RuleContext


RECENT = 7  # days; older events are notes
OLDEST = 90  # days; older events are not reported
NOT_READ = "needs the server's error log (an audit on its host, or text with --from)"
OLDER = "server.error_log.older"  # the part of the facts that is missing where the log is long
DAY = 10  # characters of YYYY-MM-DD
MINUTE = 16


def recent_event(context: RuleContext, kind: str) -> LogEvent | None:
    """The event of this kind if its last message is recent enough; raises MissingFact if no error log was read."""
    log = context.server.error_log
    if log is None:
        raise MissingFact(NOT_READ)
    event = next((event for event in log.events if event.kind == kind), None)
    return event if event and _age(context, event) <= OLDEST else None


def _age(context: RuleContext, event: LogEvent) -> int:
    """Days between the last message of an event and the audit, or the end of a log that is given as text."""
    log = context.server.error_log
    now = context.taken_at if log and log.read_from != "text" else ""
    now = now or (log.until if log else "")
    try:
        return (date.fromisoformat(now[:DAY]) - date.fromisoformat(event.last[:DAY])).days
    except ValueError:
        return 0


def event_finding(  # noqa: PLR0917 - the parts of a finding, in its order
    context: RuleContext,
    rule: Rule,
    event: LogEvent,
    what: str,
    remedy: str,
    severity: Severity | None = None,
) -> Finding:
    """A finding with the times of an event; a note if the last is old. `what` is the message without the times."""
    old = _age(context, event) > RECENT
    return rule.finding(
        f"{what}: {_when(context, event)}.",
        help=remedy,
        severity=Severity.NOTE if old else severity or rule.severity,
    )


def _when(context: RuleContext, event: LogEvent) -> str:
    log = context.server.error_log
    if log is None or not event.last:
        return "time unknown"
    zone = log.zone or "server time"
    first, last = event.first[:MINUTE], event.last[:MINUTE]
    times = f"{last} {zone}" if event.count == 1 or first == last else f"first {first}, last {last} {zone}"
    since = f"; started again {log.last_start[:MINUTE]}" if event.last < log.last_start else ""
    return f"{times}{since}{'; older messages were not read' if at_least(context) else ''}"


def at_least(context: RuleContext) -> str:
    """`at least `, if only the end of a long error log was read; empty otherwise."""
    return "at least " if any(gap.part == OLDER for gap in context.unavailable) else ""


def how_often(event: LogEvent) -> str:
    """How often something happened: once, 3 times."""
    return "once" if event.count == 1 else f"{event.count:,} times"


def messages(event: LogEvent) -> str:
    """How many messages: 1 message, 3 messages."""
    return f"{event.count:,} message{'' if event.count == 1 else 's'}"


def in_brackets(event: LogEvent) -> str:
    """The details of an event in brackets, empty if there are none."""
    return f" ({', '.join(event.details)})" if event.details else ""
