"""What consultants get sent, read as facts: tables of variables and status, and what Percona's tools collect."""

from __future__ import annotations

from advisor.collect.pasted.assemble import facts_of_texts

__all__ = ["facts_of_texts"]
