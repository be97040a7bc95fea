"""Ciphers, error codes and authentication factors: lists of names that MySQL checks when it starts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from advisor.redaction.secrets import quote_value
from advisor.verdict.outcome import Outcome, TakenValue

if TYPE_CHECKING:
    from advisor.core.model import Target
    from advisor.verdict.outcome import ValueContext

SUITES = frozenset({"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"})
# Key exchanges and the ciphers that they combine with; each combination tested on 9.7.4.
EXCHANGES = ("ECDHE-ECDSA-", "ECDHE-RSA-", "DHE-RSA-", "")
WITH_ALL = ("AES256-GCM-SHA384", "AES128-GCM-SHA256")
WITH_CCM = ("ECDHE-ECDSA-", "DHE-RSA-", "")
CODE = re.compile(r"(?:MY-)?(\d+)|ER_\w+", re.IGNORECASE)
# Error numbers in the error log: system errors below SYSTEM, the server's own from FIRST on.
SYSTEM, FIRST = 1000, 10000
LAST: dict[tuple[int, ...], int] = {(8, 0): 13300, (9, 7): 15999}
FACTORS = 3
# Plugins that store passwords; only the first factor may name them.
BUILT_IN = ("caching_sha2_password", "sha256_password", "mysql_native_password")


def parse_ciphers(case: ValueContext) -> TakenValue | None:
    """Check a colon-separated list of allowed ciphers; names are case-sensitive."""
    text = case.text or ""
    known = SUITES if case.option.name.endswith("suites") else _known_ciphers()
    # The server searches for each name as a substring of its list, so part of a name is accepted.
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
    """Check a list of error codes to suppress; MySQL drops the whole list if one entry is invalid."""
    text = case.text or ""
    if not text or all(_is_code(code.strip(" "), case) for code in text.split(",")):
        return None
    why = f"The server takes an empty list: {quote_value(text)} holds something that is no code of a message."
    return TakenValue(Outcome.ADJUSTED, "", why)


def parse_services(case: ValueContext) -> TakenValue | None:
    """Check names of error log components, some built in; if one cannot be loaded, the server uses the default."""
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
    """Return why a server refuses to start with an authentication_policy; None if it starts.

    `loads` means that the file loads plugins: then names that are not built in are accepted.
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
    """Return the plugin that a factor names: directly, or as the default after *; None if any plugin is allowed."""
    star, colon, name = factor.partition(":")
    return (name.strip() if colon and star.strip() == "*" else factor).lower() if factor != "*" else None
