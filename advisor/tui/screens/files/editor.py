"""The user's own editor, for a file that the app itself would never write to."""

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

    from advisor.tui.screens.files.model import Node
    from advisor.tui.view import View

USUAL = ("editor", "vi", "nano")  # where neither $VISUAL nor $EDITOR is set
# Editors that would take +12 for the name of a file, and the words by which they take a line.
GOTO = {"code": "--goto", "codium": "--goto", "subl": "", "hx": ""}
Stamp = tuple[int, int, int] | None


def why_not(view: View, node: Node) -> str:
    """Why a file can't be opened here; empty where it can."""
    if view.origin != "live":
        recorded = "the recorded server's" if view.origin == "demo" else f"those of the server in {view.place}"
        return f"these files are {recorded}, as they were then; open them on its own host"
    if node.state is NodeState.PERSISTED:
        return "the server itself writes that file: use SET PERSIST and RESET PERSIST"
    if node.state is NodeState.SPOKEN:
        return "the command line stands in the service's unit: systemctl edit changes it"
    if stamp(node.path) is None:
        return f"{node.path} isn't there, or its directory is closed to your account"
    return ""


def command(path: str, line: int, environment: Mapping[str, str]) -> list[str]:
    """The words that open a file at a line. Raises MycnfError where there is no editor, or its words can't be meant."""
    said = environment.get("VISUAL") or environment.get("EDITOR") or next(filter(shutil.which, USUAL), "")
    try:
        words = shlex.split(said)
    except ValueError as error:
        mend = f"set {_variable(environment)} to a command"
        raise MycnfError(f"the editor {said!r} can't be meant ({error}): {mend}") from error
    if not words:
        raise MycnfError("no editor is known: set $EDITOR to one, such as vi or nano")
    switch = GOTO.get(os.path.basename(words[0]))
    if switch is not None:
        return [*words, *([switch] if switch else []), f"{path}:{line}"]
    return [*words, f"+{line}", path]


def _variable(environment: Mapping[str, str]) -> str:
    """The variable that names the editor, for one that isn't what was meant."""
    return "$VISUAL" if environment.get("VISUAL") else "$EDITOR"


def edit(words: list[str]) -> None:
    """Run the editor until it ends; the terminal must be its own. Raises MycnfError where it fails."""
    # Ctrl-C in the editor reaches this process as well; a handler, unlike SIG_IGN, isn't inherited by the editor.
    own = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        code = subprocess.run(words, check=False).returncode
    except OSError as error:
        mend = f"set {_variable(os.environ)} to another editor"
        raise MycnfError(f"{words[0]} can't be run ({error.strerror}): {mend}") from error
    finally:
        signal.signal(signal.SIGINT, own)
    if code < 0:
        raise MycnfError(f"{words[0]} was stopped by signal {-code}")
    if code:
        raise MycnfError(f"{words[0]} ended with {code}")


def stamp(path: str) -> Stamp:
    """What changes when a file is written; None where it can't be seen."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
