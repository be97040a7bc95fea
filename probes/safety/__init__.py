"""Safety of probe runs: objections before they start, and monitoring of other servers while they run."""

from __future__ import annotations

from probes.safety.objections import Objection, find_objections, host_cautions, require_no_objection
from probes.safety.watch import watch_other_servers

__all__ = ["Objection", "find_objections", "host_cautions", "require_no_objection", "watch_other_servers"]
