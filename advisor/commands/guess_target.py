"""Guesses the server of files without --target: the version and build that they name, else the newest series."""

from __future__ import annotations

from advisor.catalog import load
from advisor.catalog.presence import find_presence, vendor_of_option
from advisor.catalog.targets import known_series, newest_target, target_of_version
from advisor.commands.read_files import platform_of, read_carrier, read_resolved
from advisor.core.errors import print_notice
from advisor.core.model import BUILDS, Target
from advisor.optionfile import normalise

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Mapping, Sequence

    from advisor.optionfile.lines import ResolvedFiles

MARIADB_GROUPS = ("mariadb", "mariadbd", "galera", "client-mariadb", "mariadb-client", "client-server")
UNDECIDED = "no option or group shows whether it is MySQL or MariaDB"
PREFIXES = ("loose_", "skip_", "disable_", "enable_", "maximum_")
_VERSION = r"(\d{1,2})\.(\d{1,2})(?:\.(\d{1,3}))?"
# Groups that one series reads, as both vendors' packages write them.
VERSIONED_GROUP = rf"(?P<server>mysqld|mariadb|mariadbd)-{_VERSION}"
# A directory of one version, as packages, archives and installers name it.
VERSIONED_PATH = (
    rf"(?i)(?P<server>mysql server |mariadb |mysql-?|mariadb-?|percona-server-?|percona-xtradb-cluster-?){_VERSION}"
)
# Comments of the vendors' own option files, with flavour and build.
PACKAGE_COMMENTS = (
    (rf"dev\.mysql\.com/doc/refman/{_VERSION}/", "mysql", ""),
    (rf"(?i)\bpercona xtradb cluster(?: {_VERSION})?", "mysql", "pxc"),
    (rf"(?i)\bpercona server(?: {_VERSION})? (?:template )?configuration", "mysql", "percona"),
)
PACKAGE_FOLDERS = (
    ("/percona-xtradb-cluster.", "mysql", "pxc"),
    ("/percona-server.", "mysql", "percona"),
    ("/mariadb.conf.d/", "mariadb", ""),
    ("/opt/bitnami/mariadb", "mariadb", ""),
)


def assume_target(
    paths: Sequence[str], root: str | None, given: Mapping[str, bytes], set_name: str | None = None
) -> Target:
    """Guess the target of files that are read together, with a notice on stderr that says what decided."""
    target, why = _declared_target(paths, given, set_name) or guess_target(
        read_resolved(paths, newest_target("mysql"), root, given, set_name)
    )
    these = "it is" if len(paths) == 1 else "they are"
    print_notice(f"{', '.join(paths)}: no --target given, so {these} checked for {target.label} ({why})")
    return target


def _declared_target(
    paths: Sequence[str], given: Mapping[str, bytes], set_name: str | None
) -> tuple[Target, str] | None:
    """Return the server named by a compose file or similar document, for its set of that name."""
    carriers = [carrier for path in paths if (carrier := read_carrier(path, given)) is not None]
    if not carriers:
        return None
    from advisor.commands.carrier_texts import hint_of

    return hint_of(carriers, set_name)


def guess_target(resolved: ResolvedFiles) -> tuple[Target, str]:
    """Return the target and the reason.

    The flavour is that of groups, of options of one flavour only, then of Galera's; the version and build are what a
    group, a path or a package's comment names for that flavour. An option that was removed does not reveal the series;
    one that is too new for the series chooses a later one.
    """
    names = sorted({_without_prefix(normalise(o.line.name)) for o in resolved.options if o.line.name})
    guessed, why = _guess_flavour(resolved, names)
    for flavour, version, build, where in _written_servers(resolved):
        if why == UNDECIDED or (flavour == guessed.flavour and build in ("", guessed.build or build)):
            build = build or (guessed.build if flavour == guessed.flavour else "")  # noqa: PLW2901
            target, why = (
                target_of_version(flavour, version, build, where) if version else (newest_target(flavour, build), where)
            )
            return target._replace(platform=platform_of(resolved)), why
    guessed, why = _later_series(guessed, names) or (guessed, why)
    return guessed._replace(platform=platform_of(resolved)), why


def _guess_flavour(resolved: ResolvedFiles, names: Sequence[str]) -> tuple[Target, str]:
    """Return the newest target of the flavour, and of its build if only that one has an option, with the reason."""
    groups = {line.name for f in resolved.files for line in f.lines if line.kind == "group" and line.name}
    named = next(
        (g for g in sorted(groups) if g.startswith(("mariadb", "client-mariadb")) or g in MARIADB_GROUPS), None
    )
    if named:
        return newest_target("mariadb"), f"its group [{named}] is MariaDB's"
    only = {flavour: [n for n in names if _is_only_of(flavour, n)] for flavour in ("mysql", "mariadb")}
    if len(only["mariadb"]) > len(only["mysql"]):
        return newest_target("mariadb"), f"{only['mariadb'][0]} is known to MariaDB only"
    built = _build_target(names)
    if built:
        return built
    galera = next((name for name in names if name.startswith("wsrep_")), None)
    if only["mysql"]:
        cluster = f", and {galera} to builds with Galera" if galera else ""  # MySQL Community is none of these
        return newest_target("mysql", "pxc" if galera else ""), f"{only['mysql'][0]} is known to MySQL only{cluster}"
    if galera:  # PXC has Galera too, and nothing distinguishes the two
        return newest_target("mariadb"), f"{galera} is known only to builds with Galera"
    return newest_target("mysql"), UNDECIDED


def _build_target(names: Sequence[str]) -> tuple[Target, str] | None:
    """Return the newest series of Percona's server that documents the options which only it has; None without any."""
    mysql = newest_target("mysql")
    vendors = {name: vendor for name in names if (vendor := vendor_of_option(name, mysql)) and vendor.series}
    community = load(mysql).options  # Percona documents options that MySQL has too, where it added a value
    own = {name: v for name, v in vendors.items() if name not in community and "mariadb" not in _flavours(name)}
    if not own:
        return None
    build = "pxc" if any(vendor.build == BUILDS["pxc"] for vendor in own.values()) else "percona"
    known = known_series("mysql", build)
    documented = [s for s in known if all(f"{s[0]}.{s[1]}" in vendor.series for vendor in own.values())]
    newest = max(documented, default=max(_series(v.series[-1]) for v in own.values()))
    first = min(name for name, vendor in own.items() if build == "percona" or vendor.build == BUILDS["pxc"])
    return Target("mysql", known.get(newest, newest), build), f"{first} is known to {own[first].build} only"


def _later_series(guessed: Target, names: Sequence[str]) -> tuple[Target, str] | None:
    """Return the series of the flavour that got an option after the one that was guessed; None if none did."""
    for name in names:
        presence = None if name in load(guessed).options else find_presence(name)
        own = presence.span(guessed.flavour) if presence else None
        came = max((_series(text) for text in own.came), default=()) if own else ()
        known = known_series(guessed.flavour, guessed.build)
        later = min((s for s in known if s >= came[:2] > guessed.version[:2]), default=None)
        if later:
            why = f"{name} was introduced in {guessed._replace(version=came).label}"
            return guessed._replace(version=known[later]), why
    return None


def _series(text: str) -> tuple[int, ...]:
    return tuple(int(n) for n in text.split("."))


def _written_servers(resolved: ResolvedFiles) -> Iterator[tuple[str, tuple[int, ...], str, str]]:
    """Yield what the files show about their server, the strongest first: flavour, version, build, and where."""
    yield from _versioned_groups(resolved)
    for option in resolved.options:
        if option.line.raw and (match := _versioned_path(option.line.raw)):
            server = match["server"].lower()
            flavour = "mariadb" if server.startswith("mariadb") else "mysql"
            build = "pxc" if "xtradb" in server else "percona" if "percona" in server else ""
            yield flavour, _numbers(match), build, f"{option.line.name} names {match[0].strip()}"
    for file in resolved.files:
        for line in file.lines:
            if line.kind == "comment":
                yield from _package_comment(line.text)
    for folder, flavour, build in PACKAGE_FOLDERS:
        if any(folder in f.path for f in resolved.files) or any(folder in (o.line.raw or "") for o in resolved.options):
            yield flavour, (), build, f"its path has {folder.strip('/.')}"


def _versioned_path(text: str) -> re.Match[str] | None:
    """Match a server and its version in a value; values without letters of a server and a digit need no pattern."""
    low = text.lower()
    named = "mysql" in low or "mariadb" in low or "percona" in low or not low.isascii()
    if not named or not any(char.isdecimal() for char in low):
        return None
    import re

    return re.search(VERSIONED_PATH, text)


def _versioned_groups(resolved: ResolvedFiles) -> Iterator[tuple[str, tuple[int, ...], str, str]]:
    """Yield the newest series that a group is written for."""
    groups = [line.name.lower() for f in resolved.files for line in f.lines if line.kind == "group" and line.name]
    groups = [group for group in groups if group.startswith(("mysqld-", "mariadb-", "mariadbd-"))]
    if not groups:
        return
    import re

    if found := [match for group in groups if (match := re.fullmatch(VERSIONED_GROUP, group))]:
        newest = max(found, key=_numbers)
        yield "mysql" if newest["server"] == "mysqld" else "mariadb", _numbers(newest), "", f"its group [{newest[0]}]"


def _package_comment(text: str) -> Iterator[tuple[str, tuple[int, ...], str, str]]:
    if "percona" not in text.lower() and "dev.mysql.com/doc/refman/" not in text:  # most comments need no pattern
        return
    import re

    for pattern, flavour, build in PACKAGE_COMMENTS:
        if found := re.search(pattern, text):
            yield flavour, _numbers(found), build, f"a comment names {found[0].strip('/')}"


def _numbers(match: re.Match[str]) -> tuple[int, ...]:
    """Return the version in a match, whose last three groups are its numbers; empty without one."""
    return tuple(int(n) for n in match.groups()[-3:] if n and n.isdecimal())


def _flavours(name: str) -> set[str]:
    """Return the flavours with the option in any series or vendor's build; Galera options are ambiguous."""
    if name.startswith("wsrep_"):
        return {"mysql", "mariadb"}
    presence = find_presence(name)
    seen = {span.flavour for span in presence.spans} if presence else set()
    for flavour in ("mysql", "mariadb"):
        if flavour not in seen and name in load(newest_target(flavour)).options:  # a catalog is read only if it matters
            seen.add(flavour)
    if seen == {"mariadb"}:
        seen |= {"mysql"} if vendor_of_option(name, newest_target("mysql")) else set()
    return seen


def _is_only_of(flavour: str, name: str) -> bool:
    """Whether an option shows the flavour: only that one knows it, in its newest series or since a known one.

    Other options, such as myisam_recover, are of the time before the two parted, or of clients, which share them.
    """
    if _flavours(name) != {flavour}:
        return False
    presence = find_presence(name)
    span = presence.span(flavour) if presence else None
    return bool(span and span.came) or name in load(newest_target(flavour)).options


def _without_prefix(name: str) -> str:
    prefix = next((p for p in PREFIXES if name.startswith(p)), "")
    return name[len(prefix) :]
