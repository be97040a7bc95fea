"""Runs the rules on a context, and separates findings from skipped checks."""

from __future__ import annotations

from advisor.catalog.targets import is_too_old
from advisor.core import NamedTuple
from advisor.core.errors import MycnfError
from advisor.core.model import Finding, Severity, SkippedCheck
from rules import all_rules
from rules.core.context import MissingFact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rules.core import Rule
    from rules.core.context import RuleContext


# Parts that exist only if the user configured or requested them: without them, the rules that need them do not apply.
USER_PARTS = frozenset({"findings", "house", "parameters", "schema"})
# Rule families on the version, the system and the disks: they also apply to servers without a catalog.
FAMILIES_WITHOUT_CATALOG = frozenset({"STO", "SYS", "VER"})
RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}


class RuleRun(NamedTuple):
    """The findings, worst first in an audit and by line in a file, and the skipped rules."""

    findings: tuple[Finding, ...]
    skipped: tuple[SkippedCheck, ...]


def select_rules(select: Sequence[str] | None, ignore: Sequence[str] | None) -> list[Rule]:
    """Return the rules selected by --select and --ignore; raises MycnfError for a word that matches none.

    So it does if no rule is left: nothing would be checked, and every file and server would pass.
    """
    rules = all_rules()
    wanted = _rules_named(rules, select) if select else {r.code for r in rules}
    wanted -= _rules_named(rules, ignore or ())
    if not wanted:
        raise MycnfError("select and ignore leave no rule, so nothing would be checked; ignore fewer rules")
    return [r for r in rules if r.code in wanted]


def _rules_named(rules: Iterable[Rule], words: Iterable[str]) -> set[str]:
    codes: set[str] = set()
    for word in (w.strip() for words_ in words for w in words_.split(",")):
        match = {r.code for r in rules if word.lower() in (r.code.lower(), r.name, r.family.lower())}
        if not match:
            raise MycnfError(_raise_unknown_rule(word, rules))
        codes |= match
    return codes


def _raise_unknown_rule(word: str, rules: Iterable[Rule]) -> str:
    from advisor.core.errors import did_you_mean

    hint = did_you_mean(word, {n for r in rules for n in (r.code, r.name, r.family)}, "`mycnf rules` lists them")
    return f"no rule, name or family is called {word!r}{hint}"


def run_rules(known: RuleContext, rules: Iterable[Rule]) -> RuleRun:
    """Run each rule that applies to the target; one with missing facts is recorded as skipped, with what it needs."""
    return run_for_target(known, (rule for rule in rules if applies_to(known, rule)))


def run_for_target(known: RuleContext, rules: Iterable[Rule]) -> RuleRun:
    """Run rules that all apply to the target.

    Results measured on the server's host, and then the user's house rules, override the advice.
    """
    findings: list[Finding] = []
    skipped: list[SkippedCheck] = []
    there = known.available_parts()
    for rule in rules:
        try:
            findings.extend(rule.function(known) if there.issuperset(rule.needs) else rule.check(known))
        except MissingFact as lack:
            skipped.append(SkippedCheck(rule.code, str(lack)))
    if known.is_managed:
        from rules.core.statements import possible_on_platform

        findings = possible_on_platform(known, findings)
    if known.find_source is not None:
        from rules.core.subject import adapt_help_to_source

        findings = adapt_help_to_source(known, findings)
    if known.has("server"):
        from rules.core.statements import add_setters

        findings = add_setters(known, findings)
    if known.has("probes"):
        from rules.measured.apply import apply_local_results

        findings = apply_local_results(known, findings)
    if known.has("house"):
        from rules.policy.rules import defer_to_house_rules

        findings = defer_to_house_rules(known, findings)
    return RuleRun(tuple(findings), tuple(skipped))


def applies_to(known: RuleContext, rule: Rule) -> bool:
    """Whether the rule applies to this target, and the user's configuration has the parts that it needs."""
    if rule.needs and not USER_PARTS.isdisjoint(rule.needs) and not all(map(known.has, USER_PARTS & set(rule.needs))):
        return False
    if rule.family not in FAMILIES_WITHOUT_CATALOG and is_too_old(known.target):
        return False
    return rule.concerns(known.target)


def sort_by_place(findings: Iterable[Finding]) -> list[Finding]:
    """Sort by line of the file; findings without a location come last."""

    def key(f: Finding) -> tuple[bool, str, int, int, str]:
        place = f.location
        return (
            place is None,
            place.path if place else "",
            place.line if place else 0,
            place.column if place else 0,
            f.code,
        )

    return sorted(findings, key=key)


def sort_by_severity(findings: Iterable[Finding]) -> list[Finding]:
    """Sort by severity, worst first, then by code."""
    return sorted(findings, key=lambda f: (RANK[f.severity], f.code, f.canonical or ""))


def fails(findings: Iterable[Finding], fail_on: str) -> bool:
    """Whether a finding is at least as severe as --fail-on."""
    if fail_on == "never":
        return False
    limit = RANK[Severity(fail_on)]
    return any(RANK[f.severity] <= limit for f in findings)
