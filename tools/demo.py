"""Demo in one command: start a throwaway server with a bad option file, audit it, and remove it.

usage: demo.py [--server NAME]

The server is the host's own, or the one with that name that `make servers` unpacked. If this host has none, a
recording of a real server is audited instead.
"""

from __future__ import annotations

import argparse
import glob
import os
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, TOP)

from probes.sandbox import Binary, SandboxError, host_binaries, start_server

OPTION_FILE = os.path.join(TOP, "examples", "bad.cnf")
WINDOW = "3"  # seconds between the two samples of an idle server's counters


def main() -> int:
    """Audit the host's own server program, or a recording."""
    parser = argparse.ArgumentParser(description="audit a throwaway server with a bad option file")
    parser.add_argument("--server", metavar="NAME", help="one that `make servers` unpacked (default: the host's own)")
    name = parser.parse_args().server
    if name:
        return audit_throwaway(unpacked_server(name))
    binaries = host_binaries()
    if not binaries:
        return audit_recording("this host has no mysqld or mariadbd")
    try:
        return audit_throwaway(binaries[0])
    except SandboxError as error:
        return audit_recording(str(error))


def unpacked_server(name: str) -> Binary:
    """The server with that name from the cache; otherwise exit with instructions."""
    sys.path.insert(0, os.path.join(TOP, "tests", "plugins"))
    from real_servers import lacking, names_of, provisioned

    if name not in names_of(()):
        sys.exit(f"demo: no such server: {name}; there are {', '.join(names_of(()))}")
    if reason := lacking(name):
        sys.exit(f"demo: {reason}")
    return provisioned(name)


def audit_throwaway(binary: Binary) -> int:
    """Start the server, audit it over its socket, and remove it."""
    say(f"starting a throwaway {binary.target.label} ({binary.program}) with examples/bad.cnf")
    with (
        start_server(binary, option_file=OPTION_FILE) as server,
        tempfile.NamedTemporaryFile(suffix=".cnf") as no_options,
    ):
        # An empty option file, because the account in ~/.my.cnf is not this server's.
        return mycnf("audit", "--defaults-file", no_options.name, "--socket", server.socket, "--user", "root")


def audit_recording(reason: str) -> int:
    """Audit the newest recorded server."""
    recordings = sorted(glob.glob(os.path.join(TOP, "examples", "snapshots", "*.json")))
    if not recordings:
        sys.exit(
            f"demo: {reason}, and there is no recording in examples/snapshots: apt-get install mariadb-server-core"
        )
    say(f"{reason}: auditing the recording {os.path.relpath(recordings[0], TOP)}")
    return mycnf("audit", "--snapshot", recordings[0])


def mycnf(*words: str) -> int:
    """Print the command and run it; findings are expected and not a failure."""
    window = () if "--snapshot" in words else ("--window", WINDOW)
    say(" ".join(["mycnf", *words, *window]))
    ran = subprocess.run([sys.executable, "-m", "advisor", *words, *window], cwd=TOP, check=False)
    if ran.returncode in (0, 1):
        say("your turn: .venv/bin/mycnf lint YOUR-FILE, or .venv/bin/mycnf explain a code from above")
        return 0
    return ran.returncode


def say(text: str) -> None:
    """Print one line of narration."""
    print(f"demo: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SandboxError as error:
        sys.exit(f"demo: {error}")
