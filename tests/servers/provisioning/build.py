"""Build one server on the shelf from its recipe, and prove that it runs."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING

from provisioning import debian, maven
from provisioning.commands import run
from provisioning.launcher import write_launcher
from provisioning.manifest import Manifest, read
from provisioning.recipes import LIBRARY_SUITE, RECIPES, UNOBTAINABLE, DebianRoot, MavenTree
from provisioning.shelf import ProvisionError, lock, placing, shelf, workroom

if TYPE_CHECKING:
    from pathlib import Path

EXECUTABLES = ("usr/sbin/mariadbd", "usr/sbin/mysqld", "bin/mariadbd", "bin/mysqld")


def provision(name: str) -> Manifest:
    """Make server `name` stand on the shelf, if it doesn't yet, and return its manifest.

    Raises ProvisionError that says why it can't be had and how to get it.
    """
    if name in UNOBTAINABLE:
        raise ProvisionError(UNOBTAINABLE[name])
    if name not in RECIPES:
        raise ProvisionError(f"there is no such server; there are {', '.join(RECIPES)}")
    with contextlib.suppress(ProvisionError):
        return _renew_launchers(check(name))
    with lock(name):
        with contextlib.suppress(ProvisionError):
            return check(name)  # another process was faster
        with placing(name) as folder:
            _build(name, RECIPES[name], folder)
        return check(name)


def check(name: str) -> Manifest:
    """The manifest of a server that stands on the shelf and runs; raises ProvisionError otherwise."""
    if name in UNOBTAINABLE:
        raise ProvisionError(UNOBTAINABLE[name])
    manifest = read(name)
    if manifest is None:
        raise ProvisionError(f"not unpacked: run python tests/servers/provision.py {name}")
    version = version_of(shelf() / name / manifest.server)
    if version != manifest.version:
        raise ProvisionError(f"it says it is {version}, but {manifest.version} was unpacked: remove {shelf() / name}")
    return manifest


def version_of(server: Path) -> str:
    """The version that a server prints about itself, such as 8.0.15 or 10.11.19-MariaDB-0+deb12u1."""
    printed = run([str(server), "--no-defaults", "--version"], timeout=600)
    match = re.search(r"Ver\s+(\S+)", printed)
    if match is None:
        raise ProvisionError(f"{server} prints no version ({printed.strip()[:80]})")
    return match[1]


def _build(name: str, recipe: MavenTree | DebianRoot, folder: Path) -> None:
    root = folder / "root"
    root.mkdir()
    if isinstance(recipe, MavenTree):
        maven.unpack(recipe, root, workroom(name))
        _add_libraries(recipe, root)
        source = recipe.artifact
    else:
        debian.unpack(recipe.suite, recipe.libraries_of, recipe.extras, root)
        source = f"Debian {recipe.suite}: {', '.join((*recipe.libraries_of, *recipe.extras))}"
    _describe(name, source, folder).write(folder)


def _add_libraries(recipe: MavenTree, root: Path) -> None:
    # Where there is no Debian mirror the system's libraries may do; the version check finds out.
    with contextlib.suppress(ProvisionError):
        debian.unpack(LIBRARY_SUITE, (), recipe.libraries, root)


def _renew_launchers(manifest: Manifest) -> Manifest:
    """Write launchers again that an older provisioner wrote, if the shelf can be written; returns the manifest."""
    folder = shelf() / manifest.name
    with contextlib.suppress(OSError), lock(manifest.name):
        _write_launchers(folder, folder / manifest.executable, [folder / path for path in manifest.libraries])
    return manifest


def _write_launchers(folder: Path, executable: Path, libraries: list[Path]) -> tuple[str, str | None]:
    """The names of the launchers of a server and of its my_print_defaults, None where it has none."""
    own_loader = debian.loader(folder / "root")
    server = write_launcher(folder, "server", executable, libraries, own_loader)
    printer = executable.parent.parent / "bin/my_print_defaults"
    if not printer.is_file():
        return server, None
    return server, write_launcher(folder, "print-defaults", printer, libraries, own_loader)


def _describe(name: str, source: str, folder: Path) -> Manifest:
    root = folder / "root"
    executable = next((root / path for path in EXECUTABLES if (root / path).is_file()), None)
    if executable is None:
        raise ProvisionError(f"{source} holds no mysqld or mariadbd")
    basedir = executable.parent.parent
    libraries = debian.library_folders(root)
    server, print_defaults = _write_launchers(folder, executable, libraries)
    return Manifest(
        name=name,
        version=version_of(folder / server),
        source=source,
        basedir=str(basedir.relative_to(folder)),
        share=str(_share(basedir).relative_to(folder)),
        plugins=_plugins(basedir, folder),
        executable=str(executable.relative_to(folder)),
        server=server,
        print_defaults=print_defaults,
        libraries=[str(library.relative_to(folder)) for library in libraries],
    )


def _share(basedir: Path) -> Path:
    for folder in ("share/mariadb", "share/mysql", "share"):
        if (basedir / folder / "english" / "errmsg.sys").is_file():
            return basedir / folder
    raise ProvisionError(f"there are no error messages under {basedir}/share")


def _plugins(basedir: Path, folder: Path) -> str | None:
    for place in ("lib/mysql/plugin", "lib/plugin"):
        if (basedir / place).is_dir():
            return str((basedir / place).relative_to(folder))
    return None
