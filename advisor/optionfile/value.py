"""Comments, quotes and escapes within one line as servers parse them, and marks of templates."""

import re

_ESCAPE = r"(?s)\\(.)"
_TEMPLATED = ("{{", "{%", "{#", "<%", "${")
# File name endings of templates, appended to the name of the rendered file.
TEMPLATE_ENDINGS = (
    *(".j2", ".jinja", ".jinja2", ".erb", ".epp", ".tpl", ".tmpl", ".gotmpl", ".template", ".tftpl", ".mustache"),
    *(".mako", ".ctmpl", ".hbs", ".in"),
)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "s": " ", '"': '"', "'": "'", "\\": "\\"}


def is_template(path: str) -> bool:
    """Whether the file name marks a template."""
    return path.lower().endswith(TEMPLATE_ENDINGS)


def looks_templated(text: str) -> bool:
    """Whether the text contains the start of a template expression."""
    return any(opening in text for opening in _TEMPLATED)


def comment_start(line: str) -> int:
    """Return the index at which the comment of an option line starts, or its length: the first # outside quotes.

    Quotes count anywhere in the line, in the name too; a backslash escapes one inside quotes only.
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
    """Return the value as the server gets it: one pair of surrounding quotes is dropped, then escapes are replaced.

    Unknown escapes and a trailing backslash keep the backslash.
    """
    if len(raw) > 1 and raw[0] in "'\"" and raw[0] == raw[-1]:
        raw = raw[1:-1]
    return re.sub(_ESCAPE, _unescape, raw) if "\\" in raw else raw


def _unescape(match: re.Match[str]) -> str:
    return _ESCAPED.get(match[1], match[0])
