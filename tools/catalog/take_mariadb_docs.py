"""Import from MariaDB's documentation when variables were added and removed, and their facts by version.

usage: take_mariadb_docs.py GIT_DIRECTORY     writes facts/changes/mariadb-events.tsv: names and versions, no prose;
and facts/manual/mariadb.tsv: arguments, kinds, defaults, ranges, dynamic
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
FACTS = {"Default Value": "default", "Default": "default", "Range": "range", "Dynamic": "dynamic",
         "Commandline": "arg", "Command line": "arg", "Data Type": "kind"}  # fmt: skip
FACT = re.compile(r"^[*-] \**(Default Value|Default|Range|Dynamic|Command ?line|Data Type)\**:\**(.*)")
KINDS = {"boolean": "bool", "numeric": "uint", "string": "string", "enumeration": "enum"}
COMMAND = re.compile(r"`--[\w-]+(?P<value>\[=|=|)")
ARGUMENTS = {"[=": "optional", "=": "required", "": "none"}
TYPE = re.compile(r"`?(?P<value>boolean|numeric|string|enumeration)\b", re.IGNORECASE)
NESTED = re.compile(r"^  +[*-] (.*)")
WHEN = r"(?P<when>(?: *\([^()]*\))*)"
QUOTED = re.compile(r"`(?P<value>[\w.,:=+/-]*)`" + WHEN)
RANGE = re.compile(r"`(?P<low>-?[\d,.]+)` to `(?P<high>[\d,.]+)`" + WHEN)
STATE = re.compile(r"(?P<value>Yes|No)\b" + WHEN)
VERSIONS = re.compile(r"(>=|<=) *MariaDB (\d+\.\d+(?:\.\d+)?)")
ADDED = re.compile(r"^\| \[?([a-z][\w\\]+)\]?[^|]*\| +\[?MariaDB (\d+\.\d+(?:\.\d+)?)", re.IGNORECASE)


def pages(repository: str) -> Iterator[tuple[str, str]]:
    """Path and text of every page about variables or options."""
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
    """The events on one page."""
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


def values(path: str, text: str) -> Iterator[Row]:
    """The defaults, ranges and dynamic states on one page, with the first and last version of each."""
    name, fact = "", ""
    for line in text.replace("\\_", "_").split("\n"):
        plain = LINKED.sub(r"\1", line).replace("\\", "")
        if match := HEADING.match(plain):
            name, fact = canonical(match[1].lstrip("-")), ""
        elif line.startswith("#"):
            name = ""
        elif name and (match := FACT.match(plain)):
            fact = FACTS[match[1]]
            yield from stated_values(name, fact, match[2], path)
        elif name and fact and (match := NESTED.match(plain)):
            yield from stated_values(name, fact, match[1], path)
        else:
            fact = ""


def stated_values(name: str, fact: str, words: str, path: str) -> Iterator[Row]:
    """The values in the text after a fact's name; values in words, or only for some hosts, are ignored."""
    page = path.rpartition("/")[2].removesuffix(".md")
    if fact in ("arg", "kind"):
        match = (COMMAND if fact == "arg" else TYPE).search(words)
        value = "" if match is None else (ARGUMENTS | KINDS)[match["value"].lower()]
        yield from [{"name": name, "fact": fact, "value": value, "low": "", "high": "", "page": page}] if value else []
        return
    pattern = RANGE if fact == "range" else STATE if fact == "dynamic" else QUOTED
    for match in pattern.finditer(words):
        bounds = dict(VERSIONS.findall(match["when"] or ""))
        if match["when"] and not bounds:
            continue
        row = {"name": name, "low": bounds.get(">=", ""), "high": bounds.get("<=", ""), "page": page}
        if fact == "range":
            yield {**row, "fact": "min", "value": match["low"].replace(",", "")}
            yield {**row, "fact": "max", "value": match["high"].replace(",", "")}
        else:
            yield {**row, "fact": fact, "value": match["value"]}


def main() -> None:
    """Write the tables, sorted, without duplicate rows."""
    texts = list(pages(sys.argv[1]))
    columns = ["name", "fact", "value", "low", "high", "page"]
    documented = {tuple(row[c] for c in columns) for path, text in texts for row in values(path, text)}
    write([dict(zip(columns, key, strict=True)) for key in sorted(documented)], columns, "manual", "mariadb.tsv")
    found = {(r["name"], r["event"], r["value"]) for path, text in texts for r in events(path, text)}
    rows = [dict(zip(("name", "event", "value"), key, strict=True)) for key in found]
    rows.sort(key=lambda r: (r["name"], r["event"], version(r["value"])))
    write(rows, ["name", "event", "value"], "changes", "mariadb-events.tsv")
    print(f"{len(rows)} events")


if __name__ == "__main__":
    main()
