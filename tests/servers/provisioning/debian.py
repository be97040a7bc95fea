"""Servers out of Debian packages of any suite, without touching the system's own packages."""

from __future__ import annotations

import re
import shutil
import time
from pathlib import Path

from provisioning.commands import run, tool
from provisioning.mirrors import sources_for
from provisioning.shelf import ProvisionError, lock, workroom

STALE_AFTER = 24 * 3600
# Left out of a server's libraries: what only its Perl scripts need, and the stand-in for systemd's own library.
UNWANTED = re.compile(r"libelogind|libperl|libgdbm|libc-|libtirpc-common|libsasl2-modules")
WANTED = re.compile(r"lib|zlib1g")
# What a system of the same suite has anyway, and what must come from one hand with its loader.
THE_SYSTEMS_OWN = {"libc6", "libgcc-s1", "libstdc++6"}


class Suite:
    """A private apt state for one suite: its own sources, lists, cache, and no installed packages."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.room = workroom(f"apt-{name}")
        self.apt_get = tool("apt-get", "apt")
        self.apt_cache = tool("apt-cache", "apt")
        self._prepare()

    def _prepare(self) -> None:
        sources = "".join(source.line() + "\n" for source in sources_for(self.name))
        (self.room / "sources.list").write_text(sources, encoding="utf-8")
        (self.room / "status").touch()
        for folder in ("lists/partial", "cache/archives/partial"):
            (self.room / folder).mkdir(parents=True, exist_ok=True)

    def options(self) -> list[str]:
        """The options that keep apt away from the system's state; proxies and keys stay the system's."""
        return [
            f"-oDir::Etc::sourcelist={self.room}/sources.list",
            "-oDir::Etc::sourceparts=-",
            "-oDir::Etc::preferences=/dev/null",
            "-oDir::Etc::preferencesparts=-",
            f"-oDir::State::Lists={self.room}/lists",
            f"-oDir::State::status={self.room}/status",
            f"-oDir::Cache={self.room}/cache",
            "-oAPT::Sandbox::User=",
            "-oAcquire::Languages=none",
            "-oAcquire::IndexTargets::deb::DEP-11::DefaultEnabled=false",
            "-oAcquire::Retries=3",
            "-q",
        ]

    def update(self, *, force: bool = False) -> None:
        """Refresh the package lists once a day; stale lists serve where the mirror can't be reached."""
        stamp = self.room / "updated"
        fresh = stamp.exists() and 0 <= time.time() - stamp.stat().st_mtime < STALE_AFTER
        if fresh and not force:
            return
        try:
            run([self.apt_get, *self.options(), "update", "--error-on=any"])
        except ProvisionError:
            if not stamp.exists():
                raise
            return
        stamp.touch()

    def libraries(self, package: str) -> list[str]:
        """The library packages that `package` depends on, at any depth."""
        weak = ["recommends", "suggests", "conflicts", "breaks", "replaces", "enhances"]
        listing = run(
            [self.apt_cache, *self.options(), "depends", "--recurse", *(f"--no-{kind}" for kind in weak), package]
        )
        names = {line.split(":")[0] for line in listing.splitlines() if line and not line[0].isspace()}
        return sorted(name for name in names if WANTED.match(name) and not UNWANTED.match(name))

    def download(self, packages: list[str]) -> Path:
        """Download packages into an empty-enough directory and return it; complete files are kept."""
        where = self.room / "debs"
        where.mkdir(exist_ok=True)
        command = [self.apt_get, *self.options(), "download", *packages]
        try:
            run(command, cwd=where)
        except ProvisionError:
            # A moving suite drops a version between two updates: look again, once.
            self.update(force=True)
            run(command, cwd=where)
        return where


def unpack(suite_name: str, libraries_of: tuple[str, ...], alone: tuple[str, ...], root: Path) -> dict[str, str]:
    """Unpack packages with the libraries they need, and `alone` without, into `root`; returns their versions.

    On a system of that very suite the C library stays the system's, so that the server runs as a plain
    program; elsewhere the root brings its own, loader included.
    """
    dpkg_deb = tool("dpkg-deb", "dpkg")
    with lock(f"apt-{suite_name}"):
        suite = Suite(suite_name)
        suite.update()
        packages = {*libraries_of, *alone}
        for package in libraries_of:
            packages.update(suite.libraries(package))
        if suite_name == system_suite():
            packages -= THE_SYSTEMS_OWN
        where = suite.download(sorted(packages))
        versions = {}
        for name in sorted(packages):
            archives = sorted(where.glob(f"{name}_*.deb"), key=lambda file: file.stat().st_mtime)
            run([dpkg_deb, "--extract", str(archives[-1]), str(root)])
            versions[name] = archives[-1].name.split("_")[1]
        shutil.rmtree(where)
    for folder in ("doc", "man", "locale", "lintian"):
        shutil.rmtree(root / "usr/share" / folder, ignore_errors=True)
    return versions


def system_suite(os_release: Path = Path("/etc/os-release")) -> str:
    """The code name of this system's own suite, empty where it says none."""
    text = os_release.read_text(encoding="utf-8", errors="replace") if os_release.is_file() else ""
    match = re.search(r'^VERSION_CODENAME="?([a-z]+)', text, re.MULTILINE)
    return match[1] if match else ""


def loader(root: Path) -> Path | None:
    """The dynamic loader inside a root that carries its own C library, else None."""
    found = [file for file in root.glob("**/ld-linux-*.so.*") if file.is_file() and not file.is_symlink()]
    return found[0] if found else None


def library_folders(root: Path) -> list[Path]:
    """The folders of a root that hold shared libraries, plugins left out."""
    folders = {
        file.parent
        for pattern in ("lib/*-linux-*", "usr/lib/*-linux-*")
        for folder in root.glob(pattern)
        for file in folder.glob("*.so*")
    }
    return sorted(folders)
