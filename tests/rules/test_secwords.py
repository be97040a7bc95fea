"""What the rules about access, TLS and accounts say, where the severity alone would not show a mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from rule_cases import Case, context_of_case

from advisor.core.model import Origin
from advisor.facts import Unavailable
from advisor.verdict.settings import ServerSettings
from rules import all_rules, find_rule
from rules.core.context import MissingFact, RuleContext, ValueSource
from rules.security.tls import parse_date

if TYPE_CHECKING:
    from pathlib import Path

    from advisor.core.model import Finding

OURS = [rule for rule in all_rules() if rule.family == "TLS" or (rule.family == "SEC" and rule.code >= "SEC008")]
WITHOUT_RESTART = {
    "old-passwords",
    "raw-log",
    "half-encrypted",
    "tls-switched-off",
    "certificate-without-key",
    "weak-cipher",
    "required-but-not-offered",
    "unproved-certificate",
    "no-tls",
    "tls-that-failed",
    "any-proxy",
    "encryption-that-waits",
    "pool-in-core",
    "expired-certificate",
    "certificate-expires-soon",
    "account-of-unresolved-host",
    "anonymous-account",
    "passwordless-account",
    "grant-option-from-anywhere",
    "file-privilege-from-anywhere",
    "remote-account-without-tls",
    "superuser-from-anywhere",
    "locked-out-account",
    "native-password-account",
    "server-writes-its-options",
}
LIFE = {"ssl_server_not_before": "Dec  1 00:00:00 2026 GMT", "ssl_server_not_after": "Dec 10 12:30:45 2026 GMT"}


def known(target: str, tmp_path: Path, **words: Any) -> RuleContext:
    """What may be known of a small case."""
    made: RuleContext = context_of_case(Case("", "", target, **words), tmp_path)
    return made


def found(rule: str, of: RuleContext) -> list[Finding]:
    """All that the rule of that name finds."""
    asked = find_rule(rule)
    assert asked is not None
    return list(asked.check(of))


def accounts(*kinds: tuple[int, str], **more: object) -> dict[str, object]:
    """A server with accounts of these counts and names, alike in all else."""
    alike = {"plugin": "x", "anonymous": False, "passwordless": False, "supreme": False, "reach": "anywhere"} | more
    return {"accounts": [alike | {"count": count, "names": names} for count, names in kinds]}


@pytest.mark.parametrize(("target", "cure"), [("mysql-8.0.15", "remove the line"), ("mariadb-11.8", "write skip_")])
def test_links_are_not_switched_off_by_a_deprecated_line(target: str, cure: str, tmp_path: Path) -> None:
    """MySQL 8.0 follows no links by default, and deprecates the option; elsewhere they are on without a line."""
    (finding,) = found("followed-symlinks", known(target, tmp_path, file="symbolic_links = 1"))
    assert finding.help.startswith(cure)


@pytest.mark.parametrize(
    ("target", "option", "statement"),
    [
        ("mysql-9.7.4", "show_replica_auth_info", "SHOW REPLICAS"),
        ("mysql-8.0.15", "show_slave_auth_info", "SHOW SLAVE HOSTS"),
        ("mariadb-11.8", "show_slave_auth_info", "SHOW SLAVE HOSTS"),
    ],
)
def test_the_statement_that_lists_replicas(target: str, option: str, statement: str, tmp_path: Path) -> None:
    """MariaDB and older versions of MySQL have no SHOW REPLICAS."""
    (finding,) = found("shown-replica-passwords", known(target, tmp_path, file=option))
    assert f"{statement} prints" in finding.message


def test_cures_that_need_a_restart() -> None:
    """What is set while the server runs needs none; the rest of these rules say that it does."""
    assert {rule.name for rule in OURS if not rule.docs.restart} == WITHOUT_RESTART


@pytest.mark.parametrize(
    ("kinds", "says"),
    [
        ([(1, "root@%")], "1 account (root@%) has SUPER"),
        ([(2, "a@%, b@%")], "2 accounts (a@%, b@%) have SUPER"),
        ([(2, "")], "2 accounts have SUPER"),
        ([(5, "a@%, b@%, c@%"), (1, "z@10.%")], "6 accounts (a@%, b@%, c@%, z@10.% and 2 more) have SUPER"),
    ],
)
def test_accounts_in_words(kinds: list[tuple[int, str]], says: str, tmp_path: Path) -> None:
    """One account, some, and more than are named each make a sentence."""
    (finding,) = found("superuser-from-anywhere", known("mysql-8.0", tmp_path, server=accounts(*kinds, supreme=True)))
    assert finding.message.startswith(says)


@pytest.mark.parametrize(
    ("plugin", "says"), [("ed25519", "the plugin ed25519 is not active."), ("", "no plugin is named for them.")]
)
def test_plugins_that_are_missing(plugin: str, says: str, tmp_path: Path) -> None:
    """The plugin is named; accounts of old servers may have none."""
    server = accounts((1, "old@%"), plugin=plugin) | {"plugins": ["mysql_native_password"]}
    (finding,) = found("locked-out-account", known("mariadb-10.11", tmp_path, server=server))
    assert finding.message.endswith(says)


def test_tls_that_the_command_line_disables(tmp_path: Path) -> None:
    """--skip-ssl is the cause, and a certificate would not help."""
    variables = {"bind_address": "0.0.0.0", "have_ssl": "DISABLED"}  # noqa: S104 - an address of a server
    server = accounts((1, "a@%")) | {"variables": variables}
    context = known("mariadb-11.4.5", tmp_path, server=server)
    assert [found(rule, context) != [] for rule in ("tls-switched-off", "no-tls")] == [False, True]
    argument = ValueSource(Origin.COMMAND_LINE, None, "skip-ssl", "--skip-ssl", "FALSE")
    context.find_source = lambda _variable, names: argument if "ssl" in names else None
    assert [found(rule, context) != [] for rule in ("tls-switched-off", "no-tls")] == [True, False]


def test_where_accounts_without_a_password_come_from(tmp_path: Path) -> None:
    """Other hosts are spoken of where such accounts may come from there."""
    afar = known("mysql-8.0", tmp_path, server=accounts((1, "a@%"), passwordless=True))
    here = known("mysql-8.0", tmp_path, server=accounts((1, "a@localhost"), passwordless=True, reach="here"))
    assert "may connect from other hosts" in found("passwordless-account", afar)[0].message
    assert "other hosts" not in found("passwordless-account", here)[0].message


@pytest.mark.parametrize(
    ("count", "names", "words"), [(1, "a@%", "give it a password, or bind it"), (2, "a@%, b@%", "give them passwords")]
)
def test_what_to_do_about_accounts_without_a_password(count: int, names: str, words: str, tmp_path: Path) -> None:
    """The advice speaks of one account or of several, as the message does."""
    context = known("mysql-8.0", tmp_path, server=accounts((count, names), passwordless=True))
    assert found("passwordless-account", context)[0].help.startswith(words)


def test_local_accounts_do_not_come_from_other_hosts(tmp_path: Path) -> None:
    """Where only some of the accounts without a password may connect from other hosts, these are named."""
    server = accounts((1, "nopw@%"), passwordless=True)
    local = accounts((4, "root@127.0.0.1, root@::1, root@localhost"), passwordless=True, supreme=True, reach="here")
    server["accounts"] = [*local["accounts"], *server["accounts"]]  # type: ignore[misc]
    (finding,) = found("passwordless-account", known("mysql-8.0", tmp_path, server=server))
    assert finding.message.endswith("have no password; 1 account (nopw@%) may connect from other hosts.")


@pytest.mark.parametrize(
    ("kinds", "hosts"),
    [
        ([(2, "a@%, b@%")], "any host."),
        ([(1, "op@10.%")], "any host that matches a wildcard."),
        ([(1, "a@%"), (1, "op@%.example.com")], "any host that matches a wildcard."),
        ([(4, "a@%, b@%, c@%")], "any host that matches a wildcard."),
    ],
)
@pytest.mark.parametrize(
    ("rule", "privilege"),
    [
        ("superuser-from-anywhere", {"supreme": True}),
        ("grant-option-from-anywhere", {"grants": True}),
        ("file-privilege-from-anywhere", {"files": True}),
    ],
)
def test_a_wildcard_in_a_part_of_the_host(
    rule: str, privilege: dict[str, bool], kinds: list[tuple[int, str]], hosts: str, tmp_path: Path
) -> None:
    """An account of 10.% does not come from any host; unnamed accounts may be such."""
    server = accounts(*kinds, **privilege) | {"variables": {"secure_file_priv": "/var/lib/mysql-files/"}}
    (finding,) = found(rule, known("mysql-8.0", tmp_path, server=server))
    assert finding.message.endswith(f" may connect from {hosts}")


@pytest.mark.parametrize(("target", "table"), [("mysql-8.0", "mysql.user"), ("mariadb-10.11", "mysql.global_priv")])
def test_accounts_that_were_not_read(target: str, table: str, tmp_path: Path) -> None:
    """Rules about accounts say which grant they lack."""
    for rule in OURS:
        if rule.name.endswith("-account") and rule.concerns(known(target, tmp_path).target):
            with pytest.raises(MissingFact, match=table):
                found(rule.name, known(target, tmp_path, server={}))


def test_accounts_that_the_server_could_not_show(tmp_path: Path) -> None:
    """Where no privilege is missing, rules about accounts give the server's error: a full tmpdir, and no grant."""
    context = known("mariadb-10.11", tmp_path, server={})
    context.unavailable = (Unavailable("server.accounts", "the server refused 'SELECT …': Disk got full (error 1021)"),)
    with pytest.raises(MissingFact, match="Disk got full"):
        found("passwordless-account", context)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("Jan  1 00:00:00 1970 GMT", 0),
        ("Dec  1 17:12:52 2026 GMT", 1796145172),
        ("Nov 18 17:11:30 2036 GMT", 2110641090),
        ("Feb 29 23:59:59 2028 GMT", 1835481599),
        ("", None),
        ("Brumaire 1 17:12:52 1799 GMT", None),
        ("Dec  1 17:12 2026 GMT", None),
        ("Dec  1 17:12:52 " + "9" * 30 + " GMT", None),
    ],
)
def test_dates_of_certificates(text: str, seconds: int | None) -> None:
    """Dates are parsed as OpenSSL prints them, regardless of the host's language, and nothing else is."""
    assert parse_date(text) == seconds


@pytest.mark.parametrize(
    ("rule", "when", "says"),
    [
        ("expired-certificate", "2026-12-13T12:30:45+00:00", "expired 3 d ago"),
        ("expired-certificate", "2026-11-29T00:00:00+00:00", "becomes valid in 2 d"),
        ("certificate-expires-soon", "2026-12-08T12:30:45+00:00", "expires in 2 d (Dec 10 12:30:45 2026 GMT)"),
    ],
)
def test_certificates_in_words(rule: str, when: str, says: str, tmp_path: Path) -> None:
    """How long ago, or how long until then."""
    (finding,) = found(rule, known("mysql-9.7.4", tmp_path, server={"taken_at": when, "status": LIFE}))
    assert says in finding.message


@pytest.mark.parametrize(
    ("more", "says"), [("", "plain text once it is enabled."), ("general_log = ON", "plain text.")]
)
def test_a_raw_log_that_is_off(more: str, says: str, tmp_path: Path) -> None:
    """log_raw alone writes nothing: the message says so where the general log is off."""
    (finding,) = found("raw-log", known("mysql-9.7.4", tmp_path, file=f"log_raw = ON\n{more}"))
    assert finding.message.endswith(says)


@pytest.mark.parametrize("rule", ["expired-certificate", "certificate-expires-soon"])
def test_facts_without_their_time(rule: str, tmp_path: Path) -> None:
    """Where it is unknown when the facts were taken, it is unknown what has expired."""
    with pytest.raises(MissingFact, match="the time"):
        found(rule, known("mysql-9.7.4", tmp_path, server={"status": LIFE}))


@pytest.mark.parametrize("rule", ["expired-certificate", "certificate-expires-soon"])
def test_mariadb_hides_its_certificate_from_sessions_without_tls(rule: str, tmp_path: Path) -> None:
    """An empty date on a MariaDB with TLS is no check that passed; without TLS there is no certificate to check."""
    server = {"taken_at": "2026-12-13T12:30:45+00:00", "status": dict.fromkeys(LIFE, ""), "variables": {}}
    with pytest.raises(MissingFact, match="--ssl-mode required"):
        found(rule, known("mariadb-11.8.9", tmp_path, server=server | {"variables": {"have_ssl": "YES"}}))
    assert found(rule, known("mariadb-10.11", tmp_path, server=server | {"variables": {"have_ssl": "DISABLED"}})) == []


@pytest.mark.parametrize(("given", "missing"), [("ssl_cert", "ssl_key"), ("ssl_key", "ssl_cert")])
def test_the_missing_half_of_a_pair(given: str, missing: str, tmp_path: Path) -> None:
    """The half that is missing is named."""
    (finding,) = found("certificate-without-key", known("mysql-9.7.4", tmp_path, file=f"{given} = /a"))
    assert finding.help == f"set {missing} too"


def test_what_is_left_in_plain_text(tmp_path: Path) -> None:
    """One log or several that are not encrypted make a sentence."""
    one = "default_table_encryption = ON\ninnodb_redo_log_encrypt = ON\ninnodb_undo_log_encrypt = ON"
    (finding,) = found("half-encrypted", known("mysql-9.7.4", tmp_path, file=one))
    assert "but binlog_encryption is off" in finding.message
    (finding,) = found("half-encrypted", known("mysql-9.7.4", tmp_path, file="default_table_encryption = ON"))
    assert "innodb_redo_log_encrypt, innodb_undo_log_encrypt, binlog_encryption are off" in finding.message


def test_threads_that_encrypt(tmp_path: Path) -> None:
    """The number of threads that the evidence was taken with is what is advised."""
    file = "plugin_load_add = file_key_management\ninnodb_encrypt_tables = ON"
    (finding,) = found("encryption-that-waits", known("mariadb-10.11", tmp_path, file=file))
    assert finding.help == "write innodb_encryption_threads = 4"


def test_a_file_of_the_server(tmp_path: Path) -> None:
    """The finding is about the file as a whole, and has its mode as chmod writes it."""
    written = known(
        "mysql-9.7.4",
        tmp_path,
        file="port = 3306",
        host={"process": {"uid": 27}},
        server={"uid": 27, "mode": 0o1640},
    )
    (finding,) = found("server-writes-its-options", written)
    assert "(mode 640)" in finding.message
    assert finding.location is not None
    assert finding.location.line == 1


def test_what_a_patch_does_not_know_yet_is_not_set(tmp_path: Path) -> None:
    """8.0.15 has the option log_raw and no variable of that name, so there is a line and no statement."""
    running = known("mysql-8.0.15", tmp_path, file="log_raw", server={})
    assert isinstance(running.settings, ServerSettings)
    known_there = running.settings._values
    running.settings._values = {name: value for name, value in known_there.items() if name != "log_raw"}
    (action,) = found("raw-log", running)[0].actions
    assert action.statement is None
    assert action.restart


@pytest.mark.parametrize(
    ("target", "by_socket"), [("mysql-8.0.15", True), ("mysql-8.0.43", True), ("mysql-5.7.22", False)]
)
def test_without_accounts_only_some_versions_listen(target: str, by_socket: bool, tmp_path: Path) -> None:
    """MySQL 8.0 and later switch TCP off with the accounts, so no other host reaches the server then (ASK-SEC-12)."""
    of = known(target, tmp_path, file="skip_grant_tables\nskip_ssl")
    (accounts,), (tls,) = found("no-access-control", of), found("tls-switched-off", of)
    assert ("socket" in accounts.message) is by_socket
    assert ("other hosts can reach the server" in tls.message) is not by_socket


@pytest.mark.parametrize(
    ("line", "says"), [("", "port 33060 of the X Protocol"), ("mysqlx_port = 33070", "port 33070 of the X Protocol")]
)
def test_the_port_of_the_x_protocol(line: str, says: str, tmp_path: Path) -> None:
    """The port that is open is the one that the file sets."""
    (finding,) = found("second-port-open", known("mysql-8.0.15", tmp_path, file=f"bind_address = 127.0.0.1\n{line}"))
    assert says in finding.message


def test_the_account_of_a_server_that_root_may_start(tmp_path: Path) -> None:
    """A line alone does not show who starts the server: under another account it has no effect."""
    (finding,) = found("server-as-root", known("mysql-9.7.4", tmp_path, file="user = root"))
    assert finding.message.startswith("If root starts the server")


def test_ciphers_are_named_as_written(tmp_path: Path) -> None:
    """OpenSSL distinguishes upper and lower case."""
    (finding,) = found("weak-cipher", known("mysql-5.7.22", tmp_path, file="ssl_cipher = HIGH:eNULL:kRSA+3DES"))
    assert finding.message.endswith("eNULL, kRSA+3DES.")


@pytest.mark.parametrize(
    ("target", "variables", "words"),
    [
        ("mariadb-11.8", {"skip_grant_tables": "ON"}, "No account is checked"),
        ("mariadb-11.8", {"skip_grant_tables": "OFF"}, "After the next start no account is checked"),
        ("mysql-9.7.4", {"skip_networking": "ON"}, "No account is checked"),
        ("mysql-9.7.4", {"skip_networking": "OFF"}, "After the next start no account is checked"),
        ("mysql-5.7.22", {"skip_networking": "OFF"}, "No account is checked"),
    ],
)
def test_accounts_of_a_running_server(target: str, variables: dict[str, str], words: str, tmp_path: Path) -> None:
    """A line that the server was not started with, or that FLUSH PRIVILEGES ended, counts from the next start on."""
    running = known(target, tmp_path, file="skip_grant_tables", server={"variables": variables})
    (finding,) = found("no-access-control", running)
    assert finding.message.startswith(words)
