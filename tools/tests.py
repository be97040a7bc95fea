"""Run the tests; a few that failed are run once more, one at a time, and what passes only then is named as unsteady.

usage: python tools/tests.py [ARGUMENT OF PYTEST]…

A test that fails among others and passes alone has found a race: of its own, or of the product. It must not pass in
silence, nor keep a change out that has nothing to do with it; so the run's last lines name it. More than a handful of
failures is no accident, and nothing is run again.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

MOST = 5
FAILED = 1  # pytest's exit code where tests failed; others mean that it could not do its work


def main(arguments: list[str]) -> int:
    """Run pytest with the arguments, and again what failed; return its exit code, 0 where all passed in the end."""
    # A shell in the background ignores it, and so would all that is started from here, which tests interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    code, failed = _run(arguments)
    if code != FAILED or not 0 < len(failed) <= MOST:
        return code
    print(f"\n{len(failed)} failed, to be run once more, one at a time:", flush=True)
    code, _ = _run(["-q", *failed])
    if code == 0:
        print("\nUNSTEADY: these failed among the others and passed alone, and each is a race to be found:")
        for name in failed:
            print(f"  {name}")
    return code


def _run(arguments: list[str]) -> tuple[int, list[str]]:
    """The exit code of pytest, and the names of the tests that failed."""
    with tempfile.TemporaryDirectory(prefix="mycnf-tests-") as folder:
        file = Path(folder) / "failed"
        command = [sys.executable, "-m", "pytest", *arguments]
        code = subprocess.run(command, env={**os.environ, "MYCNF_FAILED_LIST": str(file)}, check=False).returncode
        return code, file.read_text("utf-8").splitlines() if file.exists() else []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
