"""Options whose values the server treats differently from their kind; all tested on real servers."""

from __future__ import annotations

from advisor.core.model import Target
from advisor.redaction import quote_value
from advisor.verdict.names import reads_any_case
from advisor.verdict.number import LARGEST, PORT, log_warnings_level, parse_number
from advisor.verdict.outcome import Argument, Outcome, TakenValue
from advisor.verdict.settings import NO_DEFAULT
from advisor.verdict.words import LATE_WORDS, parse_boolean, parse_enum, parse_late_word, parse_set

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.catalog import Option
    from advisor.verdict.outcome import ValueContext

    Handler = Callable[[ValueContext], TakenValue | None]

ENABLED = Argument("1", implied=True)
# The exact builds that were tested.
WITHOUT_REVOCATION = frozenset({Target("mysql", (5, 7, 22)), Target("mariadb", (11, 4, 5))})
ADDRESSES = 1 << 47  # bytes of address space of a process
# These stay OFF while the NDB engine is off.
NDB_PLUGINS = ("ndbinfo", "ndb_transid_mysql_connection_map")
# Options with which MariaDB crashes at the value 0.
CRASHES_AT_0 = ("key_cache_block_size", "table_cache", "table_open_cache", "table_open_cache_instances")
CRASHES_WITHOUT_VALUE = ("performance_schema_instrument",)  # MariaDB crashes without a value
NO_MEMBER = {"myisam_recover_options": "OFF"}  # what --verbose --help prints for the empty set, if not the empty text
WITHOUT_OLD_TLS = (8, 0, 28)
RESOLVES_WITH_OFF = (8, 0, 27)  # by the source of 8.0.27; 8.0.15 does not, and versions between were not read
PLUGIN_STATES = ("OFF", "ON", "FORCE", "FORCE_PLUS_PERMANENT")
HOST_BINLOG = "(host name)-bin"
HOST_LOG = "(host name).log"
HOST_RELAY_LOG = "(host name)-relay-bin"
FT_SYNTAX = '+ -><()~*:""&|'


def _skip_name_resolve(case: ValueContext) -> TakenValue | None:
    """MySQL switches it on for any value; later OFF and a prefix switch it off, but not 0 or FALSE."""
    text = case.text
    off = case.argument == Argument("0", implied=True) or (text or "").lower() == "off"
    if off and case.target.since("mysql", *RESOLVES_WITH_OFF):
        return TakenValue(Outcome.ACCEPTED, "FALSE")
    if text is None or text.lower() in ("1", "on", "true"):
        return TakenValue(Outcome.ACCEPTED, "TRUE")
    why = (
        f"The server takes ON: {case.option.name} is on as soon as it is given, and {quote_value(text)} does not "
        "switch it off."
    )
    return TakenValue(Outcome.ADJUSTED, "TRUE", why)


def _log_bin(case: ValueContext) -> TakenValue | None:
    """Read a base name; without one MySQL keeps that of an earlier line, and else servers use the host name."""
    if case.argument == Argument("0", implied=True):
        return TakenValue(Outcome.ACCEPTED, NO_DEFAULT if case.target.since("mysql", 8) else "0")
    if case.text and case.argument != ENABLED:
        if case.text.endswith("/"):
            return TakenValue(Outcome.INVALID, case.text, f"{case.text} is a directory, but a base name is required.")
        return TakenValue(Outcome.ACCEPTED, case.text)
    if case.text is None and case.target.is_mysql and case.before not in (None, NO_DEFAULT):
        return TakenValue(Outcome.ACCEPTED, case.before)
    return TakenValue(Outcome.ACCEPTED, HOST_BINLOG, "The server derives the name from the host name.")


def _port(case: ValueContext) -> TakenValue | None:
    """Port 0 means the compiled default or the mysql entry in /etc/services; MySQL 5.7 reads an empty value as 0."""
    if case.text == "" and not case.target.since("mysql", 8) and case.target.is_mysql:
        return TakenValue(Outcome.ADJUSTED, PORT, f"The server takes {PORT}, its default: the value is empty.")
    taken = parse_number(case.text or "", case.option, case.target)
    if taken.value != "0" or taken.outcome is Outcome.INVALID:
        return taken
    counts = "0 stands for it" if case.text == "0" else f"{quote_value(case.text)} counts as 0"
    return TakenValue(Outcome.ADJUSTED, PORT, f"The server takes {PORT}, its default: {counts}.")


def _relay_log(case: ValueContext) -> TakenValue | None:
    """MySQL 8.0 and later replace an empty name by one of the host name at once; 5.7 drops the previous value."""
    if case.text:
        return None
    if not case.target.since("mysql", 8):
        return None if case.text == "" else TakenValue(Outcome.ACCEPTED, NO_DEFAULT)
    return TakenValue(Outcome.ACCEPTED, HOST_RELAY_LOG, "The server derives the name from the host name.")


def _query_log(case: ValueContext) -> TakenValue | None:
    """An empty name becomes one of log_basename or the host (`effects`); MariaDB: also no value behind a prefix."""
    if case.text == "" or (case.text is None and case.target.is_mariadb):
        other = " of log_basename, or" if case.target.is_mariadb else ""
        return TakenValue(Outcome.ACCEPTED, HOST_LOG, f"The server derives the name{other} from the host name.")
    if case.target.is_mysql and (case.text or "").lower().endswith((".cnf", ".ini")):
        return TakenValue(Outcome.INVALID, case.text, "The server does not log to .cnf or .ini files.")
    return None


def _relay_log_size(case: ValueContext) -> TakenValue | None:
    """MariaDB reports a minimum of 4096, but accepts 0, which stands for max_binlog_size."""
    return None if case.text is None else parse_number(case.text, case.option._replace(min=0), case.target)


def _table_cache(case: ValueContext) -> TakenValue | None:
    """The old name of table_open_cache has its own range; the host also limits what `--verbose --help` prints."""
    return None if case.text is None else parse_number(case.text, case.option._replace(min=1, max=524288), case.target)


def _plugin_state(case: ValueContext) -> TakenValue | None:
    """MariaDB and MySQL before 8.4 print the default for OFF too (`startup.help_value`), and nothing for FORCE."""
    states = case.option._replace(values=PLUGIN_STATES)
    taken = parse_enum("1" if case.text is None else case.text, states, case.target)
    if taken.outcome is not Outcome.ACCEPTED:
        return taken
    if case.option.name in NDB_PLUGINS:
        return TakenValue(Outcome.ACCEPTED)
    if taken.value in ("FORCE", "FORCE_PLUS_PERMANENT"):
        return TakenValue(Outcome.ACCEPTED, "")
    kept = case.target.is_mysql or taken.value == "OFF"
    return taken if kept else TakenValue(Outcome.ACCEPTED, case.option.default)


def _instrument(case: ValueContext) -> TakenValue | None:
    """MySQL cuts the value at the equals sign before it prints it; without a value the previous one stays."""
    return None if case.text is None else TakenValue(Outcome.ACCEPTED, case.text.partition("=")[0])


def _log_warnings(case: ValueContext) -> TakenValue | None:
    """Read as a number, then by its digits only: suffixes do not count. Without a value it is incremented."""
    if case.text is None:
        before = "1" if case.target.is_mariadb else case.before or "0"
        return TakenValue(Outcome.ACCEPTED, str(int(before) + 1 & LARGEST["uint"]))
    taken = parse_number(case.text, case.option, case.target)
    if taken.outcome is Outcome.INVALID:
        return taken
    value = log_warnings_level(case.text)
    aloud = case.target.is_mariadb and taken.outcome is Outcome.ADJUSTED
    if not aloud and (value == taken.value or case.text in (value, "0")):
        return TakenValue(Outcome.ACCEPTED, value)
    why = "it reads only the digits" if case.text[-1:].isalpha() else "it keeps only 32 bits of the number"
    return TakenValue(Outcome.ADJUSTED, value, f"The server takes {value}: {why}.")


def _lower_case(case: ValueContext) -> TakenValue | None:
    """2 needs a case-insensitive file system; on a case-sensitive one, as on Linux, the server falls back to 0."""
    taken = parse_number("1" if case.text is None else case.text, case.option, case.target)
    if taken.value != "2" or case.target.platform:
        return taken
    why = "The server uses 0 on a case-sensitive file system, as on Linux: 2 is for other file systems."
    return TakenValue(Outcome.ADJUSTED, "0", why)


def _alter_algorithm(case: ValueContext) -> TakenValue | None:
    taken = parse_enum("1" if case.text is None else case.text, case.option, case.target)
    if not case.target.since("mariadb", 11, 8) or taken.outcome is Outcome.INVALID:
        return taken
    return TakenValue(Outcome.IGNORED, "DEFAULT", f"The server accepts {case.option.name} but ignores it.")


def _recover_options(case: ValueContext) -> TakenValue | None:
    """The empty set is printed as OFF."""
    taken = parse_set("1" if case.text is None else case.text, case.option, case.target)
    return taken._replace(value=NO_MEMBER[case.option.name]) if taken.value == "" else None


def _slow_filter(case: ValueContext) -> TakenValue | None:
    """An empty filter means all of them; only 0 means none."""
    return TakenValue(Outcome.ACCEPTED, ",".join(case.option.values)) if case.text == "" else None


def _ignored_folders(case: ValueContext) -> TakenValue | None:
    """Each line adds directories; an empty value clears the list."""
    if case.text is None:
        return TakenValue(Outcome.ACCEPTED, "1")
    if not case.text or not case.before:
        return None
    return TakenValue(Outcome.ACCEPTED, f"{case.before},{case.text}")


def _exit_info(case: ValueContext) -> TakenValue:
    """Debugging bits for developers: any text is accepted; MySQL refuses an empty one."""
    if case.text == "" and case.target.is_mysql:
        return TakenValue(Outcome.INVALID, None, "A value is required, but it is empty.")
    return TakenValue(Outcome.ACCEPTED)


def _revocation(case: ValueContext) -> TakenValue | None:
    """Servers built with a small TLS library do not support revocation lists, and drop the value."""
    return TakenValue(Outcome.ACCEPTED, NO_DEFAULT) if case.target in WITHOUT_REVOCATION else None


def _partial_json(case: ValueContext) -> TakenValue:
    """Parse a set with a single member."""
    return parse_set(case.text or "", case.option._replace(values=("PARTIAL_JSON",)), case.target)


def _lazy_enumeration(*values: str) -> Handler:
    """Return a handler for an enumeration whose members the catalog does not list."""

    def take(case: ValueContext) -> TakenValue:
        return parse_enum("1" if case.text is None else case.text, case.option._replace(values=values), case.target)

    return take


def _basename(case: ValueContext) -> TakenValue | None:
    """Check a base name; releases with case-insensitive names accept a directory before it, others a backslash last."""
    text = case.text or ""
    whole = text == "/" or not text.endswith(("/", "\\")) if reads_any_case(case.target) else "/" not in text
    if text and "." not in text and whole:
        return None
    return TakenValue(
        Outcome.INVALID, text, f"{quote_value(text)} is not a base name: write a name without a directory or a dot."
    )


def _query_cache_size(case: ValueContext) -> TakenValue | None:
    """MySQL 5.7 disables the query cache if its size exceeds the address space."""
    taken = parse_number(case.text or "1", case.option, case.target)
    if int(taken.value or 0) < ADDRESSES:
        return None
    return TakenValue(Outcome.ADJUSTED, "0", "The server uses 0: the value is larger than any memory.")


def _boolean_syntax(case: ValueContext) -> TakenValue | None:
    """Fourteen ASCII characters, none twice but the quotes, no letters or digits, a space first or second."""
    if case.text is None and case.target.is_mysql:
        return None
    text = case.text or ""
    shaped = len(text) == len(FT_SYNTAX) and " " in text[:2] and text.isascii()
    if shaped and not any(c.isalnum() for c in text) and len({*text[:10], *text[11:]}) == len(FT_SYNTAX) - 1:
        return None
    return TakenValue(
        Outcome.INVALID, text, f"{quote_value(text)} is not a list of operators such as {quote_value(FT_SYNTAX)}."
    )


def _innodb(case: ValueContext) -> TakenValue | None:
    why = f"InnoDB is always on since MySQL 5.7: the server accepts {case.option.name} but ignores it."
    return TakenValue(Outcome.IGNORED, None, why)


def _secure_auth(case: ValueContext) -> TakenValue | None:
    taken = parse_boolean(case.text, case.option._replace(arg="optional"), case.target)
    if taken.value != "FALSE":
        return taken
    why = "secure_auth can no longer be off: the old password format was removed."
    return TakenValue(Outcome.INVALID, "FALSE", why)


def _old_passwords(case: ValueContext) -> TakenValue | None:
    taken = parse_number("1" if case.text is None else case.text, case.option, case.target)
    if taken.value != "1":
        return taken
    return TakenValue(Outcome.INVALID, "1", "old_passwords accepts only 0 and 2: the format of 1 was removed.")


def _authentication(case: ValueContext) -> TakenValue | None:
    """Only built-in plugins are accepted; a loaded plugin is not."""
    known = ["mysql_native_password", "sha256_password"]
    known += ["caching_sha2_password"] if case.target.since("mysql", 8) else []
    text = case.text or ""
    if text in known or case.text is None:
        return None
    return TakenValue(Outcome.INVALID, text, f"{quote_value(text)} is none of {', '.join(known)}.")


def _tls_version(case: ValueContext) -> TakenValue | None:
    """Checked when its line is read, so no later line corrects it; a prefix that switches it on passes 1."""
    if not case.target.since("mysql", *WITHOUT_OLD_TLS):
        return None
    text = "1" if case.text is None else case.text
    if not text or all(part.lower() in ("tlsv1.2", "tlsv1.3") for part in text.removesuffix(",").split(",")):
        return None
    why = f"The server accepts only TLSv1.2 and TLSv1.3, without spaces, not {quote_value(text)}."
    return TakenValue(Outcome.INVALID, None, why)


# Imported lazily: only files that set one of these options need the module.
def _take_charset(case: ValueContext) -> TakenValue | None:
    from advisor.verdict.words import parse_charset

    return parse_charset(case)


def _take_locale(case: ValueContext) -> TakenValue | None:
    from advisor.verdict.formats import parse_locale

    return parse_locale(case)


def _take_table_rule(case: ValueContext) -> TakenValue | None:
    from advisor.verdict.formats import parse_table_rule

    return parse_table_rule(case)


def _take_sql_mode(case: ValueContext) -> TakenValue | None:
    from advisor.verdict.words import parse_sql_mode

    return parse_sql_mode(case)


def _take_collation(case: ValueContext) -> TakenValue | None:
    from advisor.verdict.formats import parse_collation

    return parse_collation(case)


def _take_tracked(case: ValueContext) -> TakenValue | None:
    from advisor.verdict.formats import parse_tracked

    return parse_tracked(case)


def _take_format(case: ValueContext) -> TakenValue | None:
    from advisor.verdict.formats import parse_format

    return parse_format(case)


def _take_rewrite(case: ValueContext) -> TakenValue | None:
    from advisor.verdict.formats import parse_rewrite

    return parse_rewrite(case)


def _take_suppressed(case: ValueContext) -> TakenValue | None:
    from advisor.verdict.formats import parse_suppressed

    return parse_suppressed(case)


def _take_algorithms(case: ValueContext) -> TakenValue | None:
    from advisor.verdict.formats import parse_algorithms

    return parse_algorithms(case)


def _take_ciphers(case: ValueContext) -> TakenValue | None:
    from advisor.verdict.formats import parse_ciphers

    return parse_ciphers(case)


def _take_services(case: ValueContext) -> TakenValue | None:
    from advisor.verdict.formats import parse_services

    return parse_services(case)


def _take_url(case: ValueContext) -> TakenValue | None:
    from advisor.verdict.formats import parse_url

    return parse_url(case)


def _take_list(case: ValueContext) -> TakenValue | None:
    from advisor.verdict.word_lists import parse_list

    return parse_list(case)


EVERYWHERE: dict[str, Handler] = {
    "log_bin": _log_bin,
    "port": _port,
    "general_log_file": _query_log,
    "slow_query_log_file": _query_log,
    "log_slow_query_file": _query_log,
    "lower_case_table_names": _lower_case,
    "sql_mode": _take_sql_mode,
    "character_set_server": _take_charset,
    "character_set_filesystem": _take_charset,
    "collation_server": _take_collation,
    "lc_messages": _take_locale,
    "lc_time_names": _take_locale,
    "log_warnings": _log_warnings,
    "myisam_recover_options": _recover_options,
    "session_track_system_variables": _take_tracked,
    "exit_info": _exit_info,
    "ssl_crl": _revocation,
    "ssl_crlpath": _revocation,
    "date_format": _take_format,
    "time_format": _take_format,
    "datetime_format": _take_format,
    "ft_boolean_syntax": _boolean_syntax,
    "replicate_do_table": _take_table_rule,
    "replicate_ignore_table": _take_table_rule,
    "replicate_wild_do_table": _take_table_rule,
    "replicate_wild_ignore_table": _take_table_rule,
    "replicate_rewrite_db": _take_rewrite,
    "slave_skip_errors": _take_list,
    "replica_skip_errors": _take_list,
}
MYSQL: dict[str, Handler] = {
    "skip_name_resolve": _skip_name_resolve,
    "performance_schema_instrument": _instrument,
    "performance_schema_logger": _instrument,
    "performance_schema_meter": _instrument,
    "log_error_suppression_list": _take_suppressed,
    "query_cache_size": _query_cache_size,
    "innodb": _innodb,
    "relay_log": _relay_log,
    "secure_auth": _secure_auth,
    "old_passwords": _old_passwords,
    "default_authentication_plugin": _authentication,
    "protocol_compression_algorithms": _take_algorithms,
    "binlog_row_value_options": _partial_json,
    "tls_version": _tls_version,
    "admin_tls_version": _tls_version,
    "upgrade": _lazy_enumeration("NONE", "MINIMAL", "AUTO", "FORCE"),
}
MYSQL_9: dict[str, Handler] = {
    "ssl_cipher": _take_ciphers,
    "admin_ssl_cipher": _take_ciphers,
    "tls_ciphersuites": _take_ciphers,
    "admin_tls_ciphersuites": _take_ciphers,
    "log_error_services": _take_services,
    "ssl_fips_mode": _lazy_enumeration("OFF", "ON", "STRICT"),
}
MARIADB: dict[str, Handler] = {
    "alter_algorithm": _alter_algorithm,
    "max_relay_log_size": _relay_log_size,
    "table_cache": _table_cache,
    "log_slow_filter": _slow_filter,
    "ignore_db_dirs": _ignored_folders,
    "init_rpl_role": _lazy_enumeration("MASTER", "SLAVE"),
    "log_basename": _basename,
    "redirect_url": _take_url,
    "character_set_collations": _take_list,
    "gtid_pos_auto_engines": _take_list,
    "slave_transaction_retry_errors": _take_list,
}


def is_plugin(option: Option) -> bool:
    """Whether the option is the state of a plugin: servers before MySQL 8.4 print ON for it in any state."""
    return option.kind == "enum" and option.values[:2] == PLUGIN_STATES[:2] and not option.variable


def handler_for(option: Option, target: Target) -> Handler | None:
    """Return the handler that reads the option's value on this target; None if its kind alone decides."""
    if is_plugin(option):
        return MYSQL.get(option.name, _plugin_state) if target.is_mysql else _plugin_state
    if option.name in LATE_WORDS and option.kind == "string":
        return parse_late_word
    own = MARIADB if target.is_mariadb else MYSQL
    newer = MYSQL_9 if target.since("mysql", 9) else {}
    return newer.get(option.name) or own.get(option.name) or EVERYWHERE.get(option.name)
