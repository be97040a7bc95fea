"""Members of JSON objects with their positions, which the json module does not provide."""

from __future__ import annotations

import json
import re
from json.decoder import scanstring  # type: ignore[attr-defined]  # the json module's own reader of strings
from typing import TYPE_CHECKING, Any, NamedTuple

from advisor.carriers.document import CarrierError

if TYPE_CHECKING:
    from advisor.carriers.document import Document


class JsonMember(NamedTuple):
    """A name and its value; `key` is the offset of the name's opening quote, `start` and `end` enclose the value."""

    name: str
    value: Any
    key: int
    start: int
    end: int


def check_json(document: Document) -> None:
    """Raise CarrierError if the text is not a JSON object."""
    try:
        value = json.loads(document.text)
    except json.JSONDecodeError as error:
        raise CarrierError(
            f"{document.path}:{error.lineno}: no JSON: {error.msg} at column {error.colno}; correct the line"
        ) from error
    except RecursionError as error:
        raise CarrierError(f"{document.path}: nested too deep for a file of settings; name another file") from error
    except ValueError as error:  # a number of thousands of digits
        raise CarrierError(f"{document.path}: it holds a number that no setting has; name another file") from error
    if not isinstance(value, dict):
        raise CarrierError(f"{document.path}:1: JSON, but no object in braces; name another file")


def members(document: Document, at: int) -> list[JsonMember]:
    """Return the members of the object at an offset of valid JSON; empty if there is no object.

    Of a duplicate name the last one is used.
    """
    text = document.text
    decoder = json.JSONDecoder()
    at = _skip(text, at)
    if text[at : at + 1] != "{":
        return []
    found: dict[str, JsonMember] = {}
    at = _skip(text, at + 1)
    while text[at] == '"':
        key = at
        name, at = scanstring(text, at + 1, True)
        start = _skip(text, _skip(text, at) + 1)
        value, end = decoder.raw_decode(text, start)
        found[name] = JsonMember(name, value, key, start, end)
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at
    return list(found.values())


def _skip(text: str, at: int) -> int:
    blank = re.compile(r"[ \t\r\n]*").match(text, at)
    return blank.end() if blank else at
