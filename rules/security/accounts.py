"""SEC: rules about the accounts of a running server, and about the option files that the server can write to."""

from __future__ import annotations

from advisor.core.model import Confidence, Location, Severity
from rules.core import Docs, Span, rule
from rules.core.context import MissingFact
from rules.core.network import is_local_only
from rules.core.subject import Subject
from rules.security.tls import offers_tls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from advisor.core.model import Finding
    from advisor.facts import FileCopy
    from advisor.facts.server import Accounts
    from rules.core.context import RuleContext

HERE, ANYWHERE = "here", "anywhere"
NATIVE = "mysql_native_password"
OWNER_WRITES, WRITTEN_BY_OTHERS = 0o200, 0o022
READ_BY_OTHERS = 0o004


def accounts_of_kind(context: RuleContext, wanted: Callable[[Accounts], bool]) -> list[Accounts]:
    """The accounts that match; raises MissingFact if the accounts could not be read."""
    if context.server.accounts is None:
        table = "global_priv" if context.target.is_mariadb else "user"
        raise MissingFact(context.refusal("server.accounts") or f"needs SELECT on mysql.{table} (mycnf grants)")
    return [kind for kind in context.server.accounts if wanted(kind)]


def account_list(kinds: list[Accounts]) -> str:
    """The number of accounts and the known names: `3 accounts (a@%, b@% and 1 more)`."""
    count = sum(kind.count for kind in kinds)
    names = [name for kind in kinds for name in kind.names.split(", ") if name]
    more = f" and {count - len(names)} more" if count > len(names) else ""
    listed = f" ({', '.join(names)}{more})" if names else ""
    return f"{count} account{'s' if count > 1 else ''}{listed}"


def have_verb(kinds: list[Accounts]) -> str:
    """The verb form, has or have, for that many accounts."""
    return "have" if sum(kind.count for kind in kinds) > 1 else "has"


def any_host(kinds: list[Accounts]) -> str:
    """The hosts of accounts with a wildcard: all, or those that match where it is no more than a part of a host."""
    names = [name for kind in kinds for name in kind.names.split(", ")]
    complete = len(names) == sum(kind.count for kind in kinds)
    unlimited = complete and all(name.rpartition("@")[2] in {"%", ""} for name in names)
    return "any host" if unlimited else "any host that matches a wildcard"


def is_administrator(kind: Accounts) -> bool:
    """Whether the accounts have SUPER or a privilege that replaces it."""
    return kind.supreme or kind.admin is True


@rule(
    "SEC022",
    "anonymous-account",
    needs=("server",),
    evidence=("SEC-14",),
    summary="There are anonymous accounts, which allow logins under any name.",
    docs=Docs(
        why="An account with an empty user matches every name that no other account of that host matches better. "
        "Because the server sorts accounts by host first, it also takes precedence over named accounts with a wider "
        "host: logins fail, or get other privileges than intended. The finding is a note where such accounts, or the "
        "server itself (skip_networking, bind_address), are bound to the server's own host: MariaDB's installation may "
        "leave some there. It is also a note where such accounts need a password, or are checked by a plugin such as "
        "PAM's.",
        fix="DROP USER ''@'host' for each of them.",
        risk="Programs that log in without a name fail.",
        exceptions="An account by which PAM or LDAP maps its users to other accounts (GRANT PROXY).",
        reconsider_when="Nothing.",
    ),
)
def anonymous_account(context: RuleContext) -> Iterator[Finding]:
    """Report anonymous accounts, those with a password or a plugin of their own apart, as a note."""
    kinds = accounts_of_kind(context, lambda kind: kind.anonymous)
    bare = [kind for kind in kinds if kind.passwordless]
    if bare:
        local = is_local_only(context) or all(kind.reach == HERE for kind in bare)
        yield anonymous_account.finding(
            f"{account_list(bare)} {have_verb(bare)} no name, so a client can log in under any name.",
            help="drop them: DROP USER ''@'host'",
            severity=Severity.NOTE if local else None,
        )
    if guarded := [kind for kind in kinds if not kind.passwordless]:
        plugins = " or ".join(sorted({kind.plugin for kind in guarded}))
        yield anonymous_account.finding(
            f"{account_list(guarded)} {have_verb(guarded)} no name: a client that {plugins} accepts can use any name.",
            help="drop them, unless PAM or LDAP maps its users to accounts by them (GRANT PROXY)",
            severity=Severity.NOTE,
        )


@rule(
    "SEC023",
    "passwordless-account",
    needs=("server",),
    evidence=("SEC-14",),
    summary="There are accounts that need no password.",
    docs=Docs(
        why="Anyone who can reach the server and knows or guesses the name can log in. Accounts of system users "
        "(unix_socket, auth_socket), locked ones and roles are not counted. The finding is an error if such an account "
        "has SUPER and may connect from another host, and a note if all of them are bound to the server's own host, or "
        "the server listens only there (skip_networking, bind_address): then every system user can log in.",
        fix="ALTER USER 'name'@'host' IDENTIFIED BY 'password'; or, for the system user of that name, IDENTIFIED VIA "
        "unix_socket (MariaDB) or IDENTIFIED WITH auth_socket (MySQL, once its plugin is installed: INSTALL PLUGIN "
        "auth_socket SONAME 'auth_socket.so', which is not replicated: a replica without it stops with error 1524).",
        risk="Programs that log in without a password fail until they have it.",
        exceptions="Development and test servers that no other host reaches.",
        reconsider_when="Nothing.",
    ),
)
def passwordless_account(context: RuleContext) -> Iterator[Finding]:
    """Report accounts without a password, other than anonymous ones, which have their own rule."""
    kinds = accounts_of_kind(context, lambda kind: kind.passwordless and not kind.anonymous)
    if kinds:
        wide = [kind for kind in kinds if kind.reach != HERE]
        afar = [] if is_local_only(context) else wide
        worst = Severity.ERROR if any(kind.supreme for kind in afar) else None
        yield passwordless_account.finding(
            f"{account_list(kinds)} {have_verb(kinds)} no password{_host_text(kinds, wide, afar)}",
            help=f"{_PASSWORDS if have_verb(kinds) == 'have' else _PASSWORD} to a system user",
            severity=worst if afar else Severity.NOTE,
        )


_PASSWORD, _PASSWORDS = "give it a password, or bind it", "give them passwords, or bind them"


def _host_text(kinds: list[Accounts], wide: list[Accounts], afar: list[Accounts]) -> str:
    if afar:
        return f"{', and' if afar == kinds else f'; {account_list(afar)}'} may connect from other hosts."
    return ". The server accepts connections only from its own host." if wide else "."


@rule(
    "SEC024",
    "superuser-from-anywhere",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    needs=("server",),
    evidence=("SEC-14", "SEC-17"),
    summary="Accounts with SUPER, or with a privilege that replaces it, may connect from any host.",
    docs=Docs(
        why="A leaked password then gives full control of the server from any host. Administration from known hosts "
        "needs no wildcard. On MySQL 8.0 and later SYSTEM_VARIABLES_ADMIN, SET_USER_ID (SET_ANY_DEFINER) and "
        "ROLE_ADMIN count as well, on MariaDB SET USER: with each of them an account can change settings, run code as "
        "another account, or give itself roles. Privileges granted through a role are not checked.",
        fix="CREATE USER for the hosts of administrators, grant the same privileges, and drop the wide account when "
        "nothing uses it any longer.",
        risk="Views, events, triggers and routines whose definer is the old account fail with error 1449 when it is "
        "dropped: look in information_schema for DEFINER first. MySQL 8.0.22 and later refuse to drop it then, except "
        "for accounts with SET_USER_ID (later SET_ANY_DEFINER or ALLOW_NONEXISTENT_DEFINER). Don't rename the account, "
        "which leaves them without a definer.",
        exceptions="Containers, where the image creates root@% and the network restricts access. There is no finding "
        "if the server accepts no connections from other hosts (skip_networking, bind_address).",
        reconsider_when="A firewall that lets only administrators' hosts through.",
        disagree="CIS asks for no wildcard in any account's host; official container images create root@% by default.",
    ),
)
def superuser_from_anywhere(context: RuleContext) -> Iterator[Finding]:
    """Report accounts with SUPER, or with a privilege that replaces it, that may connect from any host."""
    kinds = accounts_of_kind(context, lambda kind: is_administrator(kind) and kind.reach == ANYWHERE)
    if kinds and not is_local_only(context):
        what = "SUPER" if all(kind.supreme for kind in kinds) else "SUPER or a privilege that replaces it,"
        yield superuser_from_anywhere.finding(
            f"{account_list(kinds)} {have_verb(kinds)} {what} and may connect from {any_host(kinds)}.",
            help="create accounts for the hosts of administrators",
        )


@rule(
    "SEC025",
    "locked-out-account",
    needs=("server",),
    evidence=("SEC-03", "SEC-15"),
    summary="Accounts use an authentication plugin that the server does not have, so they cannot log in.",
    docs=Docs(
        why="The server refuses an account whose plugin is not loaded. This affects accounts with "
        "mysql_native_password in MySQL 8.4, where the plugin is off, and in 9.0, where it was removed, and accounts "
        "whose plugin was lost in an upgrade or by a missing plugin_load_add.",
        fix="Load the plugin again, or move the accounts: ALTER USER … IDENTIFIED WITH … BY ….",
        risk="The accounts can log in again: check first whether they should.",
        exceptions="Accounts that are disabled on purpose; use ACCOUNT LOCK instead.",
        reconsider_when="Proof that no client uses them.",
    ),
)
def locked_out_account(context: RuleContext) -> Iterator[Finding]:
    """Report accounts whose authentication plugin is not active."""
    active = {plugin.name.lower() for plugin in context.server.plugins if plugin.status == "ACTIVE"}
    # On MariaDB an account may have several plugins, any of which lets it in.
    kinds = accounts_of_kind(context, lambda kind: active.isdisjoint(kind.plugin.lower().split(" or ")))
    if kinds and active:
        names = sorted({kind.plugin for kind in kinds if kind.plugin})
        missing = [f"the plugin {' and '.join(names)} is not active"] if len(names) == 1 else []
        missing += [f"the plugins {' and '.join(names)} are not active"] if len(names) > 1 else []
        missing += ["no plugin is named for them"] if any(not kind.plugin for kind in kinds) else []
        yield locked_out_account.finding(
            f"{account_list(kinds)} cannot log in: {', or '.join(missing)}.",
            help=_plugin_help(context, names),
        )


def _plugin_help(context: RuleContext, names: list[str]) -> str:
    """How accounts can log in again; no server from MySQL 9.0 on has mysql_native_password, and 8.4 has it off."""
    move = "move the accounts to another: ALTER USER … IDENTIFIED WITH …"
    if names == [NATIVE] and context.target.since("mysql", 8, 4):
        first = "" if context.target.since("mysql", 9) else "write mysql_native_password = ON, or "
        return first + move.replace("another", "caching_sha2_password")
    return f"load the plugin, or {move}" if names else "name a plugin: ALTER USER … IDENTIFIED WITH …"


@rule(
    "SEC026",
    "native-password-account",
    severity=Severity.NOTE,
    needs=("server",),
    targets=(Span("mysql", since=(8, 0), before=(9, 0)),),
    evidence=("SEC-03",),
    summary="Accounts use mysql_native_password, which is off in MySQL 8.4 and was removed in 9.0.",
    docs=Docs(
        why="After the upgrade these accounts cannot log in: in 8.4 unless mysql_native_password = ON, in 9.0 not at "
        "all. Until then the plugin stores an unsalted SHA1 of a SHA1.",
        fix="ALTER USER … IDENTIFIED WITH caching_sha2_password BY …, one program after the other.",
        risk="Programs with old client libraries cannot log in with the new plugin; caching_sha2_password needs TLS, "
        "a socket or an RSA key at the first login after each start of the server, FLUSH PRIVILEGES or change of the "
        "password. A replica that connects without TLS can then fail with error 2061, unless it has SOURCE_SSL = 1 or "
        "GET_SOURCE_PUBLIC_KEY = 1 (MASTER_SSL, GET_MASTER_PUBLIC_KEY).",
        exceptions="Programs whose library can't be changed yet.",
        reconsider_when="No planned upgrade.",
    ),
)
def native_password_account(context: RuleContext) -> Iterator[Finding]:
    """Report accounts that use mysql_native_password."""
    active = {plugin.name.lower() for plugin in context.server.plugins if plugin.status == "ACTIVE"}
    kinds = accounts_of_kind(context, lambda kind: kind.plugin == NATIVE)
    if kinds and NATIVE in active:
        gone = "was removed in 9.0"
        yield native_password_account.finding(
            f"{account_list(kinds)} cannot log in after an upgrade of MySQL: {NATIVE} "
            f"{gone if context.target.since('mysql', 8, 4) else f'is off in 8.4, and {gone}'}.",
            help="move them to caching_sha2_password before the upgrade",
        )


@rule(
    "SEC028",
    "grant-option-from-anywhere",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    needs=("server",),
    evidence=("SEC-17",),
    summary="Accounts with GRANT OPTION on *.* may connect from any host.",
    docs=Docs(
        why="Such an account can grant all its privileges to any other account, and so keep access after its own "
        "password was changed. Few programs need GRANT OPTION. superuser-from-anywhere reports accounts with SUPER, "
        "or with a privilege that replaces it. Roles and privileges on single databases are not looked at.",
        fix="REVOKE GRANT OPTION ON *.* FROM 'name'@'host'.",
        risk="Programs that grant privileges to other accounts fail; CREATE USER alone needs no GRANT OPTION.",
        exceptions="Programs that manage accounts, such as operators of containers and control panels.",
        reconsider_when="A firewall that lets only administrators' hosts through.",
    ),
)
def grant_option_from_anywhere(context: RuleContext) -> Iterator[Finding]:
    """Report other accounts than administrators' that have GRANT OPTION and may connect from any host."""
    kinds = accounts_of_kind(
        context, lambda kind: kind.grants is True and not is_administrator(kind) and kind.reach == ANYWHERE
    )
    if kinds and not is_local_only(context):
        yield grant_option_from_anywhere.finding(
            f"{account_list(kinds)} {have_verb(kinds)} GRANT OPTION on *.* and may connect from {any_host(kinds)}.",
            help="run REVOKE GRANT OPTION ON *.* for the accounts of programs",
        )


@rule(
    "SEC029",
    "file-privilege-from-anywhere",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    needs=("server",),
    evidence=("SEC-17", "SEC-01", "SEC-19"),
    summary="Accounts with the FILE privilege may connect from any host.",
    docs=Docs(
        why="With FILE an account reads and writes files in the directory that secure_file_priv names, as the "
        "server's system account. files-anywhere reports an empty value, which names none. With NULL, the default of "
        "some builds, the server refuses these statements, and there is no finding. On MySQL FILE also allows DATA "
        "DIRECTORY in CREATE TABLE, with any secure_file_priv. Privileges granted through a role are not checked.",
        fix="REVOKE FILE ON *.* FROM 'name'@'host'. LOAD DATA LOCAL needs no FILE.",
        risk="Programs that use LOAD DATA INFILE, LOAD_FILE or SELECT INTO OUTFILE fail.",
        exceptions="Programs that exchange files with the server.",
        reconsider_when="A firewall that lets the hosts of these programs through alone.",
    ),
)
def file_privilege_from_anywhere(context: RuleContext) -> Iterator[Finding]:
    """Report other accounts than administrators' that have FILE and may connect from any host."""
    kinds = accounts_of_kind(
        context, lambda kind: kind.files is True and not is_administrator(kind) and kind.reach == ANYWHERE
    )
    if kinds and not is_local_only(context) and context.text("secure_file_priv") not in (None, "", "NULL"):
        yield file_privilege_from_anywhere.finding(
            f"{account_list(kinds)} {have_verb(kinds)} FILE and may connect from {any_host(kinds)}.",
            help="run REVOKE FILE ON *.* for accounts that exchange no files with the server",
        )


@rule(
    "SEC030",
    "remote-account-without-tls",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    needs=("server",),
    evidence=("SEC-17", "SSL-03"),
    summary="Accounts may connect from other hosts without TLS, although the server offers it.",
    docs=Docs(
        why="Unless the account has a REQUIRE clause (SSL, X509 or stricter), or the server has "
        "require_secure_transport = ON, the client decides whether the connection is encrypted. Without TLS, "
        "statements and rows cross the network in clear text, and an attacker on the path can prevent TLS. mycnf does "
        "not check for weak passwords: it reads no hashes and guesses no passwords.",
        fix="Find out which clients connect without TLS, then ALTER USER 'name'@'host' REQUIRE SSL, one program after "
        "the other, or set require_secure_transport = ON for all accounts. Replicas need SOURCE_SSL = 1 (MASTER_SSL = "
        "1) first.",
        risk="Clients and replicas that cannot use TLS can no longer log in. REQUIRE SSL is for the socket too: a "
        "client that uses the account there without TLS gets error 1045. require_secure_transport allows the socket.",
        exceptions="Networks that are encrypted at a lower layer, or that no other host shares.",
        reconsider_when="No connection without TLS: no row in performance_schema.threads with CONNECTION_TYPE TCP/IP, "
        "with performance_schema = ON (on MariaDB it is OFF by default, and the table empty).",
    ),
)
def remote_account_without_tls(context: RuleContext) -> Iterator[Finding]:
    """Report accounts that may connect from other hosts without TLS, if the server offers TLS."""
    kinds = accounts_of_kind(context, lambda kind: kind.plain is True and kind.reach != HERE)
    required = context.text("require_secure_transport") == "ON"
    if kinds and not required and not is_local_only(context) and offers_tls(context):
        yield remote_account_without_tls.finding(
            f"{account_list(kinds)} may connect from other hosts without TLS.",
            help="find out which clients connect without TLS, then set REQUIRE SSL for one account after the other",
        )


@rule(
    "SEC031",
    "account-of-unresolved-host",
    severity=Severity.NOTE,
    needs=("server",),
    evidence=("CONA-24",),
    summary="Accounts are bound to host names, which the server does not resolve, so they cannot log in.",
    docs=Docs(
        why="With skip_name_resolve the server knows a client by its address alone, and compares it with the host of "
        "each account. An account of web1.example.com then matches no client, and MySQL's error log calls it ignored. "
        "An account of localhost matches connections through the socket, but not through TCP at 127.0.0.1. Accounts "
        "of the server's own host name are not reported: installations leave such accounts of root.",
        fix="Create the accounts for the clients' addresses, such as 'name'@'192.0.2.%', with the same privileges, or "
        "drop them if nothing uses them. Or start the server without skip_name_resolve.",
        risk="Without skip_name_resolve each new client waits for the name server.",
        exceptions="Accounts that are left over. Of each kind of accounts three names at most are read: there may be "
        "more than the finding names.",
        reconsider_when="Nothing.",
    ),
)
def account_of_unresolved_host(context: RuleContext) -> Iterator[Finding]:
    """Report accounts of host names on a server that resolves none."""
    if context.settings.on("skip_name_resolve") is not True:
        return
    own = (context.text("hostname") or "").lower()
    kinds = accounts_of_kind(context, lambda kind: bool(kind.names))
    named = [name for kind in kinds for name in kind.names.split(", ") if _is_of_host_name(name, own)]
    if named:
        yield account_of_unresolved_host.finding(
            f"{' and '.join(sorted(named))} cannot log in: with skip_name_resolve no client has a host name.",
            help="create them for the clients' addresses, or drop them if nothing uses them",
        )


def _is_of_host_name(account: str, own: str) -> bool:
    """Whether an account's host is a name, or a pattern of names, other than localhost and the server's own."""
    host = account.rpartition("@")[2].lower()
    return host not in {"localhost", own} and ":" not in host and any(letter.isalpha() for letter in host)


@rule(
    "SEC027",
    "server-writes-its-options",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    needs=("files", "host"),
    evidence=("SEC-16", "ASK-SEC-13"),
    summary="The server may write to its own option files.",
    docs=Docs(
        why="An attacker who gets the server to write this file, through a bug or as a log file, sets its options at "
        "the next start: a plugin to load, a program to run. CVE-2016-6662 worked that way. MySQL now refuses log "
        "files whose names end in .cnf or .ini. MariaDB refuses only those that end in my.cnf or my.ini: an account "
        "with SUPER could have it write the general log to server.cnf.",
        fix="chown root for the option files, and mode 644, or 640 with the server's group: a server that may not read "
        "a file in one of the usual places starts without its lines.",
        risk="Programs that edit the file under the server's account can no longer do so; SET PERSIST does not need "
        "it.",
        exceptions="A server that a user runs for personal use.",
        reconsider_when="Nothing.",
    ),
)
def server_writes_its_options(context: RuleContext) -> Iterator[Finding]:
    """Report option files that are owned by, and writable for, the server's system account."""
    uid = context.host.process.uid if context.host.process else None
    if not uid:  # root may write everywhere; another rule reports that
        return
    for copy in context.files.files:
        if copy.uid == uid and copy.mode & OWNER_WRITES:
            yield server_writes_its_options.finding(
                f"The file belongs to the account that the server runs under (mode {copy.mode & 0o777:o}).",
                Subject(None, None, None, None, Location(copy.path, 1)),
                help=_owner_command(copy),
            )


def _owner_command(copy: FileCopy) -> str:
    """The command that gives the file to root and leaves it readable for the server."""
    from shlex import quote  # lazily: lint sees no owners

    path = quote(copy.path)
    if not copy.mode & READ_BY_OTHERS:
        return f"chown root:mysql {path} (the server's group), and chmod 640"
    return f"chown root {path}" + (", and chmod go-w" if copy.mode & WRITTEN_BY_OTHERS else "")
