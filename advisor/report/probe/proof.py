"""What a run says of the rule that it was made for: before against after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from advisor.core.sizes import format_percent
from rules.measured.claims import COST, NO_EFFECT
from rules.measured.compare import BETTER, MIXED, SAME, WORSE, value_text

if TYPE_CHECKING:
    from rules.core.rule import Rule
    from rules.measured.claims import Claim
    from rules.measured.compare import LocalVerdict


class Proof(NamedTuple):
    """A rule's claim and what came of it: `before` is the value that the rule speaks of, `after` the one it wants.

    `judged` lays the second beside the first; None where the run measured neither.
    """

    rule: Rule
    claim: Claim
    before: str
    after: str
    judged: LocalVerdict | None

    @property
    def verdict(self) -> str:
        """Better, worse, no difference, mixed or unknown: what the value that the rule wants does here."""
        return self.judged.verdict if self.judged else "unknown"

    @property
    def answer(self) -> str:
        """The verdict in a sentence."""
        values = f"{value_text(self.before)} before, {value_text(self.after)} after"
        return f"{self.rule.code} {self.rule.name}, {self.claim.option} {values}: {_verdict(self)}."

    @property
    def words(self) -> str:
        """The differences, each with its interval; empty where there are none."""
        return f"{self.judged.words}." if self.judged else ""


def fields(proof: Proof) -> dict[str, Any]:
    """The proof as plain values."""
    besides = proof.judged.pairs if proof.judged else ()
    return {
        "code": proof.rule.code,
        "name": proof.rule.name,
        "option": proof.claim.option,
        "before": proof.before,
        "after": proof.after,
        "verdict": proof.verdict,
        "within": proof.judged.bound if proof.judged and proof.verdict == SAME else None,
        "differences": [
            {"metric": b.metric, "verdict": b.verdict, "before": b.pair.against, "after": b.pair.arm,
             "ratio": b.pair.ratio, "low": b.pair.low, "high": b.pair.high, "bound": b.pair.bound}
            for b in besides
        ],
        "answer": proof.answer,
        "words": proof.words,
    }  # fmt: skip


def _verdict(proof: Proof) -> str:
    kind, verdict = proof.claim.kind, proof.verdict
    if verdict == SAME and proof.judged:
        as_claimed = ", as the rule predicts" if kind == NO_EFFECT else ""
        return f"no difference larger than {format_percent(proof.judged.bound)}{as_claimed}"
    if verdict == BETTER:
        return "better"
    if verdict == WORSE:
        return "worse, which is what its safety costs" if kind == COST else "worse"
    if verdict == MIXED:
        return "better in one way and worse in another"
    return "this run can't tell; give it more time (--time)" if proof.judged else "the run didn't measure both values"
