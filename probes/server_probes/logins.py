"""A port of 127.0.0.1 on a throwaway server, at which one account with a random password alone may log in."""

from __future__ import annotations

import os
import secrets
import shutil
from typing import TYPE_CHECKING

from probes.experiment import ProbeError
from probes.sandbox.binary import run_briefly
from probes.sandbox.placement import printed_defaults
from probes.workload.load import (
    CERTIFICATES,
    CLIENT_CERTIFICATE,
    CLIENT_KEY,
    LOOPBACK,
    SERVER_CERTIFICATE,
    Login,
)
from probes.workload.tables import DATABASE

if TYPE_CHECKING:
    from probes.sandbox import Binary
    from probes.server_probes.variant_server import VariantServer

USER = "mycnf_probe"
PASSWORD_BYTES = 24  # bytes of randomness in its password
OLDEST_TLS = "TLSv1.2"  # of today's clients
MADE_BY_SERVER = ("ca.pem", "client-cert.pem", "client-key.pem")  # of MySQL, in the order of CERTIFICATES
SERVER_KEY = "server-key.pem"
RSA_KEY, EC_KEY = ("rsa:2048",), ("ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")
# Clients are known by their address, so that no account of localhost is theirs; X Protocol has a port of its own.
PORT_OPTIONS = ("--skip-name-resolve", "--loose-mysqlx=OFF")


def missing_tls_reason(binary: Binary) -> str:
    """Why a server of this program can't offer TLS to today's clients, empty where it can."""
    if OLDEST_TLS not in printed_defaults(binary).get("tls-version", ""):
        return f"{binary.name} does not support {OLDEST_TLS}, which clients require"
    if shutil.which("openssl") is None and not binary.target.since("mysql", 8):
        return f"{binary.name} does not generate certificates: install openssl"
    return ""


def open_port_for_one(server: VariantServer, *, encrypted: bool) -> Login:
    """Restart a server with a port for one new account, which may log in through the socket too.

    Raises ProbeError where any other account gets in at the port; the server is ended first.
    """
    login = Login(USER, secrets.token_urlsafe(PASSWORD_BYTES))
    for user, host in server.query("SELECT user, host FROM mysql.user WHERE host <> 'localhost'"):
        server.query(f"DROP USER '{user}'@'{host}'")
    server.query(f"CREATE USER {USER}@'%' IDENTIFIED BY '{login.password}'")
    server.query(f"GRANT SELECT ON {DATABASE}.* TO {USER}@'%'")
    port = server.open_port(*PORT_OPTIONS, *(_certificates(server) if encrypted else ()))
    _require_closed_port(server, port)
    # The first login of MySQL 8 and later compares the password itself, the later ones a digest that it keeps.
    server.sandbox.connect(user=login.user, password=login.password).close()
    return login._replace(port=port)


def negotiated_cipher(server: VariantServer, login: Login) -> str:
    """The version of TLS and the cipher that a client of this host agrees on with the server."""
    import pymysql

    with (
        pymysql.connect(**login._replace(encrypted=True).options("", server.scratch_folder)) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("SHOW SESSION STATUS WHERE Variable_name IN ('Ssl_cipher', 'Ssl_version')")
        return ", ".join(value for _, value in sorted(cursor.fetchall(), reverse=True))


def _require_closed_port(server: VariantServer, port: int) -> None:
    import pymysql

    try:
        pymysql.connect(**Login(port=port).options("")).close()
    except pymysql.err.OperationalError:
        return
    server.sandbox.kill()
    raise ProbeError(f"{server.sandbox.binary.name} accepts root by TCP without a password, so it was stopped")


def _certificates(server: VariantServer) -> list[str]:
    """Make the files that clients use, in the room, and give the server's options: its own, or ones of openssl."""
    room = server.scratch_folder
    if shutil.which("openssl") is None:
        for ours, theirs in zip(CERTIFICATES, MADE_BY_SERVER, strict=True):
            shutil.copy(os.path.join(server.sandbox.datadir, theirs), os.path.join(room, ours))
        return []
    _self_signed(room, SERVER_CERTIFICATE, SERVER_KEY, RSA_KEY)
    _self_signed(room, CLIENT_CERTIFICATE, CLIENT_KEY, EC_KEY)  # cheap: ordinary clients show none
    files = {"cert": SERVER_CERTIFICATE, "key": SERVER_KEY, "ca": CLIENT_CERTIFICATE}
    return [f"--ssl-{what}={os.path.join(room, name)}" for what, name in files.items()]


def _self_signed(room: str, certificate: str, key: str, kind: tuple[str, ...]) -> None:
    """A certificate that is its own authority."""
    command = ["openssl", "req", "-x509", "-newkey", *kind, "-nodes", "-days", "2", "-subj", f"/CN={LOOPBACK}"]
    command += ["-addext", f"subjectAltName=IP:{LOOPBACK}", "-keyout", key, "-out", certificate]
    done = run_briefly(command, cwd=room)
    if done.returncode != 0:
        raise ProbeError("openssl did not create a certificate: " + " / ".join(done.stderr.strip().splitlines()[-1:]))
