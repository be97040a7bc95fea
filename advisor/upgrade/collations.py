"""The collation that a server gives a character set when the file names the set alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.core.model import Confidence, Severity
from advisor.upgrade import keep
from advisor.upgrade.change import Area, DefaultChange
from advisor.upgrade.consequences import said_of
from advisor.verdict import Outcome
from advisor.verdict.charsets import plain

if TYPE_CHECKING:
    from advisor.core.model import Target
    from advisor.verdict import FileVerdict

CHARSET, COLLATION = "character_set_server", "collation_server"
# The default collations that are no general ones.
LANGUAGES = {
    **dict.fromkeys(("big5", "gb18030", "gb2312", "gbk"), "chinese"),
    **dict.fromkeys(("cp932", "eucjpms", "sjis", "ujis"), "japanese"),
    **dict.fromkeys(("dec8", "latin1", "swe7"), "swedish"),
    "euckr": "korean",
    "hp8": "english",
    "latin5": "turkish",
    "tis620": "thai",
}
UNICODE = ("utf8mb3", "utf8mb4", "ucs2", "utf16", "utf32")


def changed_collation(old: FileVerdict, new: FileVerdict) -> DefaultChange | None:
    """The change under a file that sets the character set and no collation, None where there is none."""
    line = old.effective.get(CHARSET) or new.effective.get(CHARSET)
    if line is None or not line.value or COLLATION in {*old.effective, *new.effective}:
        return None
    charset = plain(line.value)
    before, after = default_of(charset, old.catalog.target), default_of(charset, new.catalog.target)
    if before == after:
        return None
    wanted = f"{COLLATION} = {before}"
    verdict = keep.borne_out([wanted], new)[wanted]
    taken = verdict.outcome is Outcome.ACCEPTED
    asked = old.catalog.exact and new.catalog.exact
    return DefaultChange(
        option=COLLATION,
        formerly=None,
        area=Area.DATA,
        severity=Severity.WARNING,
        confidence=Confidence.CERTAIN if asked else Confidence.LIKELY,
        before=before,
        after=after,
        message=said_of(COLLATION, after)[1],
        keep=wanted if taken else None,
        lost="" if taken else f"{new.catalog.target.label} knows no {before}.",
    )


def default_of(charset: str, target: Target) -> str:
    """The collation that goes with a character set, asked of running servers; only those of Unicode ever changed."""
    if charset == "binary":
        return charset
    if charset not in UNICODE:
        return f"{charset}_{LANGUAGES.get(charset, 'general')}_ci"
    if charset == "utf8mb4" and target.since("mysql", 8):
        return "utf8mb4_0900_ai_ci"
    # Since 11.5 character_set_collations names them.
    return f"{charset}_uca1400_ai_ci" if target.since("mariadb", 11, 5) else f"{charset}_general_ci"
