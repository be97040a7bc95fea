"""Masks secrets in output and saved data, and escapes text from other sources; standard library only."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

MASK = "********"
EMPTY = "an empty value"

# Names, and endings of names, whose values give access. `password_history` and similar are policies, not secrets, so
# the words are matched only at the end of a name.
_NAMES = frozenset(
    {
        "wsrep_sst_auth",
        "wsrep_sst_receive_auth",
        "keyring_hashicorp_role_id",
        "handlersocket_plain_secret",
        "handlersocket_plain_secret_wr",
        "authentication_ldap_simple_bind_root_pwd",
        "authentication_ldap_sasl_bind_root_pwd",
        "file_key_management_filekey",
        "swift_key",
    }
)
_ENDINGS = (
    *("password", "password1", "password2", "password3", "passwd", "passphrase", "pwd", "token", "secret", "secret_id"),
    *("secret_key", "secret_headers", "api_key", "apikey", "credential", "credentials", "password_hash"),
    # The key itself, of XtraBackup and of services for backups; headers of telemetry, which hold tokens.
    *("access_key", "encrypt_key", "encryption_key", "traces_headers", "metrics_headers", "logs_headers"),
)
# The last three also end a word: rootpassword.
_AS_ENDINGS = (*(f"_{ending}" for ending in _ENDINGS), "password", "passwd", "passphrase")
# Options whose value may say where the secret is instead: in a file, or in a variable of the environment.
_PLACES = {"ssl_passphrase": ("file:", "env:"), "file_key_management_filek": ("FILE:",)}
# Plugins and switches named like a secret: their value is ON, OFF or a plugin state.
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
# MariaDB accepts unique abbreviations: the shortest one, and the full name.
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
        ("file_key_management_filek", "file_key_management_filekey"),
    )
    for length in range(len(short), len(full))
)
# `pass` and other abbreviations of `password`, and misspellings: `pasword`, `passwrod`, `passwort`.
_MISSPELT = r"pas(?:s+w?o?r?d?|w?o?r?d|wo?r?)"
_WORD, _SHORTEST, _LONGEST = "password", 6, 10
_LETTERS = frozenset(_WORD)
_MAX_EDITS = 2  # extra and missing letters together
_PREFIXES = ("loose_", "maximum_")
# Options whose values are SQL statements: their literals may be passwords.
STATEMENTS = frozenset({"init_connect", "init_replica", "init_slave", "init_rpl_role"})

# Substrings of all texts with named secrets; most texts contain none of them.
_SECRET_WORDS = (
    *("pas", "pwd", "secret", "token", "credential", "identified", "role_id", "role-id"),
    *("_key", "-key", "_auth", "-auth", "filek", "apikey", "accesskey", "encryptkey", "encryptionkey", "_headers"),
)
# Signs of other secrets: logins in addresses and of commands, headers, signed addresses.
_SIGNS = ("@", " -p", "curl", "authorization", "sig=", "signature=")
# In documents a name such as automountServiceAccountToken or X_ALLOW_EMPTY_PASSWORD may be that of a switch.
_SWITCHES = frozenset({"true", "false", "null"})
# Words before a name and its value, in Dockerfiles and shells.
_SETTERS = frozenset({"env", "arg", "export", "setenv"})

# C0 and C1 controls, bidirectional and invisible characters, and noncharacters; none of them is printable.
_HARMFUL = (
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f\u034f\u115f\u1160\u3164\uffa0]"
)
# Those of them that Python calls printable: letters without a shape.
_INVISIBLE = frozenset("\u034f\u115f\u1160\u3164\uffa0")
# Results of option file escapes, with readable names.
_NAMED = {8: "<backspace>", 9: "<tab>", 10: "<newline>", 13: "<carriage return>"}
_FORMS = ((0xFF, "\\x{:02x}"), (0xFFFF, "\\u{:04x}"), (0x10FFFF, "\\U{:08x}"))


class RedactedText:
    """A text with secrets masked, and the 1-based lines that certainly contained one.

    Literals in statements and text after `password:` in prose are masked too, but may not be secrets.
    """

    __slots__ = ("lines", "text")

    def __init__(self, text: str, lines: tuple[int, ...]) -> None:
        self.text = text
        self.lines = lines


def is_secret(name: str) -> bool:
    """Whether an option or variable of this name holds a secret; ignores dashes, dots, case and `loose-`.

    Includes abbreviations of `password`, which clients accept (`pass = x` under `[client]`), those of other options,
    which MariaDB accepts, and misspellings; in documents also `rootPassword`.
    """
    return _is_secret_plain(_normalise_name(name)) or (name != name.lower() and _is_secret_in_words(name))


def names_place(name: str, value: str) -> bool:
    """Whether the value of a secret option is no secret, but names the file or variable that holds it."""
    plain = _normalise_name(name)
    starts = next((places for option, places in _PLACES.items() if plain.startswith(option)), ())
    return bool(starts) and value.lstrip(" '\"").startswith(starts)


def redact_value(name: str, value: str) -> str:
    """Return an option's value for output: masked if the name is a secret's, else with passwords inside it masked."""
    plain = _normalise_name(name)
    secret = _is_secret_plain(plain) or (name != name.lower() and _is_secret_in_words(name))
    if secret and not names_place(plain, value):
        return MASK if value.strip("'\"") else value
    if plain in STATEMENTS:
        value = mask_literals(value)
    return _mask_named_values(value, "=")


def redact_name(name: str) -> str:
    """Return an option's name for output: without `=`, a password becomes part of the name."""
    words = name.split(None, 1)
    return f"{words[0]} {MASK}" if len(words) > 1 and is_secret(words[0].rstrip(":")) else name


def redact_text(text: str) -> RedactedText:
    """Mask every secret in an option file's text, including comments; line numbers stay the same."""
    lines = _mask_apart(text).split("\n")
    secret_lines = []
    for number, line in enumerate(text.split("\n"), start=1):
        masked = _redact_line(lines[number - 1])
        if masked != line:
            lines[number - 1] = masked
            if _redact_line(line, sure=True) != line:
                secret_lines.append(number)
    return RedactedText("\n".join(lines), tuple(secret_lines))


def redact_arguments(arguments: tuple[str, ...]) -> tuple[str, ...]:
    """Mask the values of secret options in a command line, both `--name=value` and `--name value`."""
    before = ("", *arguments)
    return tuple(_redact_argument(argument, before[i]) for i, argument in enumerate(arguments))


def escape_text(text: str) -> str:
    r"""Escape characters that move the cursor, hide or reorder text, as \xNN or \uNNNN; the result is one line."""
    text = text if text.isprintable() else text.replace("\t", " ")
    if text.isprintable() and (text.isascii() or _INVISIBLE.isdisjoint(text)):
        return text
    import re

    return re.sub(_HARMFUL, _escape_match, text)


def name_control_characters(text: str) -> str:
    r"""Name the control characters in a text: a backspace, the result of `C:\bin`, becomes `<backspace>`."""
    if text.isascii() and text.isprintable():
        return text
    return escape_text(text.translate(_NAMED))


def quote_value(text: str | None) -> str:
    """Quote an option file's value for a message: passwords are masked, control characters named."""
    return f"'{name_control_characters(_mask_named_values(text, '='))}'" if text else EMPTY


def _is_secret_plain(plain: str) -> bool:
    if plain in _PUBLIC:
        return False
    if plain in _NAMES or plain in _ENDINGS or plain in _SHORTENED or plain.endswith(_AS_ENDINGS):
        return True
    return _is_misspelt_password(plain.rpartition("_")[2])


def _normalise_name(name: str) -> str:
    plain = name.strip().lower().replace("-", "_").replace(".", "_").lstrip("_")
    for prefix in _PREFIXES:
        plain = plain.removeprefix(prefix)
    return plain


def _is_secret_in_words(name: str) -> bool:
    """Whether the name is a secret's with its words apart: secretAccessKey is secret_Access_Key."""
    words = "".join(
        f"_{sign}" if sign.isupper() and before.islower() else sign
        for before, sign in zip(" " + name, name, strict=False)
    )
    return _is_secret_plain(_normalise_name(words))


def _is_misspelt_password(word: str) -> bool:
    if word.startswith("pas"):
        import re

        if re.fullmatch(_MISSPELT, word):
            return True
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
    """Mask named passwords in any text; `equals` are the characters that may follow a name."""
    lower = text.lower()
    named = False
    for word in _SECRET_WORDS:  # faster than any(): this runs for every printed value
        if word in lower:
            named = True
            break
    for sign in (*_SIGNS, *(("identified", "passw", *equals) if named else ())):  # most texts need no pattern
        if sign in lower:
            return mask_passwords(text, lower, equals if named else "")
    return text


def _mask_apart(text: str) -> str:
    """Mask secrets whose name and value are apart; most texts have no sign of one."""
    lower = text.lower()
    if "value" not in lower and "\n" not in text and "private key-----" not in lower:
        return text
    signs = ("value", "|", ">", "private key-----", "data:")
    if not any(sign in lower for sign in signs) or not any(word in lower for word in (*_SECRET_WORDS, "data:", "key-")):
        return text
    from advisor.redaction.documents import mask_apart

    return mask_apart(text, is_secret, mask_quoted)


def _redact_line(line: str, *, sure: bool = False) -> str:
    """Return the line masked; `sure` skips text that may not be a secret."""
    if rest := _rest_after_name(line, sure=sure):
        before, _, after = line.rpartition(rest)
        return before + MASK + after
    head, equals, rest = line.partition("=")
    name = head.lstrip().lstrip("#;").strip().lstrip("-")
    bare = name.lstrip(" '\"")
    if bare != name and is_secret(bare):
        name = bare  # of a list of variables: - "MYSQL_PWD=x"
    if not equals or not name[:1].isalpha() or not _is_name(name):
        return _mask_named_values(line, "=" if sure else "=:")
    value = rest.strip()
    name = "" if sure and _normalise_name(name) in STATEMENTS else name
    return head + equals + rest.replace(value, redact_value(name, value), 1) if value else line


def _rest_after_name(line: str, *, sure: bool) -> str:
    """What follows a secret's name at the beginning of a line, without `=` or quotes; empty for other lines.

    That is an option line without its `=`, and a variable in YAML or a Dockerfile.
    """
    words = line.strip().removeprefix("- ").split(None, 1)
    if not sure and len(words) > 1 and words[0].lower() in _SETTERS:
        words = words[1].split(None, 1)
    if len(words) < 2:  # noqa: PLR2004 - a name and what follows it
        return ""
    name, rest = words[0], words[1].strip()
    if name.endswith(":"):
        name = "" if sure or rest[0] in "'\"{[|>" or rest.lower() in _SWITCHES else name.strip(":'\"")
    elif rest[0] in "=:" or (sure and len(rest.split()) > 1):
        return ""
    return rest if _is_name(name) and is_secret(name) else ""


def _is_name(text: str) -> bool:
    return text.replace("_", "a").replace("-", "a").replace(".", "a").isalnum()


def _redact_argument(argument: str, previous: str) -> str:
    before = previous.lstrip("-") if previous.startswith("--") and "=" not in previous else ""
    if before and (is_secret(before) or not argument.startswith("-")):
        return redact_value(before, argument)
    name, equals, value = argument.partition("=")
    return name + equals + redact_value(name, value) if equals else _mask_named_values(argument, "=")


def _escape_match(match: re.Match[str]) -> str:
    code = ord(match[0])
    if 0xDC80 <= code <= 0xDCFF:  # noqa: PLR2004 - bytes that were not UTF-8, from surrogateescape
        code -= 0xDC00
    return next(form.format(code) for most, form in _FORMS if code <= most)


# The patterns have bounded look-ahead, so that hostile text cannot cause excessive backtracking.
_QUOTED = r"'(?:\\.|[^'\\])*'?|\"(?:\\.|[^\"\\])*\"?"
_IN_TEXT = rf"{_QUOTED}|\\{{1,3}}[\"'][^\"'\\]*"  # quotes may be escaped, as in JSON
_LITERAL = rf"(?i)(?:{_QUOTED})|\b0x[0-9a-f]+"
_IDENTIFIED = r"(?i)\bidentified\s{1,9}(?:by|with|via|as)\b"
_PASSWORD_CALL = rf"(?i)(?P<lead>password(?:\s{{0,9}}[=(]\s{{0,9}}|\s{{1,9}}))(?P<value>{_QUOTED})"
_SET_PASSWORD = rf"(?i)(?P<lead>\bset\s{{1,9}}password\b)(?:{_QUOTED}|[^;'\"])*"
_ADMIN = (
    r"(?i)(?P<lead>\b(?:mysql|mariadb-)admin\b(?:\s{1,9}[^\s;|&]{1,200}){0,20}?\s{1,9}(?:old-)?password\s{1,9})"
    rf"(?P<value>{_IN_TEXT}|[^\s'\"]+)"
)
# Quotes may be escaped, as in JSON within JSON; in Ruby, `=>` is between the name and the value, in SQL `:=`.
_NAMED_VALUE = r"(?<![\w.-])(?P<name>[\w.-]{1,80})(?P<mark>\\{0,3}[\"'`]?)\s{0,9}"
_SIGN = r"(?::=|[{}][=>]?)\s{{0,9}}"
# A value ends with its word, without trailing punctuation, or where another pair begins.
_VALUE = rf"{_IN_TEXT}|(?:[^\s'\";,&]|[;,&](?!\s|$|[\w.-]{{1,80}}\s{{0,9}}=))+"
# Within quotes that begin before the name, a value may have blanks.
_VALUE_IN_QUOTES = r"(?:[^\s'\";,&]|[;,&](?!\s|$|[\w.-]{1,80}\s{0,9}=)|[ \t](?![\w.-]{1,80}\s{0,9}=))+"
_CLIENT = (  # -P is the port
    r"(?P<lead>\b(?i:mysql|maria)[\w.-]{0,40}(?:\s{1,9}(?!-p)[^\s;|&]{1,200}){0,20}\s{1,9}-p)"
    rf"(?!rint|rune|ath\b|erm\b)(?P<value>{_IN_TEXT}|[^\s'\"]+)"
)
# Of other programs in units and scripts: curl -u user:password, sshpass -p password; the tokens of requests.
_BARE = r"(?P<value>[^\s'\"]+)"
_OTHER_LOGINS = (
    r"(?P<lead>\bcurl\b(?:\s{1,9}[^\s;|&]{1,200}){0,20}?\s{1,9}(?:-\w{0,8}u|--user[\s=])\s{0,9}[\"']?[^\s:'\"]{0,80}:)"
    + _BARE,
    rf"(?P<lead>\bsshpass\b(?:\s{{1,9}}-v)?\s{{1,9}}-p\s{{0,9}})(?P<value>{_IN_TEXT}|[^\s'\"]+)",
    r"(?i)(?P<lead>\bauthorization[\"']?\s{0,9}[:=]\s{0,9}[\"']?(?:bearer|basic|token)\s{1,9})" + _BARE,
    r"(?i)(?P<lead>[?&;](?:x-(?:amz|goog)-signature|signature|sig)=)(?P<value>[^\s'\"&;]+)",
)
_NO_SECRET = r"(?i)(?:names|set|charset|collate|_mode|time_zone|isolation)\s{0,9}=?\s{0,9}$"  # noqa: S105 - a pattern
_BEFORE = 40  # characters before a literal that show what it is


def mask_passwords(text: str, lower: str, equals: str) -> str:
    """Mask the passwords in a text; idempotent.

    `lower` is the text in lower case. `equals` are the characters that may separate a name from its value, empty if the
    text contains no name of a secret.
    """
    import re

    if "@" in text and ("://" in text or "@(" in text or "@tcp(" in lower or "@unix(" in lower):
        text = "".join(map(_mask_login, re.split(r"(\s+)", text)))
    if " -p" in text and ("mysql" in lower or "maria" in lower):
        text = re.sub(_CLIENT, _mask_after_lead, text)
    if "curl" in lower or "sshpass" in lower or "authorization" in lower or "sig" in lower:
        for pattern in _OTHER_LOGINS:
            text = re.sub(pattern, _mask_after_lead, text)
    if not equals:
        return text
    if "identified" in lower and (match := re.search(_IDENTIFIED, text)):
        text = text[: match.end()] + re.sub(_LITERAL, _mask_match, text[match.end() :])
    if "passw" in lower:
        text = re.sub(_ADMIN, _mask_after_lead, text) if "admin" in lower else text
        text = re.sub(_SET_PASSWORD, rf"\g<lead> {MASK}", text)
        text = re.sub(_PASSWORD_CALL, _mask_after_lead, text)
    return _mask_pairs(text, equals)


def mask_literals(value: str) -> str:
    """Mask literals in statements, except names of character sets and similar."""
    import re

    quote = value[:1] if value[:1] in ("'", '"') and value.rfind(value[:1]) > 0 else ""
    end = value.rfind(quote) if quote else len(value)
    inner = value[len(quote) : end]

    def show_match(match: re.Match[str]) -> str:
        before = inner[max(0, match.start() - _BEFORE) : match.start()]
        return match[0] if re.search(_NO_SECRET, before) else _mask_match(match)

    return quote + re.sub(_LITERAL, show_match, inner) + value[end:]


def _mask_login(word: str) -> str:
    """Mask the password in scheme://user:password@host, or user:password@tcp(host)."""
    import re

    head, at, host = word.rpartition("@")
    begins = r"^[^:]+:" if host.startswith(("(", "tcp(", "unix(")) else r"://[^/:@]*:" if "://" in head else ""
    match = re.search(begins, head) if begins else None
    return head[: match.end()] + MASK + at + host if match and match.end() < len(head) else word


def _mask_pairs(text: str, equals: str) -> str:
    import re

    kept, done = [], 0
    for named in re.finditer(_NAMED_VALUE + _SIGN.format(equals), text):
        if named.start() < done or not is_secret(named["name"]):
            continue
        before = text[named.start() - 1 : named.start()]
        is_inside = before in ("'", '"') and not named["mark"]
        value = re.compile(_VALUE_IN_QUOTES).match(text, named.end()) if is_inside else None
        value = value or re.compile(_VALUE).match(text, named.end())
        if value and value[0].rstrip("-+0123456789") not in ("|", ">"):  # a block of YAML: the value is below
            kept += [text[done : named.end()], mask_quoted(value[0])]
            done = value.end()
    return "".join(kept) + text[done:]


def _mask_after_lead(match: re.Match[str]) -> str:
    return match["lead"] + mask_quoted(match["value"])


def _mask_match(match: re.Match[str]) -> str:
    return mask_quoted(match[0])


def mask_quoted(value: str) -> str:
    """Return the mask in the value's own quotes; an empty value stays, since it hides nothing, and so does a switch."""
    bare = value.lstrip("\\")
    quote = value[: len(value) - len(bare) + 1] if bare[:1] in ("'", '"') else ""
    rest = value[len(quote) :]
    closed = quote if quote and rest.endswith(quote) else ""
    inner = rest.removesuffix(closed)
    if not inner.strip() or inner.strip().lower() in _SWITCHES:
        return value
    return f"{quote}{MASK}{closed}{inner[-1:] if inner.endswith(chr(13)) else ''}"
