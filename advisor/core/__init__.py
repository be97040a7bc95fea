"""What all packages share; here, light versions of what the standard library has: NamedTuple, StrEnum and JSON.

typing, enum and the named tuples of both took a third of the time of a lint, json and the `re` that it imports a
fifth: see docs/adr/0002.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from enum import StrEnum as StrEnum
    from typing import Any, Self
    from typing import NamedTuple as NamedTuple
else:
    try:
        from _collections import _tuplegetter as _field
    except ImportError:  # not CPython

        def _field(place: int, _doc: str) -> property:
            return property(lambda values: values[place])

    # Compiling a constructor takes as long as so many calls of the general one spend more than it: those with keywords
    # count as WITH_KEYWORDS calls.
    COMPILED_AFTER = 200
    WITH_KEYWORDS = 7

    _getters: list[Any] = []  # of the first field, the second and so on, the same for all classes
    _calls: dict[type, int] = {}  # of the general constructor

    class _NamedTupleType(type):
        """Turns the annotations of a class into the fields of a tuple."""

        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            if bases == (tuple,):
                return super().__new__(cls, name, bases, body)
            fields = tuple(body.get("__annotations__", ()))
            defaults = {field: body[field] for field in fields if field in body}
            _getters.extend([_field(place, "") for place in range(len(_getters), len(fields))])
            # All at once: anything set on a class after it was made costs as much as the rest of a small class.
            own = {"__slots__": (), "_fields": fields, "__match_args__": fields, "_field_defaults": defaults}
            return super().__new__(cls, name, bases, {**own, **body, **dict(zip(fields, _getters, strict=False))})

        @property
        def __signature__(cls) -> Any:
            """The constructor's signature for help() and tools: __new__ takes any arguments until it is compiled."""
            from inspect import signature

            whole = signature(_constructor(cls))
            return whole.replace(parameters=[*whole.parameters.values()][1:])

    class NamedTuple(tuple, metaclass=_NamedTupleType):
        """typing.NamedTuple in a tenth of the time: the constructor is compiled only for classes with many values."""

        __slots__ = ()

        def __new__(cls, *values: Any, **named: Any) -> Self:
            calls = _calls[cls] = _calls.get(cls, 0) + (WITH_KEYWORDS if named else 1)
            later = cls._fields[len(values) :]
            if named:
                given = named if len(named) == len(later) else {**cls._field_defaults, **named}
                if not named.keys() <= set(later) <= given.keys():
                    return _constructor(cls)(cls, *values, **named)  # raises the TypeError of any function
                values += tuple([given[field] for field in later])
            elif later and len(later) <= len(cls._field_defaults):
                values += tuple(cls._field_defaults.values())[-len(later) :]
            elif len(values) != len(cls._fields):
                return _constructor(cls)(cls, *values)
            if calls > COMPILED_AFTER:
                cls.__new__ = _constructor(cls)
            return tuple.__new__(cls, values)

        @classmethod
        def _make(cls, values: Iterator[Any]) -> Self:
            return cls(*values)

        def _replace(self, **named: Any) -> Self:
            fields, values = self._fields, [*self]
            for field, value in named.items():
                if field not in fields:
                    raise ValueError(f"Got unexpected field names: {[name for name in named if name not in fields]!r}")
                values[fields.index(field)] = value
            return tuple.__new__(type(self), values)

        def _asdict(self) -> dict[str, Any]:
            return dict(zip(self._fields, self, strict=True))

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)

        def __repr__(self) -> str:
            return f"{type(self).__name__}({', '.join(f'{f}={v!r}' for f, v in self._asdict().items())})"

    def _constructor(cls: type) -> Any:
        """Return the compiled constructor of a named tuple."""
        names = ", ".join(cls._fields)
        made = eval(f"lambda _cls, {names}: _new(_cls, ({names},))", {"_new": tuple.__new__})  # noqa: S307 - our own names
        made.__defaults__ = tuple(cls._field_defaults.values())
        made.__name__ = made.__qualname__ = "__new__"
        return made

    class _StrEnumType(type):
        """Turns the strings in the body of a class into its members."""

        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            words = {key: word for key, word in body.items() if isinstance(word, str) and key[0] != "_"}
            made = super().__new__(cls, name, bases, {key: body[key] for key in body if key not in words})
            made.__members__ = {key: str.__new__(made, word) for key, word in words.items()}
            made._by_value = {str(member): member for member in made.__members__.values()}
            for key, member in made.__members__.items():
                member.name = key
                member.value = str(member)
                setattr(made, key, member)
            return made

        def __call__(cls, value: str) -> StrEnum:
            member = cls._by_value.get(value)
            if member is None:
                raise ValueError(f"{value!r} is not a valid {cls.__name__}")
            return member

        def __iter__(cls) -> Iterator[StrEnum]:
            return iter(cls.__members__.values())

        def __len__(cls) -> int:
            return len(cls.__members__)

        def __contains__(cls, value: object) -> bool:
            return value in cls._by_value

        def __getitem__(cls, name: str) -> StrEnum:
            return cls.__members__[name]

    class StrEnum(str, metaclass=_StrEnumType):
        """enum.StrEnum without its import."""

        __slots__ = ("name", "value")

        def __reduce__(self) -> tuple[Any, ...]:
            return type(self), (self.value,)

        def __repr__(self) -> str:
            return f"<{type(self).__name__}.{self.name}: {self.value!r}>"


class _Defaults:
    """What `json.loads` passes to its scanner if it is called without arguments."""

    strict = True
    object_hook = object_pairs_hook = array_hook = None
    parse_int, parse_float, parse_constant = int, float, float


_scanners: list[Any] = []  # one for all calls, as json.loads has, once it is needed


def _scanner() -> Any:
    """The compiled scanner; None where there is none."""
    if not _scanners:
        try:
            from _json import make_scanner
        except ImportError:  # not CPython
            _scanners.append(None)
        else:
            _scanners.append(make_scanner(_Defaults))  # type: ignore[arg-type]
    return _scanners[0]


def loads(text: str) -> Any:
    """The value of a text that begins with it, as `json.loads` returns it; raises ValueError for invalid JSON."""
    scan = _scanner()
    if scan is not None:
        try:
            return scan(text, 0)[0]
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
