"""Settings that a faster result never recommends, with what a crash may cost under them."""

from __future__ import annotations

TORN = "torn pages that no crash recovery can repair"
UNSAFE = {"innodb_doublewrite": {"OFF": TORN, "FALSE": TORN, "0": TORN, "DETECT_ONLY": TORN}}


def risk_of(settings: dict[str, str]) -> str:
    """What a crash may leave under these settings, empty where they are safe."""
    risks = (UNSAFE.get(name, {}).get(value.upper(), "") for name, value in settings.items())
    return next(filter(None, risks), "")
