"""CON: rules about settings that turn accounts away although their passwords are right: init_connect and expiry."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity
from advisor.verdict import REFUSED, judge_value
from rules.core import Docs, rule
from rules.core.subject import variable_subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core.context import RuleContext

STATEMENTS = "init_connect"
LIFETIME = "default_password_lifetime"
DISCONNECTS = "disconnect_on_expired_password"  # ON by default on MySQL, OFF on MariaDB
MODE = "sql_mode"
QUOTES = "'\"`"
WIDE_SCOPES = frozenset({"global", "persist", "persist_only"})
SCOPES = WIDE_SCOPES | {"session", "local"}
MASKED = "*"  # of literals that a snapshot leaves out
# Session variables that a flavour lacks, from which version on or before which it does, as servers said when asked
# (CONA-22). That the catalog lacks a name proves nothing: many variables are not options.
GONE_FROM_MYSQL = {
    "innodb_support_xa": (8, 0, 11),
    "max_statement_time": (5, 7, 8),
    "max_tmp_tables": (8, 0, 11),
    "multi_range_count": (8, 0, 11),
    "new": (8, 4),
    "old_passwords": (8, 0, 11),
    "query_cache_type": (8, 0, 11),
    "query_cache_wlock_invalidate": (8, 0, 11),
    "show_old_temporals": (8, 4),
    "storage_engine": (5, 7, 5),
    "tx_isolation": (8, 0, 11),
    "tx_read_only": (8, 0, 11),
}
UNKNOWN_TO_MARIADB = frozenset(
    {
        *("information_schema_stats_expiry", "innodb_support_xa", "internal_tmp_mem_storage_engine"),
        *("max_execution_time", "multi_range_count", "show_create_table_verbosity", "sql_require_primary_key"),
    }
)
NEW_IN_MARIADB = {"transaction_isolation": (11, 1, 1), "transaction_read_only": (11, 1, 1)}
PRESENT_NAMES = {
    "mysql": {
        "storage_engine": "default_storage_engine",
        "tx_isolation": "transaction_isolation",
        "tx_read_only": "transaction_read_only",
    },
    "mariadb": {"transaction_isolation": "tx_isolation", "transaction_read_only": "tx_read_only"},
}


@rule(
    "CON033",
    "failing-init-connect",
    summary="init_connect fails on this server, which then closes the session of each ordinary account.",
    options=(STATEMENTS,),
    evidence=("CONA-22", "CONA-27"),
    docs=Docs(
        why="The server starts whatever init_connect contains, and runs it at each login of an account without "
        "CONNECTION_ADMIN or SUPER. On MariaDB the privilege is CONNECTION ADMIN, which SUPER includes on 10.11 and "
        "not on 11.8. If a statement fails, it closes the session: clients get error 1184 or lose the connection at "
        "their first statement. Reported are assignments to variables that this version does not have, such as "
        "query_cache_type and tx_isolation in MySQL 8.0, SQL modes that it does not have, such as "
        "NO_AUTO_CREATE_USER, and SET GLOBAL, for which ordinary accounts lack the privilege.",
        fix="Remove the assignment, or write the variable's present name. Until then an administrator can still log in "
        "and run SET GLOBAL init_connect = ''.",
        risk="Sessions lose what the assignment was meant to set, as they do since it fails.",
        exceptions="Servers on which all accounts have these privileges, for which it is not run. Statements other "
        "than SET, values other than SQL modes and values built by expressions are not checked.",
        reconsider_when="An account without such privileges that logs in and runs a statement.",
    ),
)
def failing_init_connect(context: RuleContext) -> Iterator[Finding]:
    """Report the first assignment in init_connect that fails for ordinary accounts."""
    for scope, name, value in _assignments(context.text(STATEMENTS) or ""):  # empty unless explicitly configured
        refusal = _refusal(context, scope, name, value)
        if refusal is not None:
            why, remedy = refusal
            yield failing_init_connect.finding(
                f"Ordinary accounts cannot log in: {why}. It closes each session in which init_connect fails.",
                variable_subject(context, STATEMENTS),
                confidence=None if context.catalog.exact else Confidence.LIKELY,
                help=remedy,
            )
            return


def _refusal(context: RuleContext, scope: str, name: str, value: str) -> tuple[str, str] | None:
    """Why the server refuses an assignment of an ordinary account, and the remedy; None if it accepts it."""
    if _is_missing(context, name):
        new = PRESENT_NAMES[context.target.flavour].get(name)
        remedy = f"write {new} in place of {name}" if new else f"remove the assignment to {name}"
        return f"the server has no variable {name}", f"{remedy} in init_connect"
    if scope in WIDE_SCOPES:
        return (
            f"the server refuses them SET {scope.upper()}",
            f"remove the assignment to {name} from init_connect, and set {name} in the option file",
        )
    if name == MODE and (lost := _unknown_modes(context, value)):
        names = " and ".join(lost)
        return f"the server has no SQL mode {names}", f"remove {names} from the sql_mode in init_connect"
    return None


def _is_missing(context: RuleContext, name: str) -> bool:
    """Whether the target is known to lack the variable."""
    target = context.target
    if target.is_mariadb:
        came = NEW_IN_MARIADB.get(name)
        return name in UNKNOWN_TO_MARIADB or (came is not None and not target.since("mariadb", *came))
    gone = GONE_FROM_MYSQL.get(name)
    return gone is not None and target.since("mysql", *gone)


def _unknown_modes(context: RuleContext, value: str) -> list[str]:
    """The modes of a literal that the target refuses; none if the value is an expression or masked."""
    if not value or value[0] not in QUOTES or value.find(value[0], 1) != len(value) - 1 or MASKED in value:
        return []
    modes = [mode.strip().upper() for mode in value[1:-1].split(",")]
    return [mode for mode in modes if mode and judge_value(MODE, mode, context.catalog).outcome in REFUSED]


def _assignments(text: str) -> Iterator[tuple[str, str, str]]:
    """The assignments to system variables: scope and name in lower case, the scope empty if not written, and value."""
    for statement in _split(text, ";"):
        verb, _, rest = statement.strip().partition(" ")
        first = rest.split(None, 1)[0].lower() if rest.strip() else ""
        if verb.lower() != "set" or first in {"statement", "password"}:
            continue
        for part in _split(rest, ","):
            name, equals, value = part.partition("=")
            scope, name = _scope_and_name(name.rstrip(":"))
            if equals and name:
                yield scope, name, value.strip()


def _scope_and_name(written: str) -> tuple[str, str]:
    """The scope and the name of `@@GLOBAL.name`, `SESSION name` or `name`; no name for variables of users."""
    text = written.lower().replace("`", "").strip()
    if text.startswith("@@"):
        text = text[2:].replace(".", " ", 1)
    scope, _, rest = text.partition(" ")
    scope, name = (scope, rest.strip()) if scope in SCOPES else ("", text)
    return scope, name if name.replace("_", "").isalnum() and name.isascii() else ""


def _split(text: str, separator: str) -> Iterator[str]:
    """The parts of a text between separators outside quotes and parentheses."""
    quote, depth, start, escaped = "", 0, 0, False
    for at, character in enumerate(text):
        if escaped:
            escaped = False
        elif quote:
            escaped = character == "\\" and quote != "`"
            quote = "" if character == quote else quote
        elif character in QUOTES:
            quote = character
        elif character in "()":
            depth += 1 if character == "(" else -1
        elif character == separator and not depth:
            yield text[start:at]
            start = at + 1
    yield text[start:]


@rule(
    "CON034",
    "expiring-passwords",
    severity=Severity.NOTE,
    summary="Passwords expire by themselves, those of programs and replicas too.",
    options=(LIFETIME,),
    quiet={LIFETIME: (0, 0)},
    evidence=("CONA-23", "CONV-07"),
    docs=Docs(
        why="default_password_lifetime is for all accounts that have no lifetime of their own. Once a password is "
        "older, MySQL refuses the login with error 1862, and MariaDB lets the client in but refuses its statements "
        "with error 1820; disconnect_on_expired_password makes either do the other. Programs and replicas cannot "
        "change a password, so they stop at a time that nothing announces. On MariaDB an account without a recorded "
        "date of its password is expired at once: the root that mariadb-install-db creates with "
        "--auth-root-authentication-method=normal was.",
        fix="ALTER USER 'name'@'host' PASSWORD EXPIRE NEVER for the accounts of programs and replicas, and change "
        "their passwords by a plan. Or set default_password_lifetime to 0 and give accounts of people a lifetime.",
        risk="Passwords of these accounts stay valid until they are changed.",
        exceptions="Servers whose accounts of programs have a lifetime of their own, or log in by socket, PAM or LDAP: "
        "mycnf does not read the lifetimes of accounts.",
        reconsider_when="No account of a program with NULL in password_lifetime of mysql.user (MariaDB: without "
        "password_lifetime in mysql.global_priv).",
        disagree="CIS asks for a lifetime for all accounts.",
    ),
)
def expiring_passwords(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly configured lifetime of passwords."""
    days = context.number(LIFETIME)
    if days and context.is_set(LIFETIME):
        logins = context.settings.on(DISCONNECTS)
        refused = "refuses the logins" if logins else "refuses the statements"
        age = f"{days:,} days after its last change" if days > 1 else "a day after its last change"
        yield expiring_passwords.finding(
            f"A password expires {age}; then the server {refused} of its account, also those of programs and replicas.",
            variable_subject(context, LIFETIME),
            help="run ALTER USER … PASSWORD EXPIRE NEVER for the accounts of programs and replicas",
        )
