"""What the program prints as JSON is what schemas/ publishes."""

from __future__ import annotations

import json
import re
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hostile_findings import nasty, nothing, page
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from mycnf_command import CHECKOUT
from referencing import Registry, Resource

from advisor.__main__ import main
from advisor.catalog.targets import NAMES
from advisor.core.model import Origin
from advisor.preflight.item import RestartEffect
from advisor.report.formats import render_lint as render
from advisor.upgrade.change import Area, LineEffect
from advisor.verdict.outcome import Outcome

SCHEMAS = ("lint", "lint-line", "show", "rules")


@cache
def validator(name: str) -> Draft202012Validator:
    """The published schema of that name, with the others at hand for what it refers to."""
    paths = (CHECKOUT / "schemas").glob("*.schema.json")
    contents = {path.name.partition(".")[0]: json.loads(path.read_text()) for path in paths}
    known: Registry[Any] = Registry().with_resources(
        (f"{s}.schema.json", Resource.from_contents(c)) for s, c in contents.items()
    )
    return Draft202012Validator(contents[name], registry=known)


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What mycnf prints, run from the checkout."""
    assert main(list(words)) in (0, 1)
    return capsys.readouterr().out


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_are_schemas(name: str) -> None:
    """Each is valid by its own standard."""
    Draft202012Validator.check_schema(validator(name).schema)


@pytest.mark.parametrize("target", ["mysql-5.7", "mysql-8.4", "mariadb-10.11"])
@pytest.mark.parametrize("file", ["bad.cnf", "refused.cnf"])
def test_lint_and_show(capsys: pytest.CaptureFixture[str], target: str, file: str) -> None:
    """The reports of the examples keep to the schemas."""
    path = str(CHECKOUT / "examples" / file)
    words = ("--target", target, path)
    report = json.loads(printed(capsys, "lint", "--format", "json", *words))
    assert report["files"][0]["findings"]
    validator("lint").validate(report)
    lines = printed(capsys, "lint", "--format", "jsonl", *words).splitlines()
    assert len(lines) == len(report["files"][0]["findings"])
    for line in lines:
        validator("lint-line").validate(json.loads(line))
    validator("show").validate(json.loads(printed(capsys, "show", "--format", "json", *words)))


@pytest.mark.parametrize("target", [*(f"{name}-8.0" for name in NAMES if "mariadb" not in name), "rds-mariadb-10.11"])
def test_every_target(capsys: pytest.CaptureFixture[str], target: str) -> None:
    """The reports about each vendor's build and managed service keep to the schemas, which name the server."""
    path = str(CHECKOUT / "examples" / "bad.cnf")
    old = "mariadb-10.6" if "mariadb" in target else "mysql-5.7"
    for name, words in {
        "lint": ("--target", target, path),
        "show": ("--target", target, path),
        "upgrade": ("--from", old, "--to", target, path),
        "diff": (target, path),
        "suggest": ("--target", target, "--ram", "64G", "--cpus", "8", "--disk", "ssd"),
        "explain": ("sort_buffer_size", "--target", target),
    }.items():
        validator(name).validate(json.loads(printed(capsys, name, "--format", "json", *words)))


def test_options_of_every_build(capsys: pytest.CaptureFixture[str]) -> None:
    """An option that Percona XtraDB Cluster has otherwise is explained for each, by the name of the target."""
    report = json.loads(printed(capsys, "explain", "--format", "json", "wsrep_sst_method"))
    assert any(name.startswith("pxc-") for name in report["option"]["targets"])
    validator("explain").validate(report)


def test_a_line_at_which_the_server_stops(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """What the parser takes and the start refuses has an outcome of its own, which the schema knows."""
    (tmp_path / "my.cnf").write_text("[mysqld]\ndefault_time_zone = +25:00\n")
    words = ("--from", "mysql-5.7", "--to", "mysql-8.0", str(tmp_path / "my.cnf"))
    report = json.loads(printed(capsys, "upgrade", "--format", "json", *words))
    assert report["lines"][0]["to"]["outcome"] == "stops"
    validator("upgrade").validate(report)


@pytest.mark.parametrize(("name", "place", "words"), [
    ("upgrade", ("verdict", "outcome"), Outcome),
    ("upgrade", ("line", "change"), LineEffect),
    ("upgrade", ("default", "area"), Area),
    ("diff", ("held", "origin"), Origin),
    ("preflight", ("item", "kind"), RestartEffect),
])  # fmt: skip
def test_words_are_those_of_the_program(name: str, place: tuple[str, str], words: Any) -> None:
    """A schema that lists words lists every one that the program may print."""
    part, field = place
    assert set(validator(name).schema["$defs"][part]["properties"][field]["enum"]) == {str(word) for word in words}


def test_nasty_findings() -> None:
    """For any file, the fields keep their types."""
    for files in (nasty(), nothing(), []):
        validator("lint").validate(json.loads(render("json", files, page())))
        for line in render("jsonl", files, page()).splitlines():
            validator("lint-line").validate(json.loads(line))


def test_rules(capsys: pytest.CaptureFixture[str]) -> None:
    """The list of rules keeps to its schema."""
    validator("rules").validate(json.loads(printed(capsys, "rules", "--format", "json")))


@pytest.mark.parametrize(("name", "breaks"), [
    ("lint", lambda r: r["files"][0]["findings"][0].pop("help")),
    ("lint", lambda r: r["files"][0]["findings"][0].update(extra=1)),
    ("lint", lambda r: r["files"][0]["findings"][0].update(severity="fatal")),
    ("lint", lambda r: r.update(version=2)),
    ("lint-line", lambda r: r.update(extra=1)),
    ("lint-line", lambda r: r.pop("file")),
])  # fmt: skip
def test_schemas_refuse_others(name: str, breaks: Any) -> None:
    """A field too many or too few, or a word that isn't one of ours, is refused."""
    form = {"lint": "json", "lint-line": "jsonl"}[name]
    report = json.loads(render(form, nasty()[:1], page()).partition('\n{"file"')[0])
    validator(name).validate(report)
    breaks(report)
    with pytest.raises(ValidationError):
        validator(name).validate(report)


def test_the_documented_way(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program in docs/formats.md takes an audit as valid and a broken one as not, beside schemas/ alone."""
    (program,) = re.findall(
        r"^```python\n(.*?)^```", (CHECKOUT / "docs" / "formats.md").read_text(), re.DOTALL | re.MULTILINE
    )
    shutil.copytree(CHECKOUT / "schemas", tmp_path / "schemas")
    snapshot = str(CHECKOUT / "examples" / "snapshots" / "mariadb-10.11.json")
    audit = json.loads(printed(capsys, "audit", "--isolated", "--snapshot", snapshot, "--format", "json"))
    monkeypatch.chdir(tmp_path)
    Path("audit.json").write_text(json.dumps(audit))
    exec(program, {})  # noqa: S102 - our own documentation
    del audit["findings"][0]["help"]
    Path("audit.json").write_text(json.dumps(audit))
    with pytest.raises(ValidationError):
        exec(program, {})  # noqa: S102


def test_references_lead_somewhere() -> None:
    """What a schema refers to in another is there, by the name of its file."""
    schemas = {path.name: json.loads(path.read_text()) for path in (CHECKOUT / "schemas").glob("*.json")}
    known: Registry[Any] = Registry().with_resources(
        (n, Resource.from_contents(s)) for n, s in schemas.items() if "$id" in s
    )
    found = {
        (name, ref) for name, s in schemas.items() for ref in re.findall(r'"\$ref": "([^#"]+#[^"]*)"', json.dumps(s))
    }
    assert found
    assert all(known.resolver().lookup(ref).contents for _, ref in found)
