"""Create a data directory: initialized by the server, or copied from a template that was initialized before."""

from __future__ import annotations

import contextlib
import fcntl
import glob
import hashlib
import os
import shutil
import subprocess
import time
from typing import TYPE_CHECKING

from probes.sandbox.binary import placement_options, share_folder, user_option
from probes.sandbox.cleanup import spawn
from probes.sandbox.errors import SandboxError, disk_full_error, server_ended_error
from probes.sandbox.scratch import KILL_TIMEOUT, is_disk_full

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probes.sandbox.binary import Binary

FINGERPRINT_DIGITS = 16
TIMEOUT = 180.0  # seconds; it takes 2 to 4 on an idle disk
POLL = 0.02
# In the order in which mariadb-install-db executes them.
SYSTEM_TABLES = ("system_tables", "performance_tables", "system_tables_data")
SYSTEM_ROUTINES = ("maria_add_gis_sp_bootstrap.sql", "sys_schema")
# MariaDB changes the number of undo tablespaces of an existing data directory only if no undo log is left. Without this
# option that depends on how far purge came before the shutdown.
WHOLE_PURGE = "--innodb-fast-shutdown=0"
# The bootstrap parser reads one statement per line. NULL: root has an empty password instead of the unix_socket
# plugin, so that access is controlled only by the mode of the scratch directory.
PREFACE = (
    "create database mysql;",
    "use mysql;",
    "set @auth_root_socket=NULL;",
    "set @current_hostname='localhost';",
    "set @skip_auth_anonymous=1;",
)


def initialize(binary: Binary, datadir: str, room: str, initial: tuple[str, ...] = ()) -> None:
    """Initialize an empty data directory; the root account has no password.

    `room` is a scratch directory for files that are needed only during initialization, `initial` are options that
    shape the data files, such as a page size. Raises SandboxError with the server's error messages.
    """
    log, feed = os.path.join(room, "initialise.log"), os.devnull
    if binary.target.is_mariadb:
        feed = os.path.join(room, "bootstrap.sql")
        with open(feed, "wb") as script:
            script.write(_bootstrap_sql(share_folder(binary)))
    command = [
        binary.program,
        "--no-defaults",
        *placement_options(binary),
        *user_option(),
        f"--datadir={datadir}",
        *initial,
        *_how_to_initialize(binary),
    ]
    process = spawn(command, log=log, temporary=room, feed=feed)
    try:
        code = _await_end(process, binary, datadir)
    finally:
        process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(KILL_TIMEOUT)
    if code != 0:
        with open(log, encoding="utf-8", errors="replace") as words:
            raise server_ended_error(binary.name, "while it initialised its data directory", code, words.read())


def _how_to_initialize(binary: Binary) -> tuple[str, ...]:
    return (WHOLE_PURGE, "--bootstrap") if binary.target.is_mariadb else ("--initialize-insecure",)


def _await_end(process: subprocess.Popen[bytes], binary: Binary, datadir: str) -> int:
    deadline = time.monotonic() + TIMEOUT
    while (code := process.poll()) is None:
        if is_disk_full(datadir):  # otherwise some writes would wait until space is freed
            raise disk_full_error(f"{binary.name} was ended while it initialised its data directory")
        if time.monotonic() > deadline:
            raise SandboxError(f"{binary.name} was not done initialising in {TIMEOUT:.0f} s: is the disk busy?")
        time.sleep(POLL)
    return code


def copy_template(binary: Binary, templates: str, datadir: str, initial: tuple[str, ...] = ()) -> None:
    """Fill `datadir` from the template for exactly this binary in `templates`.

    A missing template is created. Each set of `initial` options has a template of its own, in a folder named after
    them. A template is never started itself and has no server UUID: each copy generates its own.
    """
    if initial:
        templates = os.path.join(templates, "".join(initial).strip("-").replace(os.sep, "_"))
    os.makedirs(templates, mode=0o700, exist_ok=True)
    template = os.path.join(templates, f"{binary.name.replace(os.sep, '_')}-{_fingerprint(binary)}")
    # The lock is also held while copying, because a process with a newer template removes the old one.
    with _lock_template(template, fcntl.LOCK_SH):
        if os.path.isdir(template):
            return _copy_folder(template, datadir)
    with _lock_template(template, fcntl.LOCK_EX):
        if not os.path.isdir(template):
            _make_template(binary, template, initial)
        return _copy_folder(template, datadir)


def _make_template(binary: Binary, template: str, initial: tuple[str, ...]) -> None:
    beside = template + ".new"
    shutil.rmtree(beside, ignore_errors=True)  # left by a killed process, because this process holds the lock
    fresh, sparse, room = (os.path.join(beside, part) for part in ("fresh", "sparse", "room"))
    try:
        for folder in (beside, fresh, sparse, room):
            os.mkdir(folder, 0o700)
        initialize(binary, fresh, room, initial)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(fresh, "auto.cnf"))
        _copy_folder(fresh, sparse)
        os.rename(sparse, template)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    _drop_older(template)


def _drop_older(template: str) -> None:
    for other in glob.glob(glob.escape(template.rpartition("-")[0]) + "-" + "[0-9a-f]" * FINGERPRINT_DIGITS):
        if other != template:
            with contextlib.suppress(BlockingIOError), _lock_template(other, fcntl.LOCK_EX | fcntl.LOCK_NB):
                shutil.rmtree(other, ignore_errors=True)


def _copy_folder(source: str, target: str) -> None:
    """Copy the contents of a folder; redo logs are mostly zeros, which are copied as holes."""
    cp = ["cp", "-a", "--reflink=auto", "--sparse=always", source + "/.", target]
    done = subprocess.run(cp, check=False, capture_output=True, stdin=subprocess.DEVNULL)
    if done.returncode == 0:
        return
    try:  # cp is not GNU cp
        shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
    except (OSError, shutil.Error) as error:
        raise SandboxError(
            f"the data directory can't be copied to {target} ({error}): is its file system full?"
        ) from error


def _fingerprint(binary: Binary) -> str:
    program = os.stat(binary.program)
    how = (PREFACE, *([WHOLE_PURGE] if binary.target.is_mariadb else []))
    facts = (binary, os.path.realpath(binary.program), program.st_size, program.st_mtime_ns, os.geteuid(), *how)
    return hashlib.sha256(repr(facts).encode("utf-8", "surrogateescape")).hexdigest()[:FINGERPRINT_DIGITS]


def _bootstrap_sql(share: str) -> bytes:
    parts = ["\n".join(PREFACE).encode()]
    parts += [_read_script(share, name) for name in (*SYSTEM_TABLES, *SYSTEM_ROUTINES)]
    return b"\n".join(parts) + b"\n"


def _read_script(share: str, name: str) -> bytes:
    candidates = (
        [f"{share}/{name}"]
        if name.endswith(".sql")
        else [f"{share}/{flavour}_{name}.sql" for flavour in ("mariadb", "mysql")]
    )
    for path in candidates:
        with contextlib.suppress(FileNotFoundError), open(path, "rb") as script:
            return script.read()
    raise SandboxError(
        f"{candidates[0]} is missing, and without it no data directory can be made: "
        "install the package that ships mariadb-install-db, or name the mariadbd of an unpacked server itself instead "
        "of a script"
    )


@contextlib.contextmanager
def _lock_template(template: str, how: int) -> Iterator[None]:
    with open(template + ".lock", "w", encoding="ascii") as handle:
        fcntl.flock(handle, how)
        yield
