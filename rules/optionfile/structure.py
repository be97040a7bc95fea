"""OPT: rules about the structure of option files: syntax, groups, includes and permissions."""

from __future__ import annotations

from advisor.core.model import Confidence, Location, Severity
from advisor.optionfile import groups_read
from advisor.optionfile.lines import LineKind
from advisor.redaction import quote_value
from rules.core import Docs, rule
from rules.core.subject import (
    UNSAFE,
    Subject,
    line_location,
    line_subject,
    written_name,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding, Fix
    from advisor.optionfile.lines import Line, Problem
    from rules.core.context import RuleContext
    from rules.optionfile.groups import LikelyServerGroup

ASKED = ("ASK-01",)
# Groups that client programs read and servers do not; [mariadb] and [client-server] are read by MariaDB's server.
CLIENT_GROUPS = frozenset(
    (
        *("client", "client-mariadb", "mysql", "mysqladmin", "mysqlcheck", "mysqldump", "mysqlimport", "mysqlshow"),
        *("mariadb-client", "mariadb-admin", "mariadb-check", "mariadb-dump", "mariadb-import", "mariadb-show"),
        *("mysqlhotcopy", "mysqlpump", "mysqlslap", "mysql_upgrade", "mariadb-slap", "mariadb-upgrade"),
    )
)
# Prefixes of option names that no client program has.
SERVER_PREFIXES = (
    "innodb_",
    "performance_schema",
    "aria_",
    "myisam_",
    "query_cache_",
    "thread_cache_",
    "table_open_cache",
)
WORLD_WRITABLE = "world-writable"
WRITTEN_BY_OTHERS = 0o002
CUT_SHORT = "cut-short"
HEADER = "put a group header such as [mysqld] above it"
# Programs that start servers ignore unknown options; myisamchk and myisampack stop at them.
STARTERS = frozenset(
    (
        *("mysqld_safe", "safe_mysqld", "mysql.server", "mysql_server"),
        *("mariadb_safe", "mariadbd-safe", "mariadbd_safe"),
    )
)
OTHER_FLAVOUR = frozenset({"mariadb", "mariadbd", "galera", "client-server"})
CHECKERS = frozenset({"myisamchk", "myisampack"})
# Server options that these programs accept, by their sources: basedir and others are passed to the server.
STARTER_OPTIONS = frozenset(
    (
        *("basedir", "datadir", "log_error", "open_files_limit", "pid_file", "plugin_dir", "port", "socket", "user"),
        *("timezone", "wsrep_urls", "wsrep_on", "wsrep_start_position"),
    )
)
# Further option names that no client program has.
SERVER_OPTIONS = frozenset(
    (
        *("max_connections", "log_bin", "server_id", "skip_name_resolve", "slow_query_log", "slow_query_log_file"),
        *("long_query_time", "general_log", "skip_grant_tables", "skip_networking", "tmp_table_size", "wait_timeout"),
        *("max_heap_table_size", "expire_logs_days", "sync_binlog", "binlog_format", "table_definition_cache"),
    )
)
# Prefixes of problem names that mean only that something is missing on this machine.
HOST_DEPENDENT = ("missing-", "relative-")
UNREADABLE = "unreadable-"
HELP_OF_ABSENT = "correct the path, or map it with --root DIR where the server is another machine"
HELP_OF_INCLUDES = {
    "include-cycle": "remove one of the include lines of the cycle",
    "include-too-deep": "include the file from a file that is fewer levels deep",
}


def _is_included(context: RuleContext, path: str, line: int) -> bool:
    """Whether servers stop reading the file at that line and continue, as they do in an included file."""
    return any(p.name == CUT_SHORT and (p.path, p.line) == (path, line) for p in context.file_verdict.resolved.problems)


def _severity(context: RuleContext, path: str, line: int) -> Severity:
    return Severity.WARNING if _is_included(context, path, line) else Severity.ERROR


def _consequence(context: RuleContext, path: str, line: int) -> str:
    if _is_included(context, path, line):
        return "Servers stop reading this file here, and continue with the file that includes it."
    return "Every program that reads the file stops here, so the server will not start."


@rule(
    "OPT010",
    "syntax-error",
    severity=Severity.ERROR,
    summary="Syntax error: no program that reads the option file starts, or it ignores the rest of the line.",
    evidence=(*ASKED, "ASK-OPT-04"),
    fix=UNSAFE,
    docs=Docs(
        why="The server and its tools share one reader. A group header without its closing bracket, or an include "
        "line without a path, stops all of them. In an included file they stop reading at such a header, and continue "
        "with the file that includes it. Text after the closing bracket is ignored without a warning: in `[mysqld] "
        "max_connections = 500` the option has no effect.",
        fix="Correct the line, or comment it out with #. Write an option on a line of its own below the header.",
        risk="None.",
        restart=True,
        exceptions="None.",
        reconsider_when="A my_print_defaults of this version that reads the file to its end.",
    ),
)
def syntax_error(context: RuleContext) -> Iterator[Finding]:
    """Report lines that are neither option, group, include, comment nor blank, and text after a group header."""
    for file in context.file_verdict.resolved.files:
        for line in file.lines:
            if line.kind is LineKind.REJECTED:
                from rules.core import fixes

                yield syntax_error.finding(
                    f"{line.value} {_consequence(context, file.path, line.number)}",
                    _file_subject(line_subject(file.path, line).location),
                    severity=_severity(context, file.path, line.number),
                    help="correct the line, or put # before it",
                    fix=fixes.close_header(line),
                )
            elif line.kind is LineKind.GROUP and not line.templated and (rest := _text_after_header(line)):
                yield syntax_error.finding(
                    f"Servers and clients ignore the text after [{line.name}]: an option there has no effect.",
                    _file_subject(line_location(file.path, line)),
                    severity=Severity.WARNING if _may_be_option(rest, context) else Severity.NOTE,
                    help="write each option on a line of its own, or put # before a comment",
                )


def _text_after_header(line: Line) -> str:
    """The text after the closing bracket of a group header; empty for a comment, and for documents without headers."""
    header, rest = line.text[: line.end_column - 1], line.text[line.end_column - 1 :].partition("\0")[0].strip()
    return rest if header.endswith("]") and not rest.startswith(("#", ";")) else ""


def _may_be_option(text: str, context: RuleContext) -> bool:
    """Whether a text is a setting, or begins with the name of an option."""
    first = text.partition("=")[0].split()[:1]
    return "=" in text or any(word.lower().replace("-", "_") in context.catalog.options for word in first)


@rule(
    "OPT011",
    "option-outside-group",
    severity=Severity.ERROR,
    summary="An option comes before the first group, so no program that reads the file starts.",
    evidence=ASKED,
    fix=UNSAFE,
    docs=Docs(
        why="Every option belongs to the group header above it. An option before any header is an error for the "
        "parser that the server and its tools share; an included file they stop reading there, and continue with the "
        "file that includes it.",
        fix="Put a group header such as [mysqld] above the line.",
        risk="Lines that were never read take effect.",
        restart=True,
        exceptions="None.",
        reconsider_when="A my_print_defaults of this version that reads the file to its end.",
    ),
)
def option_outside_group(context: RuleContext) -> Iterator[Finding]:
    """Report option lines above the first group header of a file."""
    for file in context.file_verdict.resolved.files:
        before = _before_groups(file.lines)
        outside = [line for line in before if line.kind is LineKind.OPTION]
        broken = any(line.kind is LineKind.REJECTED for line in before)  # maybe a mistyped group header
        fix = _header_fix(outside, context) if outside and not broken else None
        reported = False
        for line in outside:
            from rules.optionfile import groups

            include = groups.intended_include(line)
            if reported and include is None:
                continue  # programs stop at the first, and one header is missing
            more = 0 if include else len(outside) - outside.index(line) - 1
            reported = reported or include is None
            yield option_outside_group.finding(
                f"{_outside_text(more)} before any group. {_consequence(context, file.path, line.number)}",
                line_subject(file.path, line),
                severity=_severity(context, file.path, line.number),
                help=f"did you mean {include.edits[0].text}?" if include else HEADER,
                fix=include or fix,
            )


def _outside_text(more: int) -> str:
    return f"This option and {more:,} below it come" if more else "This option comes"


def _before_groups(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    first = next((at for at, line in enumerate(lines) if line.kind is LineKind.GROUP), len(lines))
    return lines[:first]


def _header_fix(outside: list[Line], context: RuleContext) -> Fix | None:
    from rules.core import fixes

    return fixes.add_header(outside, context)


@rule(
    "OPT013",
    "server-option-in-client-group",
    summary="A server option is in a group that only other programs read.",
    evidence=("ASK-02",),
    fix=UNSAFE,
    docs=Docs(
        why="The server doesn't read the groups of other programs, so the setting has no effect on it. A client "
        "program, like myisamchk, stops at an option that it does not know; mysqld_safe and mysql.server ignore it.",
        fix="Move the line to [mysqld] (MariaDB: [mariadbd]), or remove it.",
        risk="The setting takes effect on the server for the first time.",
        restart=True,
        exceptions="None.",
        reconsider_when="A client program that accepts the option.",
    ),
)
def server_option_in_client_group(context: RuleContext) -> Iterator[Finding]:
    """Report options that only servers have in [client], [mysql], [mysqldump] and similar groups."""
    for file in context.file_verdict.resolved.files:
        for line in file.lines:
            group = (line.group or "").lower() if line.kind is LineKind.OPTION else ""
            if group and (group in CLIENT_GROUPS or group in STARTERS or group in CHECKERS):
                name = written_name(line)
                readers = _readers(group, name)
                if readers and name in context.catalog.options:
                    from rules.core import fixes

                    yield server_option_in_client_group.finding(
                        f"[{line.group}] is read by {readers} {name}; the server never sees it.",
                        line_subject(file.path, line, name),
                        help="move the line to [mysqld]",
                        fix=fixes.move_to_server_group(file, line, context),
                    )


def _readers(group: str, name: str) -> str:
    """The programs that read the group and how they treat the option; empty if they know it."""
    if group in STARTERS:
        return "" if name in STARTER_OPTIONS else f"{group}, which ignores"
    of_server = name.startswith(SERVER_PREFIXES) or name in SERVER_OPTIONS
    if not of_server or (group in CHECKERS and name.startswith("myisam_")):
        return ""
    return f"{group}, which stops at" if group in CHECKERS else "client programs, which stop at"


@rule(
    "OPT020",
    "unread-group",
    summary="A group seems to be meant for the server, but the server does not read it.",
    evidence=("ASK-02",),
    docs=Docs(
        why="A server reads the groups of its own name and version, and ignores others silently: a mistyped [mysld], "
        "or [wampmysqld] of a Windows service, leaves the server on its defaults. mycnf checks the options of such a "
        "group as if the server read them, with the confidence likely.",
        fix="Correct the group's name, or move the lines to [mysqld] (MariaDB: [mariadbd]).",
        risk="All settings of the group take effect at once, at the next start.",
        restart=True,
        exceptions="Groups of servers that mysqld_multi starts ([mysqld1]) are notes, because those servers read them, "
        "and are not reported in files with a [mysqld_multi] group. Groups of other series ([mariadb-10.1]) are notes "
        "too, if the file has none with options for this one. A Windows service of the group's name reads it too, and "
        "so can a server with --defaults-group-suffix.",
        reconsider_when="A server that prints the options of the group with --print-defaults.",
    ),
)
def unread_group(context: RuleContext) -> Iterator[Finding]:
    """Report groups with server options that no server reads."""
    for path, meant in unread_groups(context):
        if not meant.of_multi:
            place = line_location(path, meant.line)
            yield unread_group.finding(
                meant.message,
                Subject(None, None, None, meant.name, place),
                severity=meant.severity,
                help=meant.help,
            )


def unread_groups(context: RuleContext) -> Iterator[tuple[str, LikelyServerGroup]]:
    """The groups that look meant for a server that does not read them, each with its file's path."""
    read, files = groups_read(context.target), context.file_verdict.resolved.files
    of_files = [{(line.name or "").lower() for line in file.lines if line.kind is LineKind.GROUP} for file in files]
    multi = any("mysqld_multi" in names for names in of_files)
    for file, names in zip(files, of_files, strict=True):
        if not names <= read | CLIENT_GROUPS | STARTERS | OTHER_FLAVOUR:
            from rules.optionfile.groups import likely_server_groups

            for meant in likely_server_groups(file, context.catalog):
                yield file.path, meant._replace(of_multi=multi and meant.numbered)


@rule(
    "OPT023",
    "instances-share-place",
    severity=Severity.WARNING,
    confidence=Confidence.LIKELY,
    summary="Two servers of mysqld_multi have the same data directory, port or socket.",
    evidence=("ASK-OPT-02",),
    docs=Docs(
        why="mysqld_multi starts a server for each group [mysqldN], with the options of [mysqld] too. If two have the "
        "same data directory, port or socket, or neither sets one, the server that starts second stops.",
        fix="Give each group its own datadir, port and socket.",
        risk="A server with a different data directory has different tables: move the right one.",
        restart=True,
        exceptions="Groups that never run at the same time. Servers with skip_networking share no port.",
        reconsider_when="Two servers that run with these lines.",
    ),
)
def instances_share_place(context: RuleContext) -> Iterator[Finding]:
    """Report groups of mysqld_multi with the same data directory, port or socket."""
    for file in context.file_verdict.resolved.files:
        if not any(line.kind is LineKind.GROUP and (line.name or "")[-1:].isdecimal() for line in file.lines):
            continue
        from rules.optionfile.groups import shared_places

        for line, message in shared_places(file):
            place = line_location(file.path, line)
            yield instances_share_place.finding(
                message,
                Subject(None, None, None, line.group or line.name, place),
                help="give each group its own datadir, port and socket",
            )


@rule(
    "OPT025",
    "client-socket-elsewhere",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Clients that read the file use a different socket than the server.",
    evidence=("ASK-OPT-03",),
    docs=Docs(
        why="Client programs read socket from [client], the server reads it from its own groups. If the two differ, a "
        "client on the server's host finds no socket (error 2002), or the socket of another server.",
        fix="Write the same path in both groups.",
        risk="Clients on this host then connect to this server.",
        exceptions="A file for one of several servers on a host, with clients for another server. A symbolic link "
        "between the two paths, such as from /var/run to /run, which counts as the same path.",
        reconsider_when="A mysql client that connects to the server with this file.",
    ),
)
def client_socket_elsewhere(context: RuleContext) -> Iterator[Finding]:
    """Report a socket in [client] that is not the one in the server's groups."""
    server = context.file_verdict.effective.get("socket")
    if server is None or context.target.platform == "windows":
        return
    clients = [p for p in context.file_verdict.resolved.options if (p.line.group or "").lower() == "client"]
    if not any(written_name(p.line) == "socket" for p in clients):
        return
    from rules.optionfile.groups import other_socket

    other = other_socket(clients, server.placed.line, context.file_verdict.resolved)
    if other is not None:
        yield client_socket_elsewhere.finding(
            f"Clients look for the socket {quote_value(other.line.value or '')}, but the server listens on "
            f"{quote_value(server.placed.line.value or '')}.",
            line_subject(other.path, other.line),
            help="write the same path in both groups",
        )


@rule(
    "OPT014",
    "ignored-option-file",
    summary="The server ignores the whole file because it is world-writable.",
    evidence=("ASK-03",),
    docs=Docs(
        why="Servers ignore an option file that is world-writable. The warning goes to the standard error output, "
        "which under systemd is the journal. The server runs with what its other files set, and otherwise with its "
        "defaults.",
        fix="Remove the write permission with chmod o-w, after a review of the file.",
        risk="At the next start all its settings take effect, and any user may have written them.",
        restart=True,
        exceptions="A checkout on a file system without modes, where the file's mode says nothing about the server's "
        "copy.",
        reconsider_when="A server that reads such a file.",
    ),
)
def ignored_option_file(context: RuleContext) -> Iterator[Finding]:
    """Report world-writable files, found by lint or on a running server's host."""
    reported = {p.path for p in context.file_verdict.resolved.problems if p.name == WORLD_WRITABLE}
    writable_paths = (
        {copy.path for copy in context.files.files if copy.mode & WRITTEN_BY_OTHERS} if context.has("files") else set()
    )
    for path in sorted(reported | writable_paths):
        from shlex import quote  # lazily: few files are world-writable

        yield ignored_option_file.finding(
            f"{path} is world-writable, so the server ignores it.",
            _file_subject(Location(path, 1)),
            help=f"check its contents, then run chmod o-w {quote(path)}",
        )


@rule(
    "OPT015",
    "include-problem",
    severity=Severity.NOTE,
    summary="An include line is invalid, recursive, too deep, or names a missing or unreadable file.",
    evidence=ASKED,
    docs=Docs(
        why="Lines in a file that is not read have no effect. Servers silently ignore a missing file, but refuse to "
        "start if a directory is missing.",
        fix="Correct the path, or remove the include line.",
        risk="Settings of the file take effect at the next start.",
        restart=True,
        exceptions="On a machine other than the server's a missing include is normal: --root DIR maps its paths.",
        reconsider_when="A my_print_defaults on the server's own host that prints the file's options.",
    ),
)
def include_problem(context: RuleContext) -> Iterator[Finding]:
    """Report includes that servers ignore or reject."""
    for problem in context.file_verdict.resolved.problems:
        if problem.name in (WORLD_WRITABLE, CUT_SHORT):
            continue
        absent = problem.name.startswith(HOST_DEPENDENT)
        # Nothing checked a file that is there and was not read; of a running server, its values were.
        unread = problem.name.startswith(UNREADABLE) and context.has("server")
        is_name = not problem.message.partition(" ")[0].isalpha()  # of a file: conf.d
        first = problem.message[:1] if is_name else problem.message[:1].upper()
        yield include_problem.finding(
            f"{first}{problem.message[1:]}".rstrip(".") + ".",
            _problem_location(problem),
            severity=Severity.ERROR if problem.fatal else Severity.NOTE if absent or unread else Severity.WARNING,
            help=HELP_OF_ABSENT if absent else HELP_OF_INCLUDES.get(problem.name, ""),
        )


def _problem_location(problem: Problem) -> Subject:
    return _file_subject(Location(problem.path, problem.line or 1))


def _file_subject(location: Location | None) -> Subject:
    return Subject(None, None, None, None, location)
