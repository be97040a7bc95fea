"""What options do, in words: for every option that a rule is about and for those that option files set most."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from advisor.catalog import load, presence
from advisor.catalog.presence import all_descriptions, describe_option, find_presence
from advisor.catalog.targets import SERIES
from advisor.core.model import Target
from rules._index import BY_OPTION

CATALOGS = [load(Target(flavour, patch)) for flavour, series in SERIES.items() for patch in series.values()]
KNOWN = {name for catalog in CATALOGS for name in catalog.options}
OPTIONS = sorted({name for names in BY_OPTION.values() for name in names} & KNOWN)
MOST_USED = 150
SETTING = re.compile(r"(?:loose[-_])?([A-Za-z][\w-]*)\s*(?:=|$)")
SERVER_GROUP = re.compile(r"\[(mysqld|mariadbd?|server|galera|mariadb|mysqld-\S+|mariadb-\S+)\]")


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_of_a_rule_is_described(name: str) -> None:
    """Every option that is advised to be changed has a description of what it does."""
    assert describe_option(name), f"add {name} to a file of advisor/catalog/data/descriptions"


def test_the_most_used_options_are_described(shared: Path) -> None:
    """The options that most option files of the corpus set, counted once a file."""
    counts: Counter[str] = Counter()
    for path in sorted((shared / "corpus").rglob("*.cnf")):
        counts.update(_options_set(path))
    often = [name for name, _ in counts.most_common() if name in KNOWN][:MOST_USED]
    assert [name for name in often if not any(describe_option(name, c.get(name)) for c in CATALOGS)] == []


def _options_set(path: Path) -> set[str]:
    names, inside = set(), False
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        if line.lstrip().startswith("["):
            inside = bool(SERVER_GROUP.match(line.strip()))
        elif inside and (found := SETTING.match(line.strip())):
            names.add(found[1].lower().replace("-", "_"))
    return names


@pytest.mark.parametrize("name", sorted(all_descriptions()))
def test_a_description_is_a_short_paragraph_of_an_option_that_exists(name: str) -> None:
    """One to four sentences that fit a screen of 80 by 24, about an option that some version knows."""
    text = describe_option(name)
    assert name in KNOWN or find_presence(name) is not None
    assert text == " ".join(text.split())
    assert text.endswith(".")
    assert 6 <= len(text.split()) <= 90


def test_an_alias_is_described_by_what_it_stands_for() -> None:
    """Another spelling without a paragraph of its own has that of the option that it sets."""
    aliases = [
        option for catalog in CATALOGS for name in catalog.options if (option := catalog.get(name)) and option.alias_of
    ]
    described = [o for o in aliases if o.name not in all_descriptions() and o.alias_of in all_descriptions()]
    assert described
    for option in described:
        assert describe_option(option.name, option) == all_descriptions()[option.alias_of or ""]


def test_a_description_that_is_read_alone_is_that_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """One option is looked up without parsing hundreds, with the same text; names that nobody described have none."""
    whole = dict(all_descriptions())
    monkeypatch.setattr(presence, "_descriptions", {})
    assert {name: describe_option(name) for name in whole} == whole
    for other in ("", "no_such_option", "port = 1", 'port"', "por"):
        assert describe_option(other) == ""
