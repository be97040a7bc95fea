"""SARIF as its standard has it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import urllib.parse
from pathlib import Path
from typing import Any

import pytest
from hostile_findings import NAMES, SECRET, nasty, nothing, page
from jsonschema import Draft4Validator
from mycnf_command import CHECKOUT

from advisor.core.model import Finding, Severity
from advisor.optionfile.lines import apply_edits
from advisor.optionfile.reader import parse
from advisor.redaction import MASK
from advisor.report import CheckedFile
from advisor.report.formats import render_lint as render
from rules import all_rules


def run_of(files: list[CheckedFile], *broken: tuple[str, str]) -> dict[str, Any]:
    """The one run of the log."""
    (run,) = json.loads(render("sarif", files, page(*broken)))["runs"]
    return dict(run)


def of_every_rule() -> list[CheckedFile]:
    """One finding of each rule that there is."""
    found = tuple(Finding(r.code, r.name, r.severity, r.confidence, "m") for r in all_rules())
    return [nothing()[0]._replace(findings=found)]


@pytest.mark.parametrize("files", [[], nothing(), nasty(), of_every_rule()], ids=["none", "clean", "nasty", "rules"])
@pytest.mark.parametrize("broken", [(), (("a b", "why {0}"),)])
def test_official_schema(
    sarif_validator: Draft4Validator, files: list[CheckedFile], broken: tuple[tuple[str, str], ...]
) -> None:
    """Every log is valid, the empty one too."""
    errors = list(sarif_validator.iter_errors(json.loads(render("sarif", files, page(*broken)))))
    assert not errors, errors[0]


def test_results_point_at_their_rules() -> None:
    """ruleIndex leads to the descriptor of the same id, which has the rule's words where it is one of ours."""
    run = run_of([*nasty(), *of_every_rule()])
    rules = run["tool"]["driver"]["rules"]
    assert [r["id"] for r in rules] == sorted({r["id"] for r in rules})
    assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in run["results"])
    described = {r["id"]: r for r in rules}
    for rule in all_rules():
        ours = described[rule.code]
        assert ours["name"] == rule.name
        assert ours["defaultConfiguration"]["level"] == rule.severity.value
        assert ours["properties"]["confidence"] == rule.confidence.value
        assert all(ours[field]["text"] for field in ("shortDescription", "fullDescription", "help"))
        assert ours["help"]["markdown"]


def test_places_are_code_points_of_the_file() -> None:
    """A region's columns are Unicode code points, with the end behind it, and whole-file findings have no region."""
    run = run_of(nasty()[:1])
    assert run["columnKind"] == "unicodeCodePoints"
    places = [r["locations"][0]["physicalLocation"].get("region") for r in run["results"]]
    expected = [f.location for f in nasty()[0].findings]
    for region, place in zip(places, expected, strict=True):
        if place is None or place.line == 0:
            assert region is None
        else:
            assert tuple(region.values()) == (place.line, place.column, place.end_line, place.end_column)


def test_uris_give_the_names_back() -> None:
    """A name of any bytes is a relative URI below the base; one that lies elsewhere is a file URI."""
    outside = nothing()[0]._replace(path="/etc/my cnf/ü.cnf")
    run = run_of([*nasty(), outside])
    artifacts = [a["location"] for a in run["artifacts"]]
    assert all(re.fullmatch(r"(?:[A-Za-z0-9._~!$&'()*+,;=@/-]|%[0-9A-F]{2}|file://)+", a["uri"]) for a in artifacts)
    expected = [NAMES[0], "my files/a:b,c.cnf", NAMES[2]]
    names = [urllib.parse.unquote_to_bytes(a["uri"]).decode("utf-8", "surrogateescape") for a in artifacts]
    assert names == [*expected, "file:///etc/my cnf/ü.cnf"]
    assert [a.get("uriBaseId") for a in artifacts] == ["%SRCROOT%"] * 3 + [None]
    assert set(run["originalUriBaseIds"]) == {"%SRCROOT%"}


def test_messages_hold_no_placeholders_and_links() -> None:
    """What a file says becomes no placeholder and no link, and a reader that undoes the braces has it back."""
    (result,) = [r for r in run_of(nasty()[:1])["results"] if r["ruleId"] == "TST006"]
    text = result["message"]["text"]
    assert "](" not in text
    assert not re.search(r"(?<!\{)(?:\{\{)*\{\d", text)
    assert "{html} {0}" in text.replace("{{", "{").replace("}}", "}")


def test_fixes_can_be_applied() -> None:
    """A fix's replacements, applied by their regions, give what our own edits give."""
    data = (Path(__file__).parents[1] / "golden" / "nasty.cnf").read_bytes()
    text = data.decode("utf-8", "surrogateescape")
    checked = nasty()[0]
    results = {r["ruleId"]: r for r in run_of([checked])["results"]}
    for finding in (f for f in checked.findings if f.fix):
        if finding.code == "TST000":  # its text is no UTF-8, which JSON can't carry
            assert "fixes" not in results["TST000"]
            continue
        (fix,) = results[finding.code]["fixes"]
        (change,) = fix["artifactChanges"]
        assert fix["properties"]["applicability"] == finding.fix.applicability
        assert (
            change["artifactLocation"] == results[finding.code]["locations"][0]["physicalLocation"]["artifactLocation"]
        )
        replaced = _replaced(text, change["replacements"]).encode("utf-8", "surrogateescape")
        assert replaced.replace(b"\r\n", b"\n") == apply_edits(data, finding.fix.edits).replace(b"\r\n", b"\n")


def _replaced(text: str, replacements: list[dict[str, Any]]) -> str:
    starts = [0, *(m.end() for m in re.finditer("\n", text))]
    for replacement in reversed(replacements):
        region = replacement["deletedRegion"]
        begin = starts[region["startLine"] - 1] + region["startColumn"] - 1
        end = starts[region["endLine"] - 1] + region["endColumn"] - 1
        text = text[:begin] + replacement["insertedContent"]["text"] + text[end:]
    return text


def marks(data: bytes) -> dict[str, list[str]]:
    """The fingerprints of a finding on each option line, by option."""
    lines = [line for line in parse(data, "my.cnf").lines if line.name and line.group == "mysqld" and line.raw]
    path, target, _, _ = nothing()[0][:4]
    found = tuple(
        Finding("TST000", "n", Severity.NOTE, nasty()[0].findings[0].confidence, f"line {line.number}",
                option=line.name, group=line.group)
        for line in lines
    )  # fmt: skip
    results = run_of([CheckedFile(path, target, found, {})])["results"]
    made: dict[str, list[str]] = {}
    for line, result in zip(lines, results, strict=True):
        made.setdefault(line.name or "", []).append(result["partialFingerprints"]["mycnf/v1"])
    return made


def test_fingerprints_bear_moved_lines() -> None:
    """Lines added elsewhere and other words leave a fingerprint alone; a second line of an option has its own."""
    before = marks(b"[mysqld]\na = 1\nb = 1\na = 2\n")
    after = marks(b"[mysqld]\n# a comment\n\nc = 1\na = 1\nb = 7\na = 2\n")
    assert {name: after[name] for name in before} == before
    everything = [mark for marks_ in after.values() for mark in marks_]
    assert len(set(everything)) == len(everything) == 4


def test_suppressing_one_leaves_the_others_alone() -> None:
    """Of two findings on one option, the second keeps its fingerprint when the first is suppressed."""
    (clean,) = nothing()
    first, second = (nasty()[0].findings[n]._replace(code="TST000", option="a", group="g") for n in (0, 1))
    both = run_of([clean._replace(findings=(first, second))])["results"]
    one = run_of([clean._replace(findings=(second,), suppressed=(first,))])["results"]
    assert [r["partialFingerprints"] for r in one] == [r["partialFingerprints"] for r in both]
    assert [r["suppressions"] for r in one] == [[{"kind": "inSource"}], []]
    shown = clean._replace(findings=(second,), suppressed=(first,))
    (entry,) = json.loads(render("gitlab", [shown], page()))
    assert entry["fingerprint"] == one[1]["partialFingerprints"]["mycnf/v1"]


def test_suppressed_findings_are_marked() -> None:
    """Findings that a comment or a baseline silences are there with their reason; without any, nothing is said."""
    first, second, _ = nasty()
    by_file = run_of([first, second, second._replace(suppressed=(), baselined=second.suppressed)])["results"]
    kinds = [[s["kind"] for s in result["suppressions"]] for result in by_file]
    count = len(first.findings)
    assert kinds == [[]] * count + [["inSource"]] * count + [["external"]] * count
    assert not any("suppressions" in result for result in run_of([first])["results"])


def test_reasons_are_justifications(sarif_validator: Draft4Validator) -> None:
    """What a comment gives as its reason is the suppression's justification, without secrets and harmful characters."""
    (clean,) = nothing()
    hidden = nasty()[0].findings[:3]
    checked = clean._replace(suppressed=hidden, reasons=("measured {0}", f"password={SECRET}\x1b", ""))
    log = json.loads(render("sarif", [checked], page()))
    assert not list(sarif_validator.iter_errors(log))
    assert [result["suppressions"] for result in log["runs"][0]["results"]] == [
        [{"kind": "inSource", "justification": "measured {0}"}],
        [{"kind": "inSource", "justification": f"password={MASK}"}],
        [{"kind": "inSource"}],
    ]


@pytest.mark.parametrize("suppressed", [False, True])
def test_the_example_uploads_what_is_shown(suppressed: bool, tmp_path: Path) -> None:
    """GitHub opens an alert for each result, so the example's job takes out those that were suppressed."""
    if shutil.which("jq") is None:
        pytest.skip("jq is not installed")
    job = (CHECKOUT / "examples" / "github-actions.yml").read_text()
    (line,) = re.findall(r"run: (jq .*)", job)
    first, second, _ = nasty()
    written = tmp_path / "mycnf.sarif"
    written.write_text(render("sarif", [first, second] if suppressed else [first], page()))
    subprocess.run(["sh", "-c", line], cwd=tmp_path, check=True, timeout=600)
    (uploaded,) = re.findall(r"sarif_file: (.*)", job)
    assert [r["message"] for r in json.loads((tmp_path / uploaded).read_text())["runs"][0]["results"]] == [
        r["message"] for r in run_of([first])["results"]
    ]


def test_incomplete_runs_say_so() -> None:
    """A file that could not be read makes the execution unsuccessful, with a notification that names it."""
    (invocation,) = run_of(nothing(), ("gone.cnf", "cannot parse it"))["invocations"]
    assert invocation["executionSuccessful"] is False
    (note,) = invocation["toolExecutionNotifications"]
    assert note["message"]["text"] == "cannot parse it"
    assert note["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "gone.cnf"
    assert run_of(nothing())["invocations"] == [{"executionSuccessful": True}]


def test_no_secret() -> None:
    """Neither a message nor a property shows the password."""
    assert SECRET not in json.dumps(run_of(nasty()))
