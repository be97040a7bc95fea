"""Every way to log in works on the servers that know it, or says what to do; each account reads what it may."""

from __future__ import annotations

import getpass
import os
from typing import TYPE_CHECKING

import pytest

from advisor.catalog.targets import parse_target
from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.collect.connection.connect import connect
from advisor.collect.connection.options import Account
from advisor.commands.grants import ACCOUNT, statements
from advisor.core.errors import ConnectError

if TYPE_CHECKING:
    from live_server import Live

PASSWORD = "Some-Päss1"  # noqa: S105 - of accounts that live as long as a test
BYTES = PASSWORD.encode()


def by_password(live: Live) -> str:
    """The clause for the series' plain password account."""
    return (
        f"IDENTIFIED BY '{PASSWORD}'" if live.is_mariadb else f"IDENTIFIED WITH mysql_native_password BY '{PASSWORD}'"
    )


def tcp(live: Live, user: str, mode: str = "") -> Account:
    """The account over TCP."""
    return Account(user, BYTES, host="127.0.0.1", port=live.sandbox.port or 0, ssl_mode=mode)


def enters(account: Account) -> bool:
    """Whether the account gets in; the connection is closed again."""
    wire = connect(account)
    entered = wire.open
    wire.close()
    return bool(entered)


@pytest.mark.servers("mysql-5.7", "mysql-8.0", "mariadb")  # 9.7 has no mysql_native_password any more
def test_native_passwords_get_in(live: Live) -> None:
    """mysql_native_password works over socket, TCP and, where the server has it, TLS."""
    with live.user("native", by_password(live)) as user:
        assert enters(live.account(user, BYTES))
        assert enters(tcp(live, user))
        assert enters(tcp(live, user, "disabled"))


@pytest.mark.servers("mysql-8.0", "mysql-9.7")
@pytest.mark.parametrize("mode", ["socket", "disabled", "required"])
def test_caching_sha2_gets_in(live: Live, mode: str) -> None:
    """caching_sha2_password works at the first login, when nothing is cached: over socket, plain TCP and TLS."""
    with live.user("sha", f"IDENTIFIED WITH caching_sha2_password BY '{PASSWORD}'") as user:
        assert enters(live.account(user, BYTES) if mode == "socket" else tcp(live, user, mode))


@pytest.mark.servers("mariadb")
@pytest.mark.parametrize("mode", ["socket", "disabled"])
def test_ed25519_gets_in(live: Live, mode: str) -> None:
    """MariaDB's ed25519 works over socket and open TCP."""
    install(live, "auth_ed25519")
    with live.user("ed", f"IDENTIFIED VIA ed25519 USING PASSWORD('{PASSWORD}')") as user:
        assert enters(live.account(user, BYTES) if mode == "socket" else tcp(live, user, mode))


@pytest.mark.servers("mariadb")
def test_parsec_is_one_line(live: Live) -> None:
    """An account with a plugin that the driver lacks is reported with the remedy."""
    install(live, "auth_parsec")
    pattern = r"logs in with parsec.*mycnf grants"
    how = f"IDENTIFIED VIA parsec USING PASSWORD('{PASSWORD}')"
    with live.user("par", how) as user, pytest.raises(ConnectError, match=pattern):
        connect(live.account(user, BYTES))


def test_the_system_user_gets_in(live: Live) -> None:
    """Accounts of a system user (unix_socket, auth_socket) need no password."""
    me = getpass.getuser()
    if not live.is_mariadb:
        install(live, "auth_socket")
    how = "IDENTIFIED VIA unix_socket" if live.is_mariadb else f"IDENTIFIED WITH auth_socket AS '{me}'"
    if me == "root" and live.is_mariadb:
        live.run(f"ALTER USER root@localhost {how}")
        try:
            assert enters(live.account(me))
        finally:
            live.run("ALTER USER root@localhost IDENTIFIED BY ''")
        return
    with live.user("sock" if not live.is_mariadb else me, how) as user:
        assert enters(live.account(user))


def test_an_empty_password_gets_in(live: Live) -> None:
    """An account without a password needs none, over socket and TCP."""
    with live.user("empty", "IDENTIFIED BY ''") as user:
        assert enters(live.account(user))
        assert enters(Account(user, host="127.0.0.1", port=live.sandbox.port or 0))


def test_a_wrong_password_is_one_line(live: Live) -> None:
    """The message has the user and where the password came from, and never the password."""
    with live.user("native", f"IDENTIFIED BY '{PASSWORD}'") as user, pytest.raises(ConnectError) as caught:
        connect(live.account(user, b"hunter2", credential_source="password from /home/me/.my.cnf"))
    message = str(caught.value)
    assert "'native'" in message
    assert "/home/me/.my.cnf" in message
    assert "hunter2" not in message
    assert "\n" not in message
    assert caught.value.code == 3


def test_tls_is_used_and_checked(live: Live) -> None:
    """`required` encrypts, `verify-ca` believes the server's own authority alone; a server without TLS says so."""
    offered = live.run("SHOW GLOBAL VARIABLES LIKE 'have_ssl'")
    with live.user("tls", f"IDENTIFIED BY '{PASSWORD}' REQUIRE SSL") as user:
        if offered and offered[0][1] != "YES":
            with pytest.raises(ConnectError, match="offers no TLS"):
                connect(tcp(live, user, "required"))
            return
        wire = connect(tcp(live, user, "required"))
        assert wire.tls
        wire.close()
        with pytest.raises(ConnectError, match=r"TLS with .* failed: .*--ssl-ca"):
            connect(tcp(live, user, "verify-ca"))
        with pytest.raises(ConnectError, match="requires TLS"):
            connect(live.account(user, BYTES))


def test_a_bare_account_gets_a_report_with_gaps(live: Live) -> None:
    """With USAGE alone variables and counters are read, and each gap names the privilege that it needs."""
    with live.user("bare", f"IDENTIFIED BY '{PASSWORD}'") as user:
        facts = collect_from_account(live.account(user, BYTES), CollectRequest(window=0.01))
    assert len(facts.server.variables) > 400
    assert facts.workload is not None
    needs = {gap.part: gap.reason for gap in facts.unavailable}
    assert needs["server.innodb_metrics"] == needs["server.innodb_status"] == "needs PROCESS"
    assert needs["server.data"] == "needs SELECT on mysql.innodb_table_stats"
    assert needs["server.replication"] == f"needs {'SLAVE MONITOR' if live.is_mariadb else 'REPLICATION CLIENT'}"


def test_the_printed_account_reads_everything(live: Live) -> None:
    """The statements of `mycnf grants` run as printed, and with the optional ones their account reads what root can."""
    printed = printed_grants(live)
    optional = [line.removeprefix("-- ").rstrip(";") for line in printed if line.startswith("-- GRANT")]
    live.run(f"DROP USER IF EXISTS {ACCOUNT}")
    live.run(*(line.rstrip(";") for line in printed if line and not line.startswith("--")))
    try:
        without = collect_from_account(live.account("mycnf", b"Some-Pass1"), CollectRequest(window=0.01))
        live.run(*optional)
        theirs = collect_from_account(live.account("mycnf", b"Some-Pass1"), CollectRequest(window=0.01))
        live_kinds = theirs.server.accounts
        mine = collect_from_account(live.account(), CollectRequest(window=0.01))
    finally:
        live.run(f"DROP USER {ACCOUNT}")
    assert theirs.unavailable == mine.unavailable
    assert live_kinds == mine.server.accounts
    logs = {"server.redo_waits"} if any("error_log" in sql for sql in optional) else set()
    assert {gap.part for gap in without.unavailable if gap not in theirs.unavailable} == {"server.accounts"} | logs
    assert without.server.accounts is None
    assert theirs.server.link.user == "mycnf@localhost"


def printed_grants(live: Live) -> list[str]:
    """The lines of `mycnf grants` for the server."""
    from advisor.core.model import Target

    version = tuple(int(n) for n in live.name.partition("-")[2].split("."))
    return statements(Target("mariadb" if live.is_mariadb else "mysql", version), "Some-Pass1").splitlines()


def test_accounts_are_counted_by_kind(live: Live) -> None:
    """Anonymous, passwordless, powerful and ordinary accounts are told apart, locked ones and roles are left out, and
    no hash is in the facts."""
    users = ("''@'10.%'", "bare@'%'", "bare2@'%'", f"kept@'%' IDENTIFIED BY '{PASSWORD}'", "shut@'%' ACCOUNT LOCK")
    powerful = f"boss@'%' IDENTIFIED BY '{PASSWORD}'"
    role = () if live.name == "mysql-5.7" else ("CREATE ROLE some_role",)
    names = [user.partition(" ")[0] for user in (*users, powerful)]
    live.run(*(f"CREATE USER {user}" for user in (*users, powerful)), "GRANT SUPER ON *.* TO boss@'%'", *role)
    live.run("CREATE USER opened@'192.0.2.1' ACCOUNT LOCK", "ALTER USER opened@'192.0.2.1' ACCOUNT UNLOCK")
    try:
        facts = collect_from_account(live.account(), CollectRequest(window=0.01))
    finally:
        live.run(f"DROP USER {', '.join(names)}, opened@'192.0.2.1'", *(("DROP ROLE some_role",) if role else ()))
    kinds = facts.server.accounts
    assert kinds is not None
    by_kind = {(k.anonymous, k.passwordless, k.supreme, k.reach): (k.count, k.names) for k in kinds}
    assert by_kind[True, True, False, "anywhere"] == (1, "@10.%")
    assert by_kind[False, True, False, "anywhere"] == (2, "bare@%, bare2@%")
    assert by_kind[False, False, True, "anywhere"] == (1, "boss@%")
    assert by_kind[False, False, False, "anywhere"] == (1, "kept@%")
    assert by_kind[False, True, False, "there"] == (1, "opened@192.0.2.1")
    assert by_kind[False, True, True, "here"][0] == (4 if live.is_mariadb else 1)
    assert not any("shut" in k.names or "some_role" in k.names for k in kinds)
    assert all(k.plugin in {"mysql_native_password", "caching_sha2_password"} for k in kinds)
    stored = live.run("SELECT authentication_string FROM mysql.user WHERE authentication_string <> ''")
    assert not any(str(row[0]) in repr(facts) for row in stored)


def test_accounts_of_system_users_come_from_here(live: Live) -> None:
    """An account that the socket alone lets in comes from no other host, for any host; one with a password may."""
    install(live, "auth_ed25519" if live.is_mariadb else "auth_socket")
    word, ways = ("VIA", "unix_socket") if live.is_mariadb else ("WITH", "auth_socket")
    users = [f"job@'%' IDENTIFIED {word} {ways}"]
    if live.is_mariadb:
        users += [f"either@'%' IDENTIFIED VIA ed25519 USING PASSWORD('{PASSWORD}') OR unix_socket"]
    live.run(*(f"CREATE USER {user}" for user in users))
    try:
        kinds = collect_from_account(live.account(), CollectRequest(window=0.01)).server.accounts or ()
        with pytest.raises(ConnectError):
            connect(Account("job", host="127.0.0.1", port=live.sandbox.port or 0))
    finally:
        live.run(f"DROP USER {', '.join(user.partition(' ')[0] for user in users)}")
    reach = {k.names: k.reach for k in kinds}
    assert [reach.get("job@%"), reach.get("either@%")] == ["here", "anywhere" if live.is_mariadb else None]
    plugins = {k.names: k.plugin for k in kinds}
    assert plugins["job@%"] == ways
    assert plugins.get("either@%") == ("unix_socket or ed25519" if live.is_mariadb else None)  # in the server's order


def test_privileges_and_tls_are_told_apart(live: Live) -> None:
    """GRANT OPTION, FILE, REQUIRE SSL, and privileges that replace SUPER are read for each account; root has all."""
    replaces = {"mysql-5.7": "SUPER", "mysql-8.0": "SYSTEM_VARIABLES_ADMIN", "mysql-9.7": "SET_ANY_DEFINER"}
    admin = replaces.get(live.name, "SET USER")
    how = f"IDENTIFIED BY '{PASSWORD}'"
    users = (f"giver@'%' {how}", f"filer@'%' {how} REQUIRE SSL", f"admin@'%' {how} REQUIRE X509", f"app@'%' {how}")
    grants = (
        "SELECT ON *.* TO giver@'%' WITH GRANT OPTION",
        "FILE ON *.* TO filer@'%'",
        f"{admin} ON *.* TO admin@'%'",
    )
    live.run(*(f"CREATE USER {user}" for user in users), *(f"GRANT {grant}" for grant in grants))
    try:
        kinds = collect_from_account(live.account(), CollectRequest(window=0.01)).server.accounts or ()
    finally:
        live.run(f"DROP USER {', '.join(user.partition(' ')[0] for user in users)}")
    by_names = {k.names: (k.grants, k.files, k.plain, k.admin or k.supreme) for k in kinds if k.reach == "anywhere"}
    assert by_names == {
        "giver@%": (True, False, True, False),
        "filer@%": (False, True, False, False),
        "admin@%": (False, False, False, True),
        "app@%": (False, False, True, False),
    }
    assert all(k.grants and k.files and k.plain for k in kinds if "root@localhost" in k.names)


@pytest.mark.servers("mysql-8.0", "mysql-9.7")
def test_accounts_are_read_without_dynamic_privileges(live: Live) -> None:
    """An account that may read mysql.user alone reads the kinds, and the report says what the rest needs."""
    with live.user("some", f"IDENTIFIED BY '{PASSWORD}'") as user:
        live.run(f"GRANT SELECT ON mysql.user TO {user}@'%'")
        facts = collect_from_account(live.account(user, BYTES), CollectRequest(window=0.01))
    assert facts.server.accounts
    assert all(kind.admin is None for kind in facts.server.accounts)
    assert facts.reason_missing("server.accounts.dynamic") == "needs SELECT on mysql.global_grants"


def install(live: Live, library: str) -> None:
    """Load an authentication plugin, or skip by name where the server came without it."""
    import pymysql

    statement = f"INSTALL SONAME '{library}'" if live.is_mariadb else f"INSTALL PLUGIN {library} SONAME '{library}.so'"
    try:
        live.run(statement)
    except pymysql.err.MySQLError as error:
        ((folder,),) = live.run("SELECT @@plugin_dir")
        if error.args[0] == 1126 and not os.path.exists(os.path.join(folder, f"{library}.so")):
            pytest.skip(f"{live.name} came without {library}")
        if error.args[0] not in (1125, 1968):  # it is loaded already
            raise


def test_an_optional_grant_says_what_it_gives_away() -> None:
    """Each optional grant has its own reason to be withheld; the error log stands where the server has its table."""
    text = statements(parse_target("mysql-8.4"), "x")
    comments = text.partition("-- GRANT SELECT ON performance_schema.error_log")[0].splitlines()
    assert "error log" in comments[-1]
    assert "no hash" not in comments[-1]
    assert "error_log" not in statements(parse_target("mysql-8.0.15"), "x")
