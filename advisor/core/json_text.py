"""JSON by the compiled part of the standard library's `json`; importing all of it brings in `re` and much more."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

try:
    from _json import encode_basestring_ascii as quote
    from _json import make_scanner
except ImportError:  # not CPython
    from json.encoder import encode_basestring_ascii as quote

    make_scanner = None  # type: ignore[assignment,misc]

__all__ = ["loads", "quote", "read_file"]


class _Defaults:
    """What `json.loads` tells its scanner if it is called without arguments."""

    strict = True
    object_hook = object_pairs_hook = array_hook = None
    parse_int, parse_float, parse_constant = int, float, float


def loads(text: str) -> Any:
    """The value of a text that begins with it, as `json.loads` returns it; raises ValueError for invalid JSON."""
    if make_scanner is not None:
        try:
            return make_scanner(_Defaults)(text, 0)[0]  # type: ignore[arg-type]
        except StopIteration:  # no value begins here, which json.loads can explain
            pass
    import json

    return json.loads(text)


def read_file(path: str) -> Any:
    """The value in one of our own data files, which are in UTF-8."""
    with open(path, encoding="utf-8") as file:
        return loads(file.read())
