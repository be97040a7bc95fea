"""Converts documents to frozen values, or reports the place of what is invalid; and back."""

from __future__ import annotations

import json
import re
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")
_PLACE = r"(.*?)(?: - at `\$\.?(.*)`)?"


class ShapeError(ValueError):
    """A part of a document is invalid: `place` is its path, `words` says what is wrong."""

    def __init__(self, place: str, words: str) -> None:
        super().__init__(f"{place}: {words}")
        self.place = place
        self.words = words


def to_value(document: object, kind: type[T]) -> T:
    """The document as a value of that type; fields that the type does not have are ignored. Raises ShapeError."""
    try:
        return msgspec.convert(document, kind)
    except msgspec.ValidationError as error:
        told = re.fullmatch(_PLACE, str(error), re.DOTALL)
        words, place = (told[1], told[2] or "") if told else (str(error), "")
        raise ShapeError(place, words.replace("`", "")) from error
    except UnicodeEncodeError as error:  # half a character in a name, which JSON's escapes can write
        raise ShapeError("", "a name that is no text") from error


def decode_json(data: bytes, kind: type[T]) -> T | None:
    """Decode JSON to a value in one step, in half the time; None if it needs the slow path.

    That is whatever is wrong, and what is right for the standard library alone: surrogates, NaN.
    """
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def to_plain(value: object) -> Any:
    """The value as dictionaries, lists, strings and numbers, for JSON."""
    return msgspec.to_builtins(value)


def format_json(document: object) -> bytes:
    """Plain values as JSON with one name per line, in ASCII only."""
    flat = json.dumps(document, ensure_ascii=True).encode("ascii")
    try:
        # The standard library writes in C only what it doesn't indent: four times as fast, and the bytes are the same.
        return msgspec.json.format(flat, indent=1)
    except (msgspec.DecodeError, RecursionError):  # half characters, NaN
        return json.dumps(document, ensure_ascii=True, indent=1).encode("ascii")
