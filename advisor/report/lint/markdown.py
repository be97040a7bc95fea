"""The report of lint for tickets and merge requests: a table for each file and target, in Markdown of every forge."""

from __future__ import annotations

from advisor.report.lint import INFERRED, heading, inferred, outdated, rows
from advisor.report.render.markdown import code, prose
from advisor.report.words import counted, plural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from advisor.core.model import Finding
    from advisor.report import Checked, Page

LONGEST = 60  # characters of a setting that a table has room for


def report(files: Sequence[Checked], page: Page) -> str:
    """The whole page: counts, then what was found in each file, then what could not be read."""
    found = counted(f for c in files for f in c.findings)
    unread = [plural(len(page.broken), "file") + " not read"] if page.broken else []
    blocks = [f"## mycnf lint: {', '.join([*([found] if files else []), *unread])}"]
    blocks += [block for c in files for block in _file(c)]
    if unread:
        blocks += ["### Not read", "\n".join(f"- {code(why)}" for _, why in page.broken)]
    return "\n\n".join(blocks) + "\n"


def _file(c: Checked) -> Iterator[str]:
    yield f"### {code(c.path)} for {c.target.label}"
    if not c.findings:
        yield "Nothing found."
        return
    head = ("| Line | Severity | Rule | Setting | Finding | What to do |", "|---:|---|---|---|---|---|")
    old = outdated(c)
    known = {id(one.finding) for one in old}
    rest = [f for f in c.findings if id(f) not in known]
    if rest:
        yield "\n".join([*head, *(_row(f, c) for f in rest)])
    if old:
        yield prose(heading(old))
        lines = [f"| {at} | {code(name)} | {when} | {prose(words)} |" for at, name, when, words in rows(old, c.path)]
        yield "\n".join(["| Line | Setting | Refused by | What to do |", "|---:|---|---|---|", *lines])
    if any(inferred(f, c) for f in c.findings):
        yield INFERRED.format(c.target.label)
    rules = sorted({f"mycnf explain {f.code}" for f in c.findings})
    yield f"Why: {', '.join(code(rule) for rule in rules)}"


def _row(f: Finding, c: Checked) -> str:
    sure = "" if f.confidence.value == "certain" or inferred(f, c) else f", {f.confidence.value}"
    cells = (
        _line(f, c),
        f"{f.severity.value}{sure}",
        f"{code(f.code)} {prose(f.name)}",
        _setting(f),
        prose(f.message),
        _to_do(f),
    )
    return f"| {' | '.join(cells)} |"


def _line(f: Finding, c: Checked) -> str:
    if f.location is None:
        return ""
    number = str(f.location.line or "")
    return number if f.location.path == c.path else f"{code(f.location.path)} {number}".rstrip()


def _setting(f: Finding) -> str:
    if not f.option:
        return ""
    whole = f.option if f.value is None else f"{f.option} = {f.value}"
    return code(whole if len(whole) <= LONGEST else whole[: LONGEST - 1] + "…")


def _to_do(f: Finding) -> str:
    return " ".join([*([prose(f.help)] if f.help else []), *([f"(fix: {f.fix.applicability})"] if f.fix else [])])
