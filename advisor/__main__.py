"""`mycnf` and `python -m advisor`: run the command line, and turn every end into an exit code and one line."""

from __future__ import annotations

import gc
import os
import sys
from typing import NoReturn

from advisor import exits


def entry() -> NoReturn:
    """What the installed command calls: run, and leave without taking the interpreter down piece by piece.

    A run is short: looking for cycles early and freeing each object at the end would be a fifth of lint's time.
    """
    gc.set_threshold(200_000)
    code = main()
    sys.stderr.flush()
    os._exit(code)


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code; what the user did is in `argv`, or on the command line."""
    try:
        from advisor.cli import dispatch

        code = dispatch(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()
    except exits.MycnfError as error:
        return _end(str(error), error.code)
    except KeyboardInterrupt:
        return _end("interrupted", exits.INTERRUPTED)
    except BrokenPipeError:
        _forget_stdout()
        return exits.INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the one place where the unexpected becomes a line and a file
        from advisor.crash import write_crash_file

        return _end(write_crash_file(error), exits.USAGE)
    return code


def _end(message: str, code: int) -> int:
    from advisor.redact import clean

    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _forget_stdout()
    print(f"mycnf: {clean(message)}", file=sys.stderr)
    return code


def _forget_stdout() -> None:
    # The reader of the pipe is gone; without this the interpreter complains again while it closes stdout.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    entry()
