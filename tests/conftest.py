"""What all tests share: the way to the shared material, and the real servers."""

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

# What hypothesis draws is the same in every run. `make fuzz DRAWN=1` draws anew, and what it finds stays as an example.
# How long an example takes is for the benchmarks to say: hosts that are busy would fail tests at random.
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
    # It also draws from the constants of all modules loaded so far, which differ from one process of tests to another.
    providers._get_local_constants = lambda: providers._local_constants  # no setting turns it off


def pytest_configure() -> None:
    """Hear Ctrl-C: a shell in the background ignores it, and so would all that tests start and interrupt.

    What is imported and collected is no garbage, so that none is looked for until all is.
    """
    gc.disable()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Look for garbage again, but never among what was imported and collected.

    Without that a third of the time of the app's tests goes to looks at it. The product does the like:
    `advisor.__main__`.
    """
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared material; the test skips by name where it is not at hand."""
    folder = Path(os.environ.get("MYCNF_SHARED", HERE.parent.parent / "shared"))
    if not folder.is_dir():
        pytest.skip(f"shared material is not at hand (MYCNF_SHARED={folder})")
    return folder
