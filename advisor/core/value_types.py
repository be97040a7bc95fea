"""NamedTuple and StrEnum as in the standard library, for modules that every lint imports.

typing, enum and the named tuples of both took a third of the time of a lint; see docs/adr/0002.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from enum import StrEnum as StrEnum  # noqa: PLC0414 - other modules import it from here
    from typing import Any, Self
    from typing import NamedTuple as NamedTuple  # noqa: PLC0414 - the same
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
