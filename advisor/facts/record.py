"""Frozen values that are cheap to define: what reads a snapshot defines three dozen of them before it shows a thing.

Their modules leave annotations as they are, for texts would have to be compiled by whoever asks for the types.
"""

from __future__ import annotations

from dataclasses import MISSING, FrozenInstanceError
from dataclasses import dataclass as _dataclass
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

__all__ = ["record"]

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass as record
else:

    def record(*, frozen: bool, slots: bool = False) -> Callable[[type[T]], type[T]]:  # noqa: ARG001 - for type checkers
        """A dataclass, frozen always, whose methods all classes share; `slots` for those of which there are hundreds.

        `dataclass` itself compiles six methods a class, which took a tenth of the time to the first finding.
        """
        return _add_slots if slots else _build_class


T = TypeVar("T")


def _build_class(cls: type[T]) -> type[T]:
    for name, method in _METHODS.items():
        setattr(cls, name, method)
    return _dataclass(init=False, repr=False, eq=False, match_args=False)(cls)


def _add_slots(cls: type[T]) -> type[T]:
    # dataclass takes a class of its own for slots, and leaves methods that are there alone.
    for name, method in (_METHODS | {"__init__": _init_slots, "__reduce__": _restore}).items():
        setattr(cls, name, method)
    return _dataclass(init=False, repr=False, eq=False, match_args=False, slots=True)(cls)


def _init_slots(self: Any, *values: object, **named: object) -> None:
    for name, value in _field_values(self, values, named).items():
        object.__setattr__(self, name, value)


def _restore(self: Any) -> tuple[type, tuple[object, ...]]:
    return type(self), _values(self)


def _init(self: Any, *values: object, **named: object) -> None:
    self.__dict__.update(_field_values(self, values, named))


def _field_values(self: Any, values: tuple[object, ...], named: dict[str, object]) -> dict[str, object]:
    """Each field's value: as given, or its default."""
    fields = self.__dataclass_fields__
    given: dict[str, object] = dict(zip(fields, values, strict=False))
    if len(values) > len(fields) or not named.keys() <= fields.keys() - given.keys():
        raise TypeError(f"{type(self).__name__} takes {', '.join(fields)}, each once")
    given |= named
    for name, field in fields.items():
        if name not in given:
            given[name] = field.default if field.default_factory is MISSING else field.default_factory()
            if given[name] is MISSING:
                raise TypeError(f"{type(self).__name__} lacks {name}")
    return given


def _values(self: Any) -> tuple[object, ...]:
    return tuple(getattr(self, name) for name in self.__dataclass_fields__)


def _equal(self: Any, other: object) -> bool:
    return _values(self) == _values(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash(_values(self))


def _represent(self: Any) -> str:
    return f"{type(self).__qualname__}({', '.join(f'{n}={getattr(self, n)!r}' for n in self.__dataclass_fields__)})"


def _refuse(_self: object, name: str, _value: object = None) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


_METHODS = {
    "__init__": _init,
    "__eq__": _equal,
    "__hash__": _hash,
    "__repr__": _represent,
    "__setattr__": _refuse,
    "__delattr__": _refuse,
}
