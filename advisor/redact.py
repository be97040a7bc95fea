"""Secrets taken out of what is shown or kept, and text of others made harmless; standard library only."""

import re
from typing import NamedTuple

MASK = "********"

# Whole names, and endings of names, whose values let somebody in. `password_history` and its kind are policy, no
# secrets: that is why the words are looked for at the end of a name only.
_NAMES = frozenset(
    {
        "s3_access_key",
        "wsrep_sst_auth",
        "wsrep_sst_receive_auth",
        "keyring_hashicorp_role_id",
        "handlersocket_plain_secret",
        "handlersocket_plain_secret_wr",
        "authentication_ldap_simple_bind_root_pwd",
        "authentication_ldap_sasl_bind_root_pwd",
    }
)
_ENDINGS = (
    *("password", "password1", "password2", "password3", "passwd", "passphrase", "pwd", "token", "secret", "secret_id"),
    *("secret_key", "secret_headers", "api_key", "credential", "credentials"),
)
_AS_ENDINGS = tuple(f"_{ending}" for ending in _ENDINGS)
# Plugins and switches whose own name ends like a secret's: the value is ON, OFF or a plugin's state.
_PUBLIC = frozenset(
    {
        "caching_sha2_password",
        "disconnect_on_expired_password",
        "log_builtin_as_identified_by_password",
        "mysql_native_password",
        "sha256_password",
        "validate_password",
    }
)
# `report_pass`, which MariaDB takes for `report_password`, and slips of the pen such as `report_pasword`.
_NEARLY = r"(?:^|_)pas(?:s+w?o?r?d?|w?o?r?d|wo?r?)$"
_PREFIXES = ("loose_", "maximum_")

# Patterns are texts that `re` compiles when a value first needs them: most files hold nothing of the kind.
_URL = r"(?i)(?P<scheme>[a-z][a-z0-9+.-]*://)(?P<user>[^\s/:@]*):[^\s/@]+@"
_IN_SQL = (
    r"(?i)(?P<lead>\b(?:identified\s+(?:with\s+\w+\s+)?(?:by(?:\s+password)?|as)|(?:master_|source_)?password\s*[=(]?)\s*)"
    r"(?P<quote>['\"])(?:\\.|(?!(?P=quote)).)*(?P=quote)?"
)
_SET_PASSWORD = r"(?i)(?P<lead>\bset\s+password\b)[^;]*"  # noqa: S105 - a pattern, no password
_IN_PAIRS = r"(?i)(?P<lead>(?:^|[;,\s._])(?:password|passwd|pwd)\s*=\s*)[^;,\s'\"]+"
_SPEAKS = ("identified", "passw", "pwd")

# Controls of C0 and C1, marks that turn or hide text, and what is no character at all; none of them is printable.
_HARMFUL = (
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_FORMS = ((0xFF, "\\x{:02x}"), (0xFFFF, "\\u{:04x}"), (0x10FFFF, "\\U{:08x}"))


class Redacted(NamedTuple):
    """A text without its secrets, and the 1-based lines that they stood on."""

    text: str
    lines: tuple[int, ...]


def is_secret(name: str) -> bool:
    """Whether an option or variable of this name holds a secret; spelling (dashes, case, `loose-`) doesn't matter.

    Clients take abbreviations of `password` (`pass = x` under `[client]`), so these count as well.
    """
    plain = name.strip().lower().replace("-", "_")
    for prefix in _PREFIXES:
        plain = plain.removeprefix(prefix)
    if plain in _PUBLIC:
        return False
    if plain in _NAMES or plain in _ENDINGS or plain.endswith(_AS_ENDINGS):
        return True
    return "pas" in plain and re.search(_NEARLY, plain) is not None


def redact_value(name: str, value: str) -> str:
    """The value of an option fit to be shown: masked where the name says secret, else without passwords inside it."""
    if is_secret(name):
        return MASK if value.strip("'\"") else value
    if "://" in value:
        value = re.sub(_URL, rf"\g<scheme>\g<user>:{MASK}@", value)
    if not any(word in value.lower() for word in _SPEAKS):
        return value
    value = re.sub(_SET_PASSWORD, rf"\g<lead> {MASK}", value)
    value = re.sub(_IN_SQL, rf"\g<lead>\g<quote>{MASK}\g<quote>", value)
    return re.sub(_IN_PAIRS, rf"\g<lead>{MASK}", value)


def redact_text(text: str) -> Redacted:
    """An option file's text with every secret masked, in comments too; no line is added, taken or moved."""
    lines = text.split("\n")
    found = []
    for number, line in enumerate(lines, start=1):
        masked = _redact_line(line)
        if masked != line:
            found.append(number)
            lines[number - 1] = masked
    return Redacted("\n".join(lines), tuple(found))


def redact_arguments(arguments: tuple[str, ...]) -> tuple[str, ...]:
    """A command line with the values of secret options masked, `--name=value` and `--name value` alike."""
    before = ("", *arguments)
    return tuple(_redact_argument(argument, before[i]) for i, argument in enumerate(arguments))


def clean(text: str) -> str:
    r"""Server text on one line that can't move the cursor, hide or turn anything: harmful ones as \xNN or \uNNNN."""
    return text if text.isprintable() else re.sub(_HARMFUL, _escaped, text)


def _redact_line(line: str) -> str:
    head, equals, rest = line.partition("=")
    name = head.lstrip().lstrip("#;").strip()
    if not equals or not name[:1].isalpha() or not name.replace("_", "a").replace("-", "a").replace(".", "a").isalnum():
        return redact_value("", line)
    value = rest.strip()
    return head + equals + rest.replace(value, redact_value(name, value), 1) if value else line


def _redact_argument(argument: str, previous: str) -> str:
    if previous.startswith("--") and "=" not in previous and not argument.startswith("-"):
        return redact_value(previous.lstrip("-"), argument)
    name, equals, value = argument.partition("=")
    return name + equals + redact_value(name.lstrip("-"), value) if equals else argument


def _escaped(match: re.Match[str]) -> str:
    if match[0] == "\t":
        return " "
    code = ord(match[0])
    if 0xDC80 <= code <= 0xDCFF:  # noqa: PLR2004 - where surrogateescape keeps the bytes that were no UTF-8
        code -= 0xDC00
    return next(form.format(code) for most, form in _FORMS if code <= most)
