"""Locales of lc_messages and lc_time_names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.redaction.secrets import quoted
from advisor.verdict.outcome import Outcome, Taken

if TYPE_CHECKING:
    from advisor.core.model import Target
    from advisor.verdict.outcome import Case

DEFAULT = "en_US"
# Languages with their countries; asked of the servers one by one.
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


def take_locale(case: Case) -> Taken | None:
    """The name of a locale, in any case; since 8.0 MySQL falls back to en_US where the others stop."""
    if case.text is None and case.target.is_mysql:
        return None
    text = case.text or ""
    if text.lower() in locales(case.target):
        return Taken(Outcome.ACCEPTED, text)
    if case.target.since("mysql", 8):
        return Taken(Outcome.ADJUSTED, DEFAULT, f"The server takes {DEFAULT}: {quoted(text)} is an unknown locale.")
    return Taken(Outcome.INVALID, text, f"{quoted(text)} is an unknown locale.")


def locales(target: Target) -> frozenset[str]:
    """The locales that a server knows, in lower case."""
    names = {f"{language}_{country.lower()}" for language, of in COUNTRIES.items() for country in of.split()}
    names.update(SINGLE.split())
    if target.is_mariadb:
        names.add("ka_ge")
    names.add("sw_ke" if target.since("mariadb", 11, 8) else "sr_yu")
    return frozenset(names)
