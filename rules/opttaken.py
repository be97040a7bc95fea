"""OPT: lines of an option file that the server takes, and changes, passes over, or won't take for ever."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.model import Severity
from advisor.verdict import Outcome
from rules.opt import ASKED, instead, lines_with, sureness
from rules.registry import Docs, rule
from rules.subject import SAFE, mend, of_verdict, remove, revalue, written

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.model import Finding, Target
    from advisor.verdict import LineVerdict
    from rules.known import Known

ROUNDING = 0.01  # an adjustment by less than this share is a rounding that nobody will miss


@rule(
    "OPT006",
    "adjusted-value",
    summary="The server runs with another value than the one written.",
    evidence=ASKED,
    fix=SAFE,
    docs=Docs(
        why="A number outside an option's range becomes the nearest bound, one that is no multiple of the "
        "block size is rounded down, and a word that is no boolean becomes OFF. Most of it happens with a "
        "warning in the error log, some of it without any.",
        fix="Write the value that the server takes, or the one that was meant.",
        risk="Writing the value that the server already uses changes nothing.",
        exceptions="Rounding to a block size of a few bytes is a note.",
        mind="A server of this very version that prints the value as written.",
    ),
)
def adjusted_value(known: Known) -> Iterator[Finding]:
    """Lines whose value the server changes, silently or not."""
    for line in lines_with(known, Outcome.ADJUSTED):
        fix = mend("mending", "adjusted", line, known)
        stands = f"a value that the server takes as it stands: mycnf explain {line.canonical} tells which"
        yield adjusted_value.finding(
            line.reason,
            of_verdict(line),
            severity=Severity.NOTE if _is_rounding(line) else Severity.WARNING,
            confidence=sureness(line),
            help="write the value that the server takes, or the one that was meant" if fix else f"write {stands}",
            fix=fix,
        )


def _is_rounding(line: LineVerdict) -> bool:
    """Whether the value moved by less than one block and hardly at all; no durability option counts in blocks."""
    asked, given = line.placed.line.value or "", line.value or ""
    if line.option is None or not asked.isdigit() or not given.isdigit():
        return False
    moved = abs(int(asked) - int(given))
    return 0 < moved < line.option.block and moved <= ROUNDING * int(asked)


@rule(
    "OPT008",
    "deprecated-option",
    severity=Severity.NOTE,
    summary="The option works, with a warning at each start, and will go away.",
    evidence=ASKED,
    fix=SAFE,
    docs=Docs(
        why="A deprecated option still works. A later series removes it, and the server then refuses to "
        "start with the line.",
        fix="Move to the successor when it is convenient, in any case before the next upgrade.",
        risk="The successor may have another default or unit; read its description first.",
        restart=True,
        exceptions="A file that an older version reads as well may need the old name.",
        mind="The vendor taking the deprecation back.",
    ),
)
def deprecated_option(known: Known) -> Iterator[Finding]:
    """Lines with an option or a spelling that the target calls deprecated."""
    for line in known.file_verdict.lines:
        since = line.option.deprecated if line.option is not None else None
        if line.deprecated and line.outcome in (Outcome.ACCEPTED, Outcome.ADJUSTED) and _reached(since, known.target):
            fix = mend("mending", "deprecated", line, known)
            yield deprecated_option.finding(
                f"{written(line.placed.line)} is deprecated{_documented(line, known)}.",
                of_verdict(line),
                confidence=sureness(line),
                help=instead(line, fix, "plan to remove the line", known),
                fix=fix,
            )


def _documented(line: LineVerdict, known: Known) -> str:
    """Since which version, where that is written: what a server said of itself tells that it is, and not since when."""
    raw = known.catalog.options.get(line.option.name, {}) if line.option is not None else {}
    documented = raw.get("by", {}).get("documented", "").split()
    return f" since {raw['deprecated']}" if "deprecated" in documented else ""


def _reached(since: str | None, target: Target) -> bool:
    """Whether the target is as new as the version that deprecated the option, where that is known."""
    return since is None or tuple(int(n) for n in since.split(".") if n.isdigit()) <= target.version


@rule(
    "OPT009",
    "ignored-option",
    summary="The server accepts the line and does nothing with it.",
    evidence=ASKED,
    fix=SAFE,
    docs=Docs(
        why="Servers keep some removed options as stubs, so that old files still start them. Who reads the "
        "file believes in a setting that does nothing.",
        fix="Take the line out.",
        risk="None: the server does the same without it.",
        exceptions="A file that older versions read as well may need the line.",
        mind="A server of this very version that behaves differently with the line.",
    ),
)
def ignored_option(known: Known) -> Iterator[Finding]:
    """Lines that the target reads and passes over."""
    for line in lines_with(known, Outcome.IGNORED):
        yield ignored_option.finding(
            line.reason,
            of_verdict(line),
            confidence=sureness(line),
            help="remove the line",
            fix=remove(line.placed.line, SAFE),
        )


@rule(
    "OPT017",
    "unread-letters",
    severity=Severity.NOTE,
    summary="The server reads the first letter behind a number, and passes over the others.",
    evidence=ASKED,
    fix=SAFE,
    docs=Docs(
        why="Of 10GB and of 10gigs a server reads 10G, and of 10Minutes 10M: it takes the first letter behind the "
        "digits for a unit of bytes and never looks at the rest, so that a slip is taken without a word.",
        fix="Write the number with one letter.",
        risk="None: the server reads the same number.",
        exceptions="None.",
        mind="A server that refuses the value, or reads another number.",
    ),
)
def unread_letters(known: Known) -> Iterator[Finding]:
    """Numbers with more letters behind them than the server reads."""
    for line in known.file_verdict.lines:
        if (line.placed.line.value or "x")[-2:].isalpha():
            text = _as_read(line, known)
            if text is not None:
                yield unread_letters.finding(
                    f"The server reads {text}: it passes over the letters behind the first.",
                    of_verdict(line),
                    confidence=sureness(line),
                    help=f"write {text}",
                    fix=revalue(line.placed.line, text, SAFE),
                )


def _as_read(line: LineVerdict, known: Known) -> str | None:
    if line.option is None or line.option.kind not in ("int", "uint"):
        return None
    from rules.mending import number_as_read

    return number_as_read(line, known.catalog)
