"""What audit, collect, suggest and explain print as JSON is what schemas/ publishes, unknown fields refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from mycnf_command import CHECKOUT
from referencing import Registry, Resource

from advisor.__main__ import main
from advisor.facts.snapshot import load, save

if TYPE_CHECKING:
    from probes.sandbox import Sandbox

SCHEMAS = ("audit", "explain", "snapshot", "suggest", "lint", "rules")
EXAMPLE = CHECKOUT / "examples" / "snapshots" / "mariadb-10.11.json"
RECORDED = [EXAMPLE, CHECKOUT / "advisor" / "demo" / "recording.json"]
OLD = sorted((CHECKOUT / "tests" / "snapshots").glob("schema-*.json"))
ROOM = ("--ram", "64G", "--cpus", "8", "--disk", "nvme")


@cache
def validator(name: str) -> Draft202012Validator:
    """The published schema of that name, with the others for what it refers to."""
    contents = {s: json.loads((CHECKOUT / "schemas" / f"{s}.schema.json").read_text()) for s in SCHEMAS}
    known: Registry[Any] = Registry().with_resources(
        (f"{s}.schema.json", Resource.from_contents(c)) for s, c in contents.items()
    )
    return Draft202012Validator(contents[name], registry=known)


def strict(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema that ignores unknown fields, as one that refuses them: what this version writes, no more."""
    defs = {
        name: {**part, "additionalProperties": False} if "properties" in part else part
        for name, part in schema["$defs"].items()
    }
    return {**schema, "$defs": defs}


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    """What mycnf prints, read as JSON."""
    assert main([*words, "--format", "json"]) in (0, 1)
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_are_schemas(name: str) -> None:
    """Each is valid by its own standard."""
    Draft202012Validator.check_schema(validator(name).schema)


def test_the_snapshots_schema_is_what_the_facts_say() -> None:
    """schemas/snapshot.schema.json is what its generator makes today."""
    tool = [sys.executable, str(CHECKOUT / "tools" / "snapshotschema.py"), "--check"]
    ran = subprocess.run(tool, capture_output=True, text=True, timeout=600, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("path", [*RECORDED, *OLD], ids=lambda path: path.name)
def test_recorded_servers(path: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The demo's recording, the example and a snapshot of each released schema keep to theirs; so do their audits."""
    validator("snapshot").validate(json.loads(path.read_text()))
    again = tmp_path / "again.json"
    save(load(str(path)), str(again))
    Draft202012Validator(strict(validator("snapshot").schema)).validate(json.loads(again.read_text()))
    audit = printed(capsys, "audit", "--isolated", "--snapshot", str(path))
    assert audit["findings"]
    validator("audit").validate(audit)


def test_an_audit_beside_an_earlier_one(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """With --since there are the changes, too."""
    facts = json.loads(EXAMPLE.read_text())
    facts["taken_at"] = "2026-01-01T00:00:00+00:00"
    facts["server"]["variables"] |= {"sort_buffer_size": "262144", "hostname": "other"}
    earlier = tmp_path / "earlier.json"
    earlier.write_text(json.dumps(facts))
    audit = printed(capsys, "audit", "--isolated", "--snapshot", str(EXAMPLE), "--since", str(earlier))
    validator("audit").validate(audit)
    assert audit["since"]["settings"]
    assert audit["since"]["kept"]


@pytest.mark.servers
def test_real_servers(any_server: Sandbox, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """What is collected of a running server, and what is said of it, have no field that isn't published."""
    snapshot = str(tmp_path / "server.json")
    assert main(["collect", "--socket", any_server.socket, "--user", "root", "--window", "0", "-o", snapshot]) == 0
    kept = json.loads(Path(snapshot).read_text())
    Draft202012Validator(strict(validator("snapshot").schema)).validate(kept)
    capsys.readouterr()
    validator("audit").validate(printed(capsys, "audit", "--isolated", "--fail-on", "never", "--snapshot", snapshot))


@pytest.mark.parametrize("target", ["mysql-5.7", "mysql-8.4", "mysql-9.7", "mariadb-10.6", "mariadb-11.8"])
@pytest.mark.parametrize("workload", ["oltp", "dev"])
def test_suggestions(target: str, workload: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Suggested lines have their fields."""
    document = printed(capsys, "suggest", "--target", target, "--workload", workload, *ROOM)
    assert document["options"]
    validator("suggest").validate(document)


@pytest.mark.parametrize("words", [["BUF001"], ["INN007"], ["SEC003"], ["sort_buffer_size"], ["query_cache_size"]])
@pytest.mark.parametrize("more", [[], ["--target", "mysql-8.4"]])
def test_explanations(words: list[str], more: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Rules and options are explained in the published fields."""
    validator("explain").validate(printed(capsys, "explain", *words, *more))


@pytest.mark.parametrize("place", [(), ("server",), ("host",), ("findings", 0), ("findings", 0, "actions", 0)])
def test_a_new_field_must_be_published(place: tuple[str | int, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """A field that the schema of audits does not have is refused, so none can be added without a word there."""
    audit = printed(capsys, "audit", "--isolated", "--snapshot", str(RECORDED[1]))
    audit["findings"].sort(key=lambda found: not found["actions"])
    part = audit
    for step in place:
        part = part[step]
    part["news"] = 1
    if place == ("host",):
        validator("audit").validate(audit)  # the host is a part of snapshots, whose readers ignore what is new
        return
    with pytest.raises(ValidationError):
        validator("audit").validate(audit)


def test_every_schema_is_named_in_the_page() -> None:
    """docs/formats.md lists the schema of each JSON that is printed."""
    page = (CHECKOUT / "docs" / "formats.md").read_text()
    missing = [name for name in sorted(os.listdir(CHECKOUT / "schemas")) if f"schemas/{name})" not in page]
    assert missing == []


@pytest.mark.parametrize("comment", ["Percona Server (GPL), Release 35, Revision 1", "MySQL Enterprise Server - GPL"])
def test_vendors_builds(comment: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The audit of a server of another vendor names its build, and keeps to the schema."""
    recorded = json.loads(OLD[0].read_text(encoding="utf-8"))
    recorded["server"] |= {"flavour": "mysql", "version": "8.0.36", "version_comment": comment}
    recorded["server"]["variables"] |= {"version": "8.0.36", "version_comment": comment}
    (tmp_path / "other.json").write_text(json.dumps(recorded), encoding="utf-8")
    audit = printed(capsys, "audit", "--isolated", "--snapshot", str(tmp_path / "other.json"))
    assert audit["server"]["target"] in ("percona-8.0.36", "mysql-enterprise-8.0.36")
    validator("audit").validate(audit)
