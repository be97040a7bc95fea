"""Ciphers and error codes: lists of names that MySQL checks when it starts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from advisor.verdict.outcome import Outcome, Taken

if TYPE_CHECKING:
    from advisor.verdict.outcome import Case

SUITES = frozenset({"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"})
# Each asked of 9.7.4: an exchange of keys, and what it may go with.
EXCHANGES = ("ECDHE-ECDSA-", "ECDHE-RSA-", "DHE-RSA-", "")
WITH_ALL = ("AES256-GCM-SHA384", "AES128-GCM-SHA256")
WITH_CCM = ("ECDHE-ECDSA-", "DHE-RSA-", "")
CODE = re.compile(r"(?:MY-)?(\d+)|ER_\w+", re.IGNORECASE)
# Numbers of the messages that go into the error log: those of the system, and the server's own from 10000 on.
SYSTEM, FIRST = 1000, 10000
LAST: dict[tuple[int, ...], int] = {(8, 0): 13300, (9, 7): 15999}


def take_ciphers(case: Case) -> Taken | None:
    """Names of allowed ciphers, letter by letter, between colons."""
    text = case.text or ""
    known = SUITES if case.option.name.endswith("suites") else _ciphers()
    # The server looks for each name in the text of its list, so that a part of a name will do.
    bad = next((name for name in text.split(":") if not any(name in whole for whole in known)), None)
    if bad is None:
        return None
    return Taken(Outcome.INVALID, text, f"{bad!r} is no cipher that the server allows.")


def _ciphers() -> frozenset[str]:
    names = {exchange + cipher for exchange in EXCHANGES for cipher in WITH_ALL}
    names |= {exchange + "CHACHA20-POLY1305" for exchange in EXCHANGES if exchange}
    names |= {exchange + cipher for exchange in WITH_CCM for cipher in ("AES256-CCM", "AES128-CCM")}
    return frozenset(names)


def take_suppressed(case: Case) -> Taken | None:
    """Codes of messages to leave out; a list with anything else in it is dropped whole."""
    text = case.text or ""
    if not text or all(_is_code(code.strip(" "), case) for code in text.split(",")):
        return None
    return Taken(Outcome.ADJUSTED, "", f"The server takes an empty list: {text!r} names what is no code of a message.")


def take_services(case: Case) -> Taken | None:
    """Names of parts that write the error log, some built in; with one that can't be loaded the default is taken."""
    names = [name.strip(" ") for name in re.split("[,;]", case.text or "")]
    if all(not name or name.startswith(("log_filter_", "log_sink_")) for name in names):
        return None
    why = f"The server takes its default: {case.text!r} names what is no part of the error log."
    return Taken(Outcome.ADJUSTED, case.option.default, why)


def _is_code(text: str, case: Case) -> bool:
    match = CODE.fullmatch(text)
    if not match or not match[1]:
        return match is not None
    last = LAST.get(case.target.version[:2], max(LAST.values()))
    return 0 < int(match[1]) < SYSTEM or FIRST <= int(match[1]) <= last
