"""Ciphers and error codes: lists of names that MySQL checks when it starts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from advisor.redaction.secrets import quote_value
from advisor.verdict.outcome import Outcome, TakenValue

if TYPE_CHECKING:
    from advisor.core.model import Target
    from advisor.verdict.outcome import ValueContext

SUITES = frozenset({"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"})
# Each asked of 9.7.4: an exchange of keys, and what it may go with.
EXCHANGES = ("ECDHE-ECDSA-", "ECDHE-RSA-", "DHE-RSA-", "")
WITH_ALL = ("AES256-GCM-SHA384", "AES128-GCM-SHA256")
WITH_CCM = ("ECDHE-ECDSA-", "DHE-RSA-", "")
CODE = re.compile(r"(?:MY-)?(\d+)|ER_\w+", re.IGNORECASE)
# Numbers of the messages that go into the error log: those of the system, and the server's own from 10000 on.
SYSTEM, FIRST = 1000, 10000
LAST: dict[tuple[int, ...], int] = {(8, 0): 13300, (9, 7): 15999}
FACTORS = 3
# Plugins that keep passwords, which only the first factor may name.
BUILT_IN = ("caching_sha2_password", "sha256_password", "mysql_native_password")


def parse_ciphers(case: ValueContext) -> TakenValue | None:
    """Names of allowed ciphers, letter by letter, between colons."""
    text = case.text or ""
    known = SUITES if case.option.name.endswith("suites") else _known_ciphers()
    # The server looks for each name in the text of its list, so that a part of a name will do.
    bad = next((name for name in text.split(":") if not any(name in whole for whole in known)), None)
    if bad is None:
        return None
    return TakenValue(Outcome.INVALID, text, f"{quote_value(bad)} is no cipher that the server allows.")


def _known_ciphers() -> frozenset[str]:
    names = {exchange + cipher for exchange in EXCHANGES for cipher in WITH_ALL}
    names |= {exchange + "CHACHA20-POLY1305" for exchange in EXCHANGES if exchange}
    names |= {exchange + cipher for exchange in WITH_CCM for cipher in ("AES256-CCM", "AES128-CCM")}
    return frozenset(names)


def parse_suppressed(case: ValueContext) -> TakenValue | None:
    """Codes of messages to leave out; a list with anything else in it is dropped whole."""
    text = case.text or ""
    if not text or all(_is_code(code.strip(" "), case) for code in text.split(",")):
        return None
    why = f"The server takes an empty list: {quote_value(text)} holds something that is no code of a message."
    return TakenValue(Outcome.ADJUSTED, "", why)


def parse_services(case: ValueContext) -> TakenValue | None:
    """Names of parts that write the error log, some built in; with one that can't be loaded the default is taken."""
    names = [name.strip(" ") for name in re.split("[,;]", case.text or "")]
    if all(not name or name.startswith(("log_filter_", "log_sink_")) for name in names):
        return None
    why = f"The server takes its default: {quote_value(case.text)} names what is no part of the error log."
    return TakenValue(Outcome.ADJUSTED, case.option.default, why)


def _is_code(text: str, case: ValueContext) -> bool:
    match = CODE.fullmatch(text)
    if not match or not match[1]:
        return match is not None
    last = LAST.get(case.target.version[:2], max(LAST.values()))
    return 0 < int(match[1]) < SYSTEM or FIRST <= int(match[1]) <= last


def find_policy_fault(text: str, target: Target, *, loads: bool) -> str | None:
    """Why a started server stops at an authentication_policy; None where it does not.

    `loads` says that the file loads plugins: then a name that isn't built in is believed.
    """
    factors = [factor.strip() for factor in text.split(",")]
    if not factors[0]:
        return "The first factor may not be empty."
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
            return f"{quote_value(name)} is no plugin that this server has for factor {place + 1}."
    return None


def _plugin_of(factor: str) -> str | None:
    """The plugin that a factor names: by itself, or as the default behind a star; None where it leaves it open."""
    star, colon, name = factor.partition(":")
    return (name.strip() if colon and star.strip() == "*" else factor).lower() if factor != "*" else None
