"""Start mycnf from its zip: unpack it once into the user's cache, then run from there as if installed."""

from __future__ import annotations

import os
import sys

DIGEST = "@DIGEST@"
PYTHON = "@PYTHON@"  # the compiled dependencies of audit work with this version only
NEEDS_COMPILED = {"audit", "collect"}


def _unpacked_folder() -> str:
    """The folder with this zip's packages.

    It is created next to its final name and renamed, so that it is never incomplete.
    """
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = os.path.join(cache, "mycnf", "zipapp", DIGEST)
    if not os.path.isdir(folder):
        _unpack(folder)
    if os.stat(folder).st_uid != os.getuid():  # root with a user's HOME must not run code that the user can change
        sys.exit(f"mycnf: {folder} belongs to another user; name another place: XDG_CACHE_HOME=/tmp/…")
    return folder


def _unpack(folder: str) -> None:
    import tempfile
    import zipfile

    parent = os.path.dirname(folder)
    try:
        os.makedirs(parent, mode=0o700, exist_ok=True)
        beside = tempfile.mkdtemp(dir=parent)
    except OSError as error:
        sys.exit(f"mycnf: can't unpack into {parent} ({error.strerror}); name another place: XDG_CACHE_HOME=/tmp/…")
    with zipfile.ZipFile(sys.argv[0]) as archive:
        archive.extractall(beside, [n for n in archive.namelist() if n.startswith("site/")])
    try:
        os.rename(beside, folder)
    except OSError:  # another run was faster; its folder has the same content
        import shutil

        shutil.rmtree(beside)


def main() -> int:
    """Run mycnf with the arguments of this process and return its exit code."""
    running = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if sys.version_info < (3, 11):  # noqa: UP036 - the zip meets any Python, whatever the project requires
        sys.exit(f"mycnf: needs Python 3.11 or newer, this is {running}")
    if running != PYTHON and NEEDS_COMPILED & set(sys.argv[1:2]):
        sys.exit(
            f"mycnf: this file was built for Python {PYTHON}, and {sys.argv[1]} needs that one; here runs {running}"
        )
    sys.path.insert(0, os.path.join(_unpacked_folder(), "site"))
    from advisor.__main__ import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
