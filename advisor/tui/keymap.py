"""The user's own keys: $XDG_CONFIG_HOME/mycnf/keys.toml, one line a binding, `"findings.suppress" = "h"`."""

from __future__ import annotations

import os

from advisor.core.errors import MycnfError


def path() -> str:
    """Where the file is looked for."""
    home = os.environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(home):  # the standard wants anything else to be passed over
        home = os.path.expanduser("~/.config")
    return os.path.join(home, "mycnf", "keys.toml")


def read_keymap() -> dict[str, str]:
    """Keys by id of the binding, none without a file. Raises MycnfError for a file that can't be meant."""
    try:
        with open(path(), "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise MycnfError(f"{path()} can't be read ({error.strerror}): mend or remove it") from error
    return _keys(data)


def _keys(data: bytes) -> dict[str, str]:
    import tomllib

    try:
        told = tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:  # no TOML, no UTF-8, a number of thousands of digits
        why = str(error) or "nested too deep"
        raise MycnfError(f'{path()} is no TOML ({why}): write lines such as "findings.suppress" = "h"') from error
    wrong = next((name for name, keys in told.items() if not isinstance(keys, str)), None)
    if wrong is not None and isinstance(told[wrong], dict):
        name, key = next(iter(told[wrong].items()), ("suppress", "h"))
        key = key if isinstance(key, str) else "h"
        raise MycnfError(f'{path()}: an id with a dot stands in quotes here: write "{wrong}.{name}" = "{key}"')
    if wrong is not None:
        raise MycnfError(f'{path()}: {wrong} has no key; write "{wrong}" = "h", several keys with commas between')
    return told
