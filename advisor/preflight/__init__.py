"""What the next restart of a running server would refuse, lose or change, and why."""

from __future__ import annotations

from advisor.preflight.look import look

__all__ = ["look"]
