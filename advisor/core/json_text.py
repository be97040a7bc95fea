"""JSON by the compiled part of the standard library's `json`; importing all of it brings in `re` and much more."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

try:
    from _json import encode_basestring_ascii as quote
    from _json import make_scanner
except ImportError:  # not CPython
    from json.encoder import encode_basestring_ascii as quote

    make_scanner = None  # type: ignore[assignment,misc]

__all__ = ["Entries", "find_entry", "loads", "quote", "read_entries", "read_file", "read_text"]


class _Defaults:
    """What `json.loads` passes to its scanner if it is called without arguments."""

    strict = True
    object_hook = object_pairs_hook = array_hook = None
    parse_int, parse_float, parse_constant = int, float, float


# One for all calls, as json.loads has.
_scan = make_scanner(_Defaults) if make_scanner is not None else None  # type: ignore[arg-type]


def loads(text: str) -> Any:
    """The value of a text that begins with it, as `json.loads` returns it; raises ValueError for invalid JSON."""
    if _scan is not None:
        try:
            return _scan(text, 0)[0]
        except StopIteration:  # no value begins here, which json.loads can explain
            pass
    import json

    return json.JSONDecoder().raw_decode(text)[0]


def read_text(path: str) -> str:
    """The text of one of our own data files, which are in UTF-8."""
    with open(path, encoding="utf-8") as file:
        return file.read()


def read_file(path: str) -> Any:
    """The value in one of our own data files."""
    return loads(read_text(path))


def find_entry(text: str, name: str) -> Any:
    """Return the value of one entry, or None: the entries are sorted by name and stand one a line, as `"name":value,`.

    Only that entry is decoded; most runs read none or one of two thousand.
    """
    start, end = text.index("\n"), text.rindex("\n}")
    while start < end:
        line = text.rindex("\n", start, (start + end) // 2 + 1)
        quote = text.index('"', line + 2)
        key = text[line + 2 : quote]
        after = text.index("\n", quote)
        if key == name:
            return loads(text[quote + 2 : after])
        start, end = (after, end) if key < name else (start, line)
    return None


class Entries:
    """The entries of a data file by name, each decoded when it is first read: a run reads fifty of a thousand.

    Copies share what is decoded. A value is never a string.
    """

    __slots__ = ("_cells",)

    def __init__(self, cells: dict[str, list[Any]] | None = None) -> None:
        self._cells = {} if cells is None else cells  # each holds the entry's JSON, and its value once that was read

    def __getitem__(self, name: str) -> Any:
        cell = self._cells[name]
        if isinstance(cell[0], str):
            cell[0] = loads(cell[0])
        return cell[0]

    def __setitem__(self, name: str, value: Any) -> None:
        self._cells[name] = [value]  # a cell of its own, because copies keep what they have

    def __delitem__(self, name: str) -> None:
        del self._cells[name]

    def __contains__(self, name: object) -> bool:
        return name in self._cells

    def __iter__(self) -> Iterator[str]:
        return iter(self._cells)

    def __len__(self) -> int:
        return len(self._cells)

    def copy(self) -> Entries:
        """Return entries that can be changed without changing these."""
        return Entries(dict(self._cells))

    def update(self, others: Entries) -> None:
        """Take over the others' entries; those of equal names are replaced."""
        self._cells.update(others._cells)

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of the entry, or the default if there is none."""
        return self[name] if name in self._cells else default

    def items(self) -> Iterator[tuple[str, Any]]:
        """Yield all names and values, which decodes each entry: see `texts` for a way without."""
        return ((name, self[name]) for name in self._cells)

    def values(self) -> Iterator[Any]:
        """Yield all values, which decodes each entry."""
        return (self[name] for name in self._cells)

    def nulls(self) -> list[str]:
        """Return the names whose value is null; decodes nothing."""
        return [name for name, (entry,) in self._cells.items() if entry is None or str(entry).startswith("null")]

    def texts(self, field: str) -> Iterator[tuple[str, str]]:
        """Yield the names of the objects that have this field, and its text; decodes nothing."""
        start = f'"{field}":"'
        for name, (entry,) in self._cells.items():
            if not isinstance(entry, str):
                text = entry.get(field)
            elif start in entry:
                text = entry.partition(start)[2].partition('"')[0]
            else:
                continue
            if text:
                yield name, text


def read_entries(path: str) -> tuple[str, Entries]:
    """The first line of one of our data files, and the entries after it: one a line, as `"name":value,`."""
    first, *lines = read_text(path).split('\n"')
    return first, Entries({name: [value] for line in lines for name, _, value in [line.partition('":')]})
