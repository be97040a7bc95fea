"""Open an option file in the user's editor; the app itself never writes one."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
from typing import TYPE_CHECKING

from advisor.core.errors import MycnfError
from advisor.tui.screens.files.model import NodeState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.tui.screens.files.model import FileNode
    from advisor.tui.view import View

DEFAULT_EDITORS = ("editor", "vi", "nano")  # if neither $VISUAL nor $EDITOR is set
# Editors that do not take +LINE, and the option that precedes PATH:LINE instead.
GOTO = {"code": "--goto", "codium": "--goto", "subl": "", "hx": ""}
FileStamp = tuple[int, int, int] | None


def cannot_edit_reason(view: View, node: FileNode) -> str:
    """Why a file cannot be edited here; empty if it can."""
    if view.origin != "live":
        recorded = "those of the recorded server" if view.origin == "demo" else f"those of the server in {view.place}"
        return f"These files are {recorded}, as recorded. Edit them on that server's host"
    if node.state is NodeState.PERSISTED:
        return "The server writes this file. Use SET PERSIST and RESET PERSIST"
    if node.state is NodeState.COMMAND_LINE:
        return "The service unit sets the command line. Change it with systemctl edit"
    if file_stamp(node.path) is None:
        return f"{node.path} does not exist, or your account cannot read its directory"
    return ""


def editor_command(path: str, line: int, environment: Mapping[str, str]) -> list[str]:
    """The command that opens a file at a line. Raises MycnfError without an editor, or if its command is invalid."""
    command = environment.get("VISUAL") or environment.get("EDITOR") or next(filter(shutil.which, DEFAULT_EDITORS), "")
    try:
        words = shlex.split(command)
    except ValueError as error:
        fix = f"Set {_variable(environment)} to a command"
        raise MycnfError(f"invalid editor command {command!r}: {error}. {fix}") from error
    if not words:
        raise MycnfError("No editor found. Set $EDITOR, for example to vi or nano")
    switch = GOTO.get(os.path.basename(words[0]))
    if switch is not None:
        return [*words, *([switch] if switch else []), f"{path}:{line}"]
    return [*words, f"+{line}", path]


def _variable(environment: Mapping[str, str]) -> str:
    """The environment variable that names the editor."""
    return "$VISUAL" if environment.get("VISUAL") else "$EDITOR"


def run_editor(words: list[str]) -> None:
    """Run the editor and wait for it; the app must have released the terminal. Raises MycnfError if it fails."""
    # Ctrl-C in the editor also reaches this process; unlike SIG_IGN, the editor does not inherit a handler.
    own = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        code = subprocess.run(words, check=False).returncode
    except OSError as error:
        fix = f"Set {_variable(os.environ)} to another editor"
        raise MycnfError(f"cannot run {words[0]}: {error.strerror}. {fix}") from error
    finally:
        signal.signal(signal.SIGINT, own)
    if code < 0:
        raise MycnfError(f"{words[0]} was terminated by signal {-code}")
    if code:
        raise MycnfError(f"{words[0]} exited with code {code}")


def file_stamp(path: str) -> FileStamp:
    """Inode, size and mtime, which change when a file is written; None if it cannot be read."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
