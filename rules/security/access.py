"""SEC: rules about access control, file access from SQL, and secrets in option files and logs."""

from __future__ import annotations

from advisor.core.model import Confidence, Location, Severity
from advisor.optionfile.lines import LineKind
from advisor.redaction import is_secret
from rules.core.advice import advise, help_line, present
from rules.core.rule import Docs, rule
from rules.core.subject import Subject, line_subject, variable_subject, verdict_subject, written_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from advisor.optionfile.lines import Line
    from rules.core.context import RuleContext

READ_BY_OTHERS = 0o004
OLD_TLS = frozenset({"TLSV1", "TLSV1.0", "TLSV1.1"})
WITHOUT_YASSL = (5, 7, 28)  # before, the maker's builds have yaSSL, without TLS 1.2 (SSL-09)


@rule(
    "SEC001",
    "no-access-control",
    severity=Severity.ERROR,
    summary="Access control is off: anyone can do anything, without a password.",
    options=("skip_grant_tables",),
    evidence=("ASK-16", "ASK-SEC-12"),
    docs=Docs(
        why="skip_grant_tables is meant for a minute of resetting a lost password. With it accounts are not looked at. "
        "MySQL 8.0 and later then switch TCP off; MySQL 5.7 and MariaDB still listen on their port.",
        fix="Remove the line and restart.",
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
        yield no_access_control.finding(
            f"Accounts are not looked at: anyone who reaches the server{_reachability_text(context)} may read and "
            "change everything.",
            verdict_subject(line) if line is not None else variable_subject(context, "skip_grant_tables"),
            help="remove the line and restart",
        )


def _reachability_text(context: RuleContext) -> str:
    """The addition to the message if skip_grant_tables stops the server from accepting TCP connections.

    Otherwise empty.
    """
    from rules.core.network import is_socket_only

    return "'s socket (this version takes no TCP connection so)" if is_socket_only(context) else ""


@rule(
    "SEC002",
    "plaintext-secret",
    severity=Severity.NOTE,
    summary="The option file holds a password or key in plain text.",
    evidence=("SEC-02",),
    docs=Docs(
        why="Option files are copied, backed up and committed, and each copy holds the secret. Programs "
        "that read the file need nothing more to get in.",
        fix="Keep the secret in a file of its own that only its owner reads and that no repository holds, "
        "or use socket authentication or a login path.",
        risk="Programs that read the password from here must be given another way.",
        exceptions="A file of one user with mode 600 outside any repository.",
        reconsider_when="An account that may do next to nothing.",
    ),
)
def plaintext_secret(context: RuleContext) -> Iterator[Finding]:
    """Report option lines with a secret in plain text, in any group."""
    for file in context.file_verdict.resolved.files:
        for line in file.lines:
            secret = line.kind is LineKind.OPTION and line.value and is_secret(written_name(line))
            if secret and not line.templated and not _names_place(line):
                yield plaintext_secret.finding(
                    f"The group [{line.group}] holds a secret in plain text, which each copy of this file exposes."
                    if line.group
                    else "This line holds a secret in plain text, which each copy of this file exposes.",
                    line_subject(file.path, line),
                    help="keep it in a file of its own with mode 600, outside the repository",
                )


def _names_place(line: Line) -> bool:
    """Whether the value names where MariaDB 12.0 and later read the passphrase: a file or an environment variable."""
    return written_name(line) == "ssl_passphrase" and (line.value or "").startswith(("file:", "env:"))


@rule(
    "SEC003",
    "world-readable-secret",
    severity=Severity.ERROR,
    summary="An option file that holds a password is world-readable.",
    needs=("files",),
    evidence=("SEC-02",),
    docs=Docs(
        why="Every account of the host, that of a web application included, can read the password and log in with it.",
        fix="chmod 600 for the file (640 where the server's group must read it), and change the password.",
        risk="Programs under other accounts that read the file lose access to it.",
        exceptions="None.",
        reconsider_when="Nothing.",
    ),
)
def world_readable_secret(context: RuleContext) -> Iterator[Finding]:
    """Report files with a secret that are world-readable."""
    for copy in context.files.files:
        if copy.holds_secret and copy.mode & READ_BY_OTHERS:
            yield world_readable_secret.finding(
                f"The file holds a secret and has mode {copy.mode & 0o777:o}: everybody on the host can read it.",
                Subject(None, None, None, None, Location(copy.path, copy.secret_lines[0])),
                help=f"chmod 600 {copy.path}, and change the secret",
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
        why="LOAD DATA LOCAL has the server ask its client for a file. An injected statement then reads files of the "
        "client's host. A compromised server can ask whatever its setting is: only the client's own setting protects "
        "against that. MySQL 8.0 switched it off by default; on MySQL 5.7 and MariaDB it is on, which an audit notes "
        "where accounts of other hosts exist.",
        fix="Switch it off. It is global: a program that loads files needs SET GLOBAL local_infile = ON for that time, "
        "which allows it to all sessions.",
        risk="Programs that use LOAD DATA LOCAL fail.",
        exceptions="Servers that are loaded that way, from hosts that hold nothing else.",
        reconsider_when="A program that needs it.",
    ),
)
def local_infile(context: RuleContext) -> Iterator[Finding]:
    """Report local_infile if it is set explicitly, or is the default of a server with accounts from other hosts."""
    if context.settings.on("local_infile") and (context.is_set("local_infile") or _has_remote_accounts(context)):
        action = advise(context, "local_infile", "OFF", risk="programs that use LOAD DATA LOCAL fail")
        yield local_infile.finding(
            "Statements may make clients read files of their own hosts and send them here.",
            variable_subject(context, "local_infile"),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "SEC005",
    "files-anywhere",
    confidence=Confidence.LIKELY,
    summary="Accounts with the FILE privilege may read and write files anywhere on the host.",
    options=("secure_file_priv",),
    evidence=("SEC-01", "SRV-01"),
    docs=Docs(
        why="An empty secure_file_priv lets LOAD DATA, LOAD_FILE and SELECT INTO OUTFILE reach every file "
        "that the server's account may reach, option files and web roots included. It is MariaDB's default. An audit "
        "names the accounts that have FILE: it is a warning where one without SUPER may come from another host, and a "
        "note where others have it, or where the value is set explicitly and only administrators at the host have it. "
        "Privileges granted through a role are not checked.",
        fix="Name a directory for such files, or NULL on MySQL to forbid them.",
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
    if context.text("secure_file_priv") != "":
        return
    chosen = context.is_set("secure_file_priv")
    weight, who = _file_privilege_accounts(context)
    if chosen or who:
        yield files_anywhere.finding(
            f"{who or 'Accounts with the FILE privilege'} may read and write files wherever the server's account may.",
            variable_subject(context, "secure_file_priv"),
            severity=weight,
            help="name a directory that holds nothing else, or revoke FILE from accounts that need no files",
        )


def _file_privilege_accounts(context: RuleContext) -> tuple[Severity | None, str]:
    """The severity that accounts with the FILE privilege justify, and these accounts as text.

    Local administrators are left out. The severity is warning if an account without SUPER can connect from another
    host, otherwise note; None if the accounts are unknown.
    """
    from rules.core.network import is_local_only
    from rules.security.accounts import HERE, account_list

    accounts = context.server.accounts if context.has("server") else None
    if accounts is None or any(kind.files is None for kind in accounts):
        return None, ""
    others = [kind for kind in accounts if kind.files and not (kind.supreme and kind.reach == HERE)]
    afar = any(kind.reach != HERE and not kind.supreme for kind in others) and not is_local_only(context)
    who = f"{account_list(others)} with the FILE privilege" if others else ""
    return (Severity.WARNING if afar else Severity.NOTE), who


def _has_remote_accounts(context: RuleContext) -> bool:
    from rules.core.network import is_local_only
    from rules.security.accounts import HERE

    accounts = context.server.accounts or () if context.has("server") else ()
    return any(kind.reach != HERE for kind in accounts) and not is_local_only(context)


@rule(
    "SEC006",
    "old-tls",
    confidence=Confidence.LIKELY,
    summary="The server accepts TLS 1.0 or 1.1, which are broken.",
    options=("tls_version",),
    evidence=("SSL-02", "SSL-09"),
    docs=Docs(
        why="TLS 1.0 and 1.1 are withdrawn standards with known attacks. MySQL removed them in 8.0.28, "
        "where the server refuses or ignores them. MySQL 5.7 before 5.7.28 is mostly built with yaSSL, which knows TLS "
        "1.1 at most: with TLSv1.2 alone 5.7.22 ran without TLS.",
        fix="Allow TLSv1.2 and TLSv1.3 only, as far as this version knows them. From MySQL 8.0.16 on SET GLOBAL and "
        "ALTER INSTANCE RELOAD TLS do it while the server runs; others need a restart.",
        risk="Clients of the last decade's first half can't connect by TLS.",
        exceptions="None.",
        reconsider_when="Nothing.",
    ),
)
def old_tls(context: RuleContext) -> Iterator[Finding]:
    """Report explicitly allowed TLS versions 1.0 and 1.1."""
    old = [v for v in (context.text("tls_version") or "").replace(" ", "").split(",") if v in OLD_TLS]
    if old and context.is_set("tls_version"):
        yield old_tls.finding(
            f"{' and '.join(old).replace('TLSV', 'TLSv')} can be attacked, and clients may be made to use it.",
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
        why="The general log holds each statement in full, with the personal data and the keys in it, grows without "
        "limit, and costs a write for every statement.",
        fix="Switch it off when the search is over; the slow log and statement digests answer most questions.",
        risk="None.",
        exceptions="While something is searched for. With NONE in log_output the rule is silent.",
        reconsider_when="An auditor who asks for exactly this log.",
    ),
)
def general_log(context: RuleContext) -> Iterator[Finding]:
    """Report general_log = ON."""
    nowhere = "NONE" in (context.text("log_output") or "").split(",")  # NONE overrides FILE and TABLE
    if context.is_set("general_log") and context.settings.on("general_log") and not nowhere:
        action = advise(context, "general_log", "OFF")
        yield general_log.finding(
            "Every statement is written out in full; the log grows without bound and holds what the statements hold.",
            variable_subject(context, "general_log"),
            help=help_line(action),
            actions=present(action),
        )
