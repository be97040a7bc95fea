"""Memory allocators of a server process: the one it is linked with, and those that can be preloaded."""

from __future__ import annotations

import functools
import os
import platform
import re
from typing import TYPE_CHECKING, NamedTuple

from probes.experiment import ProbeError
from probes.sandbox.binary import run_briefly

if TYPE_CHECKING:
    from probes.sandbox import Binary

GLIBC, TWO_ARENAS = "glibc", "glibc-2-arenas"
PRELOAD, ARENA_MAX = "LD_PRELOAD", "MALLOC_ARENA_MAX"
LOADED_LIBRARY = re.compile(r"calling init: \S*/lib(jemalloc|tcmalloc|mimalloc)[^/\s]*$", re.MULTILINE)


class Library(NamedTuple):
    """An allocator that can be preloaded: its file names, and the package that installs it."""

    files: tuple[str, ...]
    package: str


LIBRARIES = {
    "jemalloc": Library(("libjemalloc.so.2",), "apt-get install libjemalloc2 (RHEL: dnf install jemalloc, from EPEL)"),
    "tcmalloc": Library(
        ("libtcmalloc_minimal.so.4", "libtcmalloc.so.4"),
        "apt-get install libtcmalloc-minimal4 (RHEL: dnf install gperftools-libs, from EPEL)",
    ),
}
ALLOCATORS = (GLIBC, TWO_ARENAS, *LIBRARIES)


def library_folders() -> tuple[str, ...]:
    """The folders for libraries of this machine's architecture."""
    return (f"/usr/lib/{platform.machine()}-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib")


@functools.lru_cache(maxsize=32)
def linked_allocator(binary: Binary) -> str:
    """The allocator that a server program is linked with, according to the dynamic loader."""
    done = run_briefly([binary.program, "--no-defaults", "--version"], variables={"LD_DEBUG": "libs"})
    found = LOADED_LIBRARY.search(done.stderr)
    return found[1] if found else GLIBC


def allocator_variables(word: str, own: str) -> dict[str, str]:
    """The environment variables that make a server, which is linked with the allocator `own`, use another one.

    Raises ProbeError for a library that is not installed, and for glibc's allocator if another one is linked.
    """
    if word == own:
        return {}
    if word in (GLIBC, TWO_ARENAS):
        if own != GLIBC:
            raise ProbeError(
                f"this server is linked with {own}, so glibc's malloc cannot be compared: choose other allocators"
            )
        return {ARENA_MAX: "2"}
    library = LIBRARIES[word]
    paths = (os.path.join(folder, name) for folder in library_folders() for name in library.files)
    path = next((path for path in paths if os.path.isfile(path)), None)
    if path is None:
        raise ProbeError(f"{library.files[0]} is not installed: {library.package}, or remove {word} from allocators")
    return {PRELOAD: path}


def uses_allocator(pid: int, variables: dict[str, str], own: str) -> bool:
    """Whether a process has these variables and the library that they name.

    If they name no library, it must use only its own allocator.
    """
    with open(f"/proc/{pid}/environ", "rb") as text:
        environment = dict(part.split(b"=", 1) for part in text.read().split(b"\0") if b"=" in part)
    for name in (PRELOAD, ARENA_MAX):
        if environment.get(os.fsencode(name), b"") != os.fsencode(variables.get(name, "")):
            return False
    files, library = mapped_files(pid), variables.get(PRELOAD)
    if library is not None:
        return os.path.realpath(library) in files
    others = tuple(f"lib{word}" for word in LIBRARIES if word != own)
    return not any(os.path.basename(file).startswith(others) for file in files)


def mapped_files(pid: int) -> set[str]:
    """The files mapped by a process."""
    with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as text:
        return {line.split(maxsplit=5)[5].rstrip("\n") for line in text if "/" in line}
