"""What keeps an experiment from doing harm: refusals before it starts, and a watch over other servers while it runs."""

from __future__ import annotations

from probes.safety.objections import Objection, find_objections, host_cautions, require_no_objection
from probes.safety.watch import watch_other_servers

__all__ = ["Objection", "find_objections", "host_cautions", "require_no_objection", "watch_other_servers"]
