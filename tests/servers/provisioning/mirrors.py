"""The Debian mirror that this system already uses, read from its own apt sources."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from provisioning.shelf import ProvisionError

APT = Path("/etc/apt")
SUITES = {
    "oldoldstable",
    "oldstable",
    "stable",
    "testing",
    "unstable",
    "sid",
    "bullseye",
    "bookworm",
    "trixie",
    "forky",
    "duke",
}


@dataclass(frozen=True)
class Source:
    """One line of apt's sources: where, which suite, and the options in its brackets."""

    uri: str
    suite: str
    options: str = ""

    def line(self) -> str:
        """The source in apt's one-line form, main component only."""
        return f"deb {self.options + ' ' if self.options else ''}{self.uri} {self.suite} main"


def sources_for(suite: str, apt: Path = APT) -> list[Source]:
    """The sources to read `suite` from: the system's own ones of it, else its mirror with that suite.

    Raises ProvisionError on a system without a Debian mirror.
    """
    known = read_sources(apt)
    own = [source for source in known if source.suite.split("-")[0].split("/")[0] == suite]
    if own:
        return own
    for source in known:
        if source.suite in SUITES:
            return [Source(source.uri, suite, source.options)]
    raise ProvisionError(f"no Debian mirror is in {apt}/sources.list*: use a Debian system, or unpack it by hand")


def read_sources(apt: Path = APT) -> list[Source]:
    """All binary sources with a main component, one-line and deb822 files alike."""
    files = [apt / "sources.list", *sorted((apt / "sources.list.d").glob("*"))]
    found: list[Source] = []
    for file in files:
        if not file.is_file():
            continue
        text = file.read_text(encoding="utf-8", errors="replace")
        if file.suffix == ".sources":
            found += _deb822(text)
        elif file.suffix == ".list":
            found += _one_line(text)
    return found


def _one_line(text: str) -> list[Source]:
    form = re.compile(r"^deb\s+(\[[^\]]*\])?\s*(\S+)\s+(\S+)\s+(.*)$", re.MULTILINE)
    return [
        Source(uri, suite, options)
        for options, uri, suite, components in form.findall(text)
        if "main" in components.split()
    ]


def _deb822(text: str) -> list[Source]:
    found = []
    for fields in map(_fields, re.split(r"\n\s*\n", text)):
        if "deb" not in fields.get("types", "").split() or fields.get("enabled", "yes").lower() == "no":
            continue
        if "main" not in fields.get("components", "").split():
            continue
        keyring = fields.get("signed-by", "")
        options = f"[signed-by={keyring}]" if keyring.startswith("/") else ""
        found += [
            Source(uri, suite, options)
            for uri in fields.get("uris", "").split()
            for suite in fields.get("suites", "").split()
        ]
    return found


def _fields(stanza: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    name = ""
    for line in stanza.splitlines():
        if line.startswith("#"):
            continue
        if line[:1].isspace():
            fields[name] = f"{fields.get(name, '')} {line.strip()}"
        elif ":" in line:
            name, _, value = line.partition(":")
            name = name.strip().lower()
            fields[name] = value.strip()
    return fields
