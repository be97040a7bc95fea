"""Helpers for `mycnf diff`: its report by the published schema, and a simple comparison for checking it."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator
from mycnf_command import CHECKOUT
from referencing import Registry, Resource

if TYPE_CHECKING:
    from pathlib import Path

    from mycnf_command import Ended, Mycnf

    from probes.sandbox import Sandbox

WORDS = {"YES": "ON", "NO": "OFF", "TRUE": "ON", "FALSE": "OFF", "1": "ON", "0": "OFF", "NULL": ""}


def checked_report(ended: Ended) -> dict[str, Any]:
    """A JSON report, checked against its schema and the exit code."""
    report: dict[str, Any] = json.loads(ended.out)
    _schema().validate(report)
    assert report["differs"] == (ended.code == 1)
    return report


def diff(mycnf: Mycnf, *words: str | Path, root: bool = True) -> dict[str, Any]:
    """The report of `mycnf diff` on two sides; servers are read as root."""
    return checked_report(mycnf("diff", *words, "--format", "json", *(("--user", "root") if root else ())))


def differing(report: dict[str, Any], *, arguments: bool = False) -> set[str]:
    """The variables that differ, by default without those that the tests' own server arguments set."""
    pairs = report["differences"]
    return {p["variable"] for p in pairs if arguments or "command line" not in (p["a"]["origin"], p["b"]["origin"])}


def counted(report: dict[str, Any]) -> list[str]:
    """Variables that only one side has and that count as a difference."""
    return [one["name"] for one in (*report["only_a"], *report["only_b"]) if one["counts"]]


def snapshot(mycnf: Mycnf, sandbox: Sandbox, path: Path) -> Path:
    """A snapshot of a running server."""
    ended = mycnf("collect", "--socket", sandbox.socket, "--user", "root", "--window", "0", "-o", path)
    assert ended.code == 0, ended.err
    return path


def plainly_alike(one: str, other: str) -> bool:
    """Whether two values printed by servers are equal by the tests' own rules: words, numbers, order and case."""
    if all("=" in part for text in (one, other) for part in text.split(",")):
        mine, theirs = (dict(part.split("=") for part in text.split(",")) for text in (one, other))
        return all(theirs.get(switch, state) == state for switch, state in mine.items())
    return _plain(one) == _plain(other)


def _plain(text: str) -> object:
    upper = text.upper().rstrip("/").replace("UTF8MB3", "UTF8")
    try:
        return float(upper)
    except ValueError:
        return sorted(WORDS.get(part, part) for part in upper.split(","))


@cache
def _schema() -> Draft202012Validator:
    contents = {s: json.loads((CHECKOUT / "schemas" / f"{s}.schema.json").read_text()) for s in ("lint", "diff")}
    known: Registry[Any] = Registry().with_resources(
        (f"{s}.schema.json", Resource.from_contents(c)) for s, c in contents.items()
    )
    return Draft202012Validator(contents["diff"], registry=known)
