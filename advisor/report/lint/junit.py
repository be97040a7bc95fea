"""Findings as JUnit XML, which CI servers show as failed tests: a suite for each file and target, a test a finding."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from advisor.analysis import fails
from advisor.redaction import escape_text
from advisor.report.lint import hedged_message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from advisor.core.model import Finding
    from advisor.report import CheckedFile, Page

# Not even a reference puts these into XML 1.0.
_NO_XML = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"


def report(files: Sequence[CheckedFile], page: Page) -> str:
    """The document; a finding below --fail-on is a test that passed, and is listed in the suite's output.

    It is of ASCII alone, other characters as references: so it is UTF-8, as it says, in any locale that stdout has.
    """
    root = Element("testsuites")
    for checked in files:
        _suite(root, checked, page)
    if page.broken:
        _unread(root, page)
    indent(root, space=" ")
    text = tostring(root, encoding="unicode").encode("ascii", "xmlcharrefreplace").decode("ascii")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _suite(root: Element, c: CheckedFile, page: Page) -> None:
    failing = [fails([f], c.fail_on or page.fail_on) for f in c.findings]
    suite = _open_suite(
        root, c.path or c.target.label, str(c.target), page, tests=max(1, len(failing)), failures=sum(failing)
    )
    for f, fail in zip(c.findings, failing, strict=True):
        test = _test(suite, _title(f, c), f.location.path if f.location else c.path or c.target.label)
        if fail:
            _outcome(test, "failure", f.severity.value, hedged_message(f), "\n".join(_detail(f, c)))
    if not c.findings:
        _test(suite, f"no findings for {c.target.label}", c.path or c.target.label)
    _close_suite(suite, [_line(f) for f, fail in zip(c.findings, failing, strict=True) if not fail])


def _unread(root: Element, page: Page) -> None:
    """What could not be read, as tests that broke off."""
    suite = _open_suite(root, "mycnf", "none", page, tests=len(page.broken), errors=len(page.broken))
    for path, why in page.broken:
        _outcome(_test(suite, "readable", path), "error", "unreadable", why, _xml(why))
    _close_suite(suite, [])


def _open_suite(
    root: Element, name: str, target: str, page: Page, *, tests: int, failures: int = 0, errors: int = 0
) -> Element:
    """A suite with every attribute that one of the schemas in use demands; a report has no clock for `time`."""
    suite = SubElement(root, "testsuite", name=_xml(name), package="mycnf", id=str(len(root)), hostname="localhost")
    suite.attrib |= {"timestamp": page.now, "time": "0"}
    suite.attrib |= {"tests": str(tests), "failures": str(failures), "errors": str(errors)}
    SubElement(SubElement(suite, "properties"), "property", name="target", value=target)
    return suite


def _close_suite(suite: Element, lines: list[str]) -> None:
    SubElement(suite, "system-out").text = "\n".join(lines)
    SubElement(suite, "system-err")


def _test(suite: Element, name: str, classname: str) -> Element:
    return SubElement(suite, "testcase", name=_xml(name), classname=_xml(classname), time="0")


def _outcome(test: Element, kind: str, severity: str, message: str, detail: str) -> None:
    SubElement(test, kind, type=severity, message=_xml(message)).text = detail


def _title(f: Finding, c: CheckedFile) -> str:
    at = f" at {f.location.line}:{f.location.column}" if f.location and f.location.line else ""
    about = f" {f.canonical}" if f.canonical and not at else ""
    return f"{f.code} {f.name}{at}{about} for {c.target.label}"


def _detail(f: Finding, c: CheckedFile) -> Iterator[str]:
    yield _line(f)
    if f.location and (f.location.path, f.location.line) in c.sources:
        yield _xml(c.sources[f.location.path, f.location.line].rstrip("\r\n"))
    if f.help:
        yield _xml(f"help: {f.help}")
    if f.evidence:
        yield _xml(f"why: {', '.join(f.evidence)}, mycnf explain {f.code}")


def _line(f: Finding) -> str:
    place = f"{':'.join(str(part) for part in f.location[:3])}: " if f.location and f.location.line else ""
    return _xml(f"{place}{f.severity.value}: {f.code} {f.name}: {hedged_message(f)}")


def _xml(text: str) -> str:
    """The text on one line, of characters that XML can hold."""
    return re.sub(_NO_XML, "\ufffd", escape_text(text))
