"""The list of probes: names in display order, each with its module."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from probes.experiment import ProbeError

if TYPE_CHECKING:
    from probes.experiment import Experiment

MODULES: dict[str, str] = {
    "commit-latency": "probes.disk.commit_latency",
    "random-read": "probes.disk.random_read",
    "random-write": "probes.disk.random_write",
    "sequential-read": "probes.disk.sequential_read",
    "memory-latency": "probes.memory.latency",
    "memory-bandwidth": "probes.memory.bandwidth",
    "read-buffer": "probes.server_probes.read_buffer",
    "buffer-pool-instances": "probes.server_probes.buffer_pool_instances",
    "read-ahead": "probes.server_probes.read_ahead",
    "file-system": "probes.server_probes.file_system",
    "range-scan": "probes.server_probes.range_scan",
    "cache-fit": "probes.server_probes.cache_fit",
    "commit": "probes.server_probes.commit",
    "redo-capacity": "probes.server_probes.redo_capacity",
    "pool-size": "probes.server_probes.pool_size",
    "io-capacity": "probes.server_probes.io_capacity",
    "doublewrite": "probes.server_probes.doublewrite",
    "session-buffers": "probes.server_probes.session_buffers",
    "connections": "probes.server_probes.connections",
    "malloc": "probes.server_probes.malloc",
    "ab": "probes.server_probes.ab",
}


def load(name: str) -> Experiment:
    """The probe with that name; raises ProbeError with a suggestion for an unknown name."""
    if name not in MODULES:
        from advisor.core.errors import did_you_mean

        raise ProbeError(f"unknown probe {name!r}{did_you_mean(name, MODULES, 'mycnf probe lists them')}")
    experiment: Experiment = importlib.import_module(MODULES[name]).EXPERIMENT
    return experiment


def load_all() -> list[Experiment]:
    """All probes, in display order."""
    return [load(name) for name in MODULES]
