"""For any answer of a server, an audit ends with what it could read and one clear line."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from hostile_server import Recording, error, hostile, key

from advisor.collect.connection.connect import ConnectionLimits
from advisor.collect.connection.options import Account
from advisor.core.errors import CONNECTION, ConnectError
from advisor.facts import Facts
from tests.hostile.conftest import AUDIT, Against, Alone, Turns, collected, ended_well, entered, said
from tests.hostile.framing import honest, later, only
from tests.hostile.noanswer import NO_ANSWER, SWITCHES, greeting_of, refused_answers, switch, together

# Denied, stopped, gone, unknown, of the client's own, of no server: what an error's number may be taken for.
CODES = (0, 1040, 1045, 1053, 1064, 1142, 1146, 1205, 1227, 1317, 1927, 2006, 2013, 2026, 2059, 3024, 9999, 65535)
PASSWORD = b"kanarienvogel"

both = pytest.mark.servers("mysql-8.0", "mariadb-10.11")
one = pytest.mark.servers("mariadb-10.11")


@both
def test_the_recorded_server_is_audited_like_a_real_one(recording: Recording, tmp_path: Path) -> None:
    """Without a mischief nothing is lost: what the others lose is the mischief's doing."""
    found = collected(recording, tmp_path / "h.sock", honest, ConnectionLimits())
    assert isinstance(found, Facts)
    assert not found.lost
    assert len(found.server.variables) > 400
    assert found.workload is not None


@one
@pytest.mark.parametrize("kind", sorted(NO_ANSWER.keys() - {"one byte"}))  # after which a server is waited for
def test_what_is_no_answer_is_said(against: Against, kind: str) -> None:
    """Broken packets, other columns, requests for files: what was read is reported, and no file is sent."""
    ended_well(against(only(later, NO_ANSWER[kind]), *AUDIT))
    assert not any(b"root:" in packet for packet in against.heard.packets)


@one
def test_no_answer_to_any_statement_breaks_an_audit(recording: Recording, tmp_path: Path, turns: Turns) -> None:
    """The same in place of a single answer, each kind for some of the statements, the first among them."""
    asked = list(recording.answers)
    for number, kind in enumerate(NO_ANSWER):
        for chosen in {(number + 5 * turn) % len(asked) for turn in range(turns(2))}:
            mischief = only(lambda statement, one=asked[chosen]: key(statement) == one, NO_ANSWER[kind])  # type: ignore[misc] # the loop's
            found = collected(recording, tmp_path / "h.sock", mischief)
            assert said(found).isprintable(), (kind, asked[chosen])


@one
def test_a_request_for_a_file_is_named(against: Against) -> None:
    """A server that answers with LOAD DATA LOCAL gets nothing, and is named as one that asked."""
    ended = against(only(later, NO_ANSWER["asks for a file"]), *AUDIT)
    assert "asks for a file of this host, and got none" in ended_well(ended, CONNECTION)
    asked_at = next(at for at, packet in enumerate(against.heard.packets) if b"SHOW GLOBAL VARIABLES" in packet)
    assert against.heard.packets[asked_at + 1 :] == []


@one
@pytest.mark.parametrize("command", ["collect", "sample"])
@pytest.mark.parametrize("kind", ["asks for a file", "no rows", "one column", "nothing but NULL", "an empty packet"])
def test_other_commands_end_as_well(against: Against, alone: Alone, command: str, kind: str, tmp_path: Path) -> None:
    """So do collect, whose snapshot can be audited, and sample."""
    path = tmp_path / "snap"
    words = ("-o", path, "--window", "0") if command == "collect" else ()
    ended_well(against(NO_ANSWER[kind], command, *words))
    if path.exists():
        ended_well(alone("audit", "--snapshot", path, "--isolated", "--format", "text"))


@both
@pytest.mark.parametrize("plugin", [*SWITCHES, "greeting"])
def test_a_password_is_not_given_away(recording: Recording, plugin: str) -> None:
    """Asked for the password itself at the login or in the greeting, over open TCP: one line, and it was never sent."""
    mischief = greeting_of(b"mysql_clear_password") if plugin == "greeting" else switch(SWITCHES[plugin])
    with hostile(recording, None, mischief) as (heard, port):
        found = entered(
            Account("reader", PASSWORD, host="127.0.0.1", port=port, ssl_mode="disabled"), ConnectionLimits()
        )
    assert isinstance(found, Facts) == (plugin == "greeting")  # that one lets everybody in
    assert PASSWORD.decode() not in said(found)
    assert heard.packets
    assert not any(PASSWORD in packet for packet in heard.packets)


@one
@pytest.mark.parametrize("mode", ["required", "verify-ca"])
def test_a_clear_password_is_for_verified_servers(recording: Recording, mode: str, tmp_path: Path) -> None:
    """Over TLS the password itself goes to a server whose certificate was verified, and to no other."""
    path, context = certificate(tmp_path), ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(path)
    asking = together(greeting_of(b"mysql_native_password", tls=True), switch(SWITCHES["mysql_clear_password"], 3))
    with hostile(recording, None, asking, context) as (heard, port):
        authority = str(path) if mode == "verify-ca" else None
        account = Account("reader", PASSWORD, host="127.0.0.1", port=port, ssl_mode=mode, ssl_ca=authority)
        found = entered(account, ConnectionLimits())
    assert isinstance(found, Facts) == (mode == "verify-ca"), said(found)
    assert any(PASSWORD in packet for packet in heard.packets) == (mode == "verify-ca")


def certificate(folder: Path) -> Path:
    """A certificate of this host's, made for the occasion, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    secret = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    path = folder / "server.pem"
    path.write_bytes(secret + made.public_bytes(serialization.Encoding.PEM))
    return path


@both
@pytest.mark.parametrize("code", CODES)
def test_errors_in_place_of_answers_are_reasons(recording: Recording, code: int, tmp_path: Path) -> None:
    """For any number of the error, each part says why it is missing, in text that acts on nothing."""
    found = collected(recording, tmp_path / "h.sock", refused_answers(code))
    assert isinstance(found, ConnectError) or not found.server.variables
    assert said(found).isprintable()


@both
@pytest.mark.parametrize("word", ["SHOW", "STATUS"])
def test_the_longest_error_is_cut(recording: Recording, word: str, tmp_path: Path) -> None:
    """No reason is longer than a server's own errors are, nor the error where no variables are shown."""
    big = only(lambda statement: word in statement, lambda _, __: [error(1105, b"x" * 100_000)])
    found = collected(recording, tmp_path / "h.sock", big, ConnectionLimits())
    assert isinstance(found, ConnectError) == (word == "SHOW")
    reasons = [str(found)] if isinstance(found, ConnectError) else [gap.reason for gap in found.unavailable]
    assert 0 < max(map(len, reasons)) < 1000
