"""Find and copy the option files and mysqld-auto.cnf that a local server reads, with secrets removed."""

from __future__ import annotations

import errno
import json
import os
import posixpath
import pwd
import re
import stat
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from advisor.collect.connection.sockets import runs_servers
from advisor.collect.host.host import open_root
from advisor.core.errors import MycnfError
from advisor.facts.files import WORLD_WRITABLE, FileCopy, OptionFiles, PersistedOption
from advisor.facts.host import SERVER_PROGRAMS
from advisor.optionfile import load, resolve
from advisor.redaction import redact_arguments, redact_text, redact_value

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator


# Every build reads the first two; the others depend on the build, so they are used only if the server names them.
COMMON_OPTION_FILES = ("/etc/my.cnf", "/etc/mysql/my.cnf")
NAME = "mysqld-auto.cnf"
LARGEST = 4 << 20  # bytes; a thousand variables take a tenth of that
DEEPEST = 4  # maximum nesting of objects; the servers use two levels
VALUE = "Value"


class StartOptions(NamedTuple):
    """The start options that decide which option files are read; paths are absolute."""

    arguments: tuple[str, ...] = ()
    no_defaults: bool = False
    defaults_file: str = ""
    extra_file: str = ""
    group_suffix: str = ""
    own_home: str = ""
    user_home: str = ""


class OptionFileReader(NamedTuple):
    """The flavour, and the version if known, that decide how option files are read."""

    flavour: str = "mysql"
    version: tuple[int, ...] | None = None


NEWEST_MYSQL = OptionFileReader()


def read_files(
    pid: int, named: Iterable[str], datadir: str, proc: str = "/proc", *, reader: OptionFileReader = NEWEST_MYSQL
) -> OptionFiles:
    """The option files that process `pid` reads, in its order.

    `named` are files that the server reports as origins of values: those outside the usual places are read too. A file
    that cannot be read is listed without text; so is one that a stranger's process could not read by itself.
    """
    start = start_options_of(pid, proc)
    copies, folders = _read(start, named, reader, _here, readable_to(pid, proc))
    persisted = os.path.join(datadir, NAME)
    held = read_persisted(persisted)
    return OptionFiles(
        files=tuple(copies.values()),
        command_line=redact_arguments(start.arguments),
        group_suffix=start.group_suffix,
        inferred=not (start.no_defaults or start.defaults_file),
        persisted=persisted if os.path.exists(persisted) else "",
        folders=tuple(folders),
        persisted_options=held.options,
        persisted_problem=held.problem,
        persisted_changed=held.changed,
    )


def reread_files(
    files: OptionFiles, leading: Iterable[str], named: Iterable[str], reader: OptionFileReader, *, top: str = ""
) -> OptionFiles:
    """The option files that a start with these leading arguments reads.

    `top` is a directory with a copy of the host's files, which is read instead; modification times have no meaning
    there.
    """
    start = start_options_from(leading)
    root = open_root(top) if top else None

    def inside(path: str) -> str:
        return top.rstrip("/") + ((root.real(path) if root else None) or path)

    copies, folders = _read(start, named, reader, inside if root else _here)
    return replace(
        files,
        files=tuple(replace(copy, changed=0.0) if root else copy for copy in copies.values()),
        group_suffix=start.group_suffix or files.group_suffix,
        inferred=not (start.no_defaults or start.defaults_file),
        folders=tuple(folders),
    )


def start_options_from(leading: Iterable[str]) -> StartOptions:
    """The start options in the leading arguments, if there is no process to read them from."""
    options = dict(word.removeprefix("--").partition("=")[::2] for word in leading)
    return StartOptions(
        no_defaults="no-defaults" in options,
        defaults_file=options.get("defaults-file", ""),
        extra_file=options.get("defaults-extra-file", ""),
        group_suffix=options.get("defaults-group-suffix", ""),
    )


def _here(path: str) -> str:
    return path


def readable_to(pid: int, proc: str) -> Callable[[str], bool]:
    """Which files an audit reads for a process: any for one of root, of us, or of a user that servers run as.

    Any user can run a process with the name of a server and --defaults-file=/etc/shadow, and root can read that.
    """
    if os.geteuid() != 0:
        return _any
    user, groups = -1, frozenset[int]()  # what every user can read: for a process that has ended
    with suppress(OSError, ValueError):
        user = os.stat(f"{proc}/{pid}").st_uid
        with open(f"{proc}/{pid}/status", encoding="ascii", errors="replace") as file:
            lines = dict(line.partition(":")[::2] for line in file)
        groups = frozenset(int(number) for key in ("Gid", "Groups") for number in lines.get(key, "").split())
    return _any if runs_servers(user) else partial(may_read, user=user, groups=groups)


def may_read(path: str, user: int, groups: Container[int]) -> bool:
    """Whether a user can read a file by the modes of the file and of the directories above it."""
    place, bit = os.path.realpath(path), stat.S_IROTH
    while True:
        try:
            status = os.stat(place)
        except OSError:
            return False
        shift = 6 if status.st_uid == user else 3 if status.st_gid in groups else 0
        if not status.st_mode >> shift & bit:
            return False
        if place == os.sep:
            return True
        place, bit = os.path.dirname(place), stat.S_IXOTH


def _any(path: str) -> bool:  # noqa: ARG001 - called like `may_read`
    return True


def _read(
    start: StartOptions,
    named: Iterable[str],
    reader: OptionFileReader,
    place: Callable[[str], str],
    allowed: Callable[[str], bool] = _any,
) -> tuple[dict[str, FileCopy], list[str]]:
    """The files of that start, and further ones that the server names; `place` maps a path to its location.

    Only files that are `allowed` are read.
    """
    named = list(dict.fromkeys(named))
    copies, folders = _read_all(_top_files(start, (), place), reader, place, allowed)
    missing = [path for path in named if path and path not in copies and _is_option_file(path, place)]
    return _read_all(_top_files(start, missing, place), reader, place, allowed) if missing else (copies, folders)


def start_options_of(pid: int, proc: str = "/proc") -> StartOptions:
    """The start options from the command line and environment of a process."""
    arguments = _strings(f"{proc}/{pid}/cmdline")
    environment = environment_of(pid, proc)
    cwd = environment.get("PWD", "/")
    options = dict(_leading_arguments(arguments))

    def path(name: str) -> str:
        return os.path.normpath(os.path.join(cwd, options[name])) if options.get(name) else ""

    return StartOptions(
        arguments=arguments,
        no_defaults="no-defaults" in options,
        defaults_file=path("defaults-file"),
        extra_file=path("defaults-extra-file"),
        group_suffix=options.get("defaults-group-suffix", "") or environment.get("MYSQL_GROUP_SUFFIX", ""),
        own_home=environment.get("MARIADB_HOME", "") or environment.get("MYSQL_HOME", ""),
        user_home=environment.get("HOME", "") or _home(f"{proc}/{pid}"),
    )


def environment_of(pid: int, proc: str = "/proc") -> dict[str, str]:
    """The environment of a process at its start; empty if it cannot be read. It may contain secrets."""
    return dict(entry.partition("=")[::2] for entry in _strings(f"{proc}/{pid}/environ"))


def _leading_arguments(arguments: tuple[str, ...]) -> list[tuple[str, str]]:
    """The leading options after the program name: servers accept options about option files only there."""
    program = next((i for i, word in enumerate(arguments) if posixpath.basename(word) in SERVER_PROGRAMS), 0)
    options = []
    for argument in arguments[program + 1 :]:
        name, _, value = argument.removeprefix("--").partition("=")
        if name not in (
            "no-defaults",
            "defaults-file",
            "defaults-extra-file",
            "defaults-group-suffix",
            "print-defaults",
        ):
            break
        options.append((name, value))
    return options


def _top_files(start: StartOptions, named: list[str] | tuple[()], place: Callable[[str], str]) -> list[str]:
    """The files that the server opens itself, in order; `named` are inserted at the compiled-in locations."""
    if start.no_defaults:
        return []
    if start.defaults_file:
        return [start.defaults_file]
    own = [os.path.join(start.own_home, "my.cnf")] if start.own_home else []
    extra = [start.extra_file] if start.extra_file else []
    user = [os.path.join(start.user_home, ".my.cnf")] if start.user_home else []
    usual = dict.fromkeys([*COMMON_OPTION_FILES, *named, *own, *extra, *user])
    return [path for path in usual if os.path.lexists(place(path))]


def _read_all(
    tops: list[str], reader: OptionFileReader, place: Callable[[str], str], allowed: Callable[[str], bool]
) -> tuple[dict[str, FileCopy], list[str]]:
    """Read each file once, at its first position, with includes after the including file.

    Also returns the directories that were listed.
    """
    copies: dict[str, FileCopy] = {}
    folders: list[str] = []

    def take(path: str) -> bytes:
        lies = place(path)
        try:
            if not allowed(lies):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), lies)
            data = load(lies).data
        except (MycnfError, OSError):
            copies.setdefault(path, _copy(path, lies, None, included=path not in tops))
            raise
        copies.setdefault(path, _copy(path, lies, data, included=path not in tops))
        return data

    def names(folder: str) -> list[str]:
        entries = os.listdir(place(folder))
        folders.append(folder)
        return entries

    for path in tops:
        try:
            resolve([path], flavour=reader.flavour, version=reader.version, loader=take, lister=names)
        except (MycnfError, OSError):
            continue  # it is among the copies, without text
    return copies, folders


def _copy(path: str, lies: str, data: bytes | None, *, included: bool) -> FileCopy:
    status = os.stat(lies) if os.path.exists(lies) else None
    mode, uid, gid = (status.st_mode & 0o7777, status.st_uid, status.st_gid) if status else (0, 0, 0)
    changed = status.st_ctime if status else 0.0
    if data is None:
        return FileCopy(path, None, mode, uid, gid, included=included, changed=changed)
    redacted = redact_text(data.decode("utf-8", "surrogateescape"))
    # Of a copied tree neither the directories nor their owners have a meaning.
    closed = path == lies and bool(mode & stat.S_IROTH) and not may_read(path, user=-1, groups=())
    return FileCopy(path, redacted.text, mode, uid, gid, redacted.lines, included, changed, closed)


def _is_option_file(path: str, place: Callable[[str], str]) -> bool:
    """Whether a path from the server is an option file: a malicious server could name any file that root can read."""
    if posixpath.basename(path) == NAME or not os.path.isfile(place(path)):
        return False
    try:
        return re.search(rb"^[ \t]*\[", load(place(path)).data, re.MULTILINE) is not None
    except MycnfError:
        return True  # it is listed, without text


def _strings(path: str) -> tuple[str, ...]:
    """The NUL-terminated strings in a /proc file; empty if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return tuple(s.decode("utf-8", "surrogateescape") for s in file.read(1 << 20).split(b"\0")[:-1])
    except OSError:
        return ()


def _home(folder: str) -> str:
    try:
        return pwd.getpwuid(os.stat(folder).st_uid).pw_dir
    except (OSError, KeyError):
        return ""


class PersistedFile(NamedTuple):
    """The variables that a server reads from the file, the reason if it ignores the file, and the modification time.

    `options` is None if the file cannot be read, or if the server would stop at it.
    """

    options: tuple[PersistedOption, ...] | None
    problem: str = ""
    changed: float = 0.0


def read_persisted(path: str) -> PersistedFile:
    """The persisted variables with their locations, secrets masked; in both formats, that of 8.0.15 and that of 9.7."""
    try:
        with open(path, "rb") as file:
            state = os.fstat(file.fileno())
            text = file.read(LARGEST).decode("utf-8", "replace")
    except FileNotFoundError:
        return PersistedFile(())
    except OSError as error:
        return PersistedFile(None, f"it can't be read ({error.strerror}): run as root or as the server's account")
    changed = state.st_ctime
    if state.st_mode & WORLD_WRITABLE:
        return PersistedFile((), "it is world-writable, so the server ignores it: chmod o-w", changed)
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict) or "Version" not in document:
        return PersistedFile(None, "it is not JSON as the server writes it, so the server stops at it", changed)
    found = tuple(_option(name, value, text, section) for name, value, section in _named_values(document, DEEPEST))
    return PersistedFile(found, "", changed)


def _named_values(node: dict[str, Any], levels: int, section: str = "") -> Iterator[tuple[str, str, str]]:
    """Every name with a value, and its section; the nesting depends on the version."""
    for name, child in node.items():
        if isinstance(child, dict) and isinstance(child.get(VALUE), str):
            yield name, child[VALUE], section
        elif isinstance(child, dict) and levels:
            yield from _named_values(child, levels - 1, name)


def _option(name: str, value: str, text: str, section: str) -> PersistedOption:
    at = max(0, text.find(json.dumps(name, ensure_ascii=False)))
    line_start = text.rfind("\n", 0, at) + 1
    line, column = text.count("\n", 0, at) + 1, at - line_start + 1
    return PersistedOption(name, redact_value(name, value), line, column, section)
