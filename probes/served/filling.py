"""Fill the buffer pool with a server's tables, as a restart left it empty."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from probes.served.variant_server import VariantServer
    from probes.stop import StopSignal


def fill_pool(served: VariantServer, tables: int, stop: StopSignal) -> None:
    """Scan both indexes of sbtest1 to sbtest`tables`, so that the pool holds as much of them as it has room for."""
    for number in range(1, tables + 1):
        for index in ("PRIMARY", f"k_{number}"):
            if not stop.is_set():
                served.query(f"SELECT SUM(k) FROM sbtest.sbtest{number} FORCE INDEX ({index})")  # noqa: S608
