"""Settings that a faster result never recommends, with what a crash may cost under them."""

from __future__ import annotations

TORN_PAGES = "torn pages that no crash recovery can repair"
UNSAFE_SETTINGS = {
    "innodb_doublewrite": {"OFF": TORN_PAGES, "FALSE": TORN_PAGES, "0": TORN_PAGES, "DETECT_ONLY": TORN_PAGES}
}


def crash_risk(settings: dict[str, str]) -> str:
    """What a crash may leave under these settings, empty where they are safe."""
    risks = (UNSAFE_SETTINGS.get(name, {}).get(value.upper(), "") for name, value in settings.items())
    return next(filter(None, risks), "")
