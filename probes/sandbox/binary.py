"""Server programs for throwaway servers: installed or unpacked, the options that they need, and their answers."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from advisor.core.model import Target
from probes.sandbox.errors import SandboxError, explain_log
from probes.sandbox.scratch import empty_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


NO_VARIABLES: Mapping[str, str] = MappingProxyType({})

USUAL_FOLDERS = (
    "/usr/sbin",
    "/usr/libexec",
    "/usr/bin",
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/local/mysql/bin",
    "/usr/local/mariadb/bin",
    "/opt/mysql/bin",
    "/opt/mysql/server/bin",
)
PROGRAMS = ("mysqld", "mariadbd")

STARTERS = frozenset(
    {
        "mysqld_safe",
        "mariadbd-safe",
        "mysqld_safe_helper",
        "mariadbd-safe-helper",
        "mysqld_multi",
        "mariadbd-multi",
        "mysql.server",
        "mariadb.server",
    }
)
LIBRARIES_BESIDE = ("lib/private", "lib", "lib64", "lib/mysql/private", "lib64/mysql/private", "lib/mysql")
MISSING_LIBRARY = re.compile(r"error while loading shared libraries: (\S+?):")

# Environment variables that would let the user's own configuration affect a throwaway server.
PATIENCE = 180.0  # seconds: a program that needs 0.1 may wait a minute for its turn among hundreds of running threads
FOREIGN_VARIABLES = (
    "MYSQL_HOME",
    "MYSQL_UNIX_PORT",
    "MYSQL_TCP_PORT",
    "MYSQL_PWD",
    "UMASK",
    "UMASK_DIR",
    "NOTIFY_SOCKET",
)
UNSET = "(No default value)"
VALIDATE_CONFIG_SINCE = (8, 0, 16)


@dataclass(frozen=True)
class Binary:
    """A server program and the locations of its parts.

    `basedir`, `share` (the folder of its charsets and messages) and `plugins` are set if the server is not installed
    where it was built for; `print_defaults` is its distribution's my_print_defaults.
    """

    name: str
    program: str
    target: Target
    version: str
    basedir: str | None = None
    share: str | None = None
    plugins: str | None = None
    print_defaults: str | None = None


def describe_binary(
    program: str,
    name: str | None = None,
    *,
    basedir: str | None = None,
    share: str | None = None,
    plugins: str | None = None,
    print_defaults: str | None = None,
) -> Binary:
    """Query the version of a server program; parts that are not given are searched for beside it.

    Raises SandboxError if it does not run or prints no version, and for scripts that would start a server of their
    own.
    """
    reject_start_scripts(program)
    ran = run_briefly([program, "--no-defaults", "--version"])
    match = re.search(r"Ver\s+((\d+(?:\.\d+)+)\S*)", ran.stdout)
    if ran.returncode != 0 or match is None:
        reject_missing_library(program, ran.stderr)
        raise explain_log(f"{program} did not print its version", ran.stderr + ran.stdout)
    flavour = "mariadb" if "mariadb" in ran.stdout.lower() else "mysql"
    target = Target(flavour, tuple(int(part) for part in match[2].split(".")))
    beside = find_server_tree(program)
    return Binary(
        name or str(target),
        program,
        target,
        match[1],
        basedir or beside.basedir,
        share or beside.share,
        plugins or beside.plugins,
        print_defaults,
    )


def reject_start_scripts(program: str) -> None:
    """Raise SandboxError for a script that starts a server in the background with any options."""
    for name in dict.fromkeys((os.path.basename(program), os.path.basename(os.path.realpath(program)))):
        if name in STARTERS:
            raise SandboxError(
                f"{program} is {name}, which starts a server on this host's own data: give the mysqld or mariadbd "
                "program itself"
            )


def reject_missing_library(program: str, output: str) -> None:
    """Raise SandboxError if a missing library is in the program's own tree, where the loader does not search."""
    match = MISSING_LIBRARY.search(output)
    base = os.path.dirname(os.path.dirname(os.path.realpath(program)))
    for folder in (os.path.join(base, place) for place in LIBRARIES_BESIDE) if match else ():
        if match and os.path.exists(os.path.join(folder, match[1])):
            raise SandboxError(
                f"{program} needs {match[1]}, which is in {folder}: run mycnf with LD_LIBRARY_PATH={folder}"
            )


def host_binaries(also: Iterable[str] = ()) -> list[Binary]:
    """The servers installed on this host: on PATH, in the usual directories, or among the programs in `also`.

    Programs that do not run are left out.
    """
    folders = dict.fromkeys([*os.environ.get("PATH", "").split(os.pathsep), *USUAL_FOLDERS])
    binaries: dict[str, Binary] = {}
    for program in (*(os.path.join(folder, name) for folder in folders for name in PROGRAMS), *also):
        real = os.path.realpath(program)
        if real in binaries or not (os.path.isfile(program) and os.access(program, os.X_OK)):
            continue
        try:
            binaries[real] = describe_binary(program, print_defaults=shutil.which("my_print_defaults"))
        except SandboxError:
            continue
    return list(binaries.values())


def run_briefly(
    command: list[str],
    *,
    timeout: float = PATIENCE,
    cwd: str | None = None,
    variables: Mapping[str, str] = NO_VARIABLES,
) -> subprocess.CompletedProcess[str]:
    """Run a server program for its output, in the C locale and without the caller's MySQL variables.

    `variables` are added to the environment. Bytes that are not UTF-8 become surrogates. Raises SandboxError if the
    program cannot be run or hangs.
    """
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            env=environment(variables=variables),
            timeout=timeout,
            check=False,
            capture_output=True,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        raise SandboxError(f"{command[0]} did not answer in {timeout:.0f} s: is the host overloaded?") from None
    except OSError as error:
        raise SandboxError(f"cannot run {command[0]}: {error.strerror}") from error
    out, err = (text.decode("utf-8", "surrogateescape") for text in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(command, done.returncode, out, err)


def environment(temporary: str | None = None, variables: Mapping[str, str] = NO_VARIABLES) -> dict[str, str]:
    """The environment of a throwaway server; `temporary` is the directory for its temporary files."""
    kept = {name: value for name, value in os.environ.items() if name not in FOREIGN_VARIABLES}
    return {**kept, "LC_ALL": "C", **({"TMPDIR": temporary} if temporary else {}), **variables}


SHARE_FOLDERS = ("share", "share/mysql", "share/mariadb")
PLUGIN_FOLDERS = ("lib/plugin", "lib/mysql/plugin", "lib/mariadb/plugin", "lib64/mysql/plugin", "lib64/mariadb/plugin")


class ServerTree(NamedTuple):
    """The locations of a server's parts in a directory tree; None for missing parts."""

    basedir: str | None = None
    share: str | None = None
    plugins: str | None = None


def find_server_tree(program: str) -> ServerTree:
    """The parts beside a program, in the layout of archives and packages: share and lib next to bin or sbin."""
    base = os.path.dirname(os.path.dirname(os.path.realpath(program)))
    shares = (os.path.join(base, name) for name in SHARE_FOLDERS)
    share = next((path for path in shares if os.path.isfile(os.path.join(path, "charsets", "Index.xml"))), None)
    if share is None:
        return ServerTree()
    return ServerTree(
        base, share, next(filter(os.path.isdir, (os.path.join(base, name) for name in PLUGIN_FOLDERS)), None)
    )


@functools.lru_cache(maxsize=32)
def placement_options(binary: Binary) -> tuple[str, ...]:
    """Options for the locations of the server's parts; empty if it finds them by itself.

    The server's compiled-in defaults are read first: options whose defaults work are not set.
    """
    values = printed_defaults(binary)
    options: list[str] = []
    charsets = values.get("character-sets-dir", "").rstrip("/")
    if binary.share and os.path.realpath(charsets) != os.path.realpath(f"{binary.share}/charsets"):
        options += [f"--lc-messages-dir={binary.share}", f"--character-sets-dir={binary.share}/charsets"]
        if binary.basedir:
            options.insert(0, f"--basedir={binary.basedir}")
    if binary.plugins and os.path.realpath(values.get("plugin-dir", "")) != os.path.realpath(binary.plugins):
        options.append(f"--plugin-dir={binary.plugins}")
    exports = values.get("secure-file-priv", UNSET)
    if exports not in ("", "NULL", UNSET) and not os.access(exports, os.R_OK | os.W_OK | os.X_OK):
        # A server refuses to start if its secure_file_priv directory is missing or inaccessible.
        options.append("--secure-file-priv=NULL")
    return tuple(options)


@functools.lru_cache(maxsize=32)
def share_folder(binary: Binary) -> str:
    """The folder with a server's charsets, messages and system tables."""
    if binary.share:
        return binary.share
    return os.path.dirname(printed_defaults(binary).get("character-sets-dir", "").rstrip("/"))


@functools.lru_cache(maxsize=32)
def printed_defaults(binary: Binary) -> dict[str, str]:
    """The server's compiled-in values from `--verbose --help`, by printed name."""
    with empty_folder() as empty:
        ran = run_briefly([binary.program, "--no-defaults", f"--datadir={empty}", "--verbose", "--help"])
    values = help_values(ran.stdout)
    if not values:
        raise explain_log(f"{binary.name} did not print its options", ran.stderr)
    return values


def help_values(text: str) -> dict[str, str]:
    """The table of values at the end of `--verbose --help`: printed names and values."""
    _, line, table = text.partition("\n---")
    rows = table.partition("\n\n")[0].splitlines()[1:] if line else []
    pairs = (re.match(r"(\S+)(?: +(.*))?$", row) for row in rows)
    return {pair[1]: pair[2] or "" for pair in pairs if pair}


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
