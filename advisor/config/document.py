"""The TOML of a configuration file: read it, and find the line that a key stands on."""

from __future__ import annotations

import os
import re
import stat
import tomllib
from typing import TYPE_CHECKING, Any

from advisor.config import LARGEST, OWN, SHARED
from advisor.core.errors import MycnfError

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLE = ("tool", "mycnf")
LONGEST = 64  # bits of a whole number
_KEY = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_PATH = rf"{_KEY}(?:[ \t]*\.[ \t]*{_KEY})*"
_HEADER = rf"[ \t]*\[\[?[ \t]*({_PATH})[ \t]*\]"
_SETS = rf"[ \t]*({_PATH})[ \t]*="


class ConfigError(MycnfError):
    """A configuration that can't be used; the message names the file, the line where it is known, and the key."""


def text_of(path: str) -> str:
    """The text of a configuration file; raises ConfigError for what can't be read as one."""
    try:
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode):
            raise ConfigError(f"{path}: no regular file, so no configuration; name a {OWN} or {SHARED} with --config")
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else "a path holds no NUL byte"
        raise ConfigError(f"{path}: can't be read ({said}); check the path, or leave it out with --isolated") from error
    if len(data) > LARGEST:
        raise ConfigError(f"{path}: larger than {LARGEST >> 20}M, which no configuration is")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: no UTF-8 at byte {error.start + 1}; save it as UTF-8") from error


def table_of(text: str, path: str) -> dict[str, Any]:
    """Our table of a configuration: the whole of mycnf.toml, [tool.mycnf] of a pyproject.toml.

    Raises ConfigError for what is no TOML, and for a pyproject.toml without our table.
    """
    try:
        found: Any = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise ConfigError(f"{path}: no TOML: {str(error) or 'nested too deep'}") from error
    for key in prefix_of(path):
        found = found.get(key) if isinstance(found, dict) else None
    if not isinstance(found, dict):
        raise ConfigError(f"{path}: it has no table [tool.mycnf]")
    if _overflows(found):
        raise ConfigError(f"{path}: it holds a whole number beyond {LONGEST} bits, which no server has either")
    return found


def _overflows(value: Any) -> bool:
    """Whether a number is so long that Python doesn't even print it; TOML itself promises 64 bits."""
    if isinstance(value, dict | list):
        return any(map(_overflows, value.values() if isinstance(value, dict) else value))
    return isinstance(value, int) and value.bit_length() > LONGEST


def prefix_of(path: str) -> tuple[str, ...]:
    """The tables around ours in a file of that name."""
    return TABLE if os.path.basename(path) == SHARED else ()


def line_of(text: str, keys: tuple[str, ...]) -> int | None:
    """The line of the last of these nested keys, or of the innermost that is written out; None where none is found.

    A search in the text, for messages: the parser keeps no lines. Of an array of tables it names the first.
    """
    best, depth = None, 0
    for number, written in _keys(text):
        if depth < len(written) <= len(keys) and keys[: len(written)] == written:
            best, depth = number, len(written)
    return best


def _keys(text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Each header and key with its line, keys with the header that they stand under."""
    header: tuple[str, ...] = ()
    for number, line in enumerate(text.split("\n"), 1):
        if match := re.match(_HEADER, line):
            header = _split(match[1])
            yield number, header
        elif match := re.match(_SETS, line):
            yield number, header + _split(match[1])


def _split(path: str) -> tuple[str, ...]:
    return tuple(key.strip("\"'") for key in re.findall(_KEY, path))
