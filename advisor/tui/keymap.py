"""The user's own keys: $XDG_CONFIG_HOME/mycnf/keys.toml, one line a binding, `"findings.suppress" = "h"`."""

from __future__ import annotations

import os

from advisor.core.errors import MycnfError


def keymap_path() -> str:
    """Path of the keymap file."""
    home = os.environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(home):  # the XDG specification says to ignore relative paths
        home = os.path.expanduser("~/.config")
    return os.path.join(home, "mycnf", "keys.toml")


def read_keymap() -> dict[str, str]:
    """Keys by id of the binding; empty without a file. Raises MycnfError for an invalid file."""
    try:
        with open(keymap_path(), "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise MycnfError(f"{keymap_path()} cannot be read: {error.strerror}. Correct or remove the file") from error
    return _parse_keymap(data)


def _parse_keymap(data: bytes) -> dict[str, str]:
    import tomllib

    try:
        told = tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:  # invalid TOML, invalid UTF-8, a number of thousands of digits
        why = str(error) or "nested too deep"
        raise MycnfError(
            f'{keymap_path()} is not valid TOML: {why}. Write lines such as "findings.suppress" = "h"'
        ) from error
    wrong = next((name for name, keys in told.items() if not isinstance(keys, str)), None)
    if wrong is not None and isinstance(told[wrong], dict):
        name, key = next(iter(told[wrong].items()), ("suppress", "h"))
        key = key if isinstance(key, str) else "h"
        raise MycnfError(f'{keymap_path()}: an id that contains a dot needs quotes: write "{wrong}.{name}" = "{key}"')
    if wrong is not None:
        raise MycnfError(f'{keymap_path()}: {wrong} has no key. Write "{wrong}" = "h"; separate several keys by commas')
    return told
