"""Secrets are taken out wherever they stand, policy about passwords isn't, and text of others stays harmless."""

from __future__ import annotations

import csv
import unicodedata
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.redact import MASK, clean, is_secret, redact_arguments, redact_text, redact_value

if TYPE_CHECKING:
    from pathlib import Path

SECRET = [
    "password", "Password", "pass", "passw", "password1", "report-password", "report_password", "loose-report-password",
    "wsrep_sst_auth", "s3_secret_key", "s3-access-key", "hashicorp_key_management_token", "ssl_passphrase",
    "keyring_hashicorp_secret_id", "keyring_encrypted_file_password", "handlersocket_plain_secret", "master-password",
    "authentication_ldap_simple_bind_root_pwd",
]  # fmt: skip
PUBLIC = [
    "old_passwords", "validate_password", "validate_password_policy", "validate_password.length", "password_history",
    "default_password_lifetime", "disconnect_on_expired_password", "mysql_native_password", "caching_sha2_password",
    "log_builtin_as_identified_by_password", "caching_sha2_password_private_key_path", "innodb_ft_max_token_size",
    "version_tokens_session", "strict_password_validation", "max_password_errors", "secure_auth", "pas", "passive",
]  # fmt: skip


@pytest.mark.parametrize("name", SECRET)
def test_a_secret_is_known_by_its_name(name: str) -> None:
    """Every way of writing the name of a secret option hides its value."""
    assert is_secret(name)
    assert redact_value(name, "hunter2") == MASK


@pytest.mark.parametrize("name", PUBLIC)
def test_policy_about_passwords_is_no_secret(name: str) -> None:
    """Options that merely speak of passwords keep their values: rules need them."""
    assert not is_secret(name)
    assert redact_value(name, "ON") == "ON"


def test_no_variable_of_a_default_server_loses_its_value(shared: Path) -> None:
    """Of all variables that real servers show at their defaults, only true secrets are masked."""
    masked = set()
    for file in sorted(shared.glob("catalog/servers/*/global-variables.tsv")):
        with file.open(encoding="utf-8", newline="") as rows:
            masked |= {
                row[0].lower()
                for row in csv.reader(rows, delimiter="\t", quoting=csv.QUOTE_NONE)
                if row and is_secret(row[0])
            }
    assert masked <= {"wsrep_sst_auth", "report_password"}


VALUES = {
    "SET PASSWORD = 'hunter2'": "SET PASSWORD ********",
    "CREATE USER u IDENTIFIED BY 'hunter2'; SET @a=1": "CREATE USER u IDENTIFIED BY '********'; SET @a=1",
    "ALTER USER u IDENTIFIED WITH x AS 'hunter2'": "ALTER USER u IDENTIFIED WITH x AS '********'",
    "CHANGE MASTER TO MASTER_PASSWORD='hunter2'": "CHANGE MASTER TO MASTER_PASSWORD='********'",
    "http://me:hunter2@proxy:80/x": "http://me:********@proxy:80/x",
    "gcs.fc_limit=1;socket.ssl_password=hunter2;b=2": "gcs.fc_limit=1;socket.ssl_password=********;b=2",
    "/var/lib/mysql": "/var/lib/mysql",
    "SET NAMES utf8mb4": "SET NAMES utf8mb4",
}


@pytest.mark.parametrize(("value", "shown"), VALUES.items())
def test_passwords_inside_values_are_masked(value: str, shown: str) -> None:
    """Statements, addresses and lists of pairs lose the password in them and nothing else."""
    assert redact_value("init_connect", value) == shown


def test_a_file_keeps_its_lines() -> None:
    """Secrets in options and in comments are masked, line endings and the rest stay, the lines are told."""
    text = '[client]\r\nuser=me\npassword = "hunter2"\r\n# password=hunter2\npass\nssl_passphrase=hunter2'
    shown = redact_text(text)
    assert shown.text == f"[client]\r\nuser=me\npassword = {MASK}\r\n# password={MASK}\npass\nssl_passphrase={MASK}"
    assert shown.lines == (3, 4, 6)


@given(st.text())
def test_redacting_never_moves_a_line(text: str) -> None:
    """Whatever stands in a file, it has as many lines afterwards, and redacting again changes nothing."""
    shown = redact_text(text)
    assert shown.text.count("\n") == text.count("\n")
    assert redact_text(shown.text).text == shown.text


def test_an_empty_password_is_no_secret() -> None:
    """A password option without a value is shown as it is: there is nothing to hide, and much to say."""
    assert redact_text("password=\npassword=''\n").lines == ()


def test_command_lines_lose_their_secrets() -> None:
    """Both ways of giving an option its value are seen."""
    given_ = ("mysqld", "--report-password=hunter2", "--report_password", "hunter2", "--user=mysql")
    assert redact_arguments(given_) == (
        "mysqld",
        f"--report-password={MASK}",
        "--report_password",
        MASK,
        "--user=mysql",
    )


@given(st.text() | st.binary().map(lambda b: b.decode("utf-8", "surrogateescape")))
def test_cleaned_text_is_harmless(text: str) -> None:
    """No control character, no mark that hides or turns text and no half character is left, on one line."""
    shown = clean(text)
    assert {unicodedata.category(c) for c in shown} & {"Cc", "Cs", "Zl", "Zp"} == set()
    assert not set(shown) & set("\u200b\u200e\u200f\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")


def test_cleaned_text_shows_what_was_there() -> None:
    """What is harmless stays, what isn't shows as its number."""
    assert clean("Größe 日本 \x1b[2J\n\udcff") == "Größe 日本 \\x1b[2J\\x0a\\xff"


@pytest.mark.parametrize(
    "name", ["report_pass", "report-passw", "report_pasword", "pass", "passwor", "loose_master-pasw"]
)
def test_abbreviated_and_mistyped_names_of_passwords_are_secret(name: str) -> None:
    """What MariaDB takes for a password's option, and what its writer meant as one, is masked."""
    assert is_secret(name)


@pytest.mark.parametrize("name", ["password_history", "bypass", "compass", "password_lock_time", "passive_mode"])
def test_names_that_only_look_like_a_password_are_not_secret(name: str) -> None:
    """Policies of passwords, and words that end alike, keep their values."""
    assert not is_secret(name)
