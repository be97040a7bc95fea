"""Secrets taken out of what is shown or kept, and text of others made harmless; standard library only."""

import re
from typing import NamedTuple

MASK = "********"
EMPTY = "an empty value"

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
        "old_passwords",
        "sha256_password",
        "validate_password",
    }
)
# MariaDB takes any beginning that no other option shares: the shortest such, and the name that it stands for.
_SHORTENED = frozenset(
    full[:length]
    for short, full in (
        ("wsrep_sst_a", "wsrep_sst_auth"),
        ("s3_a", "s3_access_key"),
        ("s3_se", "s3_secret_key"),
        ("hashicorp_key_management_to", "hashicorp_key_management_token"),
        ("handlersocket_pl", "handlersocket_plain_secret_wr"),
        ("report_pa", "report_password"),
        ("master_pa", "master_password"),
    )
    for length in range(len(short), len(full))
)
# `pass` and what else begins `password`, and slips of the pen: `pasword`, `passwrod`, `passwort`.
_MISSPELT = r"(?:^|_)pas(?:s+w?o?r?d?|w?o?r?d|wo?r?)$"
_WORD, _SHORTEST, _LONGEST = "password", 6, 10
_LETTERS = frozenset(_WORD)
_MAX_EDITS = 2  # letters too many and too few, together
_PREFIXES = ("loose_", "maximum_")
# Options whose values are statements: a literal in one may be anything, a password too.
STATEMENTS = frozenset({"init_connect", "init_replica", "init_slave", "init_rpl_role"})

# What has to stand in a text that may hold a password and say so; most hold nothing of the kind.
_SECRET_WORDS = (
    *("pas", "pwd", "secret", "token", "credential", "identified", "role_id", "role-id"),
    *("_key", "-key", "_auth", "-auth"),
)

# Controls of C0 and C1, marks that turn or hide text, and what is no character at all; none of them is printable.
_HARMFUL = (
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
# What the escapes of an option file make, by the names that people know.
_NAMED = {8: "<backspace>", 9: "<tab>", 10: "<newline>", 13: "<carriage return>"}
_FORMS = ((0xFF, "\\x{:02x}"), (0xFFFF, "\\u{:04x}"), (0x10FFFF, "\\U{:08x}"))


class Redacted(NamedTuple):
    """A text without its secrets, and the 1-based lines that hold one for sure.

    Literals of statements and what follows `password:` in prose are masked as well, and may be nothing of the kind.
    """

    text: str
    lines: tuple[int, ...]


def is_secret(name: str) -> bool:
    """Whether an option or variable of this name holds a secret; dashes, dots, case and `loose-` don't matter.

    Clients take abbreviations of `password` (`pass = x` under `[client]`), MariaDB those of every option, and a slip of
    the pen is a secret too: all of these count.
    """
    return _is_secret_plain(_normalise_name(name))


def redact_value(name: str, value: str) -> str:
    """The value of an option fit to be shown: masked where the name says secret, else without passwords inside it."""
    plain = _normalise_name(name)
    if _is_secret_plain(plain):
        return MASK if value.strip("'\"") else value
    if plain in STATEMENTS:
        value = mask_literals(value)
    return _mask_named_values(value, "=")


def redact_name(name: str) -> str:
    """An option's name as written, fit to be shown: without its `=` a password becomes part of the name."""
    words = name.split(None, 1)
    return f"{words[0]} {MASK}" if len(words) > 1 and is_secret(words[0].rstrip(":")) else name


def redact_text(text: str) -> Redacted:
    """An option file's text with every secret masked, in comments too; no line is added, taken or moved."""
    lines = text.split("\n")
    found = []
    for number, line in enumerate(lines, start=1):
        masked = _redact_line(line)
        if masked != line:
            lines[number - 1] = masked
            if _redact_line(line, sure=True) != line:
                found.append(number)
    return Redacted("\n".join(lines), tuple(found))


def redact_arguments(arguments: tuple[str, ...]) -> tuple[str, ...]:
    """A command line with the values of secret options masked, `--name=value` and `--name value` alike."""
    before = ("", *arguments)
    return tuple(_redact_argument(argument, before[i]) for i, argument in enumerate(arguments))


def escape_text(text: str) -> str:
    r"""Server text on one line that can't move the cursor, hide or turn anything: harmful ones as \xNN or \uNNNN."""
    return text if text.isprintable() else re.sub(_HARMFUL, _escape_match, text)


def name_control_characters(text: str) -> str:
    r"""The text with what its escapes made named: a backspace, which `C:\bin` holds, reads `<backspace>`."""
    return text if text.isprintable() else escape_text(text.translate(_NAMED))


def quote_value(text: str | None) -> str:
    """A value of an option file in quotes, as a message shows it: without passwords, control characters by name."""
    return f"'{name_control_characters(_mask_named_values(text, '='))}'" if text else EMPTY


def _is_secret_plain(plain: str) -> bool:
    if plain in _PUBLIC:
        return False
    if plain in _NAMES or plain in _ENDINGS or plain in _SHORTENED or plain.endswith(_AS_ENDINGS):
        return True
    return ("pas" in plain and re.search(_MISSPELT, plain) is not None) or _is_misspelt_password(
        plain.rpartition("_")[2]
    )


def _normalise_name(name: str) -> str:
    plain = name.strip().lower().replace("-", "_").replace(".", "_").lstrip("_")
    for prefix in _PREFIXES:
        plain = plain.removeprefix(prefix)
    return plain


def _is_misspelt_password(word: str) -> bool:
    if not _SHORTEST <= len(word) <= _LONGEST or len(_LETTERS.difference(word)) > _MAX_EDITS:
        return False
    left = list(_WORD)
    wrong = 0
    for letter in word:
        if letter in left:
            left.remove(letter)
        else:
            wrong += 1
    return wrong + len(left) <= _MAX_EDITS


def _mask_named_values(text: str, equals: str) -> str:
    """A text of any kind without the passwords that say what they are; `equals` is what may stand behind a name."""
    lower = text.lower()
    named = False
    for word in _SECRET_WORDS:  # faster than any(): it is asked of every value that is shown
        if word in lower:
            named = True
            break
    if not named and "@" not in text and " -p" not in text:
        return text

    return mask_passwords(text, lower, equals if named else "")


def _redact_line(line: str, *, sure: bool = False) -> str:
    """The line masked; `sure` leaves what may be no secret."""
    head, equals, rest = line.partition("=")
    name = head.lstrip().lstrip("#;").strip().lstrip("-")
    if not equals or not name[:1].isalpha() or not name.replace("_", "a").replace("-", "a").replace(".", "a").isalnum():
        words = line.split()
        if not equals and len(words) == 2 and is_secret(words[0]):  # noqa: PLR2004 - a name, and what was to be its value
            before, _, after = line.rpartition(words[1])
            return before + MASK + after
        return _mask_named_values(line, "=" if sure else "=:")
    value = rest.strip()
    name = "" if sure and _normalise_name(name) in STATEMENTS else name
    return head + equals + rest.replace(value, redact_value(name, value), 1) if value else line


def _redact_argument(argument: str, previous: str) -> str:
    before = previous.lstrip("-") if previous.startswith("--") and "=" not in previous else ""
    if before and (is_secret(before) or not argument.startswith("-")):
        return redact_value(before, argument)
    name, equals, value = argument.partition("=")
    return name + equals + redact_value(name, value) if equals else _mask_named_values(argument, "=")


def _escape_match(match: re.Match[str]) -> str:
    if match[0] == "\t":
        return " "
    code = ord(match[0])
    if 0xDC80 <= code <= 0xDCFF:  # noqa: PLR2004 - where surrogateescape keeps the bytes that were no UTF-8
        code -= 0xDC00
    return next(form.format(code) for most, form in _FORMS if code <= most)


# None of the patterns looks far ahead from every place, for whoever writes the text may wish it took for ever.
_QUOTED = r"'(?:\\.|[^'\\])*'?|\"(?:\\.|[^\"\\])*\"?"
_LITERAL = rf"(?i)(?:{_QUOTED})|\b0x[0-9a-f]+"
_IDENTIFIED = r"(?i)\bidentified\s{1,9}(?:by|with|via|as)\b"
_PASSWORD_CALL = rf"(?i)(?P<lead>password(?:\s{{0,9}}[=(]\s{{0,9}}|\s{{1,9}}))(?P<value>{_QUOTED})"
_SET_PASSWORD = r"(?i)(?P<lead>\bset\s{1,9}password\b)[^;]*"  # noqa: S105 - a pattern, no password
_NAMED_VALUE = r"(?<![\w.-])(?P<name>[\w.-]{1,80})[\"'`]?\s{0,9}"
# A value ends with its word, a mark behind it left out, or where another pair begins.
_VALUE = rf"{_QUOTED}|(?:[^\s'\";,&]|[;,&](?!\s|$|[\w.-]{{1,80}}\s{{0,9}}=))+"
_CLIENT = (
    r"(?i)(?P<lead>\b(?:mysql|maria)[\w.-]{0,40}(?:\s{1,9}(?!-p)[^\s;|&]{1,200}){0,20}\s{1,9}-p)"
    rf"(?!rint|rune|ath\b|erm\b)(?P<value>{_QUOTED}|[^\s'\"]+)"
)
_NO_SECRET = r"(?i)(?:names|set|charset|collate|_mode|time_zone|isolation)\s{0,9}=?\s{0,9}$"  # noqa: S105 - a pattern
_BEFORE = 40  # characters before a literal that say what it is


def mask_passwords(text: str, lower: str, equals: str) -> str:
    """The text with the passwords in it masked; doing so again changes nothing.

    `lower` is the text in lower case, `equals` the characters that may stand between a name and its value, none where
    no name of a secret is in the text.
    """
    if "@" in text and ("://" in text or "@(" in text or "@tcp(" in lower or "@unix(" in lower):
        text = "".join(map(_mask_login, re.split(r"(\s+)", text)))
    if " -p" in text and ("mysql" in lower or "maria" in lower):
        text = re.sub(_CLIENT, _mask_after_lead, text)
    if not equals:
        return text
    if "identified" in lower and (found := re.search(_IDENTIFIED, text)):
        text = text[: found.end()] + re.sub(_LITERAL, _mask_match, text[found.end() :])
    if "passw" in lower:
        text = re.sub(_SET_PASSWORD, rf"\g<lead> {MASK}", text)
        text = re.sub(_PASSWORD_CALL, _mask_after_lead, text)
    return _mask_pairs(text, equals)


def mask_literals(value: str) -> str:
    """Statements without what they say in quotes, but for names of character sets and the like."""
    quote = value[:1] if value[:1] in ("'", '"') and value.rfind(value[:1]) > 0 else ""
    end = value.rfind(quote) if quote else len(value)
    inner = value[len(quote) : end]

    def shown(found: re.Match[str]) -> str:
        before = inner[max(0, found.start() - _BEFORE) : found.start()]
        return found[0] if re.search(_NO_SECRET, before) else _mask_match(found)

    return quote + re.sub(_LITERAL, shown, inner) + value[end:]


def _mask_login(word: str) -> str:
    """An address without its password: scheme://user:password@host, or user:password@tcp(host)."""
    head, at, host = word.rpartition("@")
    begins = r"^[^:]+:" if host.startswith(("(", "tcp(", "unix(")) else r"://[^/:@]*:" if "://" in head else ""
    found = re.search(begins, head) if begins else None
    return head[: found.end()] + MASK + at + host if found and found.end() < len(head) else word


def _mask_pairs(text: str, equals: str) -> str:
    kept, done = [], 0
    for named in re.finditer(rf"{_NAMED_VALUE}[{equals}]\s{{0,9}}", text):
        if named.start() < done or not is_secret(named["name"]):
            continue
        value = re.compile(_VALUE).match(text, named.end())
        if value:
            kept += [text[done : named.end()], _mask(value[0])]
            done = value.end()
    return "".join(kept) + text[done:]


def _mask_after_lead(found: re.Match[str]) -> str:
    return found["lead"] + _mask(found["value"])


def _mask_match(found: re.Match[str]) -> str:
    return _mask(found[0])


def _mask(value: str) -> str:
    """The mask in the value's own quotes; an empty value stays, for there is nothing to hide."""
    quote = value[0] if value[0] in "'\"" else ""
    closed = quote if len(value) > 1 and value.endswith(quote) else ""
    inner = value[len(quote) : len(value) - len(closed)]
    return f"{quote}{MASK}{closed}" if inner else value
