"""What a rule is, and the list of them all: code, name, words for people, and the function that looks."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from advisor.core.model import Action, Confidence, Finding, Fix, Severity, Target
from advisor.redaction.secrets import name_control_characters
from rules.core.context import RuleContext
from rules.core.subject import Subject

RULES: list["Rule"] = []
_TAKEN: set[str] = set()  # codes and names: looking through the rules for each new one took a fifth of loading them


class Span(NamedTuple):
    """Versions of one flavour: from `since` on (none: from the first), up to but without `before` (none: no end)."""

    flavour: str
    since: tuple[int, ...] = ()
    before: tuple[int, ...] = ()

    def holds(self, target: Target) -> bool:
        """Whether the target lies within."""
        if target.flavour != self.flavour or target.version < self.since:
            return False
        return not self.before or target.version < self.before

    def __str__(self) -> str:
        bounds = [self.flavour]
        bounds += [f">= {'.'.join(map(str, self.since))}"] if self.since else []
        bounds += [f"< {'.'.join(map(str, self.before))}"] if self.before else []
        return " ".join(bounds)


EVERY = (Span("mysql"), Span("mariadb"))


class Docs(NamedTuple):
    """A rule's documentation, for explain, the reports and the reference pages; plain sentences, no markup.

    `why` is what happens and on what it rests, `fix` what to do, `risk` what the cure may cost, `restart` whether
    it needs one, `exceptions` when to leave the setting alone, `reconsider_when` what would change the advice,
    `disagree` where the sources contradict each other.
    """

    why: str
    fix: str
    risk: str
    exceptions: str
    reconsider_when: str
    restart: bool = False
    disagree: str = ""


class Rule(NamedTuple):
    """One rule; `needs` names the parts (server, workload, host, files) without which it can't look.

    `options` are the canonical names that it checks, none where it may check any; `triggers` are others that a
    file may set instead to make it apply. `evidence` are ids of the
    evidence store, `probe` is the experiment that repeats the measurement, `fix` the applicability (safe, unsafe)
    of the edits that its findings may carry.
    """

    code: str
    name: str
    severity: Severity
    confidence: Confidence
    summary: str
    docs: Docs
    function: Callable[[RuleContext], Iterator[Finding]]
    needs: tuple[str, ...]
    targets: tuple[Span, ...]
    options: tuple[str, ...]
    evidence: tuple[str, ...]
    probe: str | None
    fix: str | None
    triggers: tuple[str, ...]

    @property
    def family(self) -> str:
        """The three letters that its code begins with."""
        return self.code[:3]

    @property
    def subject(self) -> str:
        """The folder of `rules` that holds it, such as innodb; its reference page has that name."""
        return self.function.__module__.split(".")[1]

    def concerns(self, target: Target) -> bool:
        """Whether the rule has anything to say about that version."""
        if self.targets is EVERY:  # most are, and each is asked this for each of thousands of snapshots
            return True
        for span in self.targets:  # noqa: SIM110 - any() would make a generator, three hundred times a run
            if span.holds(target):
                return True
        return False

    def check(self, context: RuleContext) -> Iterator[Finding]:
        """What the rule finds; raises Missing, at once or on the way, where a part that it needs is absent."""
        if self.needs:
            context.require(self.needs)
        return self.function(context)

    def finding(
        self,
        message: str,
        about: Subject | None = None,
        *,
        help: str = "",  # noqa: A002 - the field of Finding
        severity: Severity | None = None,
        confidence: Confidence | None = None,
        fix: Fix | None = None,
        actions: tuple[Action, ...] = (),
    ) -> Finding:
        """A finding of this rule about one option line or variable, or about the server as a whole."""
        return Finding(
            code=self.code,
            name=self.name,
            severity=severity or self.severity,
            confidence=confidence or self.confidence,
            message=name_control_characters(
                message if about is None or self.family == "OPT" else f"{about.read_as}{message}"
            ),
            help=name_control_characters(help),
            option=about.option if about else None,
            canonical=about.canonical if about else None,
            value=about.value if about else None,
            group=about.group if about else None,
            location=about.location if about else None,
            evidence=self.evidence,
            fix=fix,
            actions=actions,
        )


def rule(
    code: str,
    name: str,
    *,
    summary: str,
    docs: Docs,
    severity: Severity = Severity.WARNING,
    confidence: Confidence = Confidence.CERTAIN,
    needs: tuple[str, ...] = (),
    targets: tuple[Span, ...] = EVERY,
    options: tuple[str, ...] = (),
    evidence: tuple[str, ...] = (),
    probe: str | None = None,
    fix: str | None = None,
    triggers: tuple[str, ...] = (),
) -> Callable[[Callable[[RuleContext], Iterator[Finding]]], Rule]:
    """Make a rule of a function that yields findings, and list it; ValueError where code or name is taken."""

    def register(look: Callable[[RuleContext], Iterator[Finding]]) -> Rule:
        words = (code, name, severity, confidence, summary, docs)
        made = Rule(*words, look, needs, targets, options, evidence, probe, fix, triggers)
        if not _TAKEN.isdisjoint((code, name)):
            taken = next(rule for rule in RULES if code == rule.code or name == rule.name)
            raise ValueError(f"rule {code} {name} is already taken by {taken.function.__module__}")
        _TAKEN.update((code, name))
        RULES.append(made)
        return made

    return register
