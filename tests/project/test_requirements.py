"""What is pinned for development, for the zipapp and for its tools, against what pyproject.toml asks for."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if TYPE_CHECKING:
    from pathlib import Path

FILES = ("product", "development", "supply")


def entries(checkout: Path, name: str) -> list[str]:
    """The requirements of a pinned file, each with its hashes on one line."""
    text = (checkout / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
    whole = re.sub(r"\\\n\s*", " ", text)
    return [line for line in whole.splitlines() if line and not line.startswith("#")]


def pins(checkout: Path, name: str) -> dict[str, list[Requirement]]:
    """What a file pins, by package: several versions where they depend on the Python or the system."""
    found: dict[str, list[Requirement]] = {}
    for entry in entries(checkout, name):
        requirement = Requirement(entry.partition(" --hash")[0])
        found.setdefault(canonicalize_name(requirement.name), []).append(requirement)
    return found


def asked(checkout: Path, name: str) -> list[Requirement]:
    """What such a file has to hold."""
    if name == "supply":
        lines = (checkout / "requirements" / "supply.in").read_text(encoding="utf-8").splitlines()
        return [Requirement(line.partition("#")[0]) for line in lines if not line.startswith("#")]
    project = tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    more = project["optional-dependencies"]["dev"] if name == "development" else []
    return [Requirement(text) for text in (*project["dependencies"], *more)]


@pytest.mark.parametrize("name", FILES)
def test_all_that_is_asked_for_is_pinned(checkout: Path, name: str) -> None:
    """Each requirement is pinned to a version that it allows; `make pins` writes the files again."""
    pinned = pins(checkout, name)
    for wanted in asked(checkout, name):
        there = pinned.get(canonicalize_name(wanted.name))
        assert there, f"{wanted} is not in requirements/{name}.txt: make pins"
        for one in there:
            (exactly,) = one.specifier
            assert exactly.operator == "=="
            assert wanted.specifier.contains(exactly.version, prereleases=True), f"{one} is not {wanted}: make pins"


@pytest.mark.parametrize("name", FILES)
def test_every_package_has_its_hashes(checkout: Path, name: str) -> None:
    """No package is installed without a pinned hash, and no file says where this machine gets them from."""
    for entry in entries(checkout, name):
        assert re.search(r" --hash=sha256:[0-9a-f]{64}", entry), entry
        assert not re.search(r"https?://|^-", entry), entry


def test_development_has_what_the_zipapp_is_packed_with(checkout: Path) -> None:
    """What is tested is what is shipped: both files pin the product's packages alike."""
    tested = pins(checkout, "development")
    for name, shipped in pins(checkout, "product").items():
        assert {str(one.specifier) for one in shipped} == {str(one.specifier) for one in tested[name]}, name
