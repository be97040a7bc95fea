"""Fixes option files: selects edits that go together, tries them, and writes the files safely."""

from __future__ import annotations

from advisor.fixing.fix import fix_files, plan_fixes
from advisor.fixing.values import FileChange, FixOutcome, ReadTargets, TargetReading

__all__ = ["FileChange", "FixOutcome", "ReadTargets", "TargetReading", "fix_files", "plan_fixes"]
