"""What a rule is: its codes, its targets, its words and what it needs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rule_cases import all_cases, context_of_case

from advisor.catalog import load
from advisor.catalog.targets import BUILD_SERIES, SERIES, parse_target
from advisor.core.model import Confidence, Target
from rules import all_rules, file_rules, find_rule, rule_modules_for
from rules._index import ANY_OPTION
from rules.core import EVERY, RULES, Docs, Span, areas, rule
from rules.core.areas import FAMILIES, Area, area_of
from rules.core.areas import find_evidence as evidence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core.context import RuleContext

CHECKOUT = Path(__file__).resolve().parents[2]
PARTS = {"server", "workload", "host", "files", "house", "findings", "schema", "parameters"}
OF_THE_USER = {"HOU", "SUP"}  # they hold a file against its user's own words, which need no evidence
DOCS = Docs("why", "fix", "risk", "exceptions", "reconsider when")


@pytest.mark.parametrize(
    ("span", "target", "holds"),
    [
        (Span("mysql"), "mysql-5.7", True),
        (Span("mysql"), "mariadb-10.11", False),
        (Span("mysql", since=(8, 0)), "mysql-5.7", False),
        (Span("mysql", since=(8, 0)), "mysql-8.0.15", True),
        (Span("mysql", since=(8, 0, 30)), "mysql-8.0.15", False),
        (Span("mysql", before=(8, 0)), "mysql-8.0.15", False),
        (Span("mysql", before=(8, 0)), "mysql-5.7.22", True),
        (Span("mariadb", since=(10, 6), before=(11, 0)), "mariadb-10.11", True),
        (Span("mariadb", since=(10, 6), before=(11, 0)), "mariadb-11.4", False),
    ],
)
def test_span(span: Span, target: str, holds: bool) -> None:
    """A span holds the versions of its flavour from its first up to but without its end."""
    assert span.holds(parse_target(target)) is holds


def test_span_in_words() -> None:
    """A span reads as people write versions."""
    assert str(Span("mysql")) == "mysql"
    assert str(Span("mysql", (8, 0, 30), (9, 0))) == "mysql >= 8.0.30 < 9.0"


def test_codes_and_names_are_unique_and_well_formed() -> None:
    """Codes are three letters and three digits, names are kebab-case, and neither occurs twice."""
    rules = all_rules()
    assert len(rules) >= 34
    assert all(re.fullmatch(r"[A-Z]{3}\d{3}", r.code) for r in rules)
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", r.name) for r in rules)
    assert len({r.code for r in rules}) == len({r.name for r in rules}) == len(rules)
    assert [r.code for r in rules] == sorted(r.code for r in rules)


@pytest.mark.parametrize("name", ["BUF001", "buf001", "oversized-read-buffer", "OVERSIZED_READ_BUFFER"])
def test_find(name: str) -> None:
    """Code and name are both accepted, in any case."""
    found = find_rule(name)
    assert found is not None
    assert found.code == "BUF001"


def test_find_nothing() -> None:
    """A word that names no rule finds none."""
    assert find_rule("no-such-rule") is None


@pytest.mark.parametrize(("code", "name"), [("BUF001", "another-name"), ("ZZZ001", "oversized-read-buffer")])
def test_a_code_or_name_is_taken_once(code: str, name: str) -> None:
    """A second rule of the same code or name is refused, and the list stays as it was."""
    all_rules()
    before = list(RULES)

    def nothing(known: RuleContext) -> Iterator[Finding]:
        yield from ()

    with pytest.raises(ValueError, match=r"already taken by rules\.memory\.session_buffers"):
        rule(code, name, summary="", docs=DOCS)(nothing)
    assert before == RULES


def test_words() -> None:
    """Each rule says in whole sentences what it is about, why, what to do, and when to reconsider it."""
    for r in all_rules():
        texts = {"summary": r.summary, **{k: v for k, v in r.docs._asdict().items() if isinstance(v, str)}}
        for name, text in texts.items():
            assert text or name == "disagree", (r.code, name)
            assert not text or text.endswith("."), (r.code, name, text)
            assert "  " not in text, r.code
            assert "issue" not in text.lower(), r.code


def test_evidence_is_in_the_store_or_it_is_an_opinion() -> None:
    """Each rule cites evidence that the store holds, or says that it is an opinion."""
    for r in all_rules():
        assert r.evidence or r.confidence is Confidence.OPINION or r.family in OF_THE_USER, r.code
        assert [e for e in r.evidence if evidence(e) is None] == [], r.code


def test_needs_and_options_exist() -> None:
    """What a rule needs is a part of what may be known, and some supported series knows each option that it names."""
    catalogs = [load(Target(flavour, patch)) for flavour, series in SERIES.items() for patch in series.values()]
    catalogs += [load(Target("mysql", patch, b)) for b, series in BUILD_SERIES.items() for patch in series.values()]
    for r in all_rules():
        assert set(r.needs) <= PARTS, r.code
        assert [o for o in r.options if not any(c.get(o) or c.find_variable(o) for c in catalogs)] == [], r.code


def test_file_rules_are_those_that_need_nothing_else() -> None:
    """What lint asks without a host is exactly the rules that need nothing but files."""
    assert [r.code for r in file_rules()] == [r.code for r in all_rules() if not r.needs]


def test_the_index_is_what_the_decorators_say() -> None:
    """The modules and options by which lint imports rules are those that `make docs` writes, none by hand."""
    check = [sys.executable, "tools/ruleindex.py", "--check"]
    ran = subprocess.run(check, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "")


def test_a_sleeping_family_can_say_nothing(tmp_path: Path) -> None:
    """If a rule of files reports a case, the options of the file select its module."""
    for case in all_cases():
        rule = find_rule(case.rule)
        if rule is None or rule.needs or not case.finds or case.server is not None:
            continue
        known = context_of_case(case, tmp_path)
        woken = rule_modules_for(known.file_verdict.effective, known.target)
        assert rule.function.__module__ in {*ANY_OPTION, *woken}, case


def test_a_rule_for_every_flavour() -> None:
    """A rule without targets of its own concerns both flavours."""
    assert [span.flavour for span in EVERY] == ["mysql", "mariadb"]


def test_some_rule_concerns_each_supported_version() -> None:
    """Every supported version has rules of every family, but for those that only the other flavour knows."""
    for flavour, series in SERIES.items():
        families = {r.family for r in all_rules() if any(s.flavour == flavour and not s.build for s in r.targets)}
        for patch in series.values():
            assert {r.family for r in all_rules() if r.concerns(Target(flavour, patch))} == families


def test_every_family_has_a_title_and_an_area() -> None:
    """Findings can be grouped under real names: no rule falls back to the area of unknown families."""
    assert {rule.family for rule in all_rules()} == FAMILIES.keys()
    assert {area_of(rule.code) for rule in all_rules()} == set(Area)


def test_rules_of_another_area_than_their_family_exist() -> None:
    """A code among the exceptions is a rule, stands there once, and differs from its family."""
    codes = [code for codes in areas._OTHER_AREAS.values() for code in codes]
    assert len(codes) == len(set(codes))
    assert set(codes) <= {rule.code for rule in all_rules()}
    assert [code for code in codes if FAMILIES[code[:3]].area is area_of(code)] == []


def test_areas_are_counted_in_words() -> None:
    """A count reads as a sentence would say it."""
    assert [Area.DATA.in_words(1), Area.AVAILABILITY.in_words(5), Area.PERFORMANCE.in_words(4)] == [
        "1 risk to data",
        "5 risks to availability",
        "4 slow or wasteful settings",
    ]


def test_rules_about_a_build_concern_no_other() -> None:
    """A rule about Percona Server holds for Percona XtraDB Cluster too, which is built on it, and not for MySQL."""
    spans = Span("mysql", build="percona"), Span("mysql", build="pxc"), Span("mysql")
    targets = [Target("mysql", (8, 4, 8), build) for build in ("percona", "pxc", "", "rds")]
    assert [[span.holds(target) for target in targets] for span in spans] == [
        [True, True, False, False],
        [False, True, False, False],
        [True, True, True, True],
    ]
    assert [str(span) for span in spans] == ["percona", "pxc", "mysql"]
