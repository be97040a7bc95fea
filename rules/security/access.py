"""SEC: rules about access control, file access from SQL, and secrets in option files and logs."""

from __future__ import annotations

from advisor.core.model import Confidence, Location, Severity
from advisor.optionfile import groups_read
from advisor.optionfile.lines import LineKind
from advisor.redaction import is_secret, names_place
from rules.core import Docs, rule
from rules.core.advice import advise, help_line, present
from rules.core.subject import Subject, line_subject, variable_subject, verdict_subject, written_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from advisor.facts import FileCopy
    from advisor.optionfile.lines import Line
    from rules.core.context import RuleContext

READ_BY_OTHERS = 0o004
READERS = "every account on the host can read it"
OLD_TLS = frozenset({"TLSV1", "TLSV1.0", "TLSV1.1"})
WITHOUT_OLD_TLS = (8, 0, 28)  # by its manual (SSL-02)
WITHOUT_YASSL = (5, 7, 28)  # before, the maker's builds have yaSSL, without TLS 1.2 (SSL-09)


@rule(
    "SEC001",
    "no-access-control",
    severity=Severity.ERROR,
    summary="Access control is off: anyone can do anything, without a password.",
    options=("skip_grant_tables",),
    evidence=("ASK-16", "ASK-SEC-12"),
    docs=Docs(
        why="skip_grant_tables is meant only for resetting a lost password. With it the server checks no accounts or "
        "privileges. MySQL 8.0 and later then disable TCP; MySQL 5.7 and MariaDB still listen on their port. MariaDB "
        "shows the variable, which is OFF again after FLUSH PRIVILEGES.",
        fix="Remove the line and restart. Until then FLUSH PRIVILEGES makes the running server check accounts and "
        "passwords again.",
        risk="Clients that relied on it need accounts.",
        restart=True,
        exceptions="While a password is being reset, with skip_networking.",
        reconsider_when="Nothing.",
    ),
)
def no_access_control(context: RuleContext) -> Iterator[Finding]:
    """Report skip_grant_tables."""
    line = context.file_verdict.effective.get("skip_grant_tables")
    if (line is not None and line.value == "TRUE") or context.settings.on("skip_grant_tables"):
        checks = _checks_accounts(context)
        yield no_access_control.finding(
            f"{'After the next start no' if checks else 'No'} account is checked: anyone who can reach the server"
            f"{_reachability_text(context)} can read and change everything.",
            verdict_subject(line) if line is not None else variable_subject(context, "skip_grant_tables"),
            help="remove the line" if checks else "remove the line and restart",
        )


def _checks_accounts(context: RuleContext) -> bool:
    """Whether a running server is known to check accounts: since its start, or since FLUSH PRIVILEGES.

    MariaDB shows it; MySQL 8.0 and later that accept TCP connections were started without the line.
    """
    if not context.has("server"):
        return False
    checked = context.settings.on("skip_grant_tables") is False
    return checked or (context.target.since("mysql", 8, 0) and context.settings.on("skip_networking") is False)


def _reachability_text(context: RuleContext) -> str:
    """The addition to the message if skip_grant_tables stops the server from accepting TCP connections.

    Otherwise empty.
    """
    from rules.core.network import is_socket_only

    return (
        "'s socket (without access control this version accepts no TCP connections)" if is_socket_only(context) else ""
    )


@rule(
    "SEC002",
    "plaintext-secret",
    severity=Severity.NOTE,
    summary="The option file holds a password or key in plain text.",
    evidence=("SEC-02",),
    docs=Docs(
        why="Option files are copied, backed up and committed, and each copy contains the secret. Any program that can "
        "read the file can log in.",
        fix="Keep the secret in a separate file that only its owner can read and that is in no repository, or use "
        "socket authentication. A login path of MySQL hides the password, but does not encrypt it.",
        risk="Programs that read the password from here must get it in another way.",
        exceptions="A file of one user with mode 600 outside any repository.",
        reconsider_when="An account with almost no privileges.",
    ),
)
def plaintext_secret(context: RuleContext) -> Iterator[Finding]:
    """Report option lines with a secret in plain text, in any group."""
    for file in context.file_verdict.resolved.files:
        for line in file.lines:
            secret = line.kind is LineKind.OPTION and line.value and is_secret(written_name(line))
            if secret and not line.templated and not names_place(written_name(line), line.value or ""):
                yield plaintext_secret.finding(
                    f"The group [{line.group}] holds a secret in plain text, which each copy of this file exposes."
                    if line.group
                    else "This line holds a secret in plain text, which each copy of this file exposes.",
                    line_subject(file.path, line),
                    help=f"keep it in a separate file with mode {_own_mode(context, line)}, outside the repository",
                )


@rule(
    "SEC003",
    "world-readable-secret",
    severity=Severity.ERROR,
    summary="An option file that holds a password is world-readable.",
    needs=("files",),
    evidence=("SEC-02",),
    docs=Docs(
        why="Every account on the host that can enter the directory, including that of a web application, can read "
        "the password and log in with it.",
        fix="chmod 600 for the file, or 640 with the server's group where it has lines for the server, and change the "
        "password. A server that may not read a file in one of the usual places starts without its lines.",
        risk="Programs under other accounts that read the file lose access to it.",
        exceptions="A file below a directory that other accounts cannot enter, as /root often is, is a note: a copy of "
        "it elsewhere has the same mode.",
        reconsider_when="Nothing.",
    ),
)
def world_readable_secret(context: RuleContext) -> Iterator[Finding]:
    """Report files with a secret that are world-readable."""
    for copy in context.files.files:
        if copy.holds_secret and copy.mode & READ_BY_OTHERS:
            readers = "only a directory above it keeps other accounts out" if copy.closed else READERS
            yield world_readable_secret.finding(
                f"The file contains a secret and has mode {copy.mode & 0o777:o}: {readers}.",
                Subject(None, None, None, None, Location(copy.path, copy.secret_lines[0])),
                severity=Severity.NOTE if copy.closed else None,
                help=f"{_narrower_mode(context, copy)}, and change the secret",
            )


def _own_mode(context: RuleContext, line: Line) -> str:
    """The mode of a file for the line: a server that may not read its file starts without the lines in it."""
    of_server = (line.group or "").lower() in _groups_of_server(context)
    return "640" if of_server else "600"


def _groups_of_server(context: RuleContext) -> frozenset[str]:
    """The groups that the server reads, and the one of the scripts for state transfers that it runs."""
    return groups_read(context.target) | {"sst"}


def _narrower_mode(context: RuleContext, copy: FileCopy) -> str:
    """The command that hides a file from other accounts, and leaves it to a server that needs it."""
    from shlex import quote  # lazily: lint sees no modes

    path, process = quote(copy.path), context.host.process if context.has("host") else None
    if (process is not None and process.uid == 0) or not _has_server_lines(context, copy.path):
        return f"chmod 600 {path}"
    return f"chgrp mysql {path}, chmod 640"


def _has_server_lines(context: RuleContext, path: str) -> bool:
    """Whether a server takes options or includes from the file."""
    own, includes = _groups_of_server(context), (LineKind.INCLUDE, LineKind.INCLUDEDIR)
    lines = [file.lines for file in context.file_verdict.resolved.files if file.path == path]
    return not lines or any(  # a server ignores a file that all may write to, as long as they may
        line.kind in includes or (line.kind is LineKind.OPTION and (line.group or "").lower() in own)
        for line in lines[0]
    )


@rule(
    "SEC004",
    "local-infile",
    severity=Severity.NOTE,
    summary="LOCAL INFILE is enabled: a statement can make clients send files from their own host.",
    options=("local_infile",),
    evidence=("SEC-01", "SRV-01"),
    confidence=Confidence.LIKELY,
    docs=Docs(
        why="With LOAD DATA LOCAL the server asks the client for a file, so an injected statement can read files on "
        "the client's host. A compromised server can ask regardless of this setting: only the client's own setting "
        "protects against that. MySQL 8.0 switched it off by default; on MySQL 5.7 and MariaDB it is on, which an "
        "audit notes where accounts of other hosts exist.",
        fix="Switch it off. The variable is global: a program that loads files needs SET GLOBAL local_infile = ON for "
        "that time (SUPER or SYSTEM_VARIABLES_ADMIN), which allows it for all sessions.",
        risk="Programs that use LOAD DATA LOCAL fail, such as mysqlimport --local and the dump loader of MySQL Shell.",
        exceptions="Servers that are loaded this way, from hosts with no other data.",
        reconsider_when="A program that needs it.",
    ),
)
def local_infile(context: RuleContext) -> Iterator[Finding]:
    """Report local_infile if it is set explicitly, or is the default of a server with accounts from other hosts."""
    if context.settings.on("local_infile") and (context.is_set("local_infile") or _has_remote_accounts(context)):
        action = advise(context, "local_infile", "OFF", risk="programs that use LOAD DATA LOCAL fail")
        yield local_infile.finding(
            "A statement can make clients read files on their own hosts and send them here.",
            variable_subject(context, "local_infile"),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "SEC005",
    "files-anywhere",
    confidence=Confidence.LIKELY,
    summary="Accounts with the FILE privilege may read and write files anywhere on the host, or in the data directory.",
    options=("secure_file_priv",),
    evidence=("SEC-01", "SRV-01", "ASK-SEC-14"),
    docs=Docs(
        why="An empty secure_file_priv lets LOAD DATA read every file that the server's system account can read, such "
        "as option files, and SELECT INTO OUTFILE create new files wherever that account can, such as in web roots. "
        "In our tests LOAD_FILE read only files that every account on the host may read, except on MySQL 9.7. An "
        "empty value is MariaDB's default. An audit names the accounts that have FILE. The finding is a warning if "
        "one without SUPER may connect from another host, and a note if others have it, or if the value is set "
        "explicitly and only administrators on the host have it. Privileges granted through a role are not checked. "
        "With the data directory, or a directory above it, these accounts read InnoDB's files, or write files beside "
        "those of tables; MySQL warns of that at its start.",
        fix="Set a directory for such files, which must exist before the start, or NULL on MySQL to forbid them.",
        risk="Programs that read or write elsewhere fail.",
        restart=True,
        exceptions="Servers where no account has the FILE privilege.",
        reconsider_when="No account with the FILE privilege.",
    ),
)
def files_anywhere(context: RuleContext) -> Iterator[Finding]:
    """Report an empty secure_file_priv that is set explicitly or that accounts can use.

    An empty default is reported if other accounts than the local administrator's have the FILE privilege.
    """
    if _holds_data(context):
        yield files_anywhere.finding(
            "Accounts with the FILE privilege may write files into the data directory, and read those that it holds.",
            variable_subject(context, "secure_file_priv"),
            severity=Severity.NOTE,
            help="set a directory outside the data directory that contains nothing else",
        )
    if context.text("secure_file_priv") != "":
        return
    chosen = context.is_set("secure_file_priv")
    weight, who = _file_privilege_accounts(context)
    if chosen or who:
        yield files_anywhere.finding(
            f"{who or 'Accounts with the FILE privilege'} may read and write files wherever the server's system "
            "account may.",
            variable_subject(context, "secure_file_priv"),
            severity=weight,
            help="set an existing directory with nothing else in it, or revoke FILE from accounts that need no files",
        )


def _holds_data(context: RuleContext) -> bool:
    """Whether secure_file_priv is the data directory or one above it, both set explicitly."""
    place, data = ((context.text(name) or "").rstrip("/") + "/" for name in ("secure_file_priv", "datadir"))
    explicit = context.is_set("secure_file_priv") and context.is_set("datadir")
    return explicit and place.startswith("/") and place != "/" and data.startswith(place)


def _file_privilege_accounts(context: RuleContext) -> tuple[Severity | None, str]:
    """The severity that accounts with the FILE privilege justify, and these accounts as text.

    Local administrators are left out. The severity is warning if an account without SUPER can connect from another
    host, otherwise note; None if the accounts are unknown.
    """
    accounts = context.server.accounts if context.has("server") else None
    if accounts is None or any(kind.files is None for kind in accounts):
        return None, ""
    from rules.core.network import is_local_only
    from rules.security.accounts import HERE, account_list  # lazily: lint knows no accounts

    others = [kind for kind in accounts if kind.files and not (kind.supreme and kind.reach == HERE)]
    afar = any(kind.reach != HERE and not kind.supreme for kind in others) and not is_local_only(context)
    who = f"{account_list(others)} with the FILE privilege" if others else ""
    return (Severity.WARNING if afar else Severity.NOTE), who


def _has_remote_accounts(context: RuleContext) -> bool:
    accounts = context.server.accounts or () if context.has("server") else ()
    if not accounts:
        return False
    from rules.core.network import is_local_only
    from rules.security.accounts import HERE

    return any(kind.reach != HERE for kind in accounts) and not is_local_only(context)


@rule(
    "SEC006",
    "old-tls",
    confidence=Confidence.LIKELY,
    summary="The server accepts TLS 1.0 or 1.1, which are broken.",
    options=("tls_version",),
    evidence=("SSL-02", "SSL-09"),
    docs=Docs(
        why="TLS 1.0 and 1.1 are withdrawn standards with known attacks. MySQL removed them in 8.0.28, where the "
        "server refuses or ignores them. MySQL 5.7 before 5.7.28 is usually built with yaSSL, which supports TLS 1.1 "
        "at most: with TLSv1.2 alone 5.7.22 ran without TLS. Where the library's security level forbids old versions, "
        "as in OpenSSL 3, the server refuses them although the line allows them: MariaDB 11.8 did, 8.0.15 with its "
        "own library did not.",
        fix="Allow only TLSv1.2 and TLSv1.3, as far as this version supports them. From MySQL 8.0.16 on, SET GLOBAL "
        "and ALTER INSTANCE RELOAD TLS apply this at run time; other versions need a restart.",
        risk="Clients without TLS 1.2 cannot connect with TLS: those of MySQL before 5.7.28 that have yaSSL, and "
        "others from before about 2015.",
        exceptions="None.",
        reconsider_when="Nothing.",
    ),
)
def old_tls(context: RuleContext) -> Iterator[Finding]:
    """Report explicitly allowed TLS versions 1.0 and 1.1, on versions that still have them."""
    if context.target.since("mysql", *WITHOUT_OLD_TLS):
        return
    old = [v for v in (context.text("tls_version") or "").replace(" ", "").split(",") if v in OLD_TLS]
    if old and context.is_set("tls_version"):
        yield old_tls.finding(
            f"tls_version allows {' and '.join(old).replace('TLSV', 'TLSv')}, which can be attacked, to clients that "
            "support nothing newer.",
            variable_subject(context, "tls_version"),
            help="update first: with TLSv1.2 alone a build with yaSSL runs without TLS"
            if context.target.is_mysql and context.target.version < WITHOUT_YASSL
            else "allow TLSv1.2 and TLSv1.3 only",
        )


@rule(
    "SEC007",
    "general-log",
    confidence=Confidence.LIKELY,
    summary="The general log records the text of every statement.",
    options=("general_log",),
    evidence=("ASK-17",),
    docs=Docs(
        why="The general log contains each statement in full, including personal data and keys, grows without limit, "
        "and costs a write for every statement.",
        fix="Switch it off after the investigation; the slow log and statement digests answer most questions.",
        risk="None.",
        exceptions="While you investigate a problem. With NONE in log_output there is no finding.",
        reconsider_when="An auditor who requires this log.",
    ),
)
def general_log(context: RuleContext) -> Iterator[Finding]:
    """Report general_log = ON."""
    nowhere = "NONE" in (context.text("log_output") or "").split(",")  # NONE overrides FILE and TABLE
    if context.is_set("general_log") and context.settings.on("general_log") and not nowhere:
        action = advise(context, "general_log", "OFF")
        yield general_log.finding(
            "Every statement is logged in full; the log grows without limit and contains all data in the statements.",
            variable_subject(context, "general_log"),
            help=help_line(action),
            actions=present(action),
        )
