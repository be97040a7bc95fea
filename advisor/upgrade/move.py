"""All changes of a move: lines and defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.core.model import Severity
from advisor.upgrade.behaviours import behaviour_changes
from advisor.upgrade.change import Area, UpgradeChanges
from advisor.upgrade.defaults import by_weight, changed_collation, changed_defaults, default_value, needs_binlog
from advisor.upgrade.lines import changed_lines
from advisor.upgrade.supported_path import path_between

if TYPE_CHECKING:
    from advisor.upgrade.change import DefaultChange
    from advisor.verdict import FileVerdict


def compare_verdicts(old: FileVerdict, new: FileVerdict, paths: tuple[str, ...]) -> UpgradeChanges:
    """Return all changes of the move; `old` and `new` are the servers' verdicts on the files at `paths`."""
    collation = changed_collation(old, new)
    defaults = [*changed_defaults(old, new), *behaviour_changes(old, new), *([collation] if collation else [])]
    if not _writes_binlog(new):
        defaults = [_without_binlog(change) if needs_binlog(change.option) else change for change in defaults]
    return UpgradeChanges(
        before=old.catalog.target,
        after=new.catalog.target,
        paths=paths,
        read=max(len(old.lines), len(new.lines)),
        lines=tuple(changed_lines(old, new, paths)),
        defaults=tuple(by_weight(defaults)),
        problems=new.resolved.problems,
        path=path_between(old.catalog.target, new.catalog.target),
    )


def _writes_binlog(new: FileVerdict) -> bool:
    line, option = new.effective.get("log_bin"), new.catalog.get("log_bin")
    if line is not None:
        return line.running != "OFF"
    return option is not None and default_value(option) == "ON"


def _without_binlog(change: DefaultChange) -> DefaultChange:
    """Downgrade a change that has no effect on a server without a binary log."""
    return change._replace(area=Area.REST, severity=Severity.NOTE)
