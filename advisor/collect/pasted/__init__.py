"""Read facts from texts that consultants receive: variables, status counters, and the output of Percona's tools."""

from __future__ import annotations

from advisor.collect.pasted.assemble import facts_of_texts

__all__ = ["facts_of_texts"]
