"""The login path file ~/.mylogin.cnf: option lines obfuscated by mysql_config_editor."""

from __future__ import annotations

import os
import stat
import struct

from advisor.core.errors import ConnectError
from advisor.optionfile import parse
from advisor.optionfile.lines import LineKind

# mysql_config_editor's format: four unused bytes, twenty bytes of key, then one chunk per line, preceded by its
# length.
_UNUSED = 4
_KEY_STORED = 20
_KEY_USED = 16
_BLOCK = 16
_LARGEST = 1 << 20


def login_file() -> str:
    """The path of the file: MYSQL_TEST_LOGIN_FILE, as MySQL's clients use it, or ~/.mylogin.cnf."""
    return os.environ.get("MYSQL_TEST_LOGIN_FILE") or os.path.expanduser("~/.mylogin.cnf")


def login_lines(wanted: str | None) -> list[tuple[str, str, str]]:
    """(group, option, value) of every line of the file; empty if it does not exist.

    Raises ConnectError if a login path was requested and the file is missing, lacks it, or is damaged.
    """
    path = login_file()
    if not os.path.exists(path):
        if wanted:
            raise ConnectError(f"--login-path {wanted}: {path} does not exist; make it with mysql_config_editor")
        return []
    lines = [
        (line.group, line.name, line.value or "")
        for line in parse(_read_login_path(path), path).lines
        if line.kind is LineKind.OPTION and line.group and line.name
    ]
    if wanted and wanted not in {group for group, _, _ in lines}:
        raise ConnectError(f"--login-path {wanted} is not in {path}; mysql_config_editor print --all lists what is")
    return lines


def _read_login_path(path: str) -> bytes:
    try:
        if stat.S_IMODE(os.stat(path).st_mode) & (stat.S_IRWXG | stat.S_IRWXO):
            raise ConnectError(f"{path} can be read by others, so MySQL ignores it and so do we; run: chmod 600 {path}")
        with open(path, "rb") as file:
            data = file.read(_LARGEST)
    except OSError as error:
        raise ConnectError(f"{path} can't be read ({error.strerror}); give --defaults-file instead") from error
    try:
        return _decrypt(data)
    except (ValueError, struct.error) as error:
        raise ConnectError(f"{path} is damaged ({error}); make it again with mysql_config_editor") from error


def _decrypt(data: bytes) -> bytes:
    try:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    except ImportError as error:
        raise ConnectError("login paths need the package cryptography; install it beside mycnf") from error
    key = bytearray(_KEY_USED)
    for i, byte in enumerate(data[_UNUSED : _UNUSED + _KEY_STORED]):
        key[i % _KEY_USED] ^= byte
    cipher = Cipher(algorithms.AES128(bytes(key)), modes.ECB())  # noqa: S305 - the file's own format
    plain = b""
    at = _UNUSED + _KEY_STORED
    while at < len(data):
        (length,) = struct.unpack_from("<i", data, at)
        chunk = data[at + 4 : at + 4 + length]
        if length <= 0 or length % _BLOCK or len(chunk) != length:
            raise ValueError("a line is cut off")
        opened = cipher.decryptor().update(chunk)
        plain += opened[: len(opened) - opened[-1]]
        at += 4 + length
    return plain
