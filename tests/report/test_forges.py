"""What GitHub Actions and GitLab show of a report."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

import pytest
from hostile_findings import nasty, nothing, page
from jsonschema import validate
from mycnf_command import CHECKOUT

from advisor.report.formats import render_lint as render

GITLAB = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "properties": {
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "fingerprint": {"type": "string", "minLength": 1},
            "location": {
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "pattern": "^[^/]"},
                    "lines": {"required": ["begin"], "properties": {"begin": {"type": "integer", "minimum": 1}}},
                },
            },
        },
    },
}


class Command(NamedTuple):
    """A workflow command as the runner of GitHub Actions understands it."""

    name: str
    properties: dict[str, str]
    data: str


def commands(text: str) -> list[Command]:
    """The commands of a log, by the runner's rules: at the start of a line, the first :: behind the name ends it."""
    found = []
    for line in re.split(r"\r\n|\r|\n", text):
        if line.startswith("::"):
            head, _, data = line[2:].partition("::")
            name, _, rest = head.partition(" ")
            pairs = dict(pair.split("=", 1) for pair in rest.split(",") if pair)
            found.append(Command(name, {k: _unescaped(v) for k, v in pairs.items()}, _unescaped(data)))
    return found


def _unescaped(text: str) -> str:
    for escape, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(escape, character)
    return text


def test_one_annotation_a_finding() -> None:
    """For any file, the runner sees our commands alone, with file, place, rule and words whole."""
    findings = [f for c in nasty() for f in c.findings]
    made = commands(render("github", nasty(), page()))
    assert len(made) == len(render("github", nasty(), page()).splitlines()) == len(findings)
    levels = {"error": "error", "warning": "warning", "note": "notice"}
    for command, finding in zip(made, findings, strict=True):
        assert command.name == levels[finding.severity.value]
        assert command.properties["title"] == f"{finding.code} {finding.name}"
        assert set(command.properties) <= {"file", "line", "endLine", "col", "endColumn", "title"}
        if finding.location and finding.location.line:
            assert command.properties["line"] == str(finding.location.line)
            assert command.properties["col"] == str(finding.location.column)
    assert made[3].data == "The line is tmpdir = 50%0A::warning::%25 ##[error] and nobody likes it. (opinion)"


def test_annotations_name_files_from_the_top() -> None:
    """A file below the directory of the run is named from there, without ./, as the repository knows it."""
    files = [
        nasty()[0]._replace(path=path, findings=nasty()[0].findings[-1:]) for path in ("./a/b.cnf", "/repository/c")
    ]
    assert [c.properties["file"] for c in commands(render("github", files, page()))] == ["a/b.cnf", "c"]


def test_unread_files_are_reported() -> None:
    """A file that could not be read is an error for either forge."""
    unread = page(("gone.cnf", "cannot parse it"))
    assert commands(render("github", [], unread)) == [
        Command("error", {"file": "gone.cnf", "title": "not read"}, "cannot parse it")
    ]
    (entry,) = json.loads(render("gitlab", [], unread))
    assert (entry["location"]["path"], entry["description"]) == ("gone.cnf", "cannot parse it")


@pytest.mark.parametrize("broken", [(), (("gone.cnf", "cannot parse it"), ("gone.cnf", "nor now"))])
def test_code_quality(broken: tuple[tuple[str, str], ...]) -> None:
    """GitLab's fields are there, paths are relative, and no two entries share a fingerprint."""
    report = json.loads(render("gitlab", [*nasty(), *nasty()], page(*broken)))
    validate(report, GITLAB)
    marks = [entry["fingerprint"] for entry in report]
    assert len(set(marks)) == len(marks) == 2 * sum(len(c.findings) for c in nasty()) + bool(broken)


def test_nothing_found_is_an_empty_list() -> None:
    """A clean file is a report without entries."""
    assert json.loads(render("gitlab", nothing(), page())) == []
    assert render("github", nothing(), page()) == ""


def test_problem_matcher() -> None:
    """The matcher of examples/ takes each line of the concise report apart."""
    (matcher,) = json.loads((CHECKOUT / "examples" / "mycnf-problem-matcher.json").read_text())["problemMatcher"]
    (pattern,) = matcher["pattern"]
    files = [c._replace(findings=tuple(f for f in c.findings if f.location)) for c in nasty()]
    lines = render("concise", files, page()).splitlines()
    findings = [f for c in files for f in c.findings]
    for line, finding in zip(lines, findings, strict=True):
        match = re.search(pattern["regexp"], line)
        assert match, line
        fields = {field: match[pattern[field]] for field in ("file", "line", "column", "code", "message")}
        assert fields["code"] == finding.code
        assert fields["message"].startswith(finding.name)
        assert fields["line"] == (str(finding.location.line) if finding.location.line else None)
        assert fields["column"] == (str(finding.location.column) if finding.location.line else None)
        assert fields["file"].endswith(".cnf")


def test_problem_matcher_leaves_other_lines() -> None:
    """Other lines of a log are no problem of ours."""
    (matcher,) = json.loads((CHECKOUT / "examples" / "mycnf-problem-matcher.json").read_text())["problemMatcher"]
    log = (
        *render("text", nothing(), page()).splitlines(),
        "mycnf: can't read a.cnf: no such file",
        "x.py:1:2: E501 long",
    )
    assert not [line for line in log if re.search(matcher["pattern"][0]["regexp"], line)]
