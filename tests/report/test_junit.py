"""JUnit XML as CI servers read it."""

from __future__ import annotations

import pytest
from hostile_findings import nasty, nothing, page
from lxml import etree

from advisor.report import CheckedFile
from advisor.report.formats import render_lint as render

UNREAD = ("gone.cnf", "cannot parse it")


def tree(files: list[CheckedFile], *broken: tuple[str, str], fail_on: str = "warning") -> etree._Element:
    """The report as lxml reads it."""
    made = render("junit", files, page(*broken)._replace(fail_on=fail_on))
    return etree.fromstring(made.encode(), etree.XMLParser(resolve_entities=False))


@pytest.mark.parametrize("files", [[], nothing(), nasty()], ids=["none", "clean", "nasty"])
@pytest.mark.parametrize("broken", [(), (UNREAD,)])
def test_schemas(junit_schema: etree.XMLSchema, files: list[CheckedFile], broken: tuple[tuple[str, str], ...]) -> None:
    """Every report is valid by the schemas in use, the empty one too."""
    junit_schema.assertValid(tree(files, *broken))


@pytest.mark.parametrize(("fail_on", "severities"), [
    ("error", {"error"}), ("warning", {"error", "warning"}), ("note", {"error", "warning", "note"}), ("never", set()),
])  # fmt: skip
def test_failures_are_what_fails(fail_on: str, severities: set[str]) -> None:
    """A test fails where the run does by --fail-on; what doesn't fail is in the suite's output."""
    root = tree(nasty(), fail_on=fail_on)
    assert {f.get("type") for f in root.iter("failure")} == severities
    for suite, checked in zip(root, nasty(), strict=True):
        failed = sum(f.severity.value in severities for f in checked.findings)
        assert suite.get("failures") == str(failed) == str(len(list(suite.iter("failure"))))
        assert suite.get("tests") == str(len(list(suite.iter("testcase"))))
        assert len((suite.findtext("system-out") or "").splitlines()) == len(checked.findings) - failed


def test_a_suite_for_each_file_and_target() -> None:
    """A clean file is a suite with one test that passed."""
    root = tree([*nasty()[1:2], *nothing()])
    assert [s.find("properties/property").get("value") for s in root] == ["mariadb-10.11.19", "mysql-8.4.8"]
    assert [len(s.findall("testcase")) for s in root] == [1, 1]
    assert not list(root.iter("failure"))


def test_tests_of_one_suite_differ() -> None:
    """No two findings of a suite share name and class, by which servers distinguish tests."""
    for suite in tree(nasty()):
        keys = [(t.get("classname"), t.get("name")) for t in suite.iter("testcase")]
        assert len(set(keys)) == len(keys)


def test_unread_files_are_errors() -> None:
    """A file that could not be read is a test that broke off."""
    (suite,) = tree([], UNREAD)
    (error,) = suite.iter("error")
    assert suite.get("errors") == "1"
    assert error.get("message") == "cannot parse it"
    assert error.getparent().get("classname") == "gone.cnf"
