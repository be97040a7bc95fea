"""Values with their own grammar, which servers check one by one: date formats, URLs, ciphers, replication filters."""

from __future__ import annotations

from advisor.redaction import quote_value
from advisor.verdict.outcome import Outcome, TakenValue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from advisor.core.model import Target
    from advisor.verdict.outcome import ValueContext


# The part of a date or time that each letter stands for; %p is AM or PM, required by 12-hour formats.
PARTS = dict.fromkeys("yY", "year") | dict.fromkeys("cm", "month") | dict.fromkeys("de", "day")
PARTS |= dict.fromkeys("hIlkH", "hour") | dict.fromkeys("sS", "second") | {"i": "minute", "f": "fraction", "p": "half"}
TWELVE = "hIl"
DATE = {"year", "month", "day"}
TIME = {"hour", "minute", "second"}
NEEDED = {"date_format": DATE, "time_format": TIME, "datetime_format": DATE | TIME}
URL = r"(?:mysql|mariadb)://(?:[^:]+|[^:]*:\d{1,5})"
HIGHEST_PORT = 65535
SHORTEST_OFFSET, HOUR = len("+2:0"), 60
ALGORITHMS = frozenset({"zlib", "zstd", "uncompressed"})


def parse_format(case: ValueContext) -> TakenValue | None:
    """Check date_format, time_format or datetime_format: unused variables that old servers still validate."""
    if (case.text is None and case.target.is_mysql) or not case.option.shown:
        return None
    text = case.text or ""
    if _is_format(text, NEEDED[case.option.name]):
        return None
    return TakenValue(
        Outcome.INVALID, text, f"{quote_value(text)} is not a format such as {quote_value(case.option.default)}."
    )


def _is_format(text: str, needed: set[str]) -> bool:
    """Whether each part occurs once, with one separator between parts, and %p exactly with a 12-hour letter."""
    import re

    if not re.fullmatch(r"%[a-zA-Z](?:[^\w%\x80-\uffff]?%[a-zA-Z])*", text):
        return False
    letters = re.findall(r"%(.)", text)
    if any(letter not in PARTS for letter in letters):
        return False
    parts = [PARTS[letter] for letter in letters]
    extra = set(parts) - needed
    twelve = any(letter in TWELVE for letter in letters)
    allowed = {"fraction", "half"} | (set() if needed == DATE else DATE)
    joined = re.search(r"%[a-zA-Z]%", text) is not None
    return (
        len(set(parts)) == len(parts)
        and needed <= set(parts)
        and extra <= (set() if needed == DATE else allowed)
        and twelve == ("half" in parts)
        and not joined
    )


def parse_url(case: ValueContext) -> TakenValue | None:
    """Check MariaDB's redirect_url: empty, or a mysql:// or mariadb:// URL with a host and an optional port."""
    import re

    text = case.text or ""
    port = text.rpartition(":")[2]
    if not text or (re.fullmatch(URL, text) and not (port.isdecimal() and int(port) > HIGHEST_PORT)):
        return None
    return TakenValue(
        Outcome.INVALID,
        text,
        f"{quote_value(text)} is not an address such as mysql://host:3306 or mariadb://host:3306.",
    )


def parse_algorithms(case: ValueContext) -> TakenValue | None:
    """Check protocol_compression_algorithms; MySQL replaces a list with any unknown word by the default."""
    text = case.text
    if text is None or all(word.lower() in ALGORITHMS for word in text.split(",")):
        return None
    why = (
        f"The server uses its default, {case.option.default}: {quote_value(text)} is not a list of zlib, zstd, "
        "uncompressed."
    )
    return TakenValue(Outcome.ADJUSTED, case.option.default, why)


DEFAULT = "en_US"
# Languages with their countries; each tested on the servers.
COUNTRIES = {
    "ar": "AE BH DZ EG IN IQ JO KW LB LY MA OM QA SA SD SY TN YE",
    "de": "AT BE CH DE LU",
    "en": "AU CA GB IN NZ PH US ZA ZW",
    "es": "AR BO CL CO CR DO EC ES GT HN MX NI PA PE PR PY SV US UY VE",
    "fr": "BE CA CH FR LU",
    "it": "CH IT",
    "nl": "BE NL",
    "pt": "BR PT",
    "ru": "RU UA",
    "sv": "FI SE",
    "zh": "CN HK TW",
}
SINGLE = (
    "be_by bg_bg ca_es cs_cz da_dk el_gr et_ee eu_es fi_fi fo_fo gl_es gu_in he_il hi_in hr_hr hu_hu id_id is_is "
    "ja_jp ko_kr lt_lt lv_lv mk_mk mn_mn ms_my nb_no no_no pl_pl rm_ch ro_ro sk_sk sl_si sq_al sr_rs ta_in te_in "
    "th_th tr_tr uk_ua ur_pk vi_vn"
)


def parse_locale(case: ValueContext) -> TakenValue | None:
    """Check a locale name, case-insensitively; MySQL 8.0 and later fall back to en_US, the others refuse to start."""
    if case.text is None and case.target.is_mysql:
        return None
    text = case.text or ""
    if text.lower() in locales(case.target):
        return TakenValue(Outcome.ACCEPTED, text)
    if case.target.since("mysql", 8):
        return TakenValue(
            Outcome.ADJUSTED, DEFAULT, f"The server takes {DEFAULT}: {quote_value(text)} is an unknown locale."
        )
    return TakenValue(Outcome.INVALID, text, f"{quote_value(text)} is an unknown locale.")


def locales(target: Target) -> frozenset[str]:
    """Return the locales that a server knows, in lower case."""
    names = {f"{language}_{country.lower()}" for language, of in COUNTRIES.items() for country in of.split()}
    names.update(SINGLE.split())
    if target.is_mariadb:
        names.add("ka_ge")
    names.add("sw_ke" if target.since("mariadb", 11, 8) else "sr_yu")
    return frozenset(names)


# System variables without an option, as the servers list them; the first ones exist for sessions only.
WITHOUT_OPTION: Final = """
error_count external_user identity insert_id last_insert_id proxy_user pseudo_slave_mode
pseudo_thread_id rand_seed1 rand_seed2 sql_log_bin timestamp warning_count character_set_client
character_set_connection character_set_database character_set_results character_set_system
collation_connection collation_database foreign_key_checks unique_checks profiling sql_auto_is_null
sql_big_selects sql_buffer_result sql_log_off sql_notes sql_quote_show_create sql_safe_updates
sql_select_limit sql_slave_skip_counter sql_warnings have_compress have_dynamic_loading have_geometry
have_openssl have_profiling have_query_cache have_rtree_keys have_ssl have_symlink hostname
large_files_support large_page_size license locked_in_memory log_bin_basename lower_case_file_system
max_insert_delayed_threads protocol_version relay_log_basename skip_external_locking system_time_zone
time_zone tx_isolation tx_read_only version version_comment version_compile_machine version_compile_os
port socket
"""
MYSQL: Final = """
gtid_executed gtid_next gtid_owned gtid_purged have_statement_timeout innodb_version keyring_operations
rbr_exec_mode server_uuid transaction_allow_batching default_collation_for_utf8mb4
immediate_server_version original_commit_timestamp original_server_version pseudo_replica_mode
require_row_format resultset_metadata show_create_table_skip_secondary_engine sql_replica_skip_counter
statement_id use_secondary_engine version_compile_zlib
"""
MARIADB: Final = """
aria_used_for_temp_tables check_constraint_checks default_master_connection gtid_binlog_pos
gtid_binlog_state gtid_current_pos gtid_seq_no gtid_slave_pos have_crypt in_transaction last_gtid
server_uid skip_parallel_replication skip_replication sql_if_exists storage_engine
system_versioning_asof version_malloc_library version_source_revision version_ssl_library
wsrep_gtid_seq_no wsrep_patch_version
"""
# Those that statements set; the other ones are read-only. Asked: MySQL 5.7.22, 8.0.15 and 9.7.4, MariaDB 10.11.19,
# 11.4.5 and 11.8.9.
SET_IN_SESSIONS: Final = """
default_master_connection gtid_next gtid_seq_no identity immediate_server_version insert_id last_insert_id
original_commit_timestamp original_server_version pseudo_replica_mode pseudo_slave_mode pseudo_thread_id rand_seed1
rand_seed2 rbr_exec_mode require_row_format resultset_metadata show_create_table_skip_secondary_engine
skip_parallel_replication skip_replication sql_log_bin timestamp transaction_allow_batching use_secondary_engine
wsrep_gtid_seq_no
"""
SET_GLOBALLY: Final = """
gtid_binlog_state gtid_purged gtid_slave_pos keyring_operations sql_replica_skip_counter sql_slave_skip_counter
"""
SET_IN_BOTH: Final = """
character_set_client character_set_connection character_set_database character_set_results check_constraint_checks
collation_connection collation_database default_collation_for_utf8mb4 foreign_key_checks max_insert_delayed_threads
profiling sql_auto_is_null sql_big_selects sql_buffer_result sql_if_exists sql_log_off sql_notes sql_quote_show_create
sql_safe_updates sql_select_limit sql_warnings storage_engine system_versioning_asof time_zone tx_isolation tx_read_only
unique_checks
"""
OPTION_OF = {
    "character_set_database": "character_set_server",
    "collation_database": "collation_server",
    "log_bin_basename": "log_bin",
    "max_insert_delayed_threads": "max_delayed_threads",
    "relay_log_basename": "relay_log",
    "storage_engine": "default_storage_engine",
    "time_zone": "default_time_zone",
    "tx_isolation": "transaction_isolation",
    "tx_read_only": "transaction_read_only",
}
HOLDERS = dict.fromkeys(("tx_isolation", "tx_read_only"), "MySQL 5.7 and MariaDB")


def describe_variable(name: str) -> str:
    """Say whose variable this is that has no option, and what sets it; empty for all other names."""
    statement = find_statement(name)
    if statement is None:
        return ""
    names = {"MySQL": MYSQL, "MariaDB": MARIADB}
    holder = next((text for text, listed in names.items() if name in listed.split()), "MySQL and MariaDB")
    change = f"{statement} changes it." if statement else "It is read-only."
    option = f" The option {OPTION_OF[name]} sets it at the start." if name in OPTION_OF else ""
    return (
        f"A system variable of {HOLDERS.get(name, holder)} without an option: an option file cannot set it. "
        f"{change}{option}"
    )


def find_statement(name: str) -> str | None:
    """Return the statement that sets a variable without an option, empty for a read-only one, None for other names."""
    if name not in f"{WITHOUT_OPTION} {MYSQL} {MARIADB}".split():
        return None
    by = {"SET SESSION": SET_IN_SESSIONS, "SET GLOBAL": SET_GLOBALLY, "SET GLOBAL or SET SESSION": SET_IN_BOTH}
    return next((text for text, listed in by.items() if name in listed.split()), "")


def parse_tracked(case: ValueContext) -> TakenValue | None:
    """Check a comma-separated list of system variables, or *; MySQL refuses duplicates."""
    text = case.text or ""
    if not text.strip(" ") or text.strip(" ") == "*":
        return None
    names = [name.strip(" ").lower() for name in text.split(",")]
    bad = next((name for name in names if name and not _is_known_variable(name, case)), None)
    if bad is not None:
        return TakenValue(Outcome.INVALID, text, f"{quote_value(bad)} is not a system variable of this server.")
    if case.target.is_mysql and len(set(names)) < len(names):
        return TakenValue(Outcome.INVALID, text, f"{quote_value(text)} names a variable twice.")
    return None


def _is_known_variable(name: str, case: ValueContext) -> bool:
    from advisor.catalog import load

    own = MYSQL if case.target.is_mysql else MARIADB
    catalog = load(case.target)
    return catalog.find_variable(name) is not None or name in WITHOUT_OPTION.split() or name in own.split()


def parse_table_rule(case: ValueContext) -> TakenValue | None:
    """Check a table filter: it must name the database and the table."""
    text = case.text or ""
    if "." in text:
        return None
    return TakenValue(
        Outcome.INVALID, None, f"{quote_value(text)} does not name a table with its database: write database.table."
    )


def parse_rewrite(case: ValueContext) -> TakenValue | None:
    """Check a rule that renames one database to another."""
    text = case.text or ""
    old, arrow, new = text.partition("->")
    if arrow and old.strip() and new.strip():
        return None
    return TakenValue(Outcome.INVALID, None, f"{quote_value(text)} is not a renaming of a database: write from->to.")


SUITES = frozenset(
    {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_128_CCM_SHA256"}
)
# Key exchanges and the ciphers that they combine with; each combination tested on 9.7.4.
EXCHANGES = ("ECDHE-ECDSA-", "ECDHE-RSA-", "DHE-RSA-", "")
WITH_ALL = ("AES256-GCM-SHA384", "AES128-GCM-SHA256")
WITH_CCM = ("ECDHE-ECDSA-", "DHE-RSA-", "")
CODE = r"(?i)(?:MY-)?(\d+)|ER_\w+"
# Error numbers in the error log: system errors below SYSTEM, the server's own from FIRST on.
SYSTEM, FIRST = 1000, 10000
LAST_ON_8_0_15, LAST = 13300, 15999
FACTORS = 3
# Plugins that store passwords; only the first factor may name them.
BUILT_IN = ("caching_sha2_password", "sha256_password", "mysql_native_password")


def parse_ciphers(case: ValueContext) -> TakenValue | None:
    """Check a colon-separated list of allowed ciphers; names are case-sensitive."""
    text = case.text or ""
    known = SUITES if case.option.name.endswith("suites") else _known_ciphers()
    # The server searches for each name as a substring of its list, so part of a name is accepted.
    allowed = [name for name in text.split(":") if name[:1] != "!"]  # exclusions of any name are accepted
    bad = next((name for name in allowed if not any(name in whole for whole in known)), None)
    if bad is None:
        return None
    return TakenValue(Outcome.INVALID, text, f"{quote_value(bad)} is not a cipher that the server allows.")


def _known_ciphers() -> frozenset[str]:
    names = {exchange + cipher for exchange in EXCHANGES for cipher in WITH_ALL}
    names |= {exchange + "CHACHA20-POLY1305" for exchange in EXCHANGES if exchange}
    names |= {exchange + cipher for exchange in WITH_CCM for cipher in ("AES256-CCM", "AES128-CCM")}
    return frozenset(names)


def parse_suppressed(case: ValueContext) -> TakenValue | None:
    """Check a list of error codes to suppress; MySQL drops the whole list if one entry is invalid."""
    text = case.text or ""
    if not text or all(_is_code(code.strip(" "), case) for code in text.split(",")):
        return None
    why = f"The server uses an empty list: {quote_value(text)} contains something that is not a message code."
    return TakenValue(Outcome.ADJUSTED, "", why)


def parse_services(case: ValueContext) -> TakenValue | None:
    """Check names of error log components, some built in; if one cannot be loaded, the server uses the default."""
    names = [name.strip(" ") for name in (case.text or "").replace(";", ",").split(",")]
    if all(not name or name.startswith(("log_filter_", "log_sink_")) for name in names):
        return None
    why = f"The server uses its default: {quote_value(case.text)} names something that is not an error log component."
    return TakenValue(Outcome.ADJUSTED, case.option.default, why)


def _is_code(text: str, case: ValueContext) -> bool:
    import re

    match = re.fullmatch(CODE, text)
    if not match or not match[1]:
        return match is not None
    last = LAST if case.target.since("mysql", 8, 0, 16) else LAST_ON_8_0_15  # later releases of 8.0 were not asked
    return 0 < int(match[1]) < SYSTEM or FIRST <= int(match[1]) <= last


def find_policy_fault(text: str, target: Target, *, loads: bool) -> str | None:
    """Return why a server refuses to start with an authentication_policy; None if it starts.

    `loads` means that the file loads plugins: then names that are not built in are accepted.
    """
    factors = [factor.strip() for factor in text.split(",")]
    if not factors[0]:
        return "The first factor must not be empty."
    if len(factors) > FACTORS:
        return f"{quote_value(text)} names more than {FACTORS} factors."
    optional = next((place for place, factor in enumerate(factors) if not factor), FACTORS)
    if any(factors[optional:]):
        return f"A factor follows one that is empty in {quote_value(text)}."
    built_in = BUILT_IN if not target.since("mysql", 9) else BUILT_IN[:2]
    for place, factor in enumerate(factors[:optional]):
        name = _plugin_of(factor)
        loaded = loads and name not in (*BUILT_IN, "", "*")
        if name is not None and not loaded and (place or name not in built_in):
            return f"{quote_value(name)} is not a plugin that this server has for factor {place + 1}."
    return None


def _plugin_of(factor: str) -> str | None:
    """Return the plugin that a factor names: directly, or as the default after *; None if any plugin is allowed."""
    star, colon, name = factor.partition(":")
    return (name.strip() if colon and star.strip() == "*" else factor).lower() if factor != "*" else None


ENDINGS = ("_ci", "_cs", "_ks", "_bin")
# Collations by character set, without its name; those of Unicode's sets, and languages with one for each of these sets.
OF_LANGUAGES = (
    *("croatian", "czech", "danish", "esperanto", "estonian", "german2", "hungarian", "icelandic", "latvian"),
    *("lithuanian", "persian", "polish", "roman", "romanian", "sinhala", "slovak", "slovenian", "spanish", "spanish2"),
    *("swedish", "turkish", "unicode", "unicode_520", "vietnamese", "general"),
)
OF_UNICODE = frozenset({"bin", "general_mysql500_ci", "tolower_ci", *[f"{language}_ci" for language in OF_LANGUAGES]})
ONLY_IN_MARIADB = frozenset({"croatian_mysql561_ci", "myanmar_ci", "thai_520_w2"})
UNICODE = frozenset({"utf8mb3", "utf8mb4", "ucs2", "utf16", "utf32"})
OTHERS = {
    **dict.fromkeys(("big5", "gb2312", "gbk"), "chinese_ci"),
    **dict.fromkeys(("cp932", "eucjpms", "sjis", "ujis"), "japanese_ci"),
    **dict.fromkeys(("dec8", "swe7"), "swedish_ci"),
    "cp1250": "croatian_ci czech_cs general_ci polish_ci",
    "cp1251": "bulgarian_ci general_ci general_cs ukrainian_ci",
    "cp1257": "general_ci lithuanian_ci",
    "euckr": "korean_ci",
    "gb18030": "chinese_ci unicode_520_ci",
    "hp8": "english_ci",
    "latin1": "danish_ci general_ci general_cs german1_ci german2_ci spanish_ci swedish_ci",
    "latin2": "croatian_ci czech_cs general_ci hungarian_ci",
    "latin5": "turkish_ci",
    "latin7": "estonian_cs general_ci general_cs",
    "tis620": "thai_ci",
}


def parse_collation(case: ValueContext) -> TakenValue | None:
    """Check a collation name; the value is printed as written."""
    from advisor.verdict.words import charset_of, known_charsets

    if case.text is None and case.target.is_mysql:
        return None
    text = case.text or ""
    if charset_of(text) in known_charsets(case.target) and is_collation(text.lower(), case.target):
        return TakenValue(Outcome.ACCEPTED, text)
    hint = ": write utf8mb4_ or utf8mb3_ for utf8_" if text.lower().startswith("utf8_") else ""
    return TakenValue(Outcome.INVALID, text, f"{quote_value(text)} is not a collation of this server{hint}.")


def is_collation(name: str, target: Target) -> bool:
    """Whether the target has the collation; of the families of UCA 9 and 14 only the family is checked."""
    from advisor.verdict.words import full_charset_name

    charset, _, rest = name.partition("_")
    charset = full_charset_name(charset)
    if name == "utf8mb4_0900_bin" and target.is_mysql:
        return target.since("mysql", 8, 0, 17)
    if "_uca1400_" in name or "_0900_" in name:
        is_known = target.since("mariadb", 10, 10) if "uca" in name else _has_uca9(target)
        return is_known and name.isidentifier() and name.endswith(ENDINGS)
    if target.is_mariadb:
        newest = rest == "general1400_as_ci" and target.since("mariadb", 11, 5)
        if charset in UNICODE and (newest or rest in ONLY_IN_MARIADB):
            return True
        rest = rest.replace("nopad_", "", 1)
    if charset in UNICODE:
        return rest in OF_UNICODE
    return name == "binary" or rest == "bin" or rest in OTHERS.get(charset, "general_ci").split()


def _has_uca9(target: Target) -> bool:
    return target.since("mysql", 8) or target.since("mariadb", 11, 4, 5)


def find_zone_fault(zone: str, target: Target) -> str:
    """Return why the server stops at a default time zone: an offset, or no name; empty if it may start."""
    hours, _, minutes = zone[1:].partition(":")
    if zone[:1] not in ("+", "-", ""):
        return ""
    most = 14 if target.since("mysql", 8, 0, 19) else 13
    if len(zone) >= SHORTEST_OFFSET and zone.isascii() and minutes.isdecimal() and (hours or "0").isdecimal():
        offset = int(hours[:9] or 0) * HOUR + int(minutes[:9])
        if int(minutes[:9]) < HOUR and offset <= most * HOUR - (zone[0] == "-"):
            return ""
    return f"{quote_value(zone)} is not an offset from UTC such as +02:00, from -{most - 1}:59 to +{most}:00."
