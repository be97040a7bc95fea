"""Server programs for throwaway servers: installed on the host, or unpacked in a directory."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from advisor.core.model import Target
from probes.sandbox.errors import SandboxError, explain_log

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
FOREIGN_VARIABLES = (
    "MYSQL_HOME",
    "MYSQL_UNIX_PORT",
    "MYSQL_TCP_PORT",
    "MYSQL_PWD",
    "UMASK",
    "UMASK_DIR",
    "NOTIFY_SOCKET",
)


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
    said = run_briefly([program, "--no-defaults", "--version"])
    match = re.search(r"Ver\s+((\d+(?:\.\d+)+)\S*)", said.stdout)
    if said.returncode != 0 or match is None:
        reject_missing_library(program, said.stderr)
        raise explain_log(f"{program} did not print its version", said.stderr + said.stdout)
    flavour = "mariadb" if "mariadb" in said.stdout.lower() else "mysql"
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
    """Raise SandboxError for a script that starts a server in the background whatever its options are."""
    for name in dict.fromkeys((os.path.basename(program), os.path.basename(os.path.realpath(program)))):
        if name in STARTERS:
            raise SandboxError(
                f"{program} is {name}, which starts a server on this host's own data: give the mysqld or mariadbd "
                "program itself"
            )


def reject_missing_library(program: str, said: str) -> None:
    """Raise SandboxError if a missing library is in the program's own tree, where the loader does not search."""
    match = MISSING_LIBRARY.search(said)
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
    found: dict[str, Binary] = {}
    for program in (*(os.path.join(folder, name) for folder in folders for name in PROGRAMS), *also):
        real = os.path.realpath(program)
        if real in found or not (os.path.isfile(program) and os.access(program, os.X_OK)):
            continue
        try:
            found[real] = describe_binary(program, print_defaults=shutil.which("my_print_defaults"))
        except SandboxError:
            continue
    return list(found.values())


def run_briefly(
    command: list[str], *, timeout: float = 60, cwd: str | None = None, variables: Mapping[str, str] = NO_VARIABLES
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
