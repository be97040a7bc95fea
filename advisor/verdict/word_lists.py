"""Lists of engines, error numbers and collations, of which servers drop what they do not know."""

from __future__ import annotations

from advisor.redaction import quote_value
from advisor.verdict.number import leading_digits
from advisor.verdict.outcome import Outcome, TakenValue
from advisor.verdict.words import charset_of, full_charset_name, known_charsets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from advisor.core.model import Target
    from advisor.verdict.outcome import ValueContext
    from advisor.verdict.settings import StartupSettings

ENGINE_SPELLINGS = ("InnoDB", "MyISAM", "MEMORY", "CSV", "ARCHIVE", "BLACKHOLE", "MRG_MYISAM", "Aria")
OTHER_NAMES = {"heap": "MEMORY", "innobase": "InnoDB", "merge": "MRG_MYISAM"}
EVERYWHERE = ("InnoDB", "MyISAM", "MEMORY", "CSV", "MRG_MYISAM", "PERFORMANCE_SCHEMA")
OF_MYSQL = ("ARCHIVE", "BLACKHOLE")
OF_MARIADB = ("Aria", "SEQUENCE")
# Engines that another option file, a package's file or a server table may load: never reported.
LOADABLE = frozenset(
    [
        *("archive", "blackhole", "cassandra", "columnstore", "connect", "duckdb", "example", "federated"),
        *("federatedx", "mroonga", "ndb", "ndbcluster", "oqgraph", "rocksdb", "s3", "sphinx", "spider", "tianmu"),
        *("tokudb", "videx"),
    ]
)
# Those of them that no supported MariaDB has: NDB is in none, and TokuDB was removed in 10.6.
GONE_FROM_MARIADB = frozenset({"ndb", "ndbcluster", "tokudb"})
ENGINES, COLLATIONS = "gtid_pos_auto_engines", "character_set_collations"
# The highest error number that each release accepts; 10.6 was not tested.
LAST_IN_MARIADB: dict[tuple[int, ...], int] = {(10, 11): 4192, (11, 4): 4205}
NEWEST_LAST = 4208
# The server stops printing when fewer than ten characters of its buffer of 2048 are left.
MAX_TEXT = 2038
# 11.4.5 prints ALL; 10.11.19 and 11.8.9 print the numbers, as many as fit into their buffer.
IN_NUMBERS: dict[tuple[int, ...], tuple[int, ...]] = {(10, 11): (10, 11, 19), (11, 8): (11, 8, 9)}
MAX_ERROR = 13999
WRAPS, TOO_LARGE = 1 << 32, 1 << 63  # of the numbers that MariaDB reads
MAX_DIGITS = 20  # including leading zeros
DDL_WORD = "ddl_exist_errors"
DIGITS, LETTERS = "0123456789", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
DDL_EXIST_ERRORS = "1007,1008,1050,1051,1054,1060,1061,1068,1091,1146"


def parse_list(case: ValueContext) -> TakenValue | None:
    """Check a list of engines, error numbers or collations; a server drops the words that it does not know."""
    if case.option.name == "slave_transaction_retry_errors":
        return _parse_retry_errors(case)
    if case.option.name == ENGINES:
        return _parse_engines(case)
    if case.option.name == COLLATIONS:
        return _parse_collations(case)
    return _parse_skip_errors(case) if case.target.is_mariadb else _check_skip_errors(case)


def list_in_force(start: StartupSettings, name: str) -> str | None:
    """Return the list as the started server shows it; None if it shows it as written, or something else decides."""
    text, target = start.values[name], start.catalog.target
    if name == ENGINES:
        used, _ = _split_engines(text, target)
        return None if any(word.lower() in LOADABLE for word in used) else ",".join(used)
    if name == COLLATIONS:
        of_index = "character_sets_dir" in start.values
        return None if of_index else ",".join(_split_collations(text, target)[0])
    text = text.strip(" ")
    return (text.upper() or None) if text.lower() in ("all", "off", "") else _errors_of_mysql(text)


def engine_spelling(written: str) -> str | None:
    """Return an engine's name in its own spelling; None for an engine that is not built in."""
    name = written.lower()
    return OTHER_NAMES.get(name) or next((engine for engine in ENGINE_SPELLINGS if engine.lower() == name), None)


def find_engine_fault(written: str, target: Target) -> str:
    """Return why the target does not start with this engine, empty if it may; tested by starting six servers."""
    name = (written.rstrip(" ") if target.since("mysql", 8) else written).lower()
    built_in = (*EVERYWHERE, *(OF_MYSQL if target.is_mysql else OF_MARIADB))
    loadable = name in LOADABLE and not (target.is_mariadb and name in GONE_FROM_MARIADB)
    if name in OTHER_NAMES or loadable or name in {engine.lower() for engine in built_in}:
        return ""
    has = ", ".join(engine for engine in built_in if engine != "PERFORMANCE_SCHEMA")
    return (
        f"This server has no engine {quote_value(written)} built in, and no plugin of that name is known; it has {has}."
    )


def _parse_engines(case: ValueContext) -> TakenValue | None:
    used, lost = _split_engines(case.text or "", case.target)
    if not lost:
        return None
    words, uses = ", ".join(quote_value(word) for word in lost), f"uses {','.join(used)}" if used else "uses none"
    names = "these names" if len(lost) > 1 else "this name"
    why = f"The server drops {words} without a message and {uses}: it has no engine of {names}."
    return TakenValue(Outcome.ADJUSTED, case.text, why, likely=True)


def _split_engines(text: str, target: Target) -> tuple[list[str], list[str]]:
    """The engines in a list, and its words that are none; blanks belong to the words."""
    words = [word for word in text.split(",") if word]
    lost = [word for word in words if find_engine_fault(word, target)]
    used = dict.fromkeys(engine_spelling(word) or word for word in words if word not in lost)
    return list(used), lost


def _parse_collations(case: ValueContext) -> TakenValue | None:
    used, wrong = _split_collations(case.text or "", case.target)
    if not wrong:
        return None
    uses = f"uses {','.join(used)} and ignores the rest" if used else "ignores the whole value"
    what = f"{quote_value(wrong)} is not a character set with one of its collations, named once"
    return TakenValue(Outcome.ADJUSTED, case.text, f"{what}: the server logs an error, {uses}, and starts.")


def _split_collations(text: str, target: Target) -> tuple[list[str], str]:
    """The pairs of character set and collation up to the first wrong one, and that one, empty if there is none."""
    used: dict[str, str] = {}
    for pair in filter(None, (part.strip(" ") for part in text.split(","))):
        charset, _, collation = (part.strip(" ").lower() for part in pair.partition("="))
        charset = full_charset_name(charset)
        short = collation.startswith("uca1400_")
        whole = f"{charset}_{collation}" if short else collation.replace("utf8_", "utf8mb3_", 1)
        if charset in used or not _is_pair(charset, whole, target):
            return list(used.values()), pair
        used[charset] = f"{charset}={whole}"
    return list(used.values()), ""


def _is_pair(charset: str, collation: str, target: Target) -> bool:
    from advisor.verdict.formats import is_collation

    if charset == "filename":
        return collation == charset
    return charset in known_charsets(target) and charset_of(collation) == charset and is_collation(collation, target)


def _parse_skip_errors(case: ValueContext) -> TakenValue:
    """Parse the error numbers that a MariaDB replica skips; they are sorted, and unknown numbers are dropped."""
    text = (case.text or "").lstrip(" ")
    if case.argument.implied:
        return TakenValue(Outcome.ACCEPTED, case.text)
    if text.lower() == "all":
        since = IN_NUMBERS.get(case.target.version[:2])
        return TakenValue(
            Outcome.ACCEPTED, _print_numbers(range(MAX_TEXT)) if since and case.target.version >= since else "ALL"
        )
    last = LAST_IN_MARIADB.get(case.target.version[:2], NEWEST_LAST)
    used = _print_numbers(sorted({n for n in _read_numbers(text) if n <= last})) or "OFF"
    lost = _find_lost_errors(text, used)
    return TakenValue(Outcome.ADJUSTED if lost else Outcome.ACCEPTED, used, lost)


def _parse_retry_errors(case: ValueContext) -> TakenValue:
    """Parse the error numbers after which a MariaDB replica retries; they are added to those that it always retries."""
    text, always = (case.text or "").lstrip(" "), (case.option.default or "").split(",")
    numbers = _read_numbers(text)
    end = next((i for i, n in enumerate(numbers) if n >= TOO_LARGE), len(numbers))  # where the server stops to read
    more = [str(n % WRAPS) for n in numbers[:end] if n]
    words = [word.lstrip("0") for word in _numbers_and_words(text)]
    unused = [word for word in words if word and word not in (*always, *more)]
    used = ",".join([*always, *more])
    if not unused:
        return TakenValue(Outcome.ACCEPTED, used)
    dropped = quote_value(", ".join(unused))
    return TakenValue(
        Outcome.ADJUSTED,
        used,
        f"The server drops {dropped} without a message: the replica retries after errors {used}.",
    )


def _check_skip_errors(case: ValueContext) -> TakenValue | None:
    """Check the error numbers that a MySQL replica skips, which `--verbose --help` prints as written."""
    text = (case.text or "").strip(" ")
    if text.lower() in ("all", ""):
        return None
    numbers = text[len(DDL_WORD) :] if text.lower().startswith(DDL_WORD) else text
    lost = _find_lost_errors(numbers, _errors_of_mysql(text))
    return TakenValue(Outcome.ADJUSTED, case.text, lost) if lost else None


def _errors_of_mysql(text: str) -> str:
    """The error numbers that MySQL uses, sorted, or OFF; a word stands for a list of them."""
    ddl = text.lower().startswith(DDL_WORD)  # numbers may follow; other text must begin with a number
    digits = "".join(c if c.isdigit() and c.isascii() else " " for c in text) if ddl or text[0].isdigit() else ""
    words = [*digits.split(), *(DDL_EXIST_ERRORS.split(",") if ddl else ())]
    numbers = sorted({int(word) for word in words if len(word) <= MAX_DIGITS and int(word) <= MAX_ERROR})
    return ",".join(map(str, numbers)) or "OFF"


def _find_lost_errors(text: str, used: str) -> str:
    """What a server drops from a list of errors of which it uses some, as a sentence; empty for nothing."""
    if used == "OFF":
        lost = text.strip(" ").lower() not in ("", "off")
        return f"The server drops {quote_value(text)} without a message: the replica skips no error." if lost else ""
    words = [word.lstrip("0") or word[:1] for word in _numbers_and_words(text)]
    kept = used.split(",")
    unused = [word for word in words if word not in kept and not (word.isdigit() and used.endswith("..."))]
    if not unused:
        return ""
    return f"The server drops {quote_value(', '.join(unused))} without a message: the replica skips {used}."


def _numbers_and_words(text: str) -> list[str]:
    """The runs of digits and the runs of letters in a text; lint does without patterns here."""
    runs: list[str] = []
    before = ""
    for character in text:
        kind = "digit" if character in DIGITS else "letter" if character in LETTERS else ""
        if kind and kind == before:
            runs[-1] += character
        elif kind:
            runs.append(character)
        before = kind
    return runs


def _read_numbers(text: str) -> list[int]:
    numbers: list[int] = []
    while text and text[0] in DIGITS:
        number, text = leading_digits(text)
        numbers.append(number)
        while text and text[0] not in DIGITS:
            text = text[1:]
    return numbers


def _print_numbers(numbers: list[int] | range) -> str:
    line = ""
    for number in numbers:
        if len(line) >= MAX_TEXT:
            return line[:-1] + "..."
        line += f"{number},"
    return line[:-1]
