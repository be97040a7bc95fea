"""Fixes option files: selects edits that go together, tries them, and writes the files atomically."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from typing import TYPE_CHECKING

from advisor.core.errors import MycnfError
from advisor.core.signals import interrupt_on_signals
from advisor.fixing.passes import fix_file
from advisor.fixing.texts import FileChange, FixOutcome, ReadTargets, TargetReading, Texts
from advisor.optionfile import load
from advisor.state.private_file import follow_link, lock_file, open_beside

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import BinaryIO

    from advisor.core.model import Finding
    from advisor.fixing.passes import FixedFiles
    from advisor.fixing.texts import Identity


LONGEST_NAME = 200  # bytes of the file name used in the name of its copy; file systems allow 255
OLD_TEXT = ".old"  # ends the name of a copy that has the only old text, so that no later run removes it
HARD_LINKS = "it has other hard links"
CANNOT_KEEP_OWNER = "a new file cannot get its owner and attributes"
MOUNTED = "it is mounted by itself"


def fix_files(
    paths: Sequence[str], look: ReadTargets, *, unsafe: bool = False, given: Mapping[str, bytes] | None = None
) -> FixOutcome:
    """Fix option files and write the changed ones; arguments as for `plan_fixes`.

    Files keep owner, mode, extended attributes and links. A file that cannot be written, or that another program
    changed meanwhile, is left unchanged and reported; texts in `given` are only reported in `changes`.
    """

    planned = plan_fixes(paths, look, unsafe=unsafe, given=given)
    changes, left, unwritten = [], list(planned.unchanged), []
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
        left.update(dict.fromkeys(mended.unapplied))
        for who, findings in _findings_by_file(mended):
            fixed.setdefault(who, []).extend(findings)
    return FixOutcome(tuple(_changed_files(texts, fixed)), tuple(left), tuple(unread))


def _findings_by_file(mended: FixedFiles) -> list[tuple[Identity, list[Finding]]]:
    """Return the fixed findings of each fix with its file; a finding shared by several targets counts once."""
    names = mended.texts.names
    return [
        (names[candidate.path], list({(f.code, f.option, f.location): f for f in candidate.findings}.values()))
        for candidate in mended.applied
    ]


def _changed_files(texts: Texts, fixed: Mapping[Identity, Sequence[Finding]]) -> list[FileChange]:
    changes = []
    for who, after in texts.now.items():
        path = next(path for path, known in texts.names.items() if known == who)
        if after != texts.first[who]:
            changes.append(FileChange(path, texts.first[who], after, tuple(fixed[who])))
    return changes


class FileChangedError(MycnfError):
    """Another program changed the file after it was read, so it was not written."""


class HalfWrittenError(MycnfError):
    """Writing in place failed, and so did restoring the old text; the message names the copy of the old text."""


def replace_text(path: str, before: bytes, after: bytes) -> str:
    """Replace the text of a file, following links; return "" or one line to report to the user.

    The new text is written beside the file, synced and renamed over it. A file that cannot be replaced this way (other
    hard links, a mount point, another owner) is written in place, with a copy of the old text beside it until that is
    done. Raises FileChangedError if the file's text is not `before`, and MycnfError if it cannot be written; either way
    the file is left unchanged.
    """
    try:
        real = follow_link(path)
    except OSError as error:
        raise MycnfError(f"{path}: cannot be written ({error.strerror}); it is unchanged") from error
    try:
        with interrupt_on_signals(), lock_file(real):
            why = _replace(path, real, before, after)
    except OSError as error:
        raise MycnfError(f"{path}: cannot be written ({error.strerror}); it is unchanged") from error
    return f"{path}: written in place, since {why}" if why else ""


def _replace(path: str, real: str, before: bytes, after: bytes) -> str:
    """Rename the new text over the file and return "", or write in place and return the reason."""
    os.close(os.open(real, os.O_RDWR | os.O_NOCTTY))  # a write-protected file is not replaced either
    beside, handle = open_beside(_temporary_path(real), "", 0o600)
    old_text = f"{beside}{OLD_TEXT}"
    try:
        with open(handle, "r+b") as copy:
            _fill(copy, after)
            why = (
                HARD_LINKS
                if os.stat(real).st_nlink > 1
                else ""
                if copy_attributes(real, copy.fileno())
                else CANNOT_KEEP_OWNER
            )
            _require_unchanged(path, real, before)
            if not why and _rename_over(beside, real):
                return ""
            _fill(copy, before)
            os.rename(beside, old_text)
        _overwrite(path, real, old_text, before, after)
    except HalfWrittenError:
        raise
    except BaseException:
        _remove_quietly(beside)
        _remove_quietly(old_text)
        raise
    _remove_quietly(old_text)
    return why or MOUNTED


def _require_unchanged(path: str, real: str, before: bytes) -> None:
    if load(real).data != before:
        raise FileChangedError(
            f"{path}: another program changed it in the meantime, so it was not written; run mycnf again"
        )


def _rename_over(beside: str, real: str) -> bool:
    """Rename the new file over the old one; False if that is a mount point, as single files in containers are."""
    try:
        os.replace(beside, real)
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        return False
    with contextlib.suppress(OSError):  # the text is already synced: this makes the rename survive a crash
        folder = os.open(os.path.dirname(real), os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    return True


def _overwrite(path: str, real: str, beside: str, before: bytes, after: bytes) -> None:
    with open(real, "r+b", buffering=0) as file:
        try:
            _fill(file, after)
        except BaseException:
            try:
                _fill(file, before)
            except OSError as error:
                raise HalfWrittenError(
                    f"{path}: writing failed halfway ({error.strerror}); its old text is {beside}"
                ) from error
            raise


def _fill(file: BinaryIO, text: bytes) -> None:
    file.seek(0)
    rest = memoryview(text)
    while rest:
        rest = rest[file.write(rest) :]
    file.truncate()
    file.flush()
    os.fsync(file.fileno())


def _temporary_path(real: str) -> str:
    """Return the beginning of a hidden name, without the extension that !includedir reads."""
    folder, name = os.path.split(real)
    short = os.fsdecode(os.fsencode(name)[:LONGEST_NAME])
    return os.path.join(folder, f".{short}.mycnf-")


def _remove_quietly(beside: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(beside)


def copy_attributes(old: str, descriptor: int) -> bool:
    """Copy owner, mode and extended attributes to the open file; False if not all of them can be set."""
    status = os.stat(old)
    try:
        own = os.fstat(descriptor)
        if (own.st_uid, own.st_gid) != (status.st_uid, status.st_gid):
            os.fchown(descriptor, status.st_uid, status.st_gid)
        _copy_extended_attributes(old, descriptor)
        os.fchmod(descriptor, stat.S_IMODE(status.st_mode))
        made = os.fstat(descriptor)
        same = (made.st_mode, made.st_uid, made.st_gid) == (status.st_mode, status.st_uid, status.st_gid)
        return same and read_attributes(old) == read_attributes(descriptor)
    except OSError:
        return False


def read_attributes(file: str | int) -> dict[str, bytes] | None:
    """Return all extended attributes of a file, including access lists; None if the system does not support them.

    Raises OSError if one of them cannot be read.
    """
    if not hasattr(os, "listxattr"):
        return None
    try:
        names = os.listxattr(file)
    except OSError as error:
        if error.errno != errno.ENOTSUP:
            raise
        return {}
    return {name: os.getxattr(file, name) for name in names}


def _copy_extended_attributes(old: str, descriptor: int) -> None:
    wanted, present = read_attributes(old), read_attributes(descriptor)
    if wanted is None or present is None:
        raise OSError("extended attributes can't be read on this system")
    # A directory's default ACL adds entries to a new file that the old file may not have.
    for name in present.keys() - wanted.keys():
        os.removexattr(descriptor, name)
    for name, value in wanted.items():
        if present.get(name) != value:
            os.setxattr(descriptor, name, value)


__all__ = ["FileChange", "FixOutcome", "ReadTargets", "TargetReading", "fix_files", "plan_fixes"]
