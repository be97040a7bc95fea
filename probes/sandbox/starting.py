"""Start throwaway servers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from probes.sandbox.binary import NO_VARIABLES
from probes.sandbox.datadir import copy_template, initialize
from probes.sandbox.errors import PORT_TAKEN, SandboxError
from probes.sandbox.scratch import SHORT_BASE, Scratch, default_base, sweep
from probes.sandbox.server import READY_TIMEOUT, Sandbox, free_port

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from probes.sandbox.binary import Binary

PORT_RETRIES = 3  # retries with another port
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
    variables: Mapping[str, str] = NO_VARIABLES,
    timeout: float = READY_TIMEOUT,
) -> Sandbox:
    """Start a server in a scratch directory in `base` and return it when it accepts connections.

    By default it is an unmodified server that listens only on its socket. `arguments` come last on its command line,
    after `initial`, which are also used to initialize the data directory (a page size). Without an option file MySQL
    also ignores its persisted options (`SET PERSIST`); an empty file makes it read them. `tcp` opens a free port of
    127.0.0.1. `small` limits its memory. `templates` is a directory in which an initialized data directory is kept and
    copied from, which is faster than initializing again. `variables` are added to its environment. Raises
    SandboxError, and then leaves nothing behind.
    """
    for place in {SHORT_BASE, default_base(), os.fspath(base or default_base())}:
        sweep(place)
    file = None if option_file is None else os.path.abspath(os.fspath(option_file))
    scratch = Scratch(base)
    shaping = tuple(initial)
    given = (*(SMALL_OPTIONS if small else ()), *shaping, *arguments)
    sandbox = Sandbox(binary, scratch, free_port() if tcp else None, file, given)
    sandbox.variables = dict(variables)
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
    """Restart a server with these `arguments` and, in addition to its socket, a free port of 127.0.0.1.

    The caller decides which accounts may log in there: MariaDB's root has no password at 127.0.0.1 either. Raises
    SandboxError if the server does not come back.
    """
    sandbox.arguments = tuple(arguments)
    sandbox.port = free_port()
    _first_start(sandbox, timeout)


def _first_start(sandbox: Sandbox, timeout: float) -> None:
    """Start the server; try another port if a different program took the free one in the meantime."""
    for _ in range(PORT_RETRIES):
        try:
            return sandbox.restart(timeout=timeout)
        except SandboxError as error:
            if sandbox.port is None or PORT_TAKEN not in str(error):
                raise
            sandbox.port = free_port()
    return sandbox.restart(timeout=timeout)
