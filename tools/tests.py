"""Run the tests; failed ones are run again, one at a time, and those that then pass are reported as unsteady.

usage: python tools/tests.py [ARGUMENT OF PYTEST]…

A test that fails among others and passes alone has found a race, in itself or in the product. It must not pass
silently, nor block an unrelated change; so the last lines of the run name it. If more than a handful fail, it is not a
coincidence, and nothing is run again.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

MOST = 5
FAILED = 1  # pytest's exit code for failed tests; others mean that pytest itself failed


def main(arguments: list[str]) -> int:
    """Run pytest with the arguments, then the failed tests again; returns its exit code, 0 if all passed in the end."""
    # A background shell ignores SIGINT, and so would all processes started here, which tests interrupt.
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
    """The exit code of pytest, and the names of the failed tests."""
    with tempfile.TemporaryDirectory(prefix="mycnf-tests-") as folder:
        file = Path(folder) / "failed"
        command = [sys.executable, "-m", "pytest", *arguments]
        code = subprocess.run(command, env={**os.environ, "MYCNF_FAILED_LIST": str(file)}, check=False).returncode
        return code, file.read_text("utf-8").splitlines() if file.exists() else []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
