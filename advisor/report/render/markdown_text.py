"""Text of others as Markdown that shows it and does nothing else: no markup, HTML, link, mention or reference."""

from __future__ import annotations

import re

from advisor.redaction.secrets import escape_text

# A word with the punctuation of the sentence around it.
_AROUND = "([\"'(]*)(.*?)([\"'),;:.!?\u2026]*)"
_URL = re.compile(r"https?://[\w.~:/?#@!$&'*+,;=%-]+", re.ASCII)
# A word that no dialect of Markdown and no forge makes anything of: letters, a number, or several of these joined.
_SIGNS = r"[-=+%/\u2013\xb7\xd7\u2264\u2265\u2026\u2190\u2192]"
_WORD = rf"(?:[^\W_]+(?:['/-][^\W_]+)*|[-+]?\d+(?:[.,:]\d+)*[%A-Za-z]*|{_SIGNS}|)"
# Words that forges link although they look plain: commits, and issues of trackers.
_LINKED = r"[0-9A-Fa-f]{7,64}|[A-Za-z][A-Za-z0-9]*-\d+"


def prose(text: str) -> str:
    """A sentence on one line; each word that could mean something to a renderer stands in a code span."""
    return " ".join(_word(word) for word in escape_text(text).split())


def code(text: str) -> str:
    """The text as a code span, fit for a table's cell too; a space where there is none, as a span can't be empty."""
    # Tables are cut at their bars before code spans are looked for, and renderers differ in how one is escaped.
    return "&#124;".join(_span(part) if part else "" for part in escape_text(text).split("|")) or "` `"


def linked(url: str, words: str) -> str:
    """Words with an address behind them, where it is one of the web; the words alone else."""
    shown = prose(words)
    return f"[{shown}]({url})" if _URL.fullmatch(url) else shown


def _span(text: str) -> str:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    # One space at each end is taken off again, unless there is nothing but spaces.
    pad = " " if text[0] in "` " or text[-1] in "` " else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _word(word: str) -> str:
    parts = re.fullmatch(_AROUND, word)
    before, bare, after = parts.groups() if parts else ("", word, "")
    while after.startswith(")") and bare.count("(") > bare.count(")"):
        bare, after = bare + ")", after[1:]
    if re.fullmatch(_WORD, bare) and not re.fullmatch(_LINKED, bare):
        return word
    return f"{before}{code(bare)}{after}"
