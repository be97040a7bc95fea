"""Query a server program about option files, without starting a server."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from probes.sandbox.binary import Binary, run_briefly
from probes.sandbox.errors import SandboxError
from probes.sandbox.placement import placement_options
from probes.sandbox.scratch import empty_folder

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterable

VALIDATE_CONFIG_SINCE = (8, 0, 16)


def ask_help(
    binary: Binary,
    option_file: str | os.PathLike[str] | None = None,
    *,
    arguments: Iterable[str] = (),
    placed: bool = False,
    own_datadir: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Run `--verbose --help` with an option file, or with `--no-defaults`; returns exit code, stdout and stderr.

    The values are in a table after the dashed line: see `help_values`. `placed` adds the options for the location of
    the server's parts, which override the file's. The data directory is an empty scratch directory, which also
    overrides the file's, unless `own_datadir` is set; then the server uses the directory from the file or its built-in
    default.
    """
    with empty_folder() as empty:
        command = [binary.program, _defaults_option(option_file)]
        command += placement_options(binary) if placed else _messages_option(binary)
        command += [] if own_datadir else [f"--datadir={empty}"]
        return run_briefly([*command, *arguments, "--verbose", "--help"], cwd=empty)


def validate_config(
    binary: Binary, option_file: str | os.PathLike[str] | None = None, *, arguments: Iterable[str] = ()
) -> subprocess.CompletedProcess[str]:
    """Run `--validate-config` of MySQL 8.0.16 and later: exit code 0 means that the server would start.

    Raises SandboxError for a server that does not support the option.
    """
    if not binary.target.since("mysql", *VALIDATE_CONFIG_SINCE):
        raise SandboxError(f"{binary.name} does not support --validate-config: use MySQL 8.0.16 or later, or ask_help")
    with empty_folder() as empty:
        command = [
            binary.program,
            _defaults_option(option_file),
            *placement_options(binary),
            f"--datadir={empty}",
            *user_option(),
        ]
        return run_briefly([*command, *arguments, "--validate-config"], cwd=empty)


def print_defaults(
    binary: Binary, option_file: str | os.PathLike[str], *groups: str, arguments: Iterable[str] = ()
) -> list[str]:
    """The options that my_print_defaults finds in the groups of a file, one `--name=value` each.

    Raises SandboxError if the server has no my_print_defaults, or if that rejects the file.
    """
    if binary.print_defaults is None:
        raise SandboxError(f"{binary.name} has no my_print_defaults: install it, or use server_defaults")
    if not os.access(option_file, os.R_OK):
        raise SandboxError(f"{os.fspath(option_file)} can't be read")  # MySQL's program ignores it silently
    done = run_briefly([binary.print_defaults, _defaults_option(option_file), *arguments, *groups])
    if done.returncode != 0:
        raise SandboxError(f"{binary.name} refuses {os.fspath(option_file)}: {done.stderr.strip()}", done.stderr)
    return done.stdout.splitlines()


def server_defaults(
    binary: Binary, option_file: str | os.PathLike[str], *, suffix: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the server's own `--print-defaults`: its groups' options are on the second line, separated by single spaces.

    `suffix` is the value of `--defaults-group-suffix`.
    """
    # Only these may precede --print-defaults: after any other option the server ignores it and starts.
    chosen = [f"--defaults-group-suffix={suffix}"] if suffix else []
    return run_briefly([binary.program, _defaults_option(option_file), *chosen, "--print-defaults"])


def user_option() -> list[str]:
    """The option without which a server refuses to run as root."""
    return ["--user=root"] if os.geteuid() == 0 else []


def _defaults_option(option_file: str | os.PathLike[str] | None) -> str:
    return "--no-defaults" if option_file is None else f"--defaults-file={os.path.abspath(os.fspath(option_file))}"


def _messages_option(binary: Binary) -> list[str]:
    # Without its messages file MySQL 5.7 reports an error that has nothing to do with the option file.
    return [option for option in placement_options(binary) if option.startswith("--lc-messages-dir=")]
