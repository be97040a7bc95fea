"""Who blocks whom as a tree, and replication channels and cluster members as rows; for any screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from textual.content import Content

from advisor.core.model import format_duration
from advisor.facts.workload import ServerSession
from advisor.report import plural, wrap
from advisor.report.audit.fact_lines import channel_states, galera_state
from advisor.tui.text import safe_line, safe_text
from advisor.verdict.number import parse_digits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from advisor.analysis.audited import AuditResult
    from advisor.facts import Server
    from advisor.facts.server import GroupMember
    from advisor.facts.workload import Blocking, LockWait
    from rules.core.context import RuleContext


BRANCHES = "│├└─ "  # what stands before a session in the tree
MOST_SESSIONS = 50  # lines of the tree
DEEPEST = 30  # columns of branches before a session
GOOD, BAD, PLAIN = "good", "bad", ""
LOCKS = {  # words for types of metadata locks
    "TABLE": "a metadata lock",
    "USER LEVEL LOCK": "a named lock",
    "GLOBAL": "the global read lock",
    "COMMIT": "the commit lock",
    "BACKUP LOCK": "the backup lock",
}
NEVER_SHOWN = ("Waiting for table flush", "Waiting for table level lock")  # waits of which no server shows the blocker
NO_ADDRESS = ("", "AUTO")  # what MariaDB shows for a node without wsrep_node_incoming_address


class StatusLine(NamedTuple):
    """One line: its text, which may come from the server, and whether it is good, bad or neither."""

    text: str
    state: str = PLAIN


STYLES = {GOOD: "$text-success", BAD: "$text-error", PLAIN: ""}


def status_content(lines: Iterable[StatusLine], width: int, *, whole: bool = False) -> Content:
    """The lines one below the other, safe to show, each cut to `width` columns; `whole` ones are wrapped instead."""
    return Content("\n").join(
        safe_text(_wrap_line(line.text, width), STYLES[line.state])
        if whole
        else safe_line(line.text, STYLES[line.state], max(2, width))
        for line in lines
    )


def _wrap_line(text: str, width: int) -> str:
    """The line wrapped behind its place in the tree, and each piece cut to the width."""
    shown = safe_line(text).plain
    wide = max(0, cell_len(shown) - len(shown))  # Chinese characters, which take two columns
    bare = shown.lstrip(BRANCHES)
    lead = shown[: len(shown) - len(bare)]
    rest = lead.replace("├─", "│ ").replace("└─", "  ") or "  "
    pieces = wrap(bare, lead, rest, max(width // 2, width - wide)).split("\n")
    return "\n".join(safe_line(line, longest=max(2, width)).plain for line in pieces)


def blocking_lines(audited: AuditResult, most: int = MOST_SESSIONS) -> list[StatusLine]:
    """Who blocks whom: each first blocker, and the sessions behind it, indented; or why that is unknown.

    At most `most` sessions are shown, each first blocker among them. Old transactions that block no session come last.
    """
    blocking = audited.facts.server.blocking
    if blocking is None:
        why = next((gap.reason for gap in audited.facts.unavailable if gap.part == "server.blocking"), "")
        return [StatusLine(f"not measured: {why or 'this audit did not read open transactions'}")]
    trees = list(_trees(blocking))
    count = sum(map(len, trees))
    room = most if count <= most else max(1, most // len(trees))  # each first blocker is shown
    lines = [line for tree in trees[:most] for line in tree[:room]]
    hidden = count - len(lines)
    lines += [StatusLine(f"and {hidden:,} more {'session' if hidden == 1 else 'sessions'}")] if hidden else []
    lines += [*_unknown_blockers(audited.facts.server, blocking), *_without_session(blocking)]
    if not blocking.transactions_read:
        return lines or [StatusLine("no session waits for a lock of tables; a process list shows no waits for rows")]
    return [*lines, *_oldest(blocking)] or [StatusLine("no session waits for a lock", GOOD)]


def _trees(blocking: Blocking) -> Iterator[list[StatusLine]]:
    """The lines of each first blocker and the sessions behind it."""
    behind: dict[int, list[LockWait]] = {}
    for wait in blocking.waits:
        behind.setdefault(wait.blocker, []).append(wait)
    sessions = {session.id: session for session in blocking.sessions}
    seen: set[int] = set()
    for root in blocking.roots:
        seen.add(root.session.id)
        waiters = _waiters(sessions, root.session.id, behind, seen)
        yield [StatusLine(_blocker_text(root.session), BAD), *waiters]
    loose = [wait.waiter for wait in blocking.waits if wait.waiter not in seen]
    if loose:  # no session at the end of the chain: they wait for each other
        names = ", ".join(str(number) for number in sorted(set(loose)))
        yield [StatusLine(f"connections {names} wait for each other", BAD)]


def _waiters(
    sessions: dict[int, ServerSession], blocker: int, behind: dict[int, list[LockWait]], seen: set[int]
) -> Iterator[StatusLine]:
    """The sessions behind a blocker, each followed by those behind it; a chain can be longer than the call stack."""

    def next_waits(session: int, indent: str) -> list[tuple[LockWait, str, bool]]:
        waits = {wait.waiter: wait for wait in behind.get(session, ()) if wait.waiter not in seen}
        seen.update(waits)
        ordered = sorted(waits.values(), key=lambda wait: (_seconds_waiting(sessions, wait), -wait.waiter))
        return [(wait, indent, place == 0) for place, wait in enumerate(ordered)]

    ahead = next_waits(blocker, "")
    while ahead:
        wait, indent, last = ahead.pop()
        session = sessions.get(wait.waiter, ServerSession(wait.waiter))
        for_time = "" if session.waiting is None else f" {format_duration(session.waiting)}"
        yield StatusLine(f"{indent}{'└─' if last else '├─'} {_name(session)} waits{for_time} for {_lock_text(wait)}")
        below = indent if len(indent) >= DEEPEST else indent + ("   " if last else "│  ")
        ahead += next_waits(wait.waiter, below)


def _seconds_waiting(sessions: dict[int, ServerSession], wait: LockWait) -> int:
    session = sessions.get(wait.waiter)
    return (session.waiting if session else None) or 0


def _name(session: ServerSession) -> str:
    account = session.account.removesuffix("@")  # replication appliers have no host
    return f"{session.id}{f' ({account})' if account else ''}"


def _blocker_text(session: ServerSession) -> str:
    """`connection 12 (app@db2), idle for 5 min, transaction open for 6 min, 3,000 rows locked`."""
    parts = [f"connection {_name(session)}"]
    if session.waits_for_row:  # for a session that was not read, or a transaction without one
        parts.append(f"waits {format_duration(session.waiting or 0)} itself")
    elif session.is_rolling_back:
        parts.append("rolling back")
    elif session.is_idle:
        parts.append(f"idle for {format_duration(session.seconds)}")
    elif session.command:
        parts.append(f"{session.state or session.command} for {format_duration(session.seconds)}")
    opened = session.transaction
    if opened is not None:
        parts += [] if opened.age is None else [f"transaction open for {format_duration(opened.age)}"]
        parts += [f"{plural(opened.rows_locked, 'row')} locked"] if opened.rows_locked else []
    return ", ".join(parts)


def _lock_text(wait: LockWait) -> str:
    name = f" of {wait.name}" if wait.name else ""
    if wait.for_rows:
        return f"rows{name}"
    kind = LOCKS.get(wait.lock, f"a {wait.lock} lock")
    return f"{kind}{f' on {wait.name}' if wait.name else ''}"


def _unknown_blockers(server: Server, blocking: Blocking) -> Iterator[StatusLine]:
    """Sessions that wait for others than those in the tree: the server does not show these, or more were not read."""
    shown = {wait.waiter for wait in blocking.waits}
    waiting = [one for one in blocking.sessions if one.waiting is not None and one.id not in shown]
    for_rows = [one for one in waiting if one.transaction is not None and one.transaction.waiting is not None]
    others = [one for one in waiting if one.transaction is None or one.transaction.waiting is None]
    in_tree = {wait.waiter for wait in blocking.waits if wait.for_rows}  # of many waits, an audit reads the longest
    if for_rows:
        all_waits = server.counter("innodb_row_lock_current_waits") or 0
        count = max(len(for_rows), all_waits - len(in_tree))
        read = bool(in_tree) and blocking.rows_read
        yield _waiting_line(for_rows, count, read=read, detached=blocking.rows_read and bool(blocking.detached))
    if others:
        hidden = any(one.state in NEVER_SHOWN for one in others)
        yield _waiting_line(others, len(others), read=in_tree != shown and blocking.metadata_read and not hidden)


def _waiting_line(sessions: list[ServerSession], count: int, *, read: bool, detached: bool = False) -> StatusLine:
    longest = max(one.waiting or 0 for one in sessions)
    more, rows = " more" if read else "", " for rows" if sessions[0].waits_for_row else ""
    words = f"1{more} session waits{rows}" if count == 1 else f"{count:,}{more} sessions wait{rows}"
    why = "this audit did not read who blocks them" if read else "the server does not show who blocks them"
    why = "maybe for a transaction without a session" if detached else why
    return StatusLine(f"{words} up to {format_duration(longest)}; {why}", BAD)


def _without_session(blocking: Blocking) -> Iterator[StatusLine]:
    """Transactions that no session has, such as prepared XA transactions: they keep their locks, and block sessions."""
    ages = [one.age or 0 for one in blocking.detached if one.state == "RUNNING"]
    if ages:
        opened = f"{'' if len(ages) == 1 else 'up to '}{format_duration(max(ages))}"
        count = plural(len(ages), "transaction")
        yield StatusLine(f"{count} without a session, open for {opened}: XA RECOVER lists prepared ones")


def _oldest(blocking: Blocking) -> Iterator[StatusLine]:
    """The oldest open transaction, if it is not in the tree already."""
    shown = {number for wait in blocking.waits for number in (wait.waiter, wait.blocker)}
    opened = [
        (session.transaction.age, session)
        for session in blocking.sessions
        if session.transaction is not None and session.transaction.age is not None and session.id not in shown
    ]
    if opened:
        age, session = max(opened, key=lambda pair: (pair[0], -pair[1].id))
        idle = f", idle for {format_duration(session.seconds)}" if session.is_idle else ""
        which = "oldest other transaction" if shown else "oldest transaction"
        yield StatusLine(f"{which}: {format_duration(age)}, connection {_name(session)}{idle}")


def replication_lines(audited: AuditResult) -> list[StatusLine]:
    """Replicas, channels with their lag, and the members of a group or cluster; empty without replication."""
    part = audited.facts.server.replication
    if part is None:
        why = next((gap.reason for gap in audited.facts.unavailable if gap.part == "server.replication"), "")
        return [StatusLine(f"not measured: {why}")] if why else []
    lines = [_replicas(part.replicas_connected)] if part.replicas_connected else []
    ordered = sorted(channel_states(audited.context), key=lambda one: not one.bad)  # of many, not all are shown
    channels = [StatusLine(words, BAD if bad else GOOD) for words, bad in ordered]
    lines += [*channels, *_group(part.members or ())]
    if not part.members and part.group_members:
        states = ", ".join(f"{count} {state}" for state, count in sorted(part.group_states.items()))
        lines.append(StatusLine(f"group of {part.group_members} members: {states}"))
    return [*lines, *_galera(audited.context)]


def _replicas(count: int) -> StatusLine:
    return StatusLine(f"source of {count} connected replica{'' if count == 1 else 's'}")


def _group(members: tuple[GroupMember, ...]) -> Iterator[StatusLine]:
    """A heading and one row for each member of a replication group."""
    if members:
        yield StatusLine(f"{'member':<12}{'state':<13}{'role':<11}{'version':<10}{'queued':>7}")
    for number, member in enumerate(sorted(members, key=lambda one: (not one.own, one.state == "ONLINE")), 1):
        name = "this server" if member.own else f"member {number}"
        queues = [count for count in (member.certifying, member.applying) if count is not None]
        queued = f"{sum(queues):,}" if queues else "-"
        row = f"{name:<12}{member.state:<13}{member.role:<11}{member.version:<10}{queued:>7}"
        yield StatusLine(row, PLAIN if member.state == "ONLINE" else BAD)


def _galera(context: RuleContext) -> Iterator[StatusLine]:
    """The state of a Galera node and its cluster, the addresses of the nodes, and what waits to be applied."""
    state = galera_state(context)
    if state is None:
        return
    yield StatusLine(state[0], GOOD if state[1] else BAD)
    status = context.server.status
    addresses = [address.strip() for address in status.get("wsrep_incoming_addresses", "").split(",")]
    yield from (StatusLine(f"  node {address}") for address in addresses if address not in NO_ADDRESS)
    queue = parse_digits(status.get("wsrep_local_recv_queue", ""))
    if queue:
        yield StatusLine(f"{queue:,} write sets wait to be applied")
