"""What rules are made of: the `Rule` type, its documentation `Docs`, the `rule` decorator, the list of all rules."""

from __future__ import annotations

from advisor.core import NamedTuple
from advisor.core.model import Action, Confidence, Finding, Fix, Severity, Target
from advisor.redaction import name_control_characters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rules.core.context import RuleContext
    from rules.core.subject import Subject

    QuietValues = tuple[str, ...] | tuple[int, int]

MOST = 1 << 64  # no number of an option is larger
RULES: list[Rule] = []
_TAKEN: set[str] = set()  # codes and names; searching RULES for each new rule took a fifth of the load time


class Span(NamedTuple):
    """A version range of one flavour: from `since` to before `before`; an empty tuple means no bound.

    `build` limits it to a build of the flavour: pxc, or percona, which Percona XtraDB Cluster is too.
    """

    flavour: str
    since: tuple[int, ...] = ()
    before: tuple[int, ...] = ()
    build: str = ""

    def holds(self, target: Target) -> bool:
        """Whether the target is in the range."""
        if target.flavour != self.flavour or target.version < self.since:
            return False
        if self.build and target.build != self.build and (self.build, target.build) != ("percona", "pxc"):
            return False
        return not self.before or target.version < self.before

    def __str__(self) -> str:
        bounds = [self.build or self.flavour]
        bounds += [f">= {'.'.join(map(str, self.since))}"] if self.since else []
        bounds += [f"< {'.'.join(map(str, self.before))}"] if self.before else []
        return " ".join(bounds)


EVERY = (Span("mysql"), Span("mariadb"))


class Docs(NamedTuple):
    """A rule's documentation for explain, the reports and the reference pages: plain sentences without markup.

    `why` is what happens and the evidence for it, `fix` what to do, `risk` what the fix may cost, `restart` whether it
    needs one, `exceptions` when to leave the setting alone, `reconsider_when` what would change the advice, `disagree`
    where sources contradict each other.
    """

    why: str
    fix: str
    risk: str
    exceptions: str
    reconsider_when: str
    restart: bool = False
    disagree: str = ""


class Rule(NamedTuple):
    """One rule; `needs` names the parts (server, workload, host, files) without which it is skipped.

    `options` are the canonical names that it checks, empty if it may check any; `triggers` are further options that
    make the rule apply if a file sets them. `evidence` are ids of the evidence store, `probe` is the probe that
    repeats the measurement, `fix` is the applicability (safe, unsafe) of the edits in its findings. `file_targets` are
    the targets on which option files alone can cause a finding, `quiet` the values with which a line causes none.
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
    file_targets: tuple[Span, ...]
    quiet: tuple[tuple[str, QuietValues], ...]

    @property
    def family(self) -> str:
        """The three letters at the start of the code."""
        return self.code[:3]

    @property
    def subject(self) -> str:
        """The subfolder of `rules` that contains it, such as innodb; the reference page has the same name."""
        return self.function.__module__.split(".")[1]

    def concerns(self, target: Target) -> bool:
        """Whether the rule applies to that version."""
        if self.targets is EVERY:  # most rules apply to every version, and this runs for thousands of snapshots
            return True
        for span in self.targets:  # noqa: SIM110 - any() would make a generator, three hundred times a run
            if span.holds(target):
                return True
        return False

    def check(self, context: RuleContext) -> Iterator[Finding]:
        """The rule's findings; raises MissingFact, at once or during iteration, if a part that it needs is absent."""
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
        """A finding of this rule about an option line or variable, or about the whole server if `about` is None."""
        if about is not None and self.family != "OPT":
            message = f"{about.read_as}{message}"
        return Finding(
            self.code, self.name, severity or self.severity, confidence or self.confidence,
            name_control_characters(message), name_control_characters(help),
            about.option if about else None, about.canonical if about else None, about.value if about else None,
            about.group if about else None, about.location if about else None, self.evidence, fix, actions,
        )  # fmt: skip


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
    file_targets: tuple[Span, ...] = (),
    quiet: dict[str, QuietValues] | None = None,
) -> Callable[[Callable[[RuleContext], Iterator[Finding]]], Rule]:
    """Register a function that yields findings as a rule; raises ValueError if the code or name is taken.

    Without `file_targets`, files for all targets can cause a finding. With `quiet`, lint does not import the module for
    lines whose values, by option, cause none: words as `--verbose --help` prints them, in upper case, or the least and
    the largest number.
    """

    def register(look: Callable[[RuleContext], Iterator[Finding]]) -> Rule:
        words = (code, name, severity, confidence, summary, docs)
        only = tuple(quiet.items()) if quiet else ()
        made = Rule(
            *words, look, needs, targets, options, evidence, probe, fix, triggers, file_targets or targets, only
        )
        if not _TAKEN.isdisjoint((code, name)):
            taken = next(rule for rule in RULES if code == rule.code or name == rule.name)
            raise ValueError(f"rule {code} {name} is already taken by {taken.function.__module__}")
        _TAKEN.update((code, name))
        RULES.append(made)
        return made

    return register
