"""Find a server's systemd service, and copy its unit, drop-ins and environment files with secrets removed."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from advisor.carriers.systemd import assigned_words, expand_specifiers, variables_named
from advisor.facts.files import FileCopy, Service
from advisor.redaction import MASK, is_secret, redact_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from advisor.collect.host.root import Root

# The directories in which systemd searches units and drop-ins, highest priority first.
FOLDERS = (
    *("/etc/systemd/system.control", "/run/systemd/system.control", "/run/systemd/transient"),
    *("/run/systemd/generator.early", "/etc/systemd/system", "/etc/systemd/system.attached", "/run/systemd/system"),
    *("/run/systemd/system.attached", "/run/systemd/generator", "/usr/local/lib/systemd/system"),
    *("/usr/lib/systemd/system", "/lib/systemd/system", "/run/systemd/generator.late"),
)
# The packages' names for the service, if nothing else identifies it.
USUAL = ("mysql.service", "mysqld.service", "mariadb.service")
# Set again by ExecStartPre at each start, so the process's values say nothing about the next start.
ONCE = frozenset({"_WSREP_NEW_CLUSTER", "_WSREP_START_POSITION"})
_SPOKEN = r"(?:(?P<dashes>--)|(?<![\w-]))(?P<name>[A-Za-z_][\w-]*)(?:=|[ \t]+(?!-))"
_OPENING = r"\\?[\"']"
_END = r"\s|\\?[\"']"


def service_of(root: Root, pid: int) -> str:
    """The name of the service that a process belongs to; empty if it is not a system service."""
    for line in (root.read(f"/proc/{pid}/cgroup") or "").split("\n"):
        steps = line.rpartition(":")[2].split("/")
        name = next((step for step in reversed(steps) if step.endswith(".service")), "")
        if name and not any(step.startswith("user") for step in steps):
            return name.replace("\\x2d", "-")
    return ""


def read_service(root: Root, name: str, environment: Mapping[str, str] | None = None) -> Service | None:
    """The service with its current files; None if there is no such unit.

    `environment` is the running process's; only variables that the unit's command line names are kept.
    """
    unit = _unit(root, name)
    if unit is None:
        return None
    copies = [unit, *(_read_copy(root, path) for path in _drop_ins(root, name, unit.path))]
    texts = [copy.text or "" for copy in copies]
    wanted = {
        v for text in texts for a in assigned_words(text) if a.key == "ExecStart" for v in variables_named(a.value)
    }
    held = {n: v for n, v in (environment or {}).items() if n in wanted - ONCE}
    return Service(
        name=name,
        unit_files=tuple(copies),
        environment_files=tuple(_environment_files(root, name, texts)),
        environment={n: MASK if is_secret(n) else _redact(v) for n, v in held.items()},
    )


def usual_service(root: Root) -> str:
    """The only database service with one of the usual names; empty if there are none or several."""
    names = [name for name in USUAL if _unit(root, name) is not None]
    real = {root.real(copy.path) for name in names if (copy := _unit(root, name))}
    return names[-1] if len(real) == 1 else ""


def _unit(root: Root, name: str) -> FileCopy | None:
    """The unit file: the first with its name, or with its template's name."""
    for wanted in dict.fromkeys([name, _template(name)]):
        for folder in FOLDERS:
            copy = _read_copy(root, f"{folder}/{wanted}")
            if copy.text is not None or root.link(copy.path) is not None:
                return copy
    return None


def _template(name: str) -> str:
    return re.sub(r"@.+(\.\w+)$", r"@\1", name)


def _drop_ins(root: Root, name: str, unit_path: str) -> list[str]:
    """The drop-ins of a unit under all its names, sorted by file name; the first directory wins if names are equal."""
    drop_ins: dict[str, str] = {}
    for alias in [*_unit_names(root, name, unit_path), "service"]:
        for folder in FOLDERS:
            for part in _folder_names(alias):
                place = f"{folder}/{part}.d"
                for file in root.names(place):
                    if file.endswith(".conf"):
                        drop_ins.setdefault(file, f"{place}/{file}")
    readable = {file: path for file, path in drop_ins.items() if root.link(path) != "/dev/null"}
    return [readable[file] for file in sorted(readable)]


def _unit_names(root: Root, name: str, unit_path: str) -> list[str]:
    """The unit's name and its aliases, which are links to its file."""
    own = posixpath.basename(root.real(unit_path) or unit_path)
    names = [name, own]
    for folder in FOLDERS:
        for entry in root.names(folder):
            target = root.link(f"{folder}/{entry}") if entry.endswith(".service") else None
            if target and posixpath.basename(target) == own:
                names.append(entry)
    return list(dict.fromkeys(names))


def _folder_names(name: str) -> list[str]:
    """The names of drop-in directories: the unit, its template, and each prefix of its name that ends with a dash."""
    if name == "service":
        return [name]
    stem, dot, kind = name.rpartition(".")
    prefix, at, instance = stem.partition("@")
    names = [name, *([f"{prefix}@{dot}{kind}"] if instance else [])]
    while "-" in prefix.rstrip("-"):
        prefix = prefix.rstrip("-").rpartition("-")[0] + "-"
        names += [f"{prefix}{at}{instance}{dot}{kind}", *([f"{prefix}@{dot}{kind}"] if instance else [])]
    return names


def _environment_files(root: Root, name: str, texts: Iterable[str]) -> Iterable[FileCopy]:
    paths: list[str] = []
    for assignment in (a for text in texts for a in assigned_words(text) if a.key == "EnvironmentFile"):
        if not assignment.value:
            paths.clear()
        paths += [expand_specifiers(word.text, name).removeprefix("-") for word in assignment.words]
    for path in dict.fromkeys(paths):
        copy = _read_copy(root, path)
        if copy.text is not None:
            yield copy


def _read_copy(root: Root, path: str) -> FileCopy:
    text = root.read(path, 1 << 20)
    if text is None:
        return FileCopy(path, None)
    masked = redact_text(_redact(text))
    lines = [n for n, (a, b) in enumerate(zip(text.split("\n"), masked.text.split("\n"), strict=True), 1) if a != b]
    return FileCopy(path, masked.text, secret_lines=tuple(lines))


def _redact(text: str) -> str:
    """Mask secret options and variables anywhere in a line, with or without quotes."""
    return "\n".join(map(_redact_line, text.split("\n")))


def _redact_line(line: str) -> str:
    kept, at = "", 0
    for match in re.finditer(_SPOKEN, line):
        has_value = match["dashes"] or match[0].endswith("=")
        if has_value and match.start() >= at and is_secret(match["name"]):
            kept += line[at : match.end()] + MASK
            at = match.end() + _value_length(line[match.end() :], line[: match.start()])
    return kept + line[at:]


def _value_length(rest: str, before: str) -> int:
    """The length of the value in the rest: up to its closing quote if one is open, else to the end of the word."""
    own = re.match(_OPENING, rest)
    around = own or re.search(rf"{_OPENING}$", before)
    if around:
        end = rest.find(around[0], len(own[0]) if own else 0)
        return len(rest) if end < 0 else end + (len(own[0]) if own else 0)
    found = re.search(_END, rest)
    return found.start() if found else len(rest)
