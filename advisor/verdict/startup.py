"""What a server makes of its settings while it starts: values that SHOW GLOBAL VARIABLES prints and help does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.verdict.effects import number_of
from advisor.verdict.special import NOTHING

if TYPE_CHECKING:
    from advisor.catalog.load import Catalog, Option
    from advisor.model import Target
    from advisor.verdict.outcome import Values

GIB = 1 << 30
WORD = 32
POOL = "innodb_buffer_pool_size"
INSTANCES = "innodb_buffer_pool_instances"
CHUNK = "innodb_buffer_pool_chunk_size"


def running(values: Values, catalog: Catalog) -> Values:
    """The options in `values` that run with another value than help prints, by canonical name."""
    found: Values = {}
    if "log_bin" in values:
        found["log_bin"] = "OFF" if values["log_bin"] in ("0", NOTHING) else "ON"
    if catalog.target.is_mysql:
        found.update(_buffer_pool(values, catalog))
    return {name: value for name, value in found.items() if name in values and value != values[name]}


def in_help(value: str | None, option: Option | None, target: Target) -> str | None:
    """A value as help prints it: MySQL 5.7 and 8.0.15 print the upper half of 32 bits as negative numbers."""
    if value is None or option is None or option.kind != "uint" or option.bits != WORD:
        return value
    number = number_of(value) or 0
    signed = target.is_mysql and not target.since("mysql", 8, 0, 16)
    return str(number - (1 << WORD)) if signed and number >> (WORD - 1) == 1 else value


def _buffer_pool(values: Values, catalog: Catalog) -> Values:
    """MySQL: below 1 GiB there is one instance; the pool is rounded up to whole chunks in every instance."""
    size = _number(POOL, values, catalog)
    chunk = _number(CHUNK, values, catalog)
    if not size or not chunk:
        return {}
    instances = _number(INSTANCES, values, catalog) if INSTANCES in values or size < GIB else None
    if size < GIB:
        instances = 1
    if not instances:
        return {}
    chunk = min(chunk, size // instances)
    whole = chunk * instances
    rounded = -(-size // whole) * whole if whole else size
    return {POOL: str(rounded), INSTANCES: str(instances), CHUNK: str(chunk)}


def _number(name: str, values: Values, catalog: Catalog) -> int | None:
    option = catalog.get(name)
    return number_of(values.get(name) or (option.default if option else None))
