"""Throwaway servers for tests, the demo and probes; no other package starts servers."""

from __future__ import annotations

from probes.sandbox.binary import (
    Binary,
    ask_help,
    describe_binary,
    help_values,
    host_binaries,
    print_defaults,
    server_defaults,
    validate_config,
)
from probes.sandbox.errors import SandboxError
from probes.sandbox.scratch import sweep
from probes.sandbox.server import Sandbox, open_port, start_server

__all__ = [
    "Binary",
    "Sandbox",
    "SandboxError",
    "ask_help",
    "describe_binary",
    "help_values",
    "host_binaries",
    "open_port",
    "print_defaults",
    "server_defaults",
    "start_server",
    "sweep",
    "validate_config",
]
