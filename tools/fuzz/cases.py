"""Case files: one option file each, with the server on which it was found in the first line."""

from __future__ import annotations

import hashlib
import os
from typing import NamedTuple

from comparing import compare
from truth import truth

from probes.sandbox import Binary

MARK = "# server: "
MOST_TRIES = 40


class CaseFile(NamedTuple):
    """An option file for one server."""

    server: str
    lines: list[str]


def read_case(path: str) -> CaseFile:
    """Read a saved case file."""
    with open(path, encoding="utf-8", newline="") as f:
        first, _, text = f.read().partition("\n")
    return CaseFile(first.removeprefix(MARK), text.removesuffix("\n").split("\n"))


def save_case(folder: str, server: str, lines: list[str]) -> str:
    """Save a case and return its path; the same case has the same path."""
    os.makedirs(folder, exist_ok=True)
    text = "\n".join(lines) + "\n"
    name = f"{server}-{hashlib.sha256(text.encode()).hexdigest()[:10]}.cnf"
    with open(os.path.join(folder, name), "w", encoding="utf-8", newline="") as f:
        f.write(f"{MARK}{server}\n{text}")
    return os.path.join(folder, name)


def smallest(binary: Binary, lines: list[str], at: int) -> list[str]:
    """The fewest lines that still disagree about the line `at`: the line alone, or what halving leaves."""
    if _disagree(binary, ["[mysqld]", lines[at]], 1):
        return ["[mysqld]", lines[at]]
    keep = list(range(len(lines)))
    step, tries = len(keep) // 2, 0
    while step >= 1 and tries < MOST_TRIES:
        for start in range(0, len(keep), step):
            less = [k for k in keep if k not in keep[start : start + step] or k == at or lines[k].startswith("[")]
            tries += 1
            if less != keep and _disagree(binary, [lines[k] for k in less], less.index(at)):
                keep = less
                break
        else:
            step //= 2
    return [lines[k] for k in keep]


def _disagree(binary: Binary, lines: list[str], at: int) -> bool:
    return any(d.at == at for d in compare(lines, truth(binary, lines), binary.target))
