"""What options do to each other once all are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from advisor.catalog.load import Catalog


def settle(values: dict[str, str], catalog: Catalog) -> dict[str, str]:
    """The values that help prints after all options are read; `values` holds what the file's lines made, by canonical name."""
    return values


def running(values: dict[str, str], catalog: Catalog) -> dict[str, str]:
    """What SHOW GLOBAL VARIABLES says of the options in `values` once the server is up, where that is another value."""
    return {}
