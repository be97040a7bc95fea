"""Texts that users read are plain technical English: no phrase of the list is in messages, pages or help."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

# Each is wrong in any context of this project; the second column is what the manuals say.
WRONG = (
    ("by somebody's choice", "explicitly configured"),
    ("by nobody's choice", "not set, by default"),
    (r"\bsomebody\b", "name the role: a client, another account, the DBA"),
    (r"(?<!['\"`])\bnobody\b(?!['\"`])", "no client, no account, not set"),
    (r"\bwhoever\b", "name the role: the account that, the user who"),
    (r"\bwhosoever\b", "name the role"),
    (r"\bput aside\b", "suppressed"),
    (r"could(n't| not) be looked at", "skipped: needs …"),
    (r"\blooked at,? and (is |was |found )*fine", "passed checks"),
    (r"\bfound (to be )?fine\b", "passed"),
    (r"no option of this name", "unknown option; did you mean …?"),
    (r"\bis no (option|server|number|value|file|reason|directory|host|name|version|size|command)\b", "is not a …"),
    (r"is no number to the server", "invalid number '…'"),
    (r"has no longer this option", "removed in …"),
    (r"what it comes with", "default"),
    (r"\bpass(es|ed|ing)? over\b", "ignored, ignores"),
    (r"\bgiver\b", "donor"),
    (r"found a cluster anew", "bootstrap a cluster"),
    (r"the data parts\b", "the data diverges"),
    (r"\bmend(s|ed|ing)?\b", "fix, repair, recover"),
    (r"\bunmended\b", "not fixed"),
    (r"\bturned away\b", "connection refused"),
    (r"all connections were taken", "max_connections reached"),
    (r"\bfor ever\b", "never purged, never ends, without limit"),
    (r"time, chance or order", "nondeterministic statements"),
    (r"stands? in (the|an?|its|another|charts|those)\b(?! way)", "is in"),
    (r"\banswers again\b", "reconnected"),
    (r"\banew\b", "again; created again; restarted"),
    (r"\bafresh\b", "again"),
    (r"\b(lay|lays|laid) (it |them )?beside\b", "compare"),
    (r"\blays? .{0,30}beside each other", "compares"),
    (r"\bnothing is kept unasked", "saved only when asked"),
    (r"\bunasked\b", "not asked; without being asked"),
    (r"what would change (our|its|the) mind", "Reconsider when …"),
    (r"\bour mind\b", "Reconsider when …"),
    (r"\bonly who types\b", "To run anyway, type: …"),
    (r"\bthe file (says|tells|speaks)\b", "is set in the file; the file sets"),
    (r"\b(the|a|this|each) rule (tells|speaks|says|is told)\b", "the rule reports, applies"),
    (r"what was tried to break", "How we tried to break it"),
    (r"\b(is|are|was|were|be) told\b(?! (to|by|that|how|which|what|where|when|whether|not to)\b)", "reported, shown"),
    (r"\btell(s|ing)? of\b", "report, show, describe"),
    (r"\bspeak(s|ing)? of\b", "name, apply to, be about"),
    (r"\bhas to say\b", "reports"),
    (r"\bnothing is to be said\b", "no findings"),
    (r"\bis yours to run\b", "mycnf never runs it for you"),
    (r"\brests? on\b", "is based on"),
    (r"\bequally near\b", "single NUMA node"),
    (r"\bsays? of turning\b", "the rotational flag"),
    (r"\bunlike files\b", "differs from the files"),
    (r"\ba reason is wanted", "Enter a reason"),
    (r"\b(is|are) wanted\b", "is requested, is required"),
    (r"\bstays? what it was", "is unchanged"),
    (r"\blet(s|ting)? go of\b", "release, close, drop"),
    (r"\bparted by\b", "separated by"),
    (r"\bcomes? to (naught|nothing)\b", "has no effect"),
    (r"\bof its own accord\b", "by itself, automatically"),
    (r"\bwherefrom\b", "from where, the source"),
    (r"\bwhence\b", "from where"),
    (r"\bwhither\b", "where"),
    (r"\bfor want of\b", "because … is missing"),
    (r"\bin vain\b", "without effect"),
    (r"\bforetel(l|ls|ling)\b|\bforetold\b", "predict"),
    (r"(?<!['\"`])\b(un)?heed(s|ed|ing)?\b", "use, follow, ignore"),
    (r"\bknows? (nothing )?of\b", "does not have; has"),
    (r"\bgoes on (with|reading)\b", "continues with"),
    (r"\bnamesake\b", "the option of the same name"),
    (r"\bbeside (what|the one that|its own)\b", "in addition to; next to"),
    (r"\bas it (likes|pleases)\b", "freely, in any order"),
    (r"\bthere is no telling\b", "unknown"),
)  # fmt: skip
PATTERNS = tuple((re.compile(pattern, re.IGNORECASE), instead) for pattern, instead in WRONG)

# Hits that are left, by package. The counts may only fall; a package without an entry has none.
ALLOWED: dict[str, int] = {
    "advisor/collect": 1,  # "there is no server socket …"
    "docs/fleet.md": 1,  # the status `unasked` is part of the JSON
    "docs/sample.md": 1,  # the rule threads-made-anew keeps its name
    "docs/texts.md": 1,  # "there is no server to ask"
    "schemas/fleet.schema.json": 1,  # the status `unasked`
}


class Text(NamedTuple):
    """A text that users read, and where it stands."""

    path: str
    line: int
    text: str


def user_texts(checkout: Path) -> list[Text]:
    """String constants of the product (docstrings left out), its evidence, descriptions of options, schemas and pages.

    docs/rules has the texts of the rules again, with names of rules, which stay.
    """
    texts: list[Text] = []
    for package in ("advisor", "rules", "probes"):
        for path in sorted((checkout / package).rglob("*.py")):
            texts += string_constants(path.read_text(), path.relative_to(checkout).as_posix())
    pages = [checkout / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    pages += (checkout / "examples").rglob("README.md")
    pages += [page for page in (checkout / "docs").rglob("*.md") if page.parent.name != "rules"]
    pages += [*(checkout / "rules/evidence").glob("*.toml"), *(checkout / "schemas").glob("*.json")]
    pages += (checkout / "advisor/catalog/data/descriptions").glob("*.toml")
    for path in sorted(pages):
        name = path.relative_to(checkout).as_posix()
        texts += [Text(name, number, line) for number, line in enumerate(path.read_text().splitlines(), 1)]
    return texts


def string_constants(source: str, path: str) -> list[Text]:
    """The string constants of a module that hold a blank, without its docstrings."""
    tree = ast.parse(source)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    return [
        Text(path, node.lineno, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value
        if id(node) not in docstrings
    ]


def package_of(path: str) -> str:
    """The package or page that a hit is counted under."""
    return "/".join(path.split("/")[:2])


@pytest.fixture(scope="module")
def hits(checkout: Path) -> dict[str, list[str]]:
    """What is wrong, by package: file, line and phrase, and what to say instead."""
    found: dict[str, list[str]] = {}
    for path, line, text in user_texts(checkout):
        for pattern, instead in PATTERNS:
            for match in pattern.finditer(text):
                found.setdefault(package_of(path), []).append(f"{path}:{line}: {match[0]!r}. Say instead: {instead}")
    return found


def test_no_phrase_of_the_list_is_in_texts_of_users(hits: dict[str, list[str]]) -> None:
    """No package has more hits than the table allows."""
    above = [line for package, lines in hits.items() if len(lines) > ALLOWED.get(package, 0) for line in lines]
    counts = Counter({package: len(lines) for package, lines in hits.items()})
    assert not above, "\n".join([*above, f"counts by package: {dict(counts.most_common())}"])


def test_the_list_is_long_and_each_phrase_is_found() -> None:
    """The list has 60 phrases or more, and the reader of modules finds them in messages and not in docstrings."""
    assert len(WRONG) >= 60
    module = '"""Nobody reads this."""\nMESSAGE = f"{1} lines were passed over"\n'
    texts = string_constants(module, "module.py")
    assert [text.text for text in texts] == [" lines were passed over"]
    assert [pattern.pattern for pattern, _ in PATTERNS if pattern.search(texts[0].text)] == [WRONG[15][0]]
