"""The audit that all screens show, as a frozen value, and the file with what the user marked."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, NamedTuple

from advisor.core.errors import MycnfError
from advisor.state.directory import lock_folder, make_state_folder, state_folder
from advisor.state.private_file import replace_private

if TYPE_CHECKING:
    from advisor.analysis.audited import AuditResult
    from advisor.core.model import Finding
    from advisor.facts import Sample, Server
    from advisor.tui.screens.workload.rates import VariableChange


RUNNING_SUBJECT = re.compile(r"\bof (channel [^\s,.:;]+)|\b(connection [0-9]+)\b")


class UserMarks(NamedTuple):
    """Findings that the user marked as seen or hid with a reason, by key (see `finding_key`)."""

    seen: frozenset[str] = frozenset()
    suppressed: tuple[tuple[str, str], ...] = ()

    @property
    def hiding(self) -> dict[str, str]:
        """The reasons by key, without those whose last day is past, as in `until 2027-01-31 see OPS-1234`."""
        return {key: reason for key, reason in self.suppressed if not _has_ended(reason)}

    def hidden_reason(self, finding: Finding) -> str | None:
        """Why the user hid a finding; None if it is not hidden."""
        return self.hiding.get(finding_key(finding))


def _has_ended(reason: str) -> bool:
    """Whether the last day at the beginning of a reason is past."""
    if reason[:5].lower() != "until":
        return False
    from advisor.analysis.suppress import is_over, read_expiry
    from advisor.report.output import today

    return is_over(read_expiry(reason).day, today())


class SelectedFinding(NamedTuple):
    """A finding in the change set, and the audit in which it was selected."""

    finding: Finding
    audited: AuditResult


class View(NamedTuple):
    """One audit as all screens show it.

    `origin` is live, snapshot or demo; `place` is the socket, address or path; `read_at` is Unix time.
    `samples` are the counters of the running server or of a recorded series, the oldest first; None for a snapshot.
    `changes` are variables that got another value meanwhile; `series_about` says how a series was recorded. `selected`
    is the change set, in the order of selection.
    """

    audited: AuditResult
    origin: str
    place: str
    read_at: float
    marks: UserMarks = UserMarks()
    samples: tuple[Sample, ...] | None = None
    changes: tuple[VariableChange, ...] = ()
    series_about: str = ""
    selected: tuple[SelectedFinding, ...] = ()

    @property
    def live(self) -> bool:
        """Whether a running server can be read again."""
        return self.origin == "live"

    def is_selected(self, finding: Finding) -> bool:
        """Whether the finding is in the change set."""
        return any(finding_key(one.finding) == finding_key(finding) for one in self.selected)

    def toggle_selected(self, finding: Finding) -> View:
        """The view with the finding put into the change set, or taken out of it."""
        key = finding_key(finding)
        rest = tuple(one for one in self.selected if finding_key(one.finding) != key)
        added = () if len(rest) < len(self.selected) else (SelectedFinding(finding, self.audited),)
        return self._replace(selected=(*rest, *added))

    @property
    def latest_sample(self) -> Sample | None:
        """The newest sample, that of the window for a snapshot; None before the first."""
        if self.samples is not None:
            return self.samples[-1] if self.samples else None
        workload = self.audited.facts.workload
        return workload.last if workload else None

    @property
    def open_findings(self) -> tuple[Finding, ...]:
        """The findings that the user has not hidden."""
        hiding = self.marks.hiding
        return tuple(f for f in self.audited.findings if finding_key(f) not in hiding)

    @property
    def hidden(self) -> tuple[tuple[Finding, str], ...]:
        """The hidden findings with the reason: those in a baseline, and those that the user hid."""
        reasons = self.marks.hiding
        own = ((f, reasons[key]) for f in self.audited.findings if (key := finding_key(f)) in reasons)
        return (*self.audited.suppressed, *own)

    def baseline_reason(self, finding: Finding) -> str | None:
        """The reason in the baseline; None if the baseline does not list the finding."""
        return next((reason for f, reason in self.audited.suppressed if f is finding), None)

    def hidden_reason(self, finding: Finding) -> str | None:
        """Why a finding is hidden; None if it is not."""
        known = self.baseline_reason(finding)
        return self.marks.hidden_reason(finding) if known is None else known


def finding_key(finding: Finding) -> str:
    """Identify a finding across audits: by rule, option and file, not by value or line; by channel or connection."""
    path = finding.location.path if finding.location else ""
    subject = finding.canonical or finding.option or running_subject(finding)
    return f"{finding.code} {subject} {path}".strip()


def running_subject(finding: Finding) -> str:
    """The replication channel or the connection that a finding is about, as its message names it; empty for others.

    To hide the finding about one of them must not hide those about others.
    """
    named = None if finding.canonical or finding.option else RUNNING_SUBJECT.search(finding.message)
    return (named[1] or named[2]) if named else ""


STATE_SUBDIRECTORY = "app"


def app_state_directory() -> str:
    """Directory of the app's state: $XDG_STATE_HOME/mycnf/app, by default ~/.local/state/mycnf/app."""
    return state_folder(STATE_SUBDIRECTORY)


def marks_path(server: Server) -> str:
    """The file with the marks of one server: unchanged by a restart, one for each server on this host."""
    from hashlib import sha256

    known = "\0".join(server.variables.get(name, "") for name in ("hostname", "datadir", "port"))
    return os.path.join(
        app_state_directory(), sha256(known.encode("utf-8", "surrogatepass")).hexdigest()[:16] + ".json"
    )


def read_marks(path: str) -> UserMarks:
    """The saved marks; empty if the file is missing or invalid."""
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        seen, suppressed = document["seen"], document["suppressed"]
        return UserMarks(
            frozenset(map(str, seen)), tuple((str(key), str(reason)) for key, reason in suppressed.items())
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return UserMarks()


def save_marks(path: str, before: UserMarks, after: UserMarks) -> UserMarks:
    """Save what the user changed, merged with what another app changed in the file. Return both together.

    Raises MycnfError if the file cannot be written.
    """
    try:
        with lock_folder(make_state_folder(STATE_SUBDIRECTORY)):
            both = _merge_marks(read_marks(path), before, after)
            document = {"version": 1, "seen": sorted(both.seen), "suppressed": dict(both.suppressed)}
            replace_private(path, (json.dumps(document, indent=1) + "\n").encode("ascii"))
    except OSError as error:
        raise MycnfError(
            f"{path} cannot be written: {error.strerror}. Hidden and seen findings last until you quit"
        ) from error
    return both


def _merge_marks(kept: UserMarks, before: UserMarks, after: UserMarks) -> UserMarks:
    seen = kept.seen - (before.seen - after.seen) | (after.seen - before.seen)
    was, wanted = dict(before.suppressed), dict(after.suppressed)
    reasons = {key: reason for key, reason in kept.suppressed if key in wanted or key not in was}
    reasons |= {key: reason for key, reason in wanted.items() if was.get(key) != reason}
    return UserMarks(seen, tuple(reasons.items()))
