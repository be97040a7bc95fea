"""What keeps an experiment from doing harm: refusals before it starts, and a watch over other servers while it runs."""

from __future__ import annotations

from probes.safety.objections import Objection, cautions, objections, refuse
from probes.safety.watch import watching

__all__ = ["Objection", "cautions", "objections", "refuse", "watching"]
