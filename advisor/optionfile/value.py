"""Comments, quotes and escapes within one line, as the servers' reader takes them, and what only a template has."""

import re

_ESCAPE = r"(?s)\\(.)"
_TEMPLATED = ("{{", "{%", "{#", "<%", "${")
# What the name of a file ends with that a template engine has yet to make, behind the name of what it makes.
TEMPLATE_ENDINGS = (
    *(".j2", ".jinja", ".jinja2", ".erb", ".epp", ".tpl", ".tmpl", ".gotmpl", ".template", ".tftpl", ".mustache"),
    *(".mako", ".ctmpl", ".hbs", ".in"),
)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "s": " ", '"': '"', "'": "'", "\\": "\\"}


def is_template(path: str) -> bool:
    """Whether the name of a file says that a template engine has yet to make it."""
    return path.lower().endswith(TEMPLATE_ENDINGS)


def looks_templated(text: str) -> bool:
    """Whether anything in the text begins as a template's expression does."""
    return any(opening in text for opening in _TEMPLATED)


def comment_start(line: str) -> int:
    """Where the comment of an option line begins, or its length: at the first # outside quotes.

    Quotes count anywhere in the line, in the name too; a backslash protects one inside quotes only.
    """
    at = line.find("#")
    if at < 0:
        return len(line)
    before = line[:at]
    if "'" not in before and '"' not in before:
        return at
    return _scan(line)


def _scan(line: str) -> int:
    quote = ""
    escaped = False
    for at, char in enumerate(line):
        if char in "'\"" and not escaped:
            if not quote:
                quote = char
            elif quote == char:
                quote = ""
        if char == "#" and not quote:
            return at
        escaped = bool(quote) and char == "\\" and not escaped
    return len(line)


def unquote(raw: str) -> str:
    """The value that the server gets: one pair of quotes around the whole is dropped, then escapes are read.

    Unknown escapes keep their backslash, and so does a backslash at the end.
    """
    if len(raw) > 1 and raw[0] in "'\"" and raw[0] == raw[-1]:
        raw = raw[1:-1]
    return re.sub(_ESCAPE, _unescape, raw) if "\\" in raw else raw


def _unescape(match: re.Match[str]) -> str:
    return _ESCAPED.get(match[1], match[0])
