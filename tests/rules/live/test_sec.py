"""The rules about access, encryption and accounts, before real servers that are set and driven badly."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from advisor.analysis import run_rules
from advisor.analysis.context import build_context
from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.collect.connection.options import Account
from advisor.core.model import Severity
from rules import all_rules

if TYPE_CHECKING:
    from pathlib import Path

    from real_servers import Start

    from advisor.core.model import Finding
    from probes.sandbox import Sandbox

OURS = [rule for rule in all_rules() if rule.family in {"SEC", "TLS"}]
EVERYWHERE = "--bind-address=0.0.0.0"  # every account of these servers is bound to localhost until the test makes more
MYSQL = """[mysqld]
allow_suspicious_udfs
symbolic_links = 1
log_raw
show_slave_auth_info
core_file
default_authentication_plugin = mysql_native_password
ssl_cipher = DES-CBC3-SHA:AES128-SHA
ssl_cert = /nonexistent/cert.pem
ssl_key = /nonexistent/key.pem
"""
OF_MYSQL = {
    "any-library-function",
    "followed-symlinks",
    "raw-log",
    "shown-replica-passwords",
    "pool-in-core",
    "native-passwords-kept",
    "weak-cipher",
    "tls-that-failed",
    "second-port-open",
    "anonymous-account",
    "passwordless-account",
    "superuser-from-anywhere",
    "native-password-account",
}
MARIADB = """[mysqld]
old_passwords = ON
secure_auth = OFF
proxy_protocol_networks = *
feedback = ON
feedback_url =
require_secure_transport = ON
user = root
"""
ENCRYPTED = """plugin_load_add = file_key_management
file_key_management_filename = keys
innodb_encrypt_tables = ON
"""
OF_MARIADB = {
    "old-passwords",
    "any-proxy",
    "reports-home",
    "required-but-not-offered",
    "no-tls",
    "server-as-root",
    "half-encrypted",
    "encryption-that-waits",
    "key-beside-data",
}


def found(sandbox: Sandbox) -> dict[str, Finding]:
    """What the rules of these families find on a running server, by name."""
    facts = collect_from_account(Account(user="root", socket=sandbox.socket), CollectRequest(window=0.0))
    return {f.name: f for f in run_rules(build_context(facts), OURS).findings}


def send(sandbox: Sandbox, *statements: str) -> None:
    """Statements of the server's administrator."""
    with sandbox.connect(autocommit=True) as connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def take(sandbox: Sandbox, findings: dict[str, Finding]) -> None:
    """The advice of all findings, undone once in between."""
    for finding in findings.values():
        send(sandbox, *(s for a in finding.actions for s in (a.statement, a.undo, a.statement) if s))


def test_doors_left_open_on_mysql(start: Start, tmp_path: Path) -> None:
    """A MySQL with every door open gets a finding for each, its accounts by name, and the advice runs as printed."""
    file = tmp_path / "my.cnf"
    file.write_text(MYSQL, "utf-8")
    bound = "--mysqlx-bind-address=*"
    sandbox = start("mysql-8.0", option_file=file, arguments=[bound], tcp=True)
    send(
        sandbox,
        "CREATE USER ''@'198.51.100.%'",
        "CREATE USER bare@'%'",
        "CREATE USER boss@'%' IDENTIFIED WITH caching_sha2_password BY 'Some-Pass1'",
        "GRANT ALL ON *.* TO boss@'%'",
        "CREATE USER keeper@'%' IDENTIFIED WITH caching_sha2_password BY 'Some-Pass1'",
        "GRANT PERSIST_RO_VARIABLES_ADMIN ON *.* TO keeper@'%'",  # alone it permits nothing
    )
    findings = found(sandbox)
    assert findings.keys() >= OF_MYSQL, OF_MYSQL - findings.keys()
    assert "bare@%" in findings["passwordless-account"].message
    assert findings["passwordless-account"].severity is Severity.WARNING
    assert "1 account (@198.51.100.%)" in findings["anonymous-account"].message
    assert "1 account (boss@%)" in findings["superuser-from-anywhere"].message
    take(sandbox, findings)


def test_doors_left_open_on_mariadb(start: Start, tmp_path: Path) -> None:
    """A MariaDB with weak passwords, half an encryption and a port that admits no client gets a finding for each."""
    file = tmp_path / "my.cnf"
    file.write_text(MARIADB, "utf-8")
    sandbox = start("mariadb-10.11", option_file=file, arguments=[EVERYWHERE], tcp=True)
    send(sandbox, "CREATE USER app@'192.0.2.9' IDENTIFIED BY 'x'")
    with open(os.path.join(sandbox.datadir, "keys"), "w", encoding="ascii") as keys:
        keys.write("1;" + "ab" * 32 + "\n")
    file.write_text(MARIADB + ENCRYPTED, "utf-8")
    sandbox.restart()
    findings = found(sandbox)
    assert findings.keys() >= OF_MARIADB, OF_MARIADB - findings.keys()
    assert findings["no-tls"].severity is Severity.WARNING
    assert encrypted(sandbox) == 0
    take(sandbox, findings)
    while not encrypted(sandbox):
        time.sleep(0.2)


def encrypted(sandbox: Sandbox) -> int:
    """How many tablespaces are encrypted."""
    query = "SELECT COUNT(*) FROM information_schema.INNODB_TABLESPACES_ENCRYPTION WHERE ENCRYPTION_SCHEME = 1"
    with sandbox.connect() as connection, connection.cursor() as cursor:
        cursor.execute(query)
        return int(cursor.fetchall()[0][0])


def test_certificates_of_a_running_server(start: Start, tmp_path: Path) -> None:
    """A certificate that ends soon, one that has ended, half a pair, none at all and an account without its plugin."""
    file = tmp_path / "my.cnf"
    both = f"[mysqld]\nssl_cert = {tmp_path}/cert.pem\nssl_key = {tmp_path}/key.pem\n"
    certify(tmp_path, begins=-70, ends=19.5)
    file.write_text(both, "utf-8")
    sandbox = start("mysql-9.7", option_file=file, arguments=[EVERYWHERE], tcp=True, small=True)
    send(
        sandbox,
        "CREATE USER gone@'192.0.2.9' IDENTIFIED BY 'Some-Pass1'",
        "UPDATE mysql.user SET plugin = 'mysql_native_password' WHERE User = 'gone'",
        "FLUSH PRIVILEGES",
    )
    findings = found(sandbox)
    assert findings.keys() >= {"certificate-expires-soon", "locked-out-account"}
    assert "in 19 d" in findings["certificate-expires-soon"].message
    assert "gone@192.0.2.9" in findings["locked-out-account"].message

    certify(tmp_path, begins=-70, ends=-1)
    sandbox.restart()
    assert "expired 1 d ago" in found(sandbox)["expired-certificate"].message
    certify(tmp_path, begins=-70, ends=19.5)
    send(sandbox, "ALTER INSTANCE RELOAD TLS")
    assert "expired-certificate" not in found(sandbox)

    (tmp_path / "both.pem").write_bytes(b"".join((tmp_path / f"{half}.pem").read_bytes() for half in ("cert", "key")))
    file.write_text(f"[mysqld]\nssl_cert = {tmp_path}/both.pem\n", "utf-8")
    sandbox.restart()
    assert "certificate-without-key" not in found(sandbox)

    for text, name in (
        (f"[mysqld]\nssl_cert = {tmp_path}/cert.pem\n", "certificate-without-key"),
        ("[mysqld]\ntls_version =\nrequire_secure_transport = ON\n", "tls-switched-off"),
        ("[mysqld]\nrequire_secure_transport = ON\n", "unproved-certificate"),
    ):
        file.write_text(text, "utf-8")
        sandbox.restart()
        assert name in found(sandbox)


def test_a_server_that_may_write_its_options(start: Start, tmp_path: Path) -> None:
    """Option files that belong to the server's account are reported, except for root, who may write everywhere."""
    file = tmp_path / "my.cnf"
    file.write_text("[mysqld]\n", "utf-8")
    findings = found(start("mariadb-10.11", option_file=file, small=True))
    if os.geteuid() == 0:
        assert "server-writes-its-options" not in findings
    else:
        assert str(file) in findings["server-writes-its-options"].help


def certify(folder: Path, *, begins: float, ends: float) -> None:
    """A certificate of its own, valid from and until so many days from now, with its key, as cert.pem and key.pem."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "server")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now + timedelta(days=begins))
        .not_valid_after(now + timedelta(days=ends))
        .sign(key, hashes.SHA256())
    )
    (folder / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )


@pytest.mark.servers("mysql-5.7", "mysql-9.7", "mariadb-10.11")
def test_a_general_log_that_is_thrown_away(server_name: str, start: Start, tmp_path: Path) -> None:
    """With log_output = NONE no statement is written, and the rule keeps silent; with FILE both change."""
    log = tmp_path / "general.log"
    file = tmp_path / "my.cnf"
    file.write_text(f"[mysqld]\ngeneral_log = 1\ngeneral_log_file = {log}\nlog_output = NONE\n", "utf-8")
    sandbox = start(server_name, option_file=file, arguments=["--performance-schema=OFF"])
    send(sandbox, "SELECT 'thrown away'")
    assert not log.exists() or "thrown away" not in log.read_text("utf-8")
    assert "general-log" not in found(sandbox)
    send(sandbox, "SET GLOBAL log_output = 'FILE'", "SELECT 'written out'")
    assert "written out" in log.read_text("utf-8")
    assert "general-log" in found(sandbox)
