"""Groups that look meant for a server but that no server reads, and escape sequences in Windows paths."""

from __future__ import annotations

import os

from advisor.core import NamedTuple
from advisor.core.model import Confidence, Edit, Fix, Severity
from advisor.optionfile import groups_read
from advisor.optionfile.lines import LineKind
from advisor.redaction import MASK, name_control_characters, quote_value, redact_value
from advisor.verdict.names import is_component_option
from rules.core.subject import UNSAFE, replace_value, written_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.catalog import Catalog
    from advisor.core.model import Finding, Target
    from advisor.optionfile.lines import Line, OptionFile, PlacedLine, ResolvedFiles
    from advisor.verdict import LineVerdict

# Groups of programs other than the server; their contents are not examined.
PROGRAMS = frozenset(
    (
        *("client", "client-mariadb", "client-server", "mysql", "mysqladmin", "mysqlbinlog", "mysqlcheck", "mysqldump"),
        *("mysqlimport", "mysqlshow", "mysqlslap", "mysqlpump", "mysqlsh", "mysqltest", "mysql_upgrade", "mysqlfrm"),
        *("mysql_install_db", "mysql_secure_installation", "mysql_cluster", "mysqld_multi", "mysqld_safe"),
        *("safe_mysqld", "mysqlhotcopy", "mariadb-client", "mariadb-admin", "mariadb-check", "mariadb-dump"),
        *("mariadb-import", "mariadb-show", "mariadb-binlog", "mariadb-slap", "mariadb-upgrade", "mariadb-embedded"),
        *("mysql.server", "mysql_server", "mysqlmanager", "manager", "myisamchk", "myisampack", "isamchk", "aria_chk"),
        *("aria_pack", "ndbd", "ndbmtd", "ndb_mgmd", "ndb_mgm", "xtrabackup", "xbcloud", "xbstream", "mariabackup"),
        *("mariadb-backup", "mariadb_safe", "mariadbd-safe", "mariadbd_safe", "mariadb", "mariadbd", "galera"),
        *("server", "mysqld"),
        *("mysqlrouter", "wsrep_sst", "embedded", "innochecksum", "mysql_config_editor", "garb", "garbd", "sst"),
    )
)
SERVERS = ("mysqld", "mariadbd", "mariadb", "server")  # groups that a mistyped name is compared with
STARTERS = ("mysqld_safe", "mariadbd-safe", "mysqld_multi")  # scripts that start servers; likewise
# Names that people take for a server's group, but that no server or tool reads.
OF_VENDORS = frozenset(("percona", "percona-server", "percona_server", "pxc", "mysql-server", "mysqlserver", "maria"))
# Separators before the suffix of a server's group: [mysqld.2], [mysqld@replica1] of systemd's template, [mysqld-b].
SUFFIX_SIGNS = (".", "_", "@", "-")
MINIMUM_LETTERS = 4  # minimum length of a group name that may be a typo
MYSQLD_MULTI = r"(?:mysqld|mariadbd|mariadb)\d+"
TYPOGRAPHIC = "\u201c\u201d\u201e\u2018\u2019"  # quotes of word processors and web pages
CLOSE = "close the quote, or remove it"
CONTINUES = (" ", "\t", ",", ";")  # before a backslash at the end; elsewhere it may end a directory of Windows
ADDRESS = "bind_address"
PLACES = ("datadir", "port", "socket")  # of which each server needs its own
VERSIONED_GROUP = r"(?:mysqld|mariadbd|mariadb|mysql|server|client)[-_.]\d+(?:[._]\d+)*"
SERIES_GROUP = r"(?:mysqld|mariadbd|mariadb)-(\d+)\.\d+"  # groups that the servers of one series read
FIRST_MARIADB = 10  # from this number on a series is MariaDB's; below, [mysqld-5.5] is of both
FEW, MANY = 3, 20  # server options that make a group look like a server's; groups examined per file
# Prefixes of option names that only servers have.
SERVER_OPTIONS = ("innodb_", "log_bin", "binlog_", "max_connections", "server_id", "performance_schema", "query_cache")
ESCAPES = {"b": "a backspace", "t": "a tab", "n": "a new line", "r": "a carriage return", "s": "a space"}
NETWORK_PATH = r"\\\\[\w.-]+\\{1,2}[\w.$-]"  # of a share, with the two backslashes not doubled
# Values that look like a Windows path: with a drive, a UNC path, or with several directories.
WINDOWS_PATH = r"[A-Za-z]:\\|\\\\|\.{0,2}\\?[\w .-]+\\[\w .-]+\\"


class LikelyServerGroup(NamedTuple):
    """A group that looks meant for a server: its name as written, its first line, the message and the help.

    `of_multi` says that the files have a group of mysqld_multi, which starts a server for this one.
    """

    name: str
    line: Line
    message: str
    help: str
    severity: Severity
    of_multi: bool = False

    @property
    def numbered(self) -> bool:
        """Whether mysqld_multi starts a server for a group of that name."""
        return is_started_by_multi(self.name)


def likely_server_groups(file: OptionFile, catalog: Catalog) -> list[LikelyServerGroup]:
    """The groups of a file that the target does not read but that look meant for it, each once."""
    target = catalog.target
    groups: dict[str, LikelyServerGroup] = {}
    left = _groups_left_behind(file, target)
    for header in (line for line in file.lines if line.kind is LineKind.GROUP and line.name and not line.templated):
        name = (header.name or "").lower()
        if name in groups or name in PROGRAMS or name in groups_read(target):
            continue
        if _is_numbered(VERSIONED_GROUP, name):
            if name in left:
                groups[name] = _describe_series(header, left[name], target)
            continue
        options = [line for line in file.lines if line.kind is LineKind.OPTION and (line.group or "").lower() == name]
        why = _describe_group(name, options, catalog)
        if why is not None and len(groups) < MANY:
            message = f"{target.label} does not read [{header.name}]{why[0].format(option_count(len(options)))}"
            groups[name] = LikelyServerGroup(header.name or "", header, message, *why[1:])
    return list(groups.values())


def _groups_left_behind(file: OptionFile, target: Target) -> dict[str, int]:
    """The groups for other series of the target's flavour, with the number of their options.

    Empty if the file has options for the target's own series: then each series has its group on purpose.
    """
    counts: dict[str, int] = {}
    for line in file.lines:
        if line.kind is LineKind.OPTION and line.group:
            counts[line.group.lower()] = counts.get(line.group.lower(), 0) + 1
    if not any("-" in name and name[-1].isdecimal() for name in counts):
        return {}
    import re

    series = {name: match for name in counts if (match := re.fullmatch(SERIES_GROUP, name))}
    if not groups_read(target).isdisjoint(series):
        return {}
    of_mariadb = {name for name, match in series.items() if int(match[1]) >= FIRST_MARIADB or name.startswith("maria")}
    return {name: counts[name] for name in series if (name in of_mariadb) == target.is_mariadb}


def _describe_series(header: Line, options: int, target: Target) -> LikelyServerGroup:
    what = "it" if options == 1 else "them"
    message = f"{target.label} does not read [{header.name}], so {option_count(options)} without effect."
    help_text = f"move {what} to [{'mariadbd' if target.is_mariadb else 'mysqld'}] if this server should read {what}"
    return LikelyServerGroup(header.name or "", header, message, help_text, Severity.NOTE)


def shared_places(file: OptionFile) -> list[tuple[Line, str]]:
    """The places that servers of mysqld_multi share, each with a line of the later group and a message.

    Servers with different bind_address may have the same port.
    """
    options = [line for line in file.lines if line.kind is LineKind.OPTION]
    addresses = [line for line in options if written_name(line) == ADDRESS]
    places = [line for line in options if written_name(line) in PLACES]
    common = {written_name(line): line.value for line in places if (line.group or "").lower() in SERVERS}
    local = {(line.group or "").lower() for line in options if written_name(line) == "skip_networking"}
    headers = {(line.name or "").lower(): line for line in file.lines if line.kind is LineKind.GROUP and line.name}
    used: dict[tuple[str, str | None, str], str] = {}
    shared_lines = []
    for group, header in headers.items():
        if not is_started_by_multi(group):
            continue
        own = {written_name(line): line for line in places if (line.group or "").lower() == group}
        for name in PLACES:
            if (name == "port" and not local.isdisjoint((group, *SERVERS))) or (name in own and own[name].templated):
                continue
            value = own[name].value if name in own else common.get(name)
            at = _address_of(group, addresses) if name == "port" else ""
            first = used.setdefault((name, (value or "").rstrip("/") or None, at), header.name or "")
            if first != header.name:
                shared_lines.append((own.get(name, header), _describe_shared(name, value, first, header.name or "")))
    return shared_lines


def _address_of(group: str, addresses: list[Line]) -> str:
    """The bind_address of a group, or of the servers' own groups; empty without one."""
    of_group = {(line.group or "").lower(): line.value or "" for line in addresses}
    return next((of_group[name] for name in (group, *SERVERS) if name in of_group), "")


def _describe_shared(name: str, value: str | None, first: str, second: str) -> str:
    both = f"[{first}] and [{second}]"
    same = f"{both} have the same {name}" if value else f"Neither {both.replace(' and ', ' nor ')} sets {name}"
    return f"{same}: the server that starts second stops."


def is_started_by_multi(name: str) -> bool:
    """Whether mysqld_multi starts a server for a group of that name."""
    return _is_numbered(MYSQLD_MULTI, name.lower())


def _is_numbered(pattern: str, name: str) -> bool:
    """Whether the name, which must end with a digit, matches the pattern."""
    if not name[-1].isdecimal():
        return False
    import re

    return re.fullmatch(pattern, name) is not None


def _describe_group(name: str, options: list[Line], catalog: Catalog) -> tuple[str, str, Severity] | None:
    """The message, help and severity for a group; None if the group belongs to another program."""
    if not options:
        return None
    main = "mariadbd" if catalog.target.is_mariadb and "maria" in name else "mysqld"
    recognized = [line for line in options if catalog.get(written_name(line).removeprefix("loose_")) is not None]
    own = any(written_name(line).startswith(SERVER_OPTIONS) for line in recognized)
    starter = None if own else script_meant_by(name)
    if starter is None and is_started_by_multi(name):
        return ("; a server that mysqld_multi starts does.", "", Severity.NOTE)
    beginnings = [(group, group + sign) for group in sorted(groups_read(catalog.target)) for sign in SUFFIX_SIGNS]
    suffixed = next((group for group, start in beginnings if name.startswith(start)), None)
    if suffixed and starter is None:
        return (f"; a server with --defaults-group-suffix={name[len(suffixed) :]} does.", "", Severity.NOTE)
    meant = starter or _similar_group(name, SERVERS) or (main if own and name in OF_VENDORS else None)
    if meant:
        return (", so {} without effect.", f"did you mean [{meant}]?", Severity.WARNING)
    if (
        "mysqld" in name.replace("mysqldump", "")
        or "mariadbd" in name
        or (own and len(recognized) >= FEW and 2 * len(recognized) > len(options))
    ):
        return _describe_service(main, len(options), catalog)
    return None


def _describe_service(main: str, options: int, catalog: Catalog) -> tuple[str, str, Severity]:
    """The message, help and severity for a group that has the name of a service."""
    if catalog.target.platform == "windows":
        return "; the Windows service of that name reads it.", "", Severity.NOTE
    service = ", so {} without effect; only a Windows service of that name reads the group."
    them = "it" if options == 1 else "them"
    return service, f"move {them} to [{main}] if the server should read {them}", Severity.WARNING


def script_meant_by(name: str) -> str | None:
    """The group of a script that starts servers of which the name is a typo, as [mysql_safe]; None for other names."""
    return None if name in PROGRAMS else _similar_group(name, STARTERS)


def _similar_group(name: str, groups: tuple[str, ...]) -> str | None:
    """The group of which the name is a typo; None if there is none.

    A typo is one letter wrong, missing or extra, or two swapped.
    """
    from advisor.catalog.presence import edit_distance

    if len(name) < MINIMUM_LETTERS:
        return None
    return next(
        (group for group in groups if edit_distance(name, group, 3) <= (2 if len(group) > FEW * 2 else 1)), None
    )


def first_of_each_owner(lines: list[LineVerdict], catalog: Catalog) -> list[tuple[LineVerdict, int]]:
    """The lines without the further options of a component or plugin that an earlier one names, and their number."""
    by_owner: dict[str, list[LineVerdict]] = {}
    for number, line in enumerate(lines):
        name = written_name(line.placed.line)
        option = catalog.get(name)
        component = name.partition(".")[0] if is_component_option(name, catalog.target) else ""
        owner = component or (option.plugin if option else None)
        by_owner.setdefault(owner if owner and not line.candidates else str(number), []).append(line)
    return [(owned[0], len(owned) - 1) for owned in by_owner.values()]


def other_socket(clients: list[PlacedLine], server: Line, resolved: ResolvedFiles) -> PlacedLine | None:
    """The last line of [client] that sets a socket, if it is surely another one than the server's."""
    last = {written_name(placed.line): placed for placed in clients}
    host, protocol = (last[name].line.value if name in last else None for name in ("host", "protocol"))
    if host not in {None, "", "localhost"} or (protocol or "socket").lower() != "socket":
        return None  # the socket is not used
    if any(_is_numbered(MYSQLD_MULTI, (p.line.group or " ").lower()) for p in resolved.options):
        return None
    socket = last["socket"]
    paths = [None if line.templated else line.value for line in (socket.line, server)]
    absolute = [os.path.normpath(path).removeprefix("/var/run") for path in paths if path and path.startswith("/")]
    both = [path.removeprefix("/run") for path in absolute]
    return socket if len(both) == 2 and both[0] != both[1] else None  # noqa: PLR2004


def option_count(options: int) -> str:
    """The number of options that are not read, with the verb."""
    return "its option is" if options == 1 else f"its {options:,} options are"


def with_group_read(resolved: ResolvedFiles, path: str, group: str) -> ResolvedFiles:
    """The files as if the options of one group were in [mysqld]."""
    low = group.lower()

    def move_line(line: Line) -> Line:
        return line._replace(group="mysqld") if (line.group or "").lower() == low else line

    options = tuple(p._replace(line=move_line(p.line)) if p.path == path else p for p in resolved.options)
    return resolved._replace(options=options)


def findings_if_read(findings: Iterable[Finding], resolved: ResolvedFiles, path: str, group: str) -> list[Finding]:
    """The findings on the lines of an unread group, reworded as conditional.

    Their confidence is likely, their severity at most warning.
    """
    low = group.lower()
    lines = {p.line.number for p in resolved.options if p.path == path and (p.line.group or "").lower() == low}
    return [
        f._replace(
            message=f"If the server read [{group}]: {f.message}",
            severity=Severity.WARNING if f.severity is Severity.ERROR else f.severity,
            confidence=Confidence.LIKELY if f.confidence is not Confidence.OPINION else f.confidence,
            group=group,
            fix=None,
        )
        for f in findings
        if f.location is not None and f.location.path == path and f.location.line in lines
    ]


def intended_include(line: Line) -> Fix | None:
    """The edit for an option named include or includedir: without the leading ! no program reads it as an include."""
    import re

    word, path = re.match(r"(\S*)(?:\s+(.*))?", line.name or "").groups()  # type: ignore[union-attr]
    path = path or line.value or ""
    if word.lower() not in ("include", "includedir") or not path:
        return None
    end = max(line.end_column, line.name_end_column)
    return Fix(UNSAFE, (Edit(line.number, line.column, line.number, end, f"!{word.lower()} {path}"),))


def intended_assignment(line: Line, catalog: Catalog) -> Fix | None:
    """The edit for `name: value`: only an equals sign ends a name."""
    name, colon, value = (line.name or "").partition(":")
    canonical = name.strip().lower().replace("-", "_")
    if not colon or not value.strip() or line.value is not None or catalog.get(canonical) is None:
        return None
    if redact_value(canonical, value) != value:  # the edit would print a secret
        return None
    edit = Edit(line.number, line.column, line.number, line.name_end_column, f"{name.strip()} = {value.strip()}")
    return Fix(UNSAFE, (edit,))


def windows_path_escapes(line: Line) -> tuple[str, str, Fix | None] | None:
    """What the escapes in a Windows path become, what to write instead, and the edit; None if nothing is lost."""
    import re

    raw = line.raw or ""
    inner = raw[1:-1] if len(raw) > 1 and raw[0] in "'\"" and raw[0] == raw[-1] else raw
    letters = [escape[1] for escape in re.findall(r"\\.", inner) if escape[1] in ESCAPES]
    of_network = re.match(NETWORK_PATH, inner) is not None
    name = written_name(line)
    shown = redact_value(name, line.value or "")
    if not (letters or of_network) or not re.match(WINDOWS_PATH, inner) or name == "prompt" or MASK in shown:
        return None
    read = [r"\\ as one backslash"] if of_network else []
    what = " and ".join([*read, *(f"\\{letter} as {ESCAPES[letter]}" for letter in dict.fromkeys(letters))])
    path = ("/" if of_network else "") + inner.replace("\\\\", "\\").replace("\\", "/")
    quote = raw[0] if inner != raw else ""
    message = f"Option files read {what}, so the value is {quote_value(shown)}."
    return message, f"write {name_control_characters(path)}", replace_value(line, f"{quote}{path}{quote}", UNSAFE)


def stray_quote(line: Line) -> tuple[str, str, Fix | None] | None:
    """What a quote or a backslash at an end of the value does, what to do, and the edit; None if there is none."""
    raw = line.raw or ""
    if raw[:1] in ("'", '"') and raw.count(raw[0]) == 1:
        fix = None if "#" in raw else replace_value(line, raw[1:], UNSAFE)
        return f"Nothing closes the quote, so {raw[0]} is the first character of the value.", CLOSE, fix
    if raw[:1] in TYPOGRAPHIC and raw[-1] in TYPOGRAPHIC:
        fix = None if "#" in raw else replace_value(line, raw.strip(TYPOGRAPHIC), UNSAFE)
        return "The server does not treat typographic quotes as quotes: they are part of the value.", "remove them", fix
    if raw.endswith("\\") and (raw[-2:-1] in CONTINUES or raw.startswith("/")):
        what = "The backslash is the last character of the value: option files have no line continuation."
        return what, "write the whole value on one line", None
    return None
