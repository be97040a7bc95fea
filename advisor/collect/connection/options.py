"""Connection options: the command line overrides option files and the login path."""

from __future__ import annotations

import getpass
import os
import stat
import struct
import sys
from dataclasses import dataclass, field, replace

from advisor.collect.connection.sockets import default_socket
from advisor.core.errors import ConnectError, ConnectOptionsError, MycnfError
from advisor.optionfile import parse, resolve
from advisor.optionfile.lines import LineKind
from advisor.verdict.words import OFF

# The groups that the interactive clients of MySQL and MariaDB read, and mycnf's own group.
GROUPS = ("client", "client-server", "client-mariadb", "mysql", "mariadb-client", "mycnf")
GLOBAL_FILES = ("/etc/my.cnf", "/etc/mysql/my.cnf")
DEFAULT_PORT = 3306
HIGHEST_PORT = 65535
SSL_MODES = ("disabled", "preferred", "required", "verify-ca", "verify-identity")

# mysql_config_editor's format: four unused bytes, twenty bytes of key, then one chunk per line, preceded by its
# length.
_UNUSED = 4
_KEY_STORED = 20
_KEY_USED = 16
_BLOCK = 16
_LARGEST = 1 << 20


@dataclass(frozen=True, slots=True)
class ConnectRequest:
    """The user's connection options; None if not given. It deliberately has no password."""

    socket: str | None = None
    host: str | None = None
    port: int | None = None
    user: str | None = None
    ask_password: bool = False
    defaults_file: str | None = None
    defaults_extra_file: str | None = None
    defaults_group_suffix: str | None = None
    login_path: str | None = None
    ssl_mode: str | None = None
    ssl_ca: str | None = None
    ssl_cert: str | None = None
    ssl_key: str | None = None


@dataclass(frozen=True, slots=True)
class Account:
    """Where to connect and as whom. `socket` is None for TCP; the password never appears in a repr.

    `credential_source` describes where the password came from, for the message about a wrong password.
    """

    user: str
    password: bytes = field(default=b"", repr=False)
    credential_source: str = "no password was given"
    socket: str | None = None
    host: str = "localhost"
    port: int = DEFAULT_PORT
    ssl_mode: str = ""
    ssl_ca: str | None = None
    ssl_cert: str | None = None
    ssl_key: str | None = None

    @property
    def place(self) -> str:
        """The server's address as text."""
        return f"socket {self.socket}" if self.socket else f"{self.host}:{self.port}"


def resolve_account(request: ConnectRequest) -> Account:
    """Resolve the account to connect with; prompts for a password if requested.

    Raises ConnectError if no socket is found, ConnectOptionsError if a file cannot be read or an option is invalid.
    """
    options = _options_from_files(request)
    if request.ssl_ca:
        options["ssl-ca"] = (request.ssl_ca, "--ssl-ca")
    mode = _ssl_mode(request.ssl_mode or options.get("ssl-mode", ("", ""))[0], options)
    chosen = _endpoint(request, options)
    password, source = options.get("password", ("", ""))
    chosen = replace(
        chosen,
        user=request.user or options.get("user", (_system_user(), ""))[0],
        password=password.encode("utf-8", "surrogateescape"),
        credential_source=f"password from {source}" if password else "no password was given",
        ssl_mode=mode,
        ssl_ca=options.get("ssl-ca", (None, ""))[0],
        ssl_cert=request.ssl_cert or options.get("ssl-cert", (None, ""))[0],
        ssl_key=request.ssl_key or options.get("ssl-key", (None, ""))[0],
    )
    return _ask_password(chosen) if request.ask_password else chosen


def _options_from_files(request: ConnectRequest) -> dict[str, tuple[str, str]]:
    """Option name (with dashes) to value and location; later lines win."""
    groups = _groups(request)
    options: dict[str, tuple[str, str]] = {}
    for path in _files(request):
        for placed in resolve([path], on_host=True).options:
            if placed.line.group in groups and placed.line.name:
                options[_name(placed.line.name)] = (placed.line.value or "", placed.path)
    for group, name, value in login_lines(request.login_path):
        if group in groups or group == request.login_path:
            options[_name(name)] = (value, f"{login_file()} [{group}]")
    return options


def _files(request: ConnectRequest) -> list[str]:
    if request.defaults_file == os.devnull:  # makes the servers' clients read no option files
        return []
    if request.defaults_file is not None:
        if not os.path.exists(request.defaults_file):
            raise ConnectOptionsError(f"--defaults-file {request.defaults_file} does not exist; name an option file")
        return [request.defaults_file]
    if request.defaults_extra_file and not os.path.exists(request.defaults_extra_file):
        missing = f"--defaults-extra-file {request.defaults_extra_file} does not exist"
        raise ConnectOptionsError(f"{missing}; name an option file, or omit it")
    extra = [request.defaults_extra_file] if request.defaults_extra_file else []
    usual = [*GLOBAL_FILES, *extra, os.path.expanduser("~/.my.cnf")]
    return [path for path in usual if os.path.isfile(path) and os.access(path, os.R_OK)]


def _groups(request: ConnectRequest) -> frozenset[str]:
    suffix = request.defaults_group_suffix or os.environ.get("MYSQL_GROUP_SUFFIX", "")
    return frozenset(GROUPS) | {group + suffix for group in GROUPS}


def _name(name: str) -> str:
    plain = name.lower().replace("_", "-").removeprefix("loose-")
    return "password" if len(plain) >= len("pass") and "password".startswith(plain) else plain


def _endpoint(request: ConnectRequest, options: dict[str, tuple[str, str]]) -> Account:
    """Socket or TCP, by the rules of the servers' clients: `localhost` means the socket unless a port is given."""
    name, colon, number = (request.host or "").partition(":")
    if name and colon and number.isdecimal():
        raise MycnfError(f"--host {request.host} has a port in it; write --host {name} --port {number}")
    host = request.host or ("" if request.socket else options.get("host", ("", ""))[0])
    port = _port(options) if request.port is None else request.port
    if not 0 < port <= HIGHEST_PORT:
        raise MycnfError(f"--port {port} is not a TCP port; write a number from 1 to {HIGHEST_PORT}")
    by_tcp = options.get("protocol", ("", ""))[0].lower() == "tcp" or (request.port is not None and not request.socket)
    if host not in ("", "localhost") or (by_tcp and not request.socket):
        return Account("", host=host or "127.0.0.1", port=port)
    return Account("", socket=request.socket or options.get("socket", ("", ""))[0] or default_socket())


def _port(options: dict[str, tuple[str, str]]) -> int:
    text, path = options.get("port", (str(DEFAULT_PORT), ""))
    if not text.isdecimal() or not 0 < int(text) <= HIGHEST_PORT:
        raise ConnectOptionsError(f"port={text!r} in {path} is not a TCP port; write a number from 1 to {HIGHEST_PORT}")
    return int(text)


def _ssl_mode(text: str, options: dict[str, tuple[str, str]]) -> str:
    """One of SSL_MODES, or empty if not set; MariaDB's own options are accepted too."""
    if text:
        mode = text.lower().replace("_", "-")
        if mode not in SSL_MODES:
            raise ConnectOptionsError(f"ssl-mode {text!r} is unknown; use one of {', '.join(SSL_MODES)}")
        return mode
    if "skip-ssl" in options or options.get("ssl", ("1", ""))[0].lower() in OFF:
        return "disabled"
    verify = options.get("ssl-verify-server-cert")
    if verify is not None and verify[0].lower() not in OFF:
        return "verify-identity"  # without a CA of its own, by those of the system
    return "verify-ca" if "ssl-ca" in options else ""


def _ask_password(chosen: Account) -> Account:
    try:
        typed = _read_password(f"Password of {chosen.user}: ")
    except (EOFError, OSError) as error:
        raise ConnectError(
            "there is no terminal to ask for the password on; put it into an option file (--defaults-file)"
        ) from error
    return replace(chosen, password=typed.encode("utf-8", "surrogateescape"), credential_source="password as typed")


def _read_password(prompt: str) -> str:
    """Ask on the terminal; if there is none, read a line of stdin, where getpass would warn that it may be echoed."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        if sys.stdin is None or not sys.stdin.isatty():
            if sys.stdin is None or not (line := sys.stdin.readline()):
                raise EOFError from None
            return line.rstrip("\r\n")
    return getpass.getpass(prompt)


def _system_user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "root" if os.getuid() == 0 else ""


def login_file() -> str:
    """The path of the file: MYSQL_TEST_LOGIN_FILE, as MySQL's clients use it, or ~/.mylogin.cnf."""
    return os.environ.get("MYSQL_TEST_LOGIN_FILE") or os.path.expanduser("~/.mylogin.cnf")


def login_lines(wanted: str | None) -> list[tuple[str, str, str]]:
    """(group, option, value) of every line of the file; empty if it does not exist.

    Raises ConnectOptionsError if a login path was requested and the file is missing, lacks it, or is damaged.
    """
    path = login_file()
    if not os.path.exists(path):
        if wanted:
            raise ConnectOptionsError(f"--login-path {wanted}: {path} does not exist; make it with mysql_config_editor")
        return []
    lines = [
        (line.group, line.name, line.value or "")
        for line in parse(_read_login_path(path), path).lines
        if line.kind is LineKind.OPTION and line.group and line.name
    ]
    if wanted and wanted not in {group for group, _, _ in lines}:
        why = f"--login-path {wanted} is not in {path}"
        raise ConnectOptionsError(f"{why}; mysql_config_editor print --all lists what is")
    return lines


def _read_login_path(path: str) -> bytes:
    try:
        if stat.S_IMODE(os.stat(path).st_mode) & (stat.S_IRWXG | stat.S_IRWXO):
            why = f"{path} can be read by others, so MySQL ignores it and so do we"
            raise ConnectOptionsError(f"{why}; run: chmod 600 {path}")
        with open(path, "rb") as file:
            data = file.read(_LARGEST)
    except OSError as error:
        raise ConnectOptionsError(f"{path} can't be read ({error.strerror}); give --defaults-file instead") from error
    try:
        return _decrypt(data)
    except (ValueError, struct.error) as error:
        raise ConnectOptionsError(f"{path} is damaged ({error}); make it again with mysql_config_editor") from error


def _decrypt(data: bytes) -> bytes:
    try:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    except ImportError as error:
        raise ConnectError("login paths need the package cryptography; install it in mycnf's environment") from error
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
