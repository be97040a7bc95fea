"""SEC: rules about ports, authentication plugins, loadable functions and logs in option files."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity
from rules.core import Docs, Span, rule
from rules.core.advice import advise, help_line, present
from rules.core.network import is_switched_on, listens_to_other_hosts
from rules.core.subject import variable_subject, verdict_subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core.context import RuleContext

NATIVE = "MYSQL_NATIVE_PASSWORD"
NEW_ACCOUNTS = ("default_authentication_plugin", "authentication_policy")
ROOT = 0  # uid of root
SUPERUSER = frozenset({"root", "0"})


@rule(
    "SEC008",
    "native-passwords-kept",
    severity=Severity.NOTE,
    targets=(Span("mysql", since=(8, 0), before=(9, 0)),),
    summary="The file keeps accounts on mysql_native_password, which MySQL 9.0 removed.",
    options=("default_authentication_plugin", "authentication_policy", "mysql_native_password"),
    evidence=("SEC-03",),
    docs=Docs(
        why="mysql_native_password is deprecated since 8.0.34, off by default in 8.4 and removed in 9.0: after such an "
        "upgrade its accounts cannot log in. It stores an unsalted SHA1 of a SHA1, so equal passwords have equal "
        "hashes, and the passwords of a stolen table can be guessed quickly.",
        fix="Move the accounts with ALTER USER … IDENTIFIED WITH caching_sha2_password BY …, then remove the line.",
        risk="Programs with old client libraries can't log in with the new plugin; caching_sha2_password needs TLS, a "
        "socket or an RSA key at the first login after each start of the server, FLUSH PRIVILEGES or change of the "
        "password. A replica that connects without TLS can then fail with error 2061, unless it has SOURCE_SSL = 1 or "
        "GET_SOURCE_PUBLIC_KEY = 1 (MASTER_SSL, GET_MASTER_PUBLIC_KEY).",
        restart=True,
        exceptions="Programs whose library can't be changed yet.",
        reconsider_when="No account with the plugin, and no planned upgrade.",
    ),
)
def native_passwords_kept(context: RuleContext) -> Iterator[Finding]:
    """Report mysql_native_password as the explicit default, or explicitly enabled."""
    names = [n for n in NEW_ACCOUNTS if context.is_set(n) and _default_plugin(context.text(n) or "") == NATIVE]
    names += ["mysql_native_password"] if is_switched_on(context, "mysql_native_password") else []
    if names:
        yield native_passwords_kept.finding(
            "Accounts with mysql_native_password cannot log in after an upgrade to "
            + ("MySQL 9." if context.target.since("mysql", 8, 4) else "MySQL 8.4, where the plugin is off by default."),
            variable_subject(context, names[0]),
            help="move the accounts to caching_sha2_password and remove the line",
        )


def _default_plugin(text: str) -> str:
    """The plugin of new accounts: the first factor of a policy, or what follows its `*:`."""
    return text.partition(",")[0].rpartition(":")[2].strip()


@rule(
    "SEC009",
    "old-passwords",
    targets=(Span("mariadb"),),
    summary="Password hashes from before MySQL 4.1 are created or accepted.",
    options=("old_passwords", "secure_auth"),
    evidence=("SEC-04", "ASK-SEC-15"),
    docs=Docs(
        why="The password hash from before MySQL 4.1 has 64 bits, and MariaDB itself calls it insecure. old_passwords "
        "= ON creates such hashes for new passwords, and secure_auth = OFF accepts accounts that have one.",
        fix="Remove old_passwords, give accounts with a short hash a new password, then remove secure_auth.",
        risk="Accounts that still have a short hash are refused with error 1275, and clients from before MySQL 4.1 "
        "can't log in.",
        exceptions="None.",
        reconsider_when="Nothing.",
    ),
)
def old_passwords(context: RuleContext) -> Iterator[Finding]:
    """Report old password hashes that are created or accepted."""
    for name, bad in (("old_passwords", True), ("secure_auth", False)):
        if context.is_set(name) and context.settings.on(name) is bad:
            action = advise(context, name, "OFF" if bad else "ON", risk="accounts with a short hash can't log in")
            yield old_passwords.finding(
                "New passwords are stored as 64-bit hashes from before MySQL 4.1."
                if bad
                else "Accounts with a 64-bit password hash from before MySQL 4.1 may log in.",
                variable_subject(context, name),
                help=help_line(action),
                actions=present(action),
            )


@rule(
    "SEC010",
    "any-library-function",
    confidence=Confidence.LIKELY,
    summary="Any function of any library in the plugin directory can be registered as a loadable function.",
    options=("allow_suspicious_udfs",),
    evidence=("SEC-05", "SEC-18"),
    docs=Docs(
        why="The server refuses a function whose library has no companion symbol such as name_init. With "
        "allow_suspicious_udfs it accepts every symbol, even those that were never meant to be called from SQL.",
        fix="Remove the line, and add a name_init to libraries that need it.",
        risk="Functions that were created that way are not loaded at the next start, and cannot be created again.",
        restart=True,
        exceptions="Old function libraries that cannot be rebuilt.",
        reconsider_when="No account that can write to the plugin directory or to mysql.func.",
    ),
)
def any_library_function(context: RuleContext) -> Iterator[Finding]:
    """Report allow_suspicious_udfs."""
    if is_switched_on(context, "allow_suspicious_udfs"):
        yield any_library_function.finding(
            "CREATE FUNCTION accepts any symbol of a library, not only those that were written for the server.",
            variable_subject(context, "allow_suspicious_udfs"),
            help="remove the line and restart",
        )


@rule(
    "SEC011",
    "followed-symlinks",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Tables may be symbolic links.",
    options=("symbolic_links",),
    quiet={"symbolic_links": ("FALSE",)},
    evidence=("SEC-06", "SEC-19"),
    docs=Docs(
        why="With symbolic links CREATE TABLE … DATA DIRECTORY puts files of MyISAM and Aria tables wherever the "
        "server can write. MariaDB asks for no FILE privilege for that. If someone replaces a table's file with a "
        "link, the server reads and writes the file behind it, and DROP TABLE deletes that file. MySQL switched "
        "symbolic links off in 8.0 and deprecates them.",
        fix="Remove the line; write skip_symbolic_links where the default is on. Links that are already there are "
        "still followed: look for them in the data directory. Only MySQL 5.7 then leaves the file behind a link when "
        "the table is dropped.",
        risk="New tables ignore DATA DIRECTORY and INDEX DIRECTORY with no more than a warning; on MariaDB those of "
        "InnoDB do too.",
        restart=True,
        exceptions="MyISAM or Aria tables on another disk, through DATA DIRECTORY.",
        reconsider_when="A table that needs it.",
    ),
)
def followed_symlinks(context: RuleContext) -> Iterator[Finding]:
    """Report enabled symbolic links for tables."""
    if is_switched_on(context, "symbolic_links"):
        yield followed_symlinks.finding(
            "Tables may be symbolic links that lead out of the data directory.",
            variable_subject(context, "symbolic_links"),
            help="remove the line" if context.target.since("mysql", 8, 0) else "write skip_symbolic_links in its place",
        )


@rule(
    "SEC012",
    "raw-log",
    targets=(Span("mysql"),),
    summary="The general log records statements unmodified, passwords included.",
    options=("log_raw",),
    evidence=("SEC-07", "ASK-SEC-15"),
    docs=Docs(
        why="The server writes CREATE USER, ALTER USER and SET PASSWORD to the general log without the password. With "
        "log_raw it writes them as sent. The line has no effect until the general log is enabled, and is easily "
        "forgotten by then.",
        fix="Remove the line. From MySQL 8.0.19 on it can also be switched off at run time; earlier versions need a "
        "restart.",
        risk="Statements that the server can't parse are no longer in the log.",
        exceptions="While you search for a client that sends invalid statements.",
        reconsider_when="Nothing.",
    ),
)
def raw_log(context: RuleContext) -> Iterator[Finding]:
    """Report log_raw, which writes passwords to the general log."""
    if is_switched_on(context, "log_raw"):
        action = advise(context, "log_raw", "OFF")
        once = "" if context.settings.on("general_log") else " once it is enabled"
        yield raw_log.finding(
            f"Passwords of CREATE USER and SET PASSWORD are written to the general log in plain text{once}.",
            variable_subject(context, "log_raw"),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "SEC013",
    "shown-replica-passwords",
    confidence=Confidence.LIKELY,
    summary="The list of replicas shows their passwords.",
    options=("show_slave_auth_info", "show_replica_auth_info"),
    evidence=("SEC-08",),
    docs=Docs(
        why="Replicas can report a user and a password to their source (report_user, report_password). With this "
        "option SHOW REPLICAS (before MySQL 8.0.22 and on MariaDB SHOW SLAVE HOSTS) prints them to every account that "
        "may list the replicas.",
        fix="Remove the line.",
        risk="Tools that read the password from there must get it in another way.",
        restart=True,
        exceptions="Replicas that report no password.",
        reconsider_when="No replica with report_password.",
    ),
)
def shown_replica_passwords(context: RuleContext) -> Iterator[Finding]:
    """Report show_replica_auth_info, which shows the passwords of replicas."""
    for name in ("show_slave_auth_info", "show_replica_auth_info"):
        if is_switched_on(context, name):
            statement = "SHOW REPLICAS" if context.target.since("mysql", 8, 0, 22) else "SHOW SLAVE HOSTS"
            yield shown_replica_passwords.finding(
                f"{statement} prints the passwords that replicas report, to every account that may list replicas.",
                variable_subject(context, name),
                help="remove the line and restart",
            )
            return


@rule(
    "SEC014",
    "any-proxy",
    targets=(Span("mariadb"),),
    summary="Every client may claim any address through the proxy protocol.",
    options=("proxy_protocol_networks",),
    evidence=("SEC-09",),
    docs=Docs(
        why="A trusted proxy sends its client's address to the server, which accepts it. With * every client is a "
        "trusted proxy: it can claim an address that an account is bound to, and the host in the account name protects "
        "nothing.",
        fix="Name the addresses of the proxies.",
        risk="Proxies that are not listed can no longer connect: MariaDB refuses their header with error 1130.",
        exceptions="A network in which only the proxies can reach the server.",
        reconsider_when="A firewall that lets only the proxies through.",
    ),
)
def any_proxy(context: RuleContext) -> Iterator[Finding]:
    """Report proxy_protocol_networks that trusts every address."""
    networks = (context.text("proxy_protocol_networks") or "").replace(" ", "").split(",")
    if "*" in networks and context.is_set("proxy_protocol_networks"):
        yield any_proxy.finding(
            "Any client may claim to come from any address, so the host in an account's name no longer limits who can "
            "use the account.",
            variable_subject(context, "proxy_protocol_networks"),
            help="name the proxies' addresses instead of *",
        )


X_ADDRESS = "mysqlx_bind_address"


@rule(
    "SEC015",
    "second-port-open",
    targets=(Span("mysql", since=(8, 0)),),
    summary="The server is bound to its own host, but the port of the X Protocol is open to all.",
    options=("bind_address",),
    evidence=("SEC-10",),
    docs=Docs(
        why="MySQL 8.0 and later listen on a second port, 33060, for the X Protocol, with the same accounts. "
        "bind_address does not apply to it: mysqlx_bind_address does, by default with every address.",
        fix="Set mysqlx_bind_address to the same address, or mysqlx = OFF where no client uses the X Protocol.",
        risk="X Protocol clients on other hosts can no longer connect.",
        restart=True,
        exceptions="Clients that intentionally use the X Protocol from other hosts.",
        reconsider_when="A firewall that closes the port.",
    ),
)
def second_port_open(context: RuleContext) -> Iterator[Finding]:
    """Report a server that is bound to its own host while the X Protocol port is open."""
    bound = context.is_set("bind_address") and context.text("bind_address") is not None
    if (
        not bound
        or listens_to_other_hosts(context)
        or context.settings.on("skip_networking")
        or _disable_x_action(context)
    ):
        return
    if _is_x_open(context):
        port = context.number("mysqlx_port")
        yield second_port_open.finding(
            f"bind_address keeps other hosts from the server's port, but port {port or 33060} of the X Protocol is "
            "open to them.",
            variable_subject(context, X_ADDRESS if context.is_set(X_ADDRESS) else "bind_address"),
            help="set mysqlx_bind_address to the same address, or mysqlx = OFF",
        )


def _is_x_open(context: RuleContext) -> bool:
    # The plugin owns the variable: a running server without it has no such port. In a file the default is every
    # address.
    if context.settings.get("mysqlx_bind_address") is None:
        return not context.has("server")
    return listens_to_other_hosts(context, "mysqlx_bind_address")


def _disable_x_action(context: RuleContext) -> bool:
    line = context.file_verdict.effective.get("mysqlx")
    return line is not None and "OFF" in (line.value, line.running)


@rule(
    "SEC016",
    "server-as-root",
    summary="The server runs as root.",
    options=("user",),
    quiet={"user": ("MYSQL",)},
    evidence=("SEC-11",),
    docs=Docs(
        why="Every account with the FILE privilege can then write files as root wherever secure_file_priv allows it, "
        "and a bug in the server runs with root's privileges. Servers of both vendors refuse to start as root unless "
        "the option allows it. A server that another account starts, as units of packages do, runs under that account "
        "and does not mention the line.",
        fix="Stop the server, give the data directory (chown -R) and the log files to a dedicated account, such as "
        "mysql, write user = mysql, and start it.",
        risk="A file that still belongs to root, such as a log that was created meanwhile, can stop the start.",
        restart=True,
        exceptions="None.",
        reconsider_when="Nothing.",
    ),
)
def server_as_root(context: RuleContext) -> Iterator[Finding]:
    """Report a server process that runs as root, or a file that sets user = root."""
    line = context.file_verdict.effective.get("user")
    process = context.host.process if context.has("host") else None
    uid = process.uid if process is not None else None
    if uid == ROOT:
        yield server_as_root.finding(
            "The server's process runs as root, and accounts with the FILE privilege may write files as root.",
            verdict_subject(line) if line is not None else None,
            help="stop the server, give its data directory and log files to mysql, write user = mysql and start it",
        )
    elif uid is not None and line is not None and line.placed.line.value in SUPERUSER:
        yield server_as_root.finding(
            f"The server runs with user ID {uid} now; if root starts it, it will run as root.",
            verdict_subject(line),
            help="write user = mysql",
        )
    elif line is not None and line.placed.line.value in SUPERUSER:
        yield server_as_root.finding(
            "If root starts the server, it runs as root, and accounts with the FILE privilege may write files as root.",
            verdict_subject(line),
            help="with the server stopped, give its data directory and log files to mysql, and write user = mysql",
        )
