"""Values with their own grammar: date and time formats, redirect URLs, algorithm lists, locales, tracked variables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from advisor.redaction.secrets import quote_value
from advisor.verdict.outcome import Outcome, TakenValue

if TYPE_CHECKING:
    from advisor.core.model import Target
    from advisor.verdict.outcome import ValueContext


# The part of a date or time that each letter stands for; %p is AM or PM, required by 12-hour formats.
PARTS = dict.fromkeys("yY", "year") | dict.fromkeys("cm", "month") | dict.fromkeys("de", "day")
PARTS |= dict.fromkeys("hIlkH", "hour") | dict.fromkeys("sS", "second") | {"i": "minute", "f": "fraction", "p": "half"}
TWELVE = "hIl"
DATE = {"year", "month", "day"}
TIME = {"hour", "minute", "second"}
NEEDED = {"date_format": DATE, "time_format": TIME, "datetime_format": DATE | TIME}
URL = re.compile(r"(?:mysql|mariadb)://(?:[^:]+|[^:]*:\d{1,5})")
HIGHEST_PORT = 65535
ALGORITHMS = frozenset({"zlib", "zstd", "uncompressed"})


def parse_format(case: ValueContext) -> TakenValue | None:
    """Check date_format, time_format or datetime_format: unused variables that old servers still validate."""
    if (case.text is None and case.target.is_mysql) or not case.option.shown:
        return None
    text = case.text or ""
    if _is_format(text, NEEDED[case.option.name]):
        return None
    return TakenValue(
        Outcome.INVALID, text, f"{quote_value(text)} is no format such as {quote_value(case.option.default)}."
    )


def _is_format(text: str, needed: set[str]) -> bool:
    """Whether each part occurs once, with one separator between parts, and %p exactly with a 12-hour letter."""
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
    text = case.text or ""
    port = text.rpartition(":")[2]
    if not text or (URL.fullmatch(text) and not (port.isdecimal() and int(port) > HIGHEST_PORT)):
        return None
    return TakenValue(
        Outcome.INVALID, text, f"{quote_value(text)} is no address such as mysql://host:3306 or mariadb://host:3306."
    )


def parse_algorithms(case: ValueContext) -> TakenValue | None:
    """Check protocol_compression_algorithms; MySQL replaces a list with any unknown word by the default."""
    text = case.text
    if text is None or all(word.lower() in ALGORITHMS for word in text.split(",")):
        return None
    why = (
        f"The server takes its default, {case.option.default}: {quote_value(text)} is no list of "
        "zlib, zstd, uncompressed."
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


def parse_tracked(case: ValueContext) -> TakenValue | None:
    """Check a comma-separated list of system variables, or *; MySQL refuses duplicates."""
    text = case.text or ""
    if not text.strip(" ") or text.strip(" ") == "*":
        return None
    names = [name.strip(" ").lower() for name in text.split(",")]
    bad = next((name for name in names if name and not _is_known_variable(name, case)), None)
    if bad is not None:
        return TakenValue(Outcome.INVALID, text, f"{quote_value(bad)} is no system variable of this server.")
    if case.target.is_mysql and len(set(names)) < len(names):
        return TakenValue(Outcome.INVALID, text, f"{quote_value(text)} names a variable twice.")
    return None


def _is_known_variable(name: str, case: ValueContext) -> bool:
    from advisor.catalog.load import load

    own = MYSQL if case.target.is_mysql else MARIADB
    catalog = load(case.target)
    return catalog.find_variable(name) is not None or name in WITHOUT_OPTION.split() or name in own.split()
