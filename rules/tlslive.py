"""TLS: what a running server really offers, and until when."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.model import Confidence, Severity
from advisor.sizes import lasted
from rules.known import Missing
from rules.reach import beyond_the_host
from rules.registry import Docs, Span, rule
from rules.subject import of_variable
from rules.tls import named, switch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.model import Finding
    from rules.known import Known

UNTIL, SINCE = "ssl_server_not_after", "ssl_server_not_before"
SOON = 30 * 86400  # seconds
SHARE = 3  # of a certificate's life the last third: what lives for a week is renewed within days
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def offered(known: Known) -> bool | None:
    """Whether the server offers TLS; None where it doesn't say. MySQL 8.4 and later have no have_ssl any more."""
    have = known.text("have_ssl")
    if have is not None:
        return have == "YES"
    until = known.server.status.get(UNTIL)
    return None if until is None else bool(until)


def moment(text: str) -> int | None:
    """Seconds since 1970 of a date as OpenSSL prints it (Dec  1 17:12:52 2026 GMT); None for anything else."""
    from calendar import timegm

    try:
        month, day, clock, year, _zone = text.split()
        hour, minute, second = (int(n) for n in clock.split(":"))
        return timegm((int(year), MONTHS.index(month) + 1, int(day), hour, minute, second))
    except (ValueError, OverflowError):
        return None


def taken_at(known: Known) -> float:
    """When the facts were taken, in seconds since 1970; Missing where that isn't known."""
    from datetime import datetime

    try:
        return datetime.fromisoformat(known.taken_at).timestamp()
    except ValueError:
        raise Missing("the time at which the facts were taken") from None


@rule(
    "TLS006",
    "no-tls",
    severity=Severity.NOTE,
    needs=("server",),
    options=("ssl_cert", "ssl_key"),
    evidence=("SSL-03", "SSL-04"),
    summary="Other hosts can reach the server, and it offers no TLS.",
    docs=Docs(
        why="Passwords, statements and rows cross the network as they are. MariaDB before 11.4 and some builds of "
        "MySQL 5.7 offer TLS only once they are given a certificate. It is a warning where accounts may come from "
        "elsewhere, and a note where the accounts couldn't be read.",
        fix="Set ssl_cert and ssl_key; or bind the server to its own host with bind_address = 127.0.0.1.",
        risk="A handshake takes processor time at each new connection.",
        restart=True,
        exceptions="A network that is encrypted beneath the server.",
        mind="No account that may come from another host.",
    ),
)
def no_tls(known: Known) -> Iterator[Finding]:
    """Open to other hosts, and nothing to encrypt with."""
    accounts = known.server.accounts
    afar = None if accounts is None else any(kind.reach != "here" for kind in accounts)
    broken = named(known, "ssl_cert") or named(known, "ssl_key") or switch(known) is not None
    if offered(known) is False and beyond_the_host(known) and afar is not False and not broken:
        yield no_tls.finding(
            "The server offers no TLS, and other hosts can reach it"
            + (": accounts may come from there." if afar else "."),
            of_variable(known, "bind_address"),
            help="set ssl_cert and ssl_key, or bind the server to 127.0.0.1",
            severity=Severity.WARNING if afar else None,
        )


@rule(
    "TLS007",
    "tls-that-failed",
    needs=("server",),
    targets=(Span("mysql"),),
    options=("ssl_cert", "ssl_key"),
    evidence=("SSL-03",),
    summary="A certificate and a key are set, and the server offers no TLS all the same.",
    docs=Docs(
        why="MySQL starts without TLS where it can't use the files: they aren't there, it may not read them, they "
        "don't belong together, or no cipher or version that is allowed is known. It writes a warning to its log, "
        "and clients that prefer TLS connect without it.",
        fix="Look for SSL in the error log at the last start, correct the files, and restart; from 8.0.16 on ALTER "
        "INSTANCE RELOAD TLS is enough.",
        risk="None.",
        restart=True,
        exceptions="None.",
        mind="Nothing.",
    ),
)
def tls_that_failed(known: Known) -> Iterator[Finding]:
    """TLS meant and not had."""
    pair = named(known, "ssl_cert") and named(known, "ssl_key")
    if pair and offered(known) is False and switch(known) is None:
        yield tls_that_failed.finding(
            "ssl_cert and ssl_key are set, and the server runs without TLS: it couldn't use them.",
            of_variable(known, "ssl_cert"),
            help="look for SSL in the error log at the last start",
        )


@rule(
    "TLS008",
    "expired-certificate",
    severity=Severity.ERROR,
    needs=("server",),
    evidence=("SSL-04",),
    summary="The server's certificate has expired, or isn't valid yet.",
    docs=Docs(
        why="Clients that verify the certificate refuse to connect; the others are told nothing, and get used to it.",
        fix="Put a new certificate in place; ALTER INSTANCE RELOAD TLS (MySQL 8.0.16 and later) or FLUSH SSL "
        "(MariaDB) takes it up without a restart.",
        risk="Clients that pinned the old certificate refuse the new one.",
        exceptions="None.",
        mind="A clock that is wrong, where the facts were taken.",
    ),
)
def expired_certificate(known: Known) -> Iterator[Finding]:
    """A certificate outside its time."""
    status, now = known.server.status, taken_at(known)
    until, since = moment(status.get(UNTIL, "")), moment(status.get(SINCE, ""))
    if until is not None and now >= until:
        yield expired_certificate.finding(
            f"The server's certificate expired {lasted(now - until)} ago ({status[UNTIL]}).",
            help="put a new certificate in place and have the server read it",
        )
    elif since is not None and now < since:
        yield expired_certificate.finding(
            f"The server's certificate becomes valid in {lasted(since - now)} ({status[SINCE]}).",
            help="put a certificate that is valid in place, or correct the clock",
        )


@rule(
    "TLS009",
    "certificate-expires-soon",
    confidence=Confidence.OPINION,
    needs=("server",),
    evidence=("SSL-04",),
    summary="The server's certificate expires within 30 days, and in the last third of its life.",
    docs=Docs(
        why="Clients that verify it can't connect from that moment on, all at once. Thirty days are time enough to "
        "get a certificate by hand; one with a life of weeks is renewed by a program, and that has failed when less "
        "than a third of it is left.",
        fix="Renew it; ALTER INSTANCE RELOAD TLS (MySQL 8.0.16 and later) or FLUSH SSL (MariaDB) takes it up without "
        "a restart.",
        risk="Clients that pinned the old certificate refuse the new one.",
        exceptions="None.",
        mind="A renewal that is under way.",
    ),
)
def certificate_expires_soon(known: Known) -> Iterator[Finding]:
    """A certificate near its end."""
    status, now = known.server.status, taken_at(known)
    until, since = moment(status.get(UNTIL, "")), moment(status.get(SINCE, ""))
    if until is None or since is None:
        return
    left = until - now
    if 0 < left < min(SOON, (until - since) / SHARE):
        yield certificate_expires_soon.finding(
            f"The server's certificate expires in {lasted(left)} ({status[UNTIL]}).",
            help="renew it, and have the server read it",
        )
