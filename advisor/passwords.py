"""Passwords inside a text of any kind: statements, addresses, lists of pairs, command lines of clients."""

import re

from advisor.redact import MASK, is_secret

# None of the patterns looks far ahead from every place, for whoever writes the text may wish it took for ever.
_QUOTED = r"'(?:\\.|[^'\\])*'?|\"(?:\\.|[^\"\\])*\"?"
_LITERAL = rf"(?i)(?:{_QUOTED})|\b0x[0-9a-f]+"
_IDENTIFIED = r"(?i)\bidentified\s{1,9}(?:by|with|via|as)\b"
_CALLED = rf"(?i)(?P<lead>password(?:\s{{0,9}}[=(]\s{{0,9}}|\s{{1,9}}))(?P<value>{_QUOTED})"
_SET_PASSWORD = r"(?i)(?P<lead>\bset\s{1,9}password\b)[^;]*"  # noqa: S105 - a pattern, no password
_NAMED = r"(?<![\w.-])(?P<name>[\w.-]{1,80})[\"'`]?\s{0,9}"
# A value ends with its word, a mark behind it left out, or where another pair begins.
_VALUE = rf"{_QUOTED}|(?:[^\s'\";,&]|[;,&](?!\s|$|[\w.-]{{1,80}}\s{{0,9}}=))+"
_CLIENT = (
    r"(?i)(?P<lead>\b(?:mysql|maria)[\w.-]{0,40}(?:\s{1,9}(?!-p)[^\s;|&]{1,200}){0,20}\s{1,9}-p)"
    rf"(?!rint|rune|ath\b|erm\b)(?P<value>{_QUOTED}|[^\s'\"]+)"
)
_NO_SECRET = r"(?i)(?:names|set|charset|collate|_mode|time_zone|isolation)\s{0,9}=?\s{0,9}$"  # noqa: S105 - a pattern
_BEFORE = 40  # characters before a literal that say what it is


def without(text: str, lower: str, equals: str) -> str:
    """The text with the passwords in it masked; doing so again changes nothing.

    `lower` is the text in lower case, `equals` the characters that may stand between a name and its value, none where
    no name of a secret is in the text.
    """
    if "@" in text and ("://" in text or "@(" in text or "@tcp(" in lower or "@unix(" in lower):
        text = "".join(map(_without_login, re.split(r"(\s+)", text)))
    if " -p" in text and ("mysql" in lower or "maria" in lower):
        text = re.sub(_CLIENT, _led, text)
    if not equals:
        return text
    if "identified" in lower and (found := re.search(_IDENTIFIED, text)):
        text = text[: found.end()] + re.sub(_LITERAL, _masked, text[found.end() :])
    if "passw" in lower:
        text = re.sub(_SET_PASSWORD, rf"\g<lead> {MASK}", text)
        text = re.sub(_CALLED, _led, text)
    return _without_pairs(text, equals)


def without_literals(value: str) -> str:
    """Statements without what they say in quotes, but for names of character sets and the like."""
    quote = value[:1] if value[:1] in ("'", '"') and value.rfind(value[:1]) > 0 else ""
    end = value.rfind(quote) if quote else len(value)
    inner = value[len(quote) : end]

    def shown(found: re.Match[str]) -> str:
        before = inner[max(0, found.start() - _BEFORE) : found.start()]
        return found[0] if re.search(_NO_SECRET, before) else _masked(found)

    return quote + re.sub(_LITERAL, shown, inner) + value[end:]


def _without_login(word: str) -> str:
    """An address without its password: scheme://user:password@host, or user:password@tcp(host)."""
    head, at, host = word.rpartition("@")
    begins = r"^[^:]+:" if host.startswith(("(", "tcp(", "unix(")) else r"://[^/:@]*:" if "://" in head else ""
    found = re.search(begins, head) if begins else None
    return head[: found.end()] + MASK + at + host if found and found.end() < len(head) else word


def _without_pairs(text: str, equals: str) -> str:
    kept, done = [], 0
    for named in re.finditer(rf"{_NAMED}[{equals}]\s{{0,9}}", text):
        if named.start() < done or not is_secret(named["name"]):
            continue
        value = re.compile(_VALUE).match(text, named.end())
        if value:
            kept += [text[done : named.end()], _mask(value[0])]
            done = value.end()
    return "".join(kept) + text[done:]


def _led(found: re.Match[str]) -> str:
    return found["lead"] + _mask(found["value"])


def _masked(found: re.Match[str]) -> str:
    return _mask(found[0])


def _mask(value: str) -> str:
    """The mask in the value's own quotes; an empty value stays, for there is nothing to hide."""
    quote = value[0] if value[0] in "'\"" else ""
    closed = quote if len(value) > 1 and value.endswith(quote) else ""
    inner = value[len(quote) : len(value) - len(closed)]
    return f"{quote}{MASK}{closed}" if inner else value
