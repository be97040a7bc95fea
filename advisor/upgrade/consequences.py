"""What a changed default does to those who never set the option: its area, and one plain sentence."""

from __future__ import annotations

from functools import cache
from typing import Any

from advisor.upgrade.change import Area

_FILE = __file__.rpartition("/")[0] + "/consequences.toml"


def said_of(name: str, after: str) -> tuple[Area, str]:
    """The area of an option, and what its new default means; nothing is said of what changes little."""
    meaning = _meanings().get(name)
    if meaning is None:
        return Area.REST, ""
    area = Area.REST if after in meaning.get("light", ()) else Area(meaning["area"])
    return area, str(meaning.get("now", {}).get(after.upper(), meaning["text"]))


def needs_binlog(name: str) -> bool:
    """Whether the option says nothing on a server that writes no binary log."""
    return bool(_meanings().get(name, {}).get("binlog"))


def rank(name: str) -> int:
    """How early the option comes among those of its area."""
    meanings = _meanings()
    return list(meanings).index(name) if name in meanings else len(meanings)


@cache
def _meanings() -> dict[str, dict[str, Any]]:
    import tomllib  # an audit reads collations of this package long before anybody asks for consequences

    with open(_FILE, "rb") as file:
        return tomllib.load(file)
