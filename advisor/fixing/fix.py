"""Fixes option files: plans the changes of all files, then writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.core.errors import MycnfError
from advisor.fixing.passes import fix_file
from advisor.fixing.texts import Texts
from advisor.fixing.values import FileChange, FixOutcome

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from advisor.core.model import Finding
    from advisor.fixing.passes import FixedFiles
    from advisor.fixing.texts import Identity
    from advisor.fixing.values import ReadTargets


def fix_files(
    paths: Sequence[str], look: ReadTargets, *, unsafe: bool = False, given: Mapping[str, bytes] | None = None
) -> FixOutcome:
    """Fix option files and write the changed ones; arguments as for `plan_fixes`.

    Files keep owner, mode, extended attributes and links. A file that cannot be written, or that another program
    changed meanwhile, is left unchanged and reported; texts in `given` are only reported in `changes`.
    """
    from advisor.fixing.writing import FileChangedError, replace_text

    planned = plan_fixes(paths, look, unsafe=unsafe, given=given)
    changes, left, unwritten = [], list(planned.left), []
    for change in planned.changes:
        try:
            note = "" if change.path in (given or {}) else replace_text(change.path, change.before, change.after)
        except FileChangedError as reason:
            left.append(str(reason))
        except MycnfError as error:
            unwritten.append(str(error))
        else:
            changes.append(change)
            left += [note] if note else []
    return FixOutcome(tuple(changes), tuple(left), planned.unread, tuple(unwritten))


def plan_fixes(
    paths: Sequence[str], look: ReadTargets, *, unsafe: bool = False, given: Mapping[str, bytes] | None = None
) -> FixOutcome:
    """Plan what the fixes of option files would change; nothing is written.

    `look` reads one path with its includes, once per target, and returns the findings to fix. `given` maps names in
    `paths` to texts that replace files (stdin). `unsafe` also applies fixes that may change the server's behaviour.
    Included files are fixed too if they are in the directory of the named file or below.
    """
    texts = Texts(given or {})
    fixed: dict[Identity, list[Finding]] = {}
    left: dict[str, None] = {}
    unread = []
    for path in paths:
        try:
            mended = fix_file(path, look, texts, unsafe=unsafe)
        except MycnfError as error:
            unread.append(str(error))
            continue
        texts = mended.texts
        left.update(dict.fromkeys(mended.left))
        for who, findings in _findings_by_file(mended):
            fixed.setdefault(who, []).extend(findings)
    return FixOutcome(tuple(_changed_files(texts, fixed)), tuple(left), tuple(unread))


def _findings_by_file(mended: FixedFiles) -> list[tuple[Identity, list[Finding]]]:
    """Return the fixed findings of each fix with its file; a finding shared by several targets counts once."""
    names = mended.texts.names
    return [
        (names[candidate.path], list({(f.code, f.option, f.location): f for f in candidate.findings}.values()))
        for candidate in mended.made
    ]


def _changed_files(texts: Texts, fixed: Mapping[Identity, Sequence[Finding]]) -> list[FileChange]:
    changes = []
    for who, after in texts.now.items():
        path = next(path for path, known in texts.names.items() if known == who)
        if after != texts.first[who]:
            changes.append(FileChange(path, texts.first[who], after, tuple(fixed[who])))
    return changes
