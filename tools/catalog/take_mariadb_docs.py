"""Takes from a checkout of MariaDB's documentation when variables came and went.

usage: take_mariadb_docs.py GIT_DIRECTORY     writes facts/changes/mariadb-events.tsv: names and versions, no prose
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator

from tables import Row, canonical, version, write

HEADING = re.compile(r"^#{3,5} \**`?([A-Za-z][\w\\-]+)`?\**$")
EVENT = re.compile(r"^\s*[*-] \**(Introduced|Removed|Deprecated)\**:\**(.*)")
LINKED = re.compile(r"\[([^\]]*)\]\([^)]*\)")
NAMED = re.compile(r"MariaDB (\d+\.\d+(?:\.\d+)?)")
ADDED = re.compile(r"^\| \[?([a-z][\w\\]+)\]?[^|]*\| +\[?MariaDB (\d+\.\d+(?:\.\d+)?)", re.IGNORECASE)


def pages(repository: str) -> Iterator[tuple[str, str]]:
    """Path and text of every page that speaks of variables or options."""
    git = ["git", f"--git-dir={repository}"]
    names = subprocess.run(
        [*git, "ls-tree", "-r", "--name-only", "HEAD"], capture_output=True, text=True, check=True
    ).stdout
    for path in names.split("\n"):
        if re.search(r"(variables|options|plugin)[^/]*\.md$", path) and not re.search(
            r"/status-variables|release-notes|maxscale", path
        ):
            done = subprocess.run([*git, "show", f"HEAD:{path}"], capture_output=True, text=True, check=True)
            yield path, done.stdout


def events(path: str, text: str) -> Iterator[Row]:
    """What one page says."""
    name = ""
    for line in text.replace("\\_", "_").split("\n"):
        plain = LINKED.sub(r"\1", line)
        if match := HEADING.match(plain):
            name = canonical(match[1].lstrip("-"))
        elif line.startswith("#"):
            name = ""
        elif "system-variables-added-in" in path and (match := ADDED.match(line)):
            yield {"name": canonical(match[1]), "event": "introduced", "value": match[2]}
        elif name and (match := EVENT.match(plain)):
            for number in NAMED.findall(match[2]):
                yield {"name": name, "event": match[1].lower(), "value": number}


def main() -> None:
    """Write the table, sorted, each row once."""
    found = {(r["name"], r["event"], r["value"]) for path, text in pages(sys.argv[1]) for r in events(path, text)}
    rows = [dict(zip(("name", "event", "value"), key, strict=True)) for key in found]
    rows.sort(key=lambda r: (r["name"], r["event"], version(r["value"])))
    write(rows, ["name", "event", "value"], "changes", "mariadb-events.tsv")
    print(f"{len(rows)} events")


if __name__ == "__main__":
    main()
