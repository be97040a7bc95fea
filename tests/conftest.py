"""Configuration of all tests: hypothesis, garbage collection, and the folder of shared material."""

from __future__ import annotations

import gc
import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "plugins"), *(str(HERE.parent / "tools" / tool) for tool in ("fuzz", "lab", "mutate"))]

pytest_plugins = ["real_servers", "start_and_compare", "failed_list", "quick_selection"]

# hypothesis draws the same examples in every run. `make fuzz DRAWN=1` draws new ones, and saves what it finds as
# examples. There is no deadline per example, because busy hosts would fail tests at random; benchmarks measure the
# time.
QUIET = (
    HealthCheck.too_slow,
    HealthCheck.data_too_large,
    HealthCheck.function_scoped_fixture,
    HealthCheck.differing_executors,
)
settings.register_profile("same", deadline=None, derandomize=True, database=None, suppress_health_check=QUIET)
settings.register_profile("new", settings.get_profile("same"), derandomize=False, print_blob=True)
settings.load_profile(DRAWS := os.environ.get("MYCNF_DRAWS", "same"))
if DRAWS == "same":
    # It also draws from the constants of all modules loaded so far, which differ between test processes.
    providers._get_local_constants = lambda: providers._local_constants  # no setting turns it off


def pytest_configure() -> None:
    """Restore the SIGINT handler, which background shells disable, and with it for all processes that tests start.

    Garbage collection is disabled until collection has finished, because imported modules are not garbage.
    """
    gc.disable()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Enable garbage collection again, without the objects created by import and collection.

    Otherwise it would take a third of the time of the app's tests. The product does the same in `advisor.__main__`.
    """
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared material; skips the test with a reason if it is not available."""
    folder = Path(os.environ.get("MYCNF_SHARED", HERE.parent.parent / "shared"))
    if not folder.is_dir():
        pytest.skip(f"no shared material (MYCNF_SHARED={folder})")
    return folder
