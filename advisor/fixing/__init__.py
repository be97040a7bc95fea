"""Mend option files: choose edits that go together, try them, and write the files safely."""

from __future__ import annotations

from advisor.fixing.fix import fix_files, plan_fixes
from advisor.fixing.values import FileChange, FixOutcome, ReadTargets, TargetReading

__all__ = ["FileChange", "FixOutcome", "ReadTargets", "TargetReading", "fix_files", "plan_fixes"]
