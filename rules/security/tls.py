"""TLS: what the option file says about encrypted connections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.core.model import Confidence, Severity
from advisor.core.sizes import lasted
from rules.core.context import MissingFact
from rules.core.network import beyond_the_host, by_socket_alone
from rules.core.rule import Docs, Span, rule
from rules.core.subject import of_variable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core.context import RuleContext


# Words of OpenSSL's names for ciphers that encrypt nothing, weakly, or for whoever asks (SSL-05).
WEAK = frozenset({"NULL", "ENULL", "ANULL", "EXP", "EXPORT", "LOW", "RC4", "DES", "3DES", "MD5", "ADH", "AECDH"})
MAKES_ITS_OWN = (11, 4)  # MariaDB: since then a server without a certificate makes one at its start


def switch(known: RuleContext) -> str | None:
    """The option that switches TLS off, None where none does."""
    line = known.file_verdict.effective.get("ssl")
    if line is not None and line.value == "FALSE":
        return "ssl"
    emptied = known.target.is_mysql and known.chosen("tls_version") and known.text("tls_version") == ""
    return "tls_version" if emptied else None


def named(known: RuleContext, name: str) -> bool:
    """Whether somebody named a file for the option."""
    return known.chosen(name) and known.text(name) not in (None, "", "(NO DEFAULT VALUE)")


@rule(
    "TLS001",
    "tls-switched-off",
    summary="TLS is switched off on a server that other hosts can reach.",
    options=("ssl", "tls_version"),
    evidence=("SSL-03", "SSL-01"),
    docs=Docs(
        why="Without TLS passwords, statements and rows cross the network as they are, and whoever is on the way can "
        "read and change them. With the switch off clients can't encrypt even where they want to.",
        fix="Take the line out; MySQL and MariaDB from 11.4 on make a certificate of their own, others need ssl_cert "
        "and ssl_key.",
        risk="A handshake takes processor time at each new connection.",
        restart=True,
        exceptions="A network that is encrypted beneath the server, such as a mesh of proxies with TLS of their own.",
        reconsider_when="No client on another host.",
        disagree="Measurements of 2011 and 2013 are cited against TLS (SSL-01): it costs most where connections are "
        "set up, and little where they are kept.",
    ),
)
def tls_switched_off(known: RuleContext) -> Iterator[Finding]:
    """TLS off by somebody's choice, and the port open to others."""
    name = switch(known)
    if name is not None and beyond_the_host(known):
        yield tls_switched_off.finding(
            "Accounts are off, so this version takes no TCP connection; with them, TLS is switched off for other hosts."
            if by_socket_alone(known)
            else "TLS is switched off, and other hosts can reach the server: what they say is open to all on the way.",
            of_variable(known, name),
            help="remove the line and restart",
        )


@rule(
    "TLS002",
    "certificate-without-key",
    confidence=Confidence.LIKELY,
    targets=(Span("mysql"),),
    summary="One of certificate and private key is named and the other isn't, so MySQL runs without TLS.",
    options=("ssl_cert", "ssl_key"),
    evidence=("SSL-03",),
    docs=Docs(
        why="A server that is told one of the two no longer makes or finds the other. MySQL writes a warning to its "
        "log, starts all the same and takes unencrypted connections only.",
        fix="Name both files, or neither.",
        risk="None.",
        restart=True,
        exceptions="A certificate file that holds the private key too.",
        reconsider_when="A certificate shown by the status variable Ssl_server_not_after.",
    ),
)
def certificate_without_key(known: RuleContext) -> Iterator[Finding]:
    """One of the pair alone."""
    given = [name for name in ("ssl_cert", "ssl_key") if named(known, name)]
    if len(given) == 1 and switch(known) is None:
        missing = "ssl_key" if given == ["ssl_cert"] else "ssl_cert"
        yield certificate_without_key.finding(
            f"{given[0]} is set and {missing} isn't: the server starts, and offers no TLS.",
            of_variable(known, given[0]),
            help=f"set {missing} too",
        )


@rule(
    "TLS003",
    "weak-cipher",
    confidence=Confidence.LIKELY,
    targets=(Span("mysql", before=(9, 0)), Span("mariadb")),
    summary="The list of ciphers names some that can be broken, or that encrypt nothing.",
    options=("ssl_cipher",),
    evidence=("SSL-05",),
    docs=Docs(
        why="A list that names a weak cipher lets a client, or somebody between it and the server, choose it for TLS "
        "1.2 and older. MySQL 9.7 refuses to start with such names; 8.0.15 and MariaDB took them when asked. A list in "
        "which no cipher is known to the library leaves MySQL without TLS and keeps MariaDB from starting. A new "
        "library drops the weakest of a list by itself.",
        fix="Take the line out: the library's own list is kept up to date.",
        risk="Clients that know nothing better can't connect by TLS.",
        restart=True,
        exceptions="None.",
        reconsider_when="Nothing.",
    ),
)
def weak_cipher(known: RuleContext) -> Iterator[Finding]:
    """Ciphers that somebody allows and nobody should."""
    names = (known.text("ssl_cipher") or "").replace(",", ":").replace(" ", ":").split(":")
    weak = [name for name in names if name[:1] not in ("!", "-") and not WEAK.isdisjoint(_words(name))]
    if weak and known.chosen("ssl_cipher"):
        yield weak_cipher.finding(
            f"{', '.join(weak)} can be broken or protects nothing.",
            of_variable(known, "ssl_cipher"),
            help="remove the line, or those names from it",
        )


def _words(name: str) -> list[str]:
    return name.replace("+", "-").split("-")


@rule(
    "TLS004",
    "required-but-not-offered",
    summary="Secure transport is required and TLS is off, so nobody gets in over the network.",
    options=("require_secure_transport",),
    evidence=("SSL-06",),
    docs=Docs(
        why="With require_secure_transport the server turns away every TCP connection without TLS, and with TLS off "
        "there is no other. Only the socket remains.",
        fix="Switch TLS on: take out what switches it off, or name ssl_cert and ssl_key.",
        risk="None.",
        restart=True,
        exceptions="A server that is meant for its socket alone; skip_networking says that more plainly.",
        reconsider_when="A client of another host that is connected.",
    ),
)
def required_but_not_offered(known: RuleContext) -> Iterator[Finding]:
    """TLS demanded of clients by a server that has none."""
    bare = known.target.is_mariadb and known.target.version < MAKES_ITS_OWN and not named(known, "ssl_cert")
    asked = known.chosen("require_secure_transport") and known.settings.on("require_secure_transport")
    if asked and not known.settings.on("skip_networking") and (bare or switch(known) is not None):
        yield required_but_not_offered.finding(
            "Every TCP connection is turned away: TLS is required of clients, and the server offers none.",
            of_variable(known, "require_secure_transport"),
            help="set ssl_cert and ssl_key" if bare else "remove the line that switches TLS off",
        )


@rule(
    "TLS005",
    "unproved-certificate",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    targets=(Span("mysql", since=(8, 0)),),
    summary="TLS is required, with a certificate that the server made for itself and that clients can't check.",
    options=("require_secure_transport",),
    evidence=("SSL-07",),
    docs=Docs(
        why="Without ssl_cert MySQL makes an authority and a certificate of its own at its first start. They keep out "
        "those who only listen. Somebody who can answer in the server's place has a certificate like that too, and "
        "clients that don't hold this server's ca.pem can't tell the two apart.",
        fix="Set ssl_cert, ssl_key and ssl_ca to a certificate of an authority that clients know, or give ca.pem to "
        "the clients and let them verify.",
        risk="A certificate from outside expires and must be renewed.",
        restart=True,
        exceptions="Clients that hold this server's ca.pem and verify with it.",
        reconsider_when="Clients with ssl-mode = VERIFY_CA or VERIFY_IDENTITY.",
    ),
)
def unproved_certificate(known: RuleContext) -> Iterator[Finding]:
    """Encryption demanded, and nothing to tell the server by."""
    asked = known.chosen("require_secure_transport") and known.settings.on("require_secure_transport")
    own = any(named(known, name) for name in ("ssl_cert", "ssl_key", "ssl_ca"))
    if asked and not own and switch(known) is None and beyond_the_host(known):
        yield unproved_certificate.finding(
            "TLS is required with the certificate that the server made itself: clients can't tell who answers.",
            of_variable(known, "require_secure_transport"),
            help="set ssl_cert, ssl_key and ssl_ca, or give ca.pem to the clients",
        )


UNTIL, SINCE = "ssl_server_not_after", "ssl_server_not_before"
SOON = 30 * 86400  # seconds
SHARE = 3  # of a certificate's life the last third: what lives for a week is renewed within days
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def offered(known: RuleContext) -> bool | None:
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


def taken_at(known: RuleContext) -> float:
    """When the facts were taken, in seconds since 1970; Missing where that isn't known."""
    from datetime import datetime

    try:
        return datetime.fromisoformat(known.taken_at).timestamp()
    except ValueError:
        raise MissingFact("the time at which the facts were taken") from None


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
        reconsider_when="No account that may come from another host.",
    ),
)
def no_tls(known: RuleContext) -> Iterator[Finding]:
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
        reconsider_when="Nothing.",
    ),
)
def tls_that_failed(known: RuleContext) -> Iterator[Finding]:
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
        reconsider_when="A clock that is wrong, where the facts were taken.",
    ),
)
def expired_certificate(known: RuleContext) -> Iterator[Finding]:
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
        reconsider_when="A renewal that is under way.",
    ),
)
def certificate_expires_soon(known: RuleContext) -> Iterator[Finding]:
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
