"""Reports an unexpected exception: a file to send in, and one line that names it."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import traceback

from advisor import __version__
from advisor.state.private_file import PRIVATE, make_private


def write_crash_file(error: BaseException) -> str:
    """Write the traceback (code places only, no values) to a private file and return the line for the user."""
    frames = [f"{f.filename}:{f.lineno} in {f.name}" for f in traceback.extract_tb(error.__traceback__)]
    text = "\n".join([f"mycnf {__version__}, Python {sys.version.split()[0]}", type(error).__name__, *frames, ""])
    what = f"internal error: {type(error).__name__}; this is a defect of mycnf, not of your files"
    path = ""
    try:
        handle, path = tempfile.mkstemp(prefix="mycnf-crash-", suffix=".txt")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            make_private(handle, PRIVATE)
            file.write(text)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(path)  # on a full disk the file is incomplete
        return f"{what} (at {frames[-1] if frames else 'an unknown place'})"
    return f"{what}. What we need to correct it is in {path} (places in our code, nothing of yours)"
