"""The request to stop a run."""

from __future__ import annotations

import threading

from probes.stop import StopSignal


def test_a_request_waits_for_no_lock() -> None:
    """Ctrl-C sets it in the thread that may just hold the lock of a wait: a run hung there."""
    stop = StopSignal()
    with vars(stop)["_cond"]:
        asking = threading.Thread(target=stop.say, args=("cancelled",), daemon=True)
        asking.start()
        asking.join(30)
        assert not asking.is_alive()
    assert stop.wait(30)
    assert stop.reason == "cancelled"


def test_a_wait_ends_without_a_request() -> None:
    """The time is over, and nobody asked."""
    assert not StopSignal().wait(0.01)
