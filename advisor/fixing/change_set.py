"""The change set: what selected findings advise, as statements, as statements that undo them, and as files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from advisor.core.model import Edit, Origin
from advisor.fixing.diff import unified_diff
from advisor.fixing.texts import FileChange, lines_of
from advisor.optionfile import groups_read
from advisor.optionfile.lines import apply_edits
from advisor.redaction import MASK, escape_text
from advisor.verdict.number import PORT
from advisor.verdict.settings import Settings, is_same_value
from rules.core.statements import action_place, permanent_setting, set_statement

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from advisor.analysis.audited import AuditResult
    from advisor.core.model import Action, Finding


SET = re.compile(r"\bSET (GLOBAL|PERSIST|PERSIST_ONLY) (\w+) = (.*?);")

# The server keeps the first at or below the second, and some versions change the second to keep it so.
LIMITED_BY = {
    "innodb_io_capacity": "innodb_io_capacity_max",
    "innodb_max_dirty_pages_pct_lwm": "innodb_max_dirty_pages_pct",
}
SERVER_ONLY = frozenset({"mysqld", "server", "mariadb", "mariadbd"})  # groups that no client reads, of every series
NEWLINE = "\n"
REMOVAL = "removing the line"
NEW_GROUP = "\n[mysqld]\n"
APPLY, ROLLBACK, DIFF, TICKET = "apply.sql", "rollback.sql", "options.diff", "ticket.md"
NO_STATEMENT = "No statement: nothing that is selected can be changed while the server runs"
LIMITS = {limit: name for name, limit in LIMITED_BY.items()}
OUTRANKING = (Origin.PERSISTED, Origin.COMMAND_LINE)  # sources that the next start reads after all option files


class Change(NamedTuple):
    """One step of a change set, with the findings that advise it.

    `option` is the variable or option that it changes, empty for a statement that changes none. `path` and `edits` are
    what it changes in a file, "" and () if nothing; `value` is what a corrected line sets, REMOVAL if it goes.
    `by_hand` says what is left to the user, empty if nothing is.
    """

    option: str
    findings: tuple[Finding, ...]
    action: Action | None = None
    path: str = ""
    edits: tuple[Edit, ...] = ()
    by_hand: str = ""
    value: str = ""

    @property
    def statement(self) -> str:
        """The statement to run now; empty if there is none, or if only the user can decide when to run it."""
        return (self.action.statement or "") if self.action and not self.by_hand.startswith("run ") else ""

    @property
    def codes(self) -> str:
        """The codes of its findings."""
        return ", ".join(dict.fromkeys(f.code for f in self.findings))


class ChangeSet(NamedTuple):
    """The changes that selected findings advise, and why others are left out.

    `refused` has one line for each contradiction between findings, whose changes are all left out. `without_advice` are
    findings that name nothing to change. `files` are the option files before and after, secrets masked.
    """

    changes: tuple[Change, ...]
    refused: tuple[str, ...]
    without_advice: tuple[Finding, ...]
    files: tuple[FileChange, ...]


def build_change_set(audited: AuditResult, findings: Iterable[Finding]) -> ChangeSet:
    """Build the change set of these findings: one change for each option, in an order that the server accepts."""
    changes: list[Change] = []
    without = []
    for finding in findings:
        own = list(_changes_of(audited, finding))
        changes += own
        without += [] if own else [finding]
    merged, refused, out = _merge(changes)
    kept, clashes, clashing = _without_clashing_edits(merged)
    # Half of what a finding advises may do harm: with the part that is refused, all of it is left out.
    out |= clashing
    ordered = tuple(_in_safe_order(audited, [change for change in kept if not out.issuperset(change.findings)]))
    return ChangeSet(ordered, (*refused, *clashes), tuple(without), tuple(_file_changes(audited, ordered)))


def _changes_of(audited: AuditResult, finding: Finding) -> Iterator[Change]:
    for action in finding.actions:
        if action.statement or permanent_setting(action):
            yield _with_place(audited, Change(_option_of(action), (finding,), action))
    if not finding.actions and finding.fix is not None and finding.location is not None:
        change = Change(finding.canonical or finding.option or "", (finding,), None, finding.location.path)
        yield _with_result(audited, change, finding.fix.edits)


def is_lost_at_restart(audited: AuditResult, finding: Finding) -> bool:
    """Whether a value that a finding advises runs, while the option files that it advises to correct have another."""
    context = audited.context
    written = Settings.from_file(context.file_verdict)
    for change in _changes_of(audited, finding):
        option = context.catalog.get(change.option)
        variable = (option.variable if option else None) or change.option
        running, in_file = context.settings.get(variable), written.get(variable)
        place = change.action.place if change.action else None
        if place is None or running is None or in_file is None or _text_of(audited, place.path) is None:
            continue
        if running.origin not in OUTRANKING and not is_same_value(in_file.value, running.value):
            return True
    return False


def _with_result(audited: AuditResult, change: Change, edits: tuple[Edit, ...]) -> Change:
    """Add edits of a file, with the option and the value that the corrected line sets: a fix may rename an option."""
    text = _text_of(audited, change.path)
    if (
        text is None
        or not edits
        or not _still_sets(text, edits[0], change.findings[0].option or "", change.findings[0].value or "")
    ):
        return change._replace(by_hand=f"correct {change.path}: the file has changed, or was not read")
    if not edits[0].text.strip():
        return change._replace(edits=edits, value=REMOVAL)
    after = apply_edits(text.encode("utf-8", "surrogateescape"), edits).decode("utf-8", "surrogateescape")
    name, _, value = after.split("\n")[edits[0].line - 1].partition("=")
    bare = name.strip().replace("-", "_").lower().removeprefix("loose_")
    option = audited.context.catalog.get(bare)
    return change._replace(edits=edits, option=option.name if option else bare, value=value.strip() or "ON")


def _option_of(action: Action) -> str:
    """The option that the action sets; empty if it sets none."""
    line = permanent_setting(action)
    if line:
        return line.partition("=")[0].strip().removeprefix("--").replace("-", "_").lower()
    setting = SET.search(action.statement or "")
    return setting[2] if setting else ""


def _with_place(audited: AuditResult, change: Change) -> Change:
    """Add the edit of the option file, or what is left to the user."""
    action = change.action
    if action is None:
        return change
    if action.argument:
        where = action_place(action)
        return change._replace(by_hand=f"in {where}, replace {action.replaces or 'the option'} by {action.argument}")
    if action.option_line is None:
        runs_alone = change.option or (action.statement or "").startswith(("ALTER INSTANCE", "INSTALL "))
        return change if runs_alone else change._replace(by_hand=f"run {action.statement} when you have checked it")
    text = _text_of(audited, action.place.path) if action.place else None
    if action.place is None or text is None or MASK in action.replaces:
        place = action_place(action)
        where = f"in {place}" if place else "in the server's option file or parameter group"
        return change._replace(by_hand=f"{where}, write {action.option_line}")
    edit = _edit_for(audited, action, text)
    if action.place.line and not _still_sets(text, edit, action.replaces.partition("=")[0], action.replaces):
        return change._replace(by_hand=f"in {action_place(action)}, write {action.option_line}: the file has changed")
    return change._replace(path=action.place.path, edits=(edit,))


def _still_sets(text: str, edit: Edit, name: str, written: str) -> bool:
    """Whether the text at an edit is still that of the finding: the file may have changed since it was selected."""
    lines = text.split("\n")
    if max(edit.line, edit.end_line) > len(lines):
        return False
    shown, last = lines[edit.line - 1], lines[edit.end_line - 1]
    if edit.column > len(shown) + 1 or edit.end_column > len(last) + 1:
        return False
    same_name = name.strip().replace("-", "_").lower() in shown.replace("-", "_").lower()
    return same_name and "".join(written.split()) in "".join(shown.split())


def _text_of(audited: AuditResult, path: str) -> str | None:
    files = audited.facts.files
    return next((copy.text for copy in files.files if copy.path == path), None) if files else None


def _edit_for(audited: AuditResult, action: Action, text: str) -> Edit:
    """Replace the line that sets the value, or add one at the end of the last group that the server reads."""
    at, line = action.place, action.option_line or ""
    if at is not None and at.line:
        return Edit(at.line, at.column, at.end_line or at.line, at.end_column or at.column, line)
    lines = text.split("\n")
    own, last, inside = groups_read(audited.context.target) & SERVER_ONLY, 0, False
    for number, shown in enumerate(lines, 1):
        bare = shown.strip()
        if bare.startswith("["):
            inside = bare.strip("[] \t").lower() in own
        if inside and bare and not bare.startswith(("!", "#", ";")):
            last = number
    if last:
        end = len(lines[last - 1].rstrip("\r")) + 1
        return Edit(last, end, last, end, f"\n{line}")
    end = len(lines[-1]) + 1
    return Edit(len(lines), end, len(lines), end, f"{'' if end == 1 else NEWLINE}{NEW_GROUP}{line}\n")


def _merge(changes: Sequence[Change]) -> tuple[list[Change], list[str], set[Finding]]:
    """Merge equal changes of one option; refuse changes that contradict each other, with the findings concerned."""
    by_option: dict[str, list[Change]] = {}
    for at, change in enumerate(changes):
        by_option.setdefault(change.option or f"statement {at}", []).append(change)
    merged: list[Change] = []
    refused: list[str] = []
    out: set[Finding] = set()
    for option, members in by_option.items():
        values = {_advised_text(change) for change in members} - {REMOVAL}
        edits = {(change.path, change.edits) for change in members if change.edits}
        findings = tuple(dict.fromkeys(f for change in members for f in change.findings))
        if len(values) > 1:
            advice = "; ".join(dict.fromkeys(f"{change.codes} advises {_advised_text(change)}" for change in members))
            refused.append(f"{option}: {advice}. Remove all but one of these findings from the change set")
            out.update(findings)
        elif len(edits) > 1:
            merged += members  # edits of several lines for one value, such as a duplicate and its correction
        else:
            best = max(members, key=lambda change: (bool(change.statement), bool(change.edits)))
            merged.append(best._replace(findings=findings))
    return merged, refused, out


def _advised_text(change: Change) -> str:
    """The resulting value or edit of a change, to be compared with others of the same option."""
    if change.action is None:
        return change.value
    line = permanent_setting(change.action)
    if line:
        return line.partition("=")[2].strip().strip("'")
    setting = SET.search(change.action.statement or "")
    return setting[3].strip("'") if setting else change.action.statement or ""


def _without_clashing_edits(changes: Sequence[Change]) -> tuple[list[Change], list[str], set[Finding]]:
    """Refuse changes that edit the same line of a file, with the findings concerned."""
    by_line: dict[tuple[str, int], list[int]] = {}
    for at, change in enumerate(changes):
        for edit in change.edits:
            for line in lines_of(edit) if (edit.line, edit.column) != (edit.end_line, edit.end_column) else ():
                by_line.setdefault((change.path, line), []).append(at)
    clashes = {place: sorted(set(members)) for place, members in by_line.items() if len(set(members)) > 1}
    out = {at for members in clashes.values() for at in members}
    refused = [
        f"{path}:{line}: {' and '.join(changes[at].codes for at in members)} change the same line. "
        "Remove all but one of these findings from the change set"
        for (path, line), members in clashes.items()
    ]
    kept = [change for at, change in enumerate(changes) if at not in out]
    return kept, refused, {finding for at in out for finding in changes[at].findings}


def _in_safe_order(audited: AuditResult, changes: Sequence[Change]) -> list[Change]:
    """Put a limit before the value that is raised beyond the old limit, and after it in all other cases."""
    ordered = list(changes)
    for name, limit in LIMITED_BY.items():
        pair = [change for change in ordered if change.option in (name, limit)]
        if len(pair) != 2:  # noqa: PLR2004 - a value and its limit
            continue
        low, high = sorted(pair, key=lambda change: change.option == limit)
        setting = SET.search(low.statement)
        most = audited.context.number(limit)
        raised = setting is not None and most is not None and _number(setting[3]) > most
        places = sorted(ordered.index(change) for change in pair)
        for at, change in zip(places, (high, low) if raised else (low, high), strict=True):
            ordered[at] = change
    return ordered


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _file_changes(audited: AuditResult, changes: Sequence[Change]) -> Iterator[FileChange]:
    edits: dict[str, list[Edit]] = {}
    findings: dict[str, list[Finding]] = {}
    for change in changes:
        if change.edits:
            edits.setdefault(change.path, []).extend(change.edits)
            findings.setdefault(change.path, []).extend(change.findings)
    for path, own in edits.items():
        text = _text_of(audited, path)
        if text is not None:
            before = text.encode("utf-8", "surrogateescape")
            yield FileChange(path, before, apply_edits(before, _join_inserts(own)), tuple(findings[path]))


def _join_inserts(edits: Sequence[Edit]) -> list[Edit]:
    """The edits with those that insert at one place made one: positions refer to the original text."""
    joined: dict[tuple[int, int, int, int], Edit] = {}
    for edit in edits:
        place = (edit.line, edit.column, edit.end_line, edit.end_column)
        if place in joined:
            before = joined[place].text
            more = edit.text.partition(NEW_GROUP)[2] or edit.text
            joined[place] = joined[place]._replace(text=before + more)
        else:
            joined[place] = edit
    return list(joined.values())


def apply_sql(audited: AuditResult, changes: ChangeSet) -> str:
    """The statements of all changes, each with its findings and its risk as comments."""
    lines = [*_head(audited, "applies the changes", f"{ROLLBACK} restores the previous values"), ""]
    for change in changes.changes:
        if change.statement:
            lines += [*_comments(change), *_sorted_statements(change.statement), ""]
    lines += [] if any(change.statement for change in changes.changes) else [_comment(NO_STATEMENT), ""]
    lines += _comment_list("Needs a restart: the value is in the option file only", _restarts(changes))
    lines += _comment_list("To do by hand", _by_hand(changes))
    lines += _comment_list("Left out", changes.refused)
    return "\n".join(lines).rstrip("\n") + "\n"


def rollback_sql(audited: AuditResult, changes: ChangeSet) -> str:
    """The statements that restore the values of the snapshot, in reverse order."""
    lines = [*_head(audited, "restores the values that ran when the audit was read", f"it undoes {APPLY}"), ""]
    restored = {name for change in changes.changes for _, name, _ in SET.findall(change.statement)}
    for change in reversed(changes.changes):
        if not change.statement:
            continue
        undo = change.action.undo if change.action else None
        statements = _sorted_statements(undo) if undo else [_comment(f"no statement undoes: {change.statement}")]
        lines += [_comment(change.codes), *statements, *_companion(audited, change.option, restored), ""]
    lines += [_comment(f"The option files: patch -R -p1 -d / < {DIFF}")] if changes.files else []
    return "\n".join(lines).rstrip("\n") + "\n"


def option_diff(changes: ChangeSet) -> str:
    """The changes of the option files for `patch -p1 -d /`; empty if no file changes."""
    if not changes.files:
        return ""
    head = f"# patch -p1 -d / < {DIFF} applies it, patch -R -p1 -d / < {DIFF} undoes it. mycnf runs neither.\n"
    return head + unified_diff(changes.files, below_root=True).decode("utf-8", "backslashreplace")


def _companion(audited: AuditResult, option: str, restored: set[str]) -> Iterator[str]:
    """The statement that restores a coupled variable, which some versions change together with this one."""
    name = LIMITED_BY.get(option) or LIMITS.get(option)
    running = audited.context.settings.text(name) if name else None
    known = audited.context.catalog.find_variable(name) if name else None
    if name and name not in restored and running is not None and known is not None:
        yield set_statement(known, running)


def _sorted_statements(text: str) -> list[str]:
    """One statement a line where a replica is stopped and started around the change; values may hold semicolons."""
    if not text.startswith("STOP "):
        return [text]
    stop, _, rest = text.partition("; ")
    change, *starts = rest.removesuffix(";").split("; START ")
    return [f"{stop};", f"{change};", *(f"START {start};" for start in starts)]


def _head(audited: AuditResult, does: str, other: str) -> Iterator[str]:
    variables, label = audited.facts.server.variables, audited.context.target.label
    host, port = variables.get("hostname", ""), variables.get("port", "")
    known = f"{label}, port {port}" if port not in ("", "0", PORT) else label  # others may run on the host
    server = f"{host} ({known})" if host else known
    yield _comment(f"{server}, audit of {audited.facts.taken_at}")
    yield _comment(f"This file {does}; {other}.")
    yield _comment("mycnf runs neither.")


def _comments(change: Change) -> Iterator[str]:
    yield _comment("; ".join(dict.fromkeys(f"{f.code} {f.name}" for f in change.findings)))
    if change.action and change.action.risk:
        yield _comment(f"risk: {change.action.risk}")


def _restarts(changes: ChangeSet) -> Iterator[str]:
    for change in changes.changes:
        if change.action is not None and change.action.restart and not change.by_hand:
            yield f"{change.codes}: {change.action.option_line or change.option}"


def _by_hand(changes: ChangeSet) -> Iterator[str]:
    """What neither a statement nor an edit of a file does."""
    yield from (f"{change.codes}: {change.by_hand}" for change in changes.changes if change.by_hand)
    yield from (f"{finding.code}: {finding.help}" for finding in changes.without_advice if finding.help)


def _comment_list(title: str, lines: Iterable[str]) -> list[str]:
    comments = [_comment(f"  {line}") for line in lines]
    return [_comment(f"{title}:"), *comments, ""] if comments else []


def _comment(text: str) -> str:
    """A comment on one line, for any text."""
    return f"-- {escape_text(text)}"
