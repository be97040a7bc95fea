"""Interprets option files as a server does: the only package that interprets values."""

from __future__ import annotations

from advisor.verdict.judge import judge_file, judge_value
from advisor.verdict.outcome import REFUSED, FileVerdict, LineVerdict, Outcome

__all__ = ["REFUSED", "FileVerdict", "LineVerdict", "Outcome", "judge_file", "judge_value"]
