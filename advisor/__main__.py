"""`mycnf` and `python -m advisor`: run the command line, and turn every end into an exit code and one line."""

from __future__ import annotations

import gc
import os
import sys

from advisor.core import errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def entry() -> NoReturn:
    """What the installed command calls: run, and leave without taking the interpreter down piece by piece.

    A run is short: looking for cycles early and freeing each object at the end would be a fifth of lint's time.
    """
    gc.set_threshold(200_000)
    _reopen_closed_streams()
    try:
        code = main()
    except KeyboardInterrupt:  # the second one, while the first was being reported
        code = errors.INTERRUPTED
    try:  # noqa: SIM105 - contextlib would be imported for this alone
        sys.stderr.flush()
    except OSError:  # stderr was closed; the report itself is complete
        pass
    os._exit(code)


def _reopen_closed_streams() -> None:
    """Open a file for each standard stream that the caller closed: else the next opened file gets its descriptor.

    Writing to stdout then fails, as it should; output to stderr is discarded.
    """
    if sys.stdin is None:
        os.open(os.devnull, os.O_RDONLY)
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8", closefd=False)


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code; what the user did is in `argv`, or on the command line."""
    try:
        from advisor.cli import dispatch

        try:
            code = dispatch(sys.argv[1:] if argv is None else argv)
        except SystemExit:  # argparse has printed its help, or what is wrong with the words
            sys.stdout.flush()
            raise
        sys.stdout.flush()
    except errors.MycnfError as error:
        return _exit_with_message(str(error), error.code)
    except KeyboardInterrupt:
        return _exit_with_message("interrupted", errors.INTERRUPTED)
    except BrokenPipeError:
        _discard_stdout()
        return errors.INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the one place where the unexpected becomes a line and a file
        known = (_stdout_error_message, _directory_error_message, _package_error_message)
        message = next(filter(None, (describe(error) for describe in known)), "") or _crash_message(error)
        return _exit_with_message(message, errors.USAGE)
    return code


def _stdout_error_message(error: Exception) -> str:
    """The message for a report that cannot be written to stdout; empty for any other error.

    Code that writes to a file or asks a server raises errors of its own.
    """
    import errno

    full = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
    if not isinstance(error, OSError) or error.filename is not None or error.errno not in full:
        return ""
    _discard_stdout()
    return f"cannot write the report to stdout: {error.strerror}; name a file on another disk with -o"


def _directory_error_message(error: Exception) -> str:
    """The message for a relative path below a working directory that was removed; empty for any other error."""
    if not isinstance(error, FileNotFoundError):
        return ""
    try:
        os.getcwd()
    except OSError:
        return "the working directory no longer exists; change to another one (cd), or name all files by absolute paths"
    return ""


def _package_error_message(error: Exception) -> str:
    """The message for a package that an installation without dependencies lacks; empty for any other error."""
    name = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    if name in ("", "advisor", "rules", "probes"):
        return ""
    return (
        f"this needs the Python package {name}, which is not installed; install mycnf with its dependencies (without "
        "pip's --no-deps)"
    )


def _crash_message(error: Exception) -> str:
    from advisor.state.crash_report import write_crash_file

    return write_crash_file(error)


def _exit_with_message(message: str, code: int) -> int:
    from advisor.core.errors import print_stderr
    from advisor.redaction import escape_text, redact_value

    try:
        sys.stdout.flush()
    except OSError:
        _discard_stdout()
    print_stderr(f"mycnf: {escape_text(redact_value('', message))}")
    return code


def _discard_stdout() -> None:
    # Its reader is gone, or its disk is full; without this the interpreter complains again while it closes stdout.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    entry()
