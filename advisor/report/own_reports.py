"""Reports that mycnf wrote itself, told by how they begin: they lie where snapshots lie, and are none."""

from __future__ import annotations

import re

HEAD = 1 << 14  # bytes: in what begins a report the longest is a path
# How the document of each command goes on behind its version; T stands for a text, B for true or false.
_BEGIN = (
    '"files": [{"path": T, "target":',  # lint
    '"server": {"target":',  # audit and preflight
    '"snapshots": {"read":',  # report
    '"made_at": T, "directory":',  # fleet
    '"servers": [{"id": T, "name": T, "target":',  # history
    '"differs": B, "a": {"kind":',  # diff
    '"from": T, "to": T, "scope":',  # upgrade
    '"target": T, "options":',  # show
    '"target": T, "workload":',  # suggest
    '"rules": [{"code":',
    '"rule": {"code":',  # explain, of a rule and of an option
    '"option": {"name": T, "targets":',
    '"probes": [{"name": T, "title":',  # probe: the list, a result, and the results that are kept
    '"result": {"probe":',
    '"results": [{"id": T, "probe":',
    '"findings": [{"path": T, "code":',  # a baseline
)
_SARIF = '{"$schema": T, "version": "2.1.0", "runs": [{"tool": {"driver": {"name": "mycnf",'
_SPECIAL = {"T": r'"(?:[^"\\]|\\.)*"', "B": "(?:true|false)"}


def _pattern(begin: str) -> str:
    """The beginning with any room between its parts."""
    parts = re.findall(r'"[^"]*"|\S', begin)
    return r"\s*".join(_SPECIAL.get(part, re.escape(part)) for part in parts)


_OURS = re.compile(
    "|".join([*(_pattern(f'{{"version": 1, {begin}') for begin in _BEGIN), _pattern(_SARIF)]).encode("ascii")
)


def is_own_report(path: str) -> bool:
    """Whether mycnf wrote it as a report or a baseline; a file that can't be read is none."""
    try:
        with open(path, "rb") as file:
            return _OURS.match(file.read(HEAD).lstrip()) is not None
    except OSError:
        return False
