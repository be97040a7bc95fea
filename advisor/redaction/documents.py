"""Masks secrets of which name and value are apart: in two pairs, in a block of YAML, in base64, in a private key."""

from __future__ import annotations

import re
from base64 import b64decode
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

# Quotes may be escaped: JSON is also written within JSON. No value here reaches beyond its line.
_MARK = r"\\{0,3}[\"']?"
_ABOUT = r"(?i)(?<![\w.-])(?:parameter_?|option_?|variable_?|env_?|flag_?)?"
_NAME = re.compile(rf"{_ABOUT}(?:name|key){_MARK}[ \t]{{0,40}}[:=][ \t]{{0,40}}{_MARK}(?P<name>[\w.-]{{1,80}})")
_KEY = rf"{_ABOUT[4:]}value{_MARK}[ \t]{{0,40}}[:=][ \t]{{0,40}}"
_VALUE = r"(?P<value>\\{1,3}[\"'][^\"'\\\n]*|'[^'\n]*'?|\"(?:\\.|[^\"\\\n])*\"?|[^\s,\]}\"'\\|>][^,\]}\n]*)"
# Between the two pairs of one entry there is no bracket, no other entry of a list, and little else.
_GAP = r"(?:(?!\n\s{0,80}-\s)[^{}]){0,200}?"
_AFTER = re.compile(rf"(?i){_GAP}{_KEY}{_VALUE}")
_BEFORE = re.compile(rf"(?i){_KEY}{_VALUE}{_GAP}\Z")
_REACH = 300  # characters before a name in which its value may be
_OWN_LINE = re.compile(r"[ \t]*(?:-[ \t]+)?\w+[ \t]*[:=][ \t]*\Z")
_WHOLE = re.compile(r"[^\s\"'\\|>{\[][^\n]*")

_BLOCK = re.compile(
    r"(?P<indent>[ \t]*(?:-[ \t]+)?)[\"']?(?P<name>[\w.-]{1,80})[\"']?[ \t]*:[ \t]*[|>][-+0-9]*[ \t]*(?:#.*)?"
)
_GROUP = re.compile(r"[ \t]*\[[\w.-]+\]")
_KEY_BEGINS = re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----")
_KEY_ENDS = "-----END "
_LONGEST_KEY = 200  # lines
_ENCODED = re.compile(r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{32,}={0,2}(?![A-Za-z0-9+/=])")


def mask_apart(text: str, is_secret: Callable[[str], bool], mask: Callable[[str], str]) -> str:
    """Mask such secrets in a text; the number of its lines stays the same, and masking again changes nothing.

    `is_secret` says whether a name is that of a secret, `mask` masks one within its own quotes.
    """
    if "value" in text.lower():
        text = _mask_entries(text, is_secret, mask)
    if "\n" in text and ("|" in text or ">" in text):
        text = _mask_blocks(text, is_secret, mask)
    if "PRIVATE KEY-----" in text:
        text = _mask_private_keys(text, mask)
    if "data:" not in text:
        return text
    return _ENCODED.sub(lambda match: mask(match[0]) if _holds_secret(match[0], is_secret) else match[0], text)


def _mask_entries(text: str, is_secret: Callable[[str], bool], mask: Callable[[str], str]) -> str:
    """Mask the value in `name: X_PASSWORD` and `value: x`, as lists of variables and parameters have them."""
    places: list[tuple[int, int]] = []
    for named in _NAME.finditer(text):
        if not is_secret(named["name"]):
            continue
        start = max(0, named.start() - _REACH)
        after, before = _AFTER.match(text, named.end()), _BEFORE.search(text[start : named.start()])
        if after:
            places.append(_place(text, *after.span("value")))
        elif before:
            places.append(_place(text, start + before.start("value"), start + before.end("value")))
    kept, done = [], 0
    for begin, end in sorted(places):
        if begin >= done:
            kept += [text[done:begin], mask(text[begin:end])]
            done = end
    return "".join(kept) + text[done:]


def _place(text: str, start: int, end: int) -> tuple[int, int]:
    """The place of the whole value: one without quotes that has its line to itself ends with the line."""
    whole = _WHOLE.match(text, start) if _OWN_LINE.match(text[text.rfind("\n", 0, start) + 1 : start]) else None
    return start, whole.end() if whole else end


def _mask_blocks(text: str, is_secret: Callable[[str], bool], mask: Callable[[str], str]) -> str:
    """Mask the lines of a block whose key is a secret's name; an option file in one is masked line by line."""
    lines = text.split("\n")
    for at, line in enumerate(lines):
        opens = _BLOCK.fullmatch(line.rstrip("\r")) if ("|" in line or ">" in line) else None
        if opens is None or not is_secret(opens["name"]):
            continue
        end = at + 1
        while end < len(lines) and (not lines[end].strip() or _indent(lines[end]) > len(opens["indent"])):
            end += 1
        if not any(map(_GROUP.match, lines[at + 1 : end])):
            lines[at + 1 : end] = (_mask_line(line, mask) for line in lines[at + 1 : end])
    return "\n".join(lines)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _mask_line(line: str, mask: Callable[[str], str]) -> str:
    inner = line.strip()
    return line.replace(inner, mask(inner), 1) if inner else line


def _mask_private_keys(text: str, mask: Callable[[str], str]) -> str:
    """Mask what is between the first and the last line of a private key, or between its marks on one line."""
    lines, last = text.split("\n"), 0
    for at, line in enumerate(lines):
        begins = _KEY_BEGINS.search(line) if at >= last else None
        if begins is None:
            continue
        end = line.find(_KEY_ENDS, begins.end())
        if end >= 0 or "\\n" in line[begins.end() :]:
            end = end if end >= 0 else len(line)
            lines[at] = line[: begins.end()] + mask(line[begins.end() : end]) + line[end:]
            continue
        rest = range(at + 1, min(len(lines), at + _LONGEST_KEY))
        last = next((number for number in rest if _KEY_ENDS in lines[number]), 0)
        lines[at + 1 : last] = (_mask_line(line, mask) for line in lines[at + 1 : last])
    return "\n".join(lines)


def _holds_secret(encoded: str, is_secret: Callable[[str], bool]) -> bool:
    """Whether base64 is that of a text with a secret's name before a sign."""
    try:
        text = b64decode(encoded, validate=True).decode("utf-8")
    except ValueError:
        return False
    return any(map(is_secret, re.findall(r"(?<![\w.-])([\w.-]{1,80})[ \t]*[:=]", text)))
