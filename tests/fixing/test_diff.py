"""The diff that --diff prints: readable, without secrets, and good for `patch`."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.fixing import FileChange
from advisor.fixing.diff import unified_diff


def diff(before: bytes, after: bytes, path: str = "my.cnf") -> bytes:
    """The diff of one file."""
    return unified_diff([FileChange(path, before, after, ())])


def patched(before: bytes, changes: bytes, folder: Path, *flags: str) -> bytes:
    """The result of the real patch on a text and a diff of it."""
    if shutil.which("patch") is None:
        pytest.skip("patch is not installed (Debian package patch)")
    file = folder / "my.cnf"
    file.write_bytes(before)
    run = subprocess.run(
        ["patch", "--batch", "--fuzz=0", "--binary", *flags, str(file)],
        input=changes, capture_output=True, check=False, timeout=600,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + changes
    return file.read_bytes()


def test_a_diff_to_the_byte() -> None:
    """Three lines around each change, line ends as they are, changes that stand close in one hunk."""
    before = b"a\nb\nc\nd\r\ne\xff\nf\ng\nh\ni\nj\nk\nl\nm"
    after = b"a\nb\nc\nd\r\nE\nf\ng\ni\nj\nk\nl\nM"
    assert diff(before, after) == (
        b"--- my.cnf\n+++ my.cnf\n@@ -2,12 +2,11 @@\n b\n c\n d\r\n-e\xff\n+E\n f\n g\n-h\n i\n j\n k\n l\n"
        b"-m\n\\ No newline at end of file\n+M\n\\ No newline at end of file\n"
    )


def test_secrets_around_a_change_stay_out_of_it(tmp_path: Path) -> None:
    """Lines that hold a password are not shown beside a change, and patch takes the diff all the same."""
    before = b"[client]\nuser=a\npassword=hunter2\nport=1\nport=2\nx\npassword=hunter3\ny\nz\n"
    after = before.replace(b"port=1\n", b"").replace(b"y\n", b"Y\n")
    made = diff(before, after)
    assert b"hunter" not in made
    assert b"-port=1\n" in made
    assert patched(before, made, tmp_path) == after


def test_a_secret_that_changes_is_masked() -> None:
    """A renamed option that holds a secret shows its names alone."""
    made = diff(b"[mysqld]\nreport_pasword=hunter2\n", b"[mysqld]\nreport_password=hunter2\n")
    assert b"hunter2" not in made
    assert b"-report_pasword=********\n+report_password=********\n" in made


LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"\n", b"port=1\n", b"password=x\n", b"# \xff\r\n"]), max_size=30)


@given(before=LINES, after=LINES, ends=st.tuples(st.booleans(), st.booleans()))
def test_patch_makes_the_new_text(
    tmp_path_factory: pytest.TempPathFactory, before: list[bytes], after: list[bytes], ends: tuple[bool, bool]
) -> None:
    """For any change, unless it is a secret, patch makes the new text of the old one and the diff."""
    old, new = (b"".join(lines) + (b"" if end else b"last") for lines, end in zip((before, after), ends, strict=True))
    made = diff(old, new)
    if old == new or b"***" in made:
        return
    assert patched(old, made, tmp_path_factory.mktemp("patched", numbered=True)) == new


def test_nothing_changed() -> None:
    """Without changes there is no diff."""
    assert unified_diff([]) == b""
