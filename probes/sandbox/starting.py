"""Start a throwaway server."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from probes.sandbox.datadir import copy_template, initialize
from probes.sandbox.errors import PORT_TAKEN, SandboxError
from probes.sandbox.scratch import SHORT_BASE, Scratch, default_base, sweep
from probes.sandbox.server import READY_TIMEOUT, Sandbox, free_port

if TYPE_CHECKING:
    from collections.abc import Iterable

    from probes.sandbox.binary import Binary

PORT_RETRIES = 3  # ports that are tried before the last
SMALL_OPTIONS = (
    "--innodb-buffer-pool-size=32M",
    "--max-connections=40",
    "--table-open-cache=200",
    "--table-definition-cache=400",
    "--skip-log-bin",
)


def start_server(
    binary: Binary,
    *,
    base: str | os.PathLike[str] | None = None,
    option_file: str | os.PathLike[str] | None = None,
    arguments: Iterable[str] = (),
    initial: Iterable[str] = (),
    tcp: bool = False,
    small: bool = False,
    templates: str | os.PathLike[str] | None = None,
    timeout: float = READY_TIMEOUT,
) -> Sandbox:
    """Start a server on a scratch directory in `base` and return it when it takes connections.

    Without further words it is an untouched default server that listens on its socket alone. `arguments` come last
    on its command line, after `initial`, with which the data directory is made too (a page size). Without an option
    file MySQL ignores its persisted options too (`SET PERSIST`); an empty file makes it read them. `tcp` opens a
    free port of 127.0.0.1. `small` bounds its memory. `templates` is a directory in which an initialised data
    directory is kept and copied from, which is faster than initializing again.
    Raises SandboxError, and then nothing is left behind.
    """
    for place in {SHORT_BASE, default_base(), os.fspath(base or default_base())}:
        sweep(place)
    file = None if option_file is None else os.path.abspath(os.fspath(option_file))
    scratch = Scratch(base)
    shaping = tuple(initial)
    given = (*(SMALL_OPTIONS if small else ()), *shaping, *arguments)
    sandbox = Sandbox(binary, scratch, free_port() if tcp else None, file, given)
    try:
        if templates is None:
            initialize(binary, sandbox.datadir, scratch.file("tmp"), shaping)
        else:
            copy_template(binary, os.fspath(templates), sandbox.datadir, shaping)
        _first_start(sandbox, timeout)
    except BaseException:
        sandbox.close()
        raise
    return sandbox


def open_port(sandbox: Sandbox, arguments: Iterable[str], timeout: float = READY_TIMEOUT) -> None:
    """Restart a server with these `arguments` and a free port of 127.0.0.1 besides its socket.

    Who may log in there is the caller's business: MariaDB's root has no password at 127.0.0.1 either.
    Raises SandboxError when it doesn't come back.
    """
    sandbox.arguments = tuple(arguments)
    sandbox.port = free_port()
    _first_start(sandbox, timeout)


def _first_start(sandbox: Sandbox, timeout: float) -> None:
    """Start it, at another port where another program took the free one meanwhile."""
    for _ in range(PORT_RETRIES):
        try:
            return sandbox.restart(timeout=timeout)
        except SandboxError as error:
            if sandbox.port is None or PORT_TAKEN not in str(error):
                raise
            sandbox.port = free_port()
    return sandbox.restart(timeout=timeout)
