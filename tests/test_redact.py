"""Secrets are taken out wherever they stand, policy about passwords isn't, and text of others stays harmless."""

from __future__ import annotations

import base64
import csv
import re
import unicodedata
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.catalog import load
from advisor.catalog.targets import SERIES
from advisor.core.model import Target
from advisor.redaction import MASK, escape_text, is_secret, redact_arguments, redact_text, redact_value
from advisor.redaction.scrub import mask_sql

if TYPE_CHECKING:
    from pathlib import Path

SECRET = [
    "password", "Password", "pass", "passw", "password1", "report-password", "report_password", "loose-report-password",
    "wsrep_sst_auth", "s3_secret_key", "s3-access-key", "hashicorp_key_management_token", "ssl_passphrase",
    "keyring_hashicorp_secret_id", "keyring_encrypted_file_password", "handlersocket_plain_secret", "master-password",
    "authentication_ldap_simple_bind_root_pwd", "component_keyring.password", "wsrep-sst-au", "s3_se", "report_pa",
    "hashicorp_key_management_tok", "report_passwrod", "report_passwort", "REPORT-PASWORD", "--report-password",
    "file_key_management_filekey", "loose-file-key-management-filek", "encrypt-key", "azure-access-key", "swift-key",
    "AWS_SECRET_ACCESS_KEY", "cloud-secret-access-key", "MARIADB_ROOT_PASSWORD_HASH", "rootpassword", "rootPassword",
    "auth.replicationPassword", "secretAccessKey", "telemetry.otel_exporter_otlp_traces_headers", "MYSQL_ROOT_PASSWORD",
]  # fmt: skip
PUBLIC = [
    "old_passwords", "validate_password", "validate_password_policy", "validate_password.length", "password_history",
    "default_password_lifetime", "disconnect_on_expired_password", "mysql_native_password", "caching_sha2_password",
    "log_builtin_as_identified_by_password", "caching_sha2_password_private_key_path", "innodb_ft_max_token_size",
    "version_tokens_session", "strict_password_validation", "max_password_errors", "secure_auth", "pas", "passive",
    "s3_bucket", "wsrep_sst_donor", "hashicorp_key_management_timeout", "report_port", "handlersocket_port", "words",
    "encrypt_key_file", "file_key_management_filename", "innodb_default_encryption_key_id", "passwordHistory",
    "aws_key_management_master_key_id", "AWS_ACCESS_KEY_ID", "secretName", "encryptKeyFile", "VALIDATE_PASSWORD",
]  # fmt: skip


@pytest.mark.parametrize("name", SECRET)
def test_a_secret_is_known_by_its_name(name: str) -> None:
    """Every way of writing the name of a secret option hides its value."""
    assert is_secret(name)
    assert redact_value(name, "hunter2") == MASK


@pytest.mark.parametrize("name", PUBLIC)
def test_policy_about_passwords_is_no_secret(name: str) -> None:
    """Options that merely have password in their names keep their values: rules need them."""
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
    assert masked <= {"file_key_management_filekey", "wsrep_sst_auth", "report_password"}


def test_secrets_of_the_catalogs_are_these() -> None:
    """Of all options that any target knows, these are secret and no other: a mask that is too wide hides settings."""
    targets = [Target(flavour, version) for flavour, found in SERIES.items() for version in found.values()]
    assert {name for target in targets for name in load(target).options if is_secret(name)} == {
        "file_key_management_filekey",
        "handlersocket_plain_secret",
        "handlersocket_plain_secret_wr",
        "hashicorp_key_management_token",
        "keyring_migration_password",
        "report_password",
        "s3_access_key",
        "s3_secret_key",
        "ssl_passphrase",
        "wsrep_sst_auth",
    }


VALUES = {
    "SET PASSWORD = 'hunter2'": "SET PASSWORD ********",
    "CREATE USER u IDENTIFIED BY 'hunter2'; SET @a=1": "CREATE USER u IDENTIFIED BY '********'; SET @a=1",
    "ALTER USER u IDENTIFIED WITH x AS 'hunter2'": "ALTER USER u IDENTIFIED WITH x AS '********'",
    "CHANGE MASTER TO MASTER_PASSWORD='hunter2'": "CHANGE MASTER TO MASTER_PASSWORD='********'",
    "http://me:hunter2@proxy:80/x": "http://me:********@proxy:80/x",
    "gcs.fc_limit=1;socket.ssl_password=hunter2;b=2": "gcs.fc_limit=1;socket.ssl_password=********;b=2",
    "socket.ssl_password='hunter2';b=2": "socket.ssl_password='********';b=2",
    "ALTER USER u IDENTIFIED VIA ed25519 USING 'hunter2' OR unix_socket": (
        "ALTER USER u IDENTIFIED VIA ed25519 USING '********' OR unix_socket"
    ),
    "ALTER USER u IDENTIFIED WITH x AS 0x24412430": "ALTER USER u IDENTIFIED WITH x AS ********",
    "ALTER USER u IDENTIFIED BY 'hunter2' REPLACE 'old'": "ALTER USER u IDENTIFIED BY '********' REPLACE '********'",
    "CREATE SERVER s OPTIONS (PASSWORD 'hunter2')": "CREATE SERVER s OPTIONS (PASSWORD '********')",
    "INSERT INTO log VALUES ('hunter2', \"hunter2\")": "INSERT INTO log VALUES ('********', \"********\")",
    "gcomm://u:hun@ter/2@10.0.0.1,10.0.0.2": "gcomm://u:********@10.0.0.1,10.0.0.2",
    "exporter:hunter2@tcp(db:3306)/": "exporter:********@tcp(db:3306)/",
    "http://h/x?user=u&password=hunter2&z=1": "http://h/x?user=u&password=********&z=1",
    "/usr/bin/mysqladmin -u root -phunter2 ping": "/usr/bin/mysqladmin -u root -p******** ping",
    "/usr/bin/find /var/lib/mysql -print": "/usr/bin/find /var/lib/mysql -print",
    "mkdir -p /run/mysqld": "mkdir -p /run/mysqld",
    "SET GLOBAL report_password = hunter2; -- why": "SET GLOBAL report_password = ********; -- why",
    "http://proxy:80/x": "http://proxy:80/x",
    "SET NAMES 'utf8mb4', sql_mode = 'ANSI'": "SET NAMES 'utf8mb4', sql_mode = 'ANSI'",
    "/var/lib/mysql": "/var/lib/mysql",
    "SET NAMES utf8mb4": "SET NAMES utf8mb4",
}


@pytest.mark.parametrize(("value", "shown"), VALUES.items())
def test_passwords_inside_values_are_masked(value: str, shown: str) -> None:
    """Statements, addresses and lists of pairs lose the password in them and nothing else."""
    assert redact_value("init_connect", value) == shown


TEXTS = {
    "mysql -h db -P 3306 -uroot -phunter2 -e x": "mysql -h db -P 3306 -uroot -p******** -e x",
    "mysqldump -P3306 -phunter2 --all": "mysqldump -P3306 -p******** --all",
    "mysqladmin -u root password hunter2": "mysqladmin -u root password ********",
    'mysqladmin password \\"hunter2\\" x': 'mysqladmin password \\"********\\" x',
    'mysql -p\\"hunter2\\" x': 'mysql -p\\"********\\" x',
    "SET PASSWORD = 'a;hunter2'; SET @a=1": "SET PASSWORD ********; SET @a=1",
    "SET @password := 'hunter2'": "SET @password := '********'",
    '"--password=two words hunter2"': '"--password=********"',
    '"socket.ssl_password=hunter2;gcs.fc_limit=1"': '"socket.ssl_password=********;gcs.fc_limit=1"',
    '"password=hunter2 user=me"': '"password=******** user=me"',
    "mysql -h db -P 3306 -e x": "mysql -h db -P 3306 -e x",
    "ExecStartPost=/bin/curl -sS -u app:hunter2 https://h/x": "ExecStartPost=/bin/curl -sS -u app:******** https://h/x",
    "curl -su 'app:hunter2' https://h": "curl -su 'app:********' https://h",
    "curl --user-agent a:b --user app:hunter2 h": "curl --user-agent a:b --user app:******** h",
    "curl -u app https://h:443/x": "curl -u app https://h:443/x",
    "sshpass -phunter2 ssh h": "sshpass -p******** ssh h",
    "sshpass -p 'hunter2' ssh h": "sshpass -p '********' ssh h",
    "curl -H 'Authorization: Bearer hunter2' h": "curl -H 'Authorization: Bearer ********' h",
    "https://h/c?sv=2020&sig=hunter2%3D&se=1": "https://h/c?sv=2020&sig=********&se=1",
    "https://h/c?X-Amz-Signature=hunter2": "https://h/c?X-Amz-Signature=********",
    "authorization: RBAC": "authorization: RBAC",
}


@pytest.mark.parametrize(("text", "shown"), TEXTS.items())
def test_passwords_in_texts_are_masked(text: str, shown: str) -> None:
    """Commands, statements and pairs in the text of a server or a file lose the password and nothing else."""
    assert redact_value("", text) == shown


@pytest.mark.parametrize(
    ("name", "value"), [("file_key_management_filekey", "FILE:/etc/mysql/key"), ("ssl_passphrase", "'env:PHRASE'")]
)
def test_the_place_of_a_secret_is_shown(name: str, value: str) -> None:
    """What names the file or variable that holds a secret is none, and the file with such a line holds none."""
    assert redact_value(name, value) == value
    assert redact_text(f"{name} = {value}").lines == ()
    assert redact_text(f"{name} = hunter2").lines == (1,)


APART = {
    "- name: MYSQL_PWD\n  value: two hunter2\n- name: TZ\n  value: UTC": (
        "- name: MYSQL_PWD\n  value: ********\n- name: TZ\n  value: UTC"
    ),
    '- value: "hunter2"\n  name: MYSQL_PWD': '- value: "********"\n  name: MYSQL_PWD',
    "- name: MYSQL_PWD\n  valueFrom: x\n- name: TZ\n  value: UTC": (
        "- name: MYSQL_PWD\n  valueFrom: x\n- name: TZ\n  value: UTC"
    ),
    '  name  = "report_password"\n  value = "hunter2"': '  name  = "report_password"\n  value = "********"',
    '{"name":"MYSQL_PWD","value":"hunter2"},{"name":"TZ","value":"UTC"}': (
        '{"name":"MYSQL_PWD","value":"********"},{"name":"TZ","value":"UTC"}'
    ),
    '{"ParameterKey": "rootPassword", "ParameterValue": "hunter2"}': (
        '{"ParameterKey": "rootPassword", "ParameterValue": "********"}'
    ),
    "rootPassword: |\n  hunter2\nport: 1": "rootPassword: |\n  ********\nport: 1",
    "db-secret: |\n  [mysqld]\n  port = 1\n  report_password = hunter2": (
        "db-secret: |\n  [mysqld]\n  port = 1\n  report_password = ********"
    ),
    "-----BEGIN RSA PRIVATE KEY-----\nhunter2\nhunter2\n-----END RSA PRIVATE KEY-----\nport": (
        "-----BEGIN RSA PRIVATE KEY-----\n********\n********\n-----END RSA PRIVATE KEY-----\nport"
    ),
    "# -----BEGIN PRIVATE KEY----- goes elsewhere\nport = 1": "# -----BEGIN PRIVATE KEY----- goes elsewhere\nport = 1",
    f"data:\n  my.cnf: {base64.b64encode(b'[client]' + bytes([10]) + b'password = hunter2').decode()}\n": (
        "data:\n  my.cnf: ********\n"
    ),
}


@pytest.mark.parametrize(("text", "shown"), APART.items())
def test_secrets_apart_from_their_names(text: str, shown: str) -> None:
    """In documents a name may be on another line than its value, or both in base64; nothing beside is masked."""
    assert redact_text(text).text == shown
    assert redact_text(shown).text == shown


def test_values_in_errors_of_replicas_are_masked() -> None:
    """What a row held is user data, with any characters."""
    error = (
        "Could not execute Write_rows event on table d.t; Duplicate entry 'hunter2\nx' for key 'u', Error_code: 1062"
    )
    shown = mask_sql({"Last_SQL_Error": error})["Last_SQL_Error"] or ""
    assert "hunter2" not in shown
    assert shown.endswith("for key 'u', Error_code: 1062")


def test_a_file_keeps_its_lines() -> None:
    """Secrets in options and in comments are masked, line endings and the rest stay, the lines are listed."""
    text = '[client]\r\nuser=me\npassword = "hunter2"\r\n# password=hunter2\npass\nssl_passphrase=hunter2'
    shown = redact_text(text)
    assert shown.text == f"[client]\r\nuser=me\npassword = {MASK}\r\n# password={MASK}\npass\nssl_passphrase={MASK}"
    assert shown.lines == (3, 4, 6)


@given(st.text())
def test_redacting_never_moves_a_line(text: str) -> None:
    """Any file has as many lines afterwards, and redacting again changes nothing."""
    shown = redact_text(text)
    assert shown.text.count("\n") == text.count("\n")
    assert redact_text(shown.text).text == shown.text


LINES = {
    "--password=hunter2 and more": "--password=********",
    "report_password hunter2": "report_password ********",
    "report_password: hunter2": "report_password: ********",
    "report_password my hunter2": "report_password ********",
    "report_password=mypassword # why": "report_password=********",
    "ENV MYSQL_ROOT_PASSWORD hunter2": "ENV MYSQL_ROOT_PASSWORD ********",
    "      MYSQL_ROOT_PASSWORD: a long hunter2": "      MYSQL_ROOT_PASSWORD: ********",
    "      - MYSQL_ROOT_PASSWORD=a long hunter2": "      - MYSQL_ROOT_PASSWORD=********",
    'Environment="MYSQL_PWD=a long hunter2" LANG=C': 'Environment="MYSQL_PWD=********" LANG=C',
    "  rootPassword: hunter2": "  rootPassword: ********",
    "'root_password' => 'hunter2',": "'root_password' => '********',",
    'state: "{\\"password\\": \\"hunter2\\"}"': 'state: "{\\"password\\": \\"********\\"}"',
    "# root password: hunter2": "# root password: ********",
    "# mysqldump -uroot -p'hunter2 x' --all": "# mysqldump -uroot -p'********' --all",
    '  "password": "hunter2",': '  "password": "********",',
    "report_host = db1 # password=hunter2": "report_host = db1 # password=********",
    "init_connect = \"SET @a = 'hunter2'\"": "init_connect = \"SET @a = '********'\"",
    "# passwords are kept elsewhere": "# passwords are kept elsewhere",
    "validate_password.policy = STRONG": "validate_password.policy = STRONG",
    "automountServiceAccountToken: true": "automountServiceAccountToken: true",
    '  - MARIADB_ALLOW_EMPTY_ROOT_PASSWORD: "false"': '  - MARIADB_ALLOW_EMPTY_ROOT_PASSWORD: "false"',
    '{"name": "X_PASSWORD", "value": "null"}': '{"name": "X_PASSWORD", "value": "null"}',
}


@pytest.mark.parametrize(("line", "shown"), LINES.items())
def test_lines_of_files(line: str, shown: str) -> None:
    """Passwords in comments, without `=`, or in another notation are masked, and nothing beside them."""
    assert redact_text(line).text == shown


def test_lines_that_hold_a_secret_for_sure() -> None:
    """What is masked to be safe doesn't make a file one that holds a secret: rules call such a file an error."""
    safe = ["init_connect = \"INSERT INTO log.t VALUES ('x')\"", "# password: ask the administrator", "port = 1"]
    sure = ["init_connect = SET PASSWORD = 'x'", "# password = x", "report_password x", "--report-password=x"]
    assert redact_text("\n".join([*safe, *sure])).lines == (4, 5, 6, 7)


PLACES = (
    *("--report-password={}", "MASTER_PASSWORD='{}'", 'password = "{}"', "IDENTIFIED BY '{}'", "mysql://root:{}@db/x"),
    *("mysql -P 3306 -p{}", "mysqladmin password {}", "SET @password := '{}'", "- MYSQL_PWD={}"),
    *("a=1;socket.ssl_password={}", "mysql -uroot -p{}", "u:{}@tcp(db:1)/", "x?password={}&y=1", "SET PASSWORD = '{}'"),
)


@given(st.sampled_from(PLACES), st.text(), st.text("abcXYZ019!#$%*+./:<>?@[]^_{|}~-"), st.text())
def test_no_password_is_left_in_any_text(place: str, before: str, password: str, after: str) -> None:
    """In any surroundings and of any characters: of a password that says what it is no part comes out."""
    text = f"{before} {place.format(f'kanarienvogel{password}kanarienvogel')} {after}"
    shown = redact_value("", text)
    assert "kanarienvogel" not in shown
    assert redact_value("", shown) == shown


MADE = (
    *("://a:", "a=", "password=", "mysql -p ", "'", "identified by '", "x@(", "\\", "set password", "p" * 100),
    *("mysqladmin ", '"password=', "name: password value", "value: ", "name: password\nvalue: ", "password: |\n "),
    *("-----BEGIN PRIVATE KEY-----\n", "key: password\n", "data: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa "),
)


@pytest.mark.parametrize("piece", MADE)
def test_a_text_that_is_made_to_take_long(piece: str) -> None:
    """A hundred thousand characters that patterns begin with are looked through in one go, or this never ends."""
    text = f"@ -p mysql password identified by {piece * (100_000 // len(piece))}@"
    assert redact_text(redact_text(text).text).text.count("\n") == text.count("\n")


def test_an_empty_password_is_no_secret() -> None:
    """A password option without a value is shown unchanged: there is nothing to hide, and much to report."""
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
    shown = escape_text(text)
    assert {unicodedata.category(c) for c in shown} & {"Cc", "Cs", "Zl", "Zp"} == set()
    assert not set(shown) & set("\u200b\u200e\u200f\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")


def test_cleaned_text_shows_what_was_there() -> None:
    """What is harmless stays, what isn't shows as its number."""
    assert escape_text("pool\u3164size \u115f") == "pool\\u3164size \\u115f"
    assert escape_text("Größe 日本 \x1b[2J\n\udcff") == "Größe 日本 \\x1b[2J\\x0a\\xff"


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


@given(st.lists(st.sampled_from(["pas", "s", "w", "o", "r", "d", "_", "x", "report"]), max_size=9).map("".join))
def test_the_end_of_a_name_decides(name: str) -> None:
    """A name is a misspelt secret where the pattern matches behind its last underscore, and only there."""
    if re.search(r"(?:^|_)pas(?:s+w?o?r?d?|w?o?r?d|wo?r?)$", name.lstrip("_")):
        assert is_secret(name)


@given(st.text(st.sampled_from("\t\n a\x1b\u202e\xa0é")))
def test_each_harmful_character_is_escaped_alone(text: str) -> None:
    """A tab becomes a space, harmless characters stay, and no character changes what becomes of the others."""
    assert escape_text(text) == "".join(map(escape_text, text))
    assert escape_text("\t") == " "
