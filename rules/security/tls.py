"""TLS: rules about TLS settings, and about the certificates of a running server."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity, format_duration
from rules.core import Docs, Span, rule
from rules.core.context import MissingFact
from rules.core.network import is_socket_only, listens_to_other_hosts
from rules.core.subject import find_value_source, variable_subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core.context import RuleContext


# Parts of OpenSSL cipher names that mean no encryption, weak encryption or no authentication (SSL-05).
WEAK = frozenset({"NULL", "ENULL", "ANULL", "EXP", "EXPORT", "LOW", "RC4", "DES", "3DES", "MD5", "ADH", "AECDH"})
# MySQL: lists that leave the server without TLS if they allow nothing; those of ciphers from 8.0 on (SSL-08).
EMPTIED = ("tls_version", "ssl_cipher", "tls_ciphersuites")
BEYOND_YASSL, WITHOUT_YASSL = frozenset({"TLSV1.2", "TLSV1.3"}), (5, 7, 28)  # as SEC006 says
MAKES_ITS_OWN = (11, 4)  # MariaDB: from this version on a server without a certificate generates one at startup


def tls_switch(context: RuleContext) -> str | None:
    """The option that disables TLS; None if there is none."""
    option = context.catalog.get("ssl")
    source = find_value_source(context, option) if option is not None else None
    if source is not None and source.value == "FALSE":
        return "ssl"
    lists = [name for name in EMPTIED if context.is_set(name)] if context.target.is_mysql else []
    return next((name for name in lists if _is_emptied(context, name)), None)


def _is_emptied(context: RuleContext, name: str) -> bool:
    """Whether the list allows nothing; an unset list of ciphers, and an empty one of suites, allow TLS."""
    text = context.text(name)
    if name == "tls_version":
        return text == ""
    if text is None or not context.target.since("mysql", 8, 0) or (name == "tls_ciphersuites" and not text):
        return False
    return all(entry[:1] in ("", "!") for entry in text.split(":"))


def names_file(context: RuleContext, name: str) -> bool:
    """Whether a file is configured for the option."""
    return context.is_set(name) and context.text(name) not in (None, "", "(NO DEFAULT VALUE)")


@rule(
    "TLS001",
    "tls-switched-off",
    summary="TLS is switched off on a server that other hosts can reach.",
    options=("ssl", "tls_version", "ssl_cipher", "tls_ciphersuites"),
    evidence=("SSL-03", "SSL-08", "SSL-09", "SSL-01"),
    docs=Docs(
        why="Without TLS, passwords, statements and rows cross the network in clear text, and anyone on the path can "
        "read and change them. With TLS off, clients cannot encrypt even if they want to. On MySQL an empty "
        "tls_version switches it off too, and so does a cipher list that is empty or only excludes ciphers. "
        "MySQL 5.7.22 as built by its vendor, with yaSSL, ran without TLS where tls_version allowed only TLSv1.2.",
        fix="Remove the line, and restart; MySQL 8.0 and later, 5.7 if built with OpenSSL, and MariaDB from 11.4 on "
        "create their own certificate; others need ssl_cert and ssl_key. From MySQL 8.0.16 on tls_version and the "
        "ciphers can also be set with SET GLOBAL, then ALTER INSTANCE RELOAD TLS.",
        risk="A handshake takes processor time at each new connection.",
        exceptions="A network that is encrypted at a lower layer, such as a service mesh whose proxies use TLS.",
        reconsider_when="No client on another host.",
        disagree="Measurements of 2011 and 2013 are cited against TLS (SSL-01): it costs most where connections are "
        "set up, which connections that are kept pay once.",
    ),
)
def tls_switched_off(context: RuleContext) -> Iterator[Finding]:
    """Report explicitly disabled TLS on a server that other hosts can reach."""
    name = tls_switch(context)
    if name is not None and listens_to_other_hosts(context):
        yield tls_switched_off.finding(
            "Access control is off, so this version accepts no TCP connections; with access control, TLS is switched "
            "off for other hosts."
            if is_socket_only(context)
            else "TLS is switched off, and other hosts can reach the server: their traffic can be read on the network.",
            variable_subject(context, name),
            help=f"remove the line{_certificate_help(context)} and restart",
        )
    elif name is None and _is_beyond_yassl(context) and listens_to_other_hosts(context):
        off = context.has("server") and offers_tls(context) is False
        yield tls_switched_off.finding(
            "The vendor's builds of this version have yaSSL, which lacks TLS 1.2: with this line they offer no TLS.",
            variable_subject(context, "tls_version"),
            confidence=None if off else Confidence.LIKELY,
            help="update to MySQL 5.7.28 or later, which the vendor builds with OpenSSL",
        )


def _certificate_help(context: RuleContext) -> str:
    """What MariaDB also needs to offer TLS where it does not make a certificate."""
    named = any(names_file(context, name) for name in ("ssl_cert", "ssl_key"))
    bare = context.target.is_mariadb and context.target.version < MAKES_ITS_OWN and not named
    return ", set ssl_cert and ssl_key," if bare else ""


def _is_beyond_yassl(context: RuleContext) -> bool:
    """Whether MySQL's own build of this version lacks all versions that tls_version allows (SSL-09)."""
    allowed = set((context.text("tls_version") or "").replace(" ", "").split(","))
    if not context.target.is_mysql or not allowed <= BEYOND_YASSL or not context.is_set("tls_version"):
        return False
    other = context.target.build or context.target.is_managed or (context.has("server") and offers_tls(context))
    return context.target.version < WITHOUT_YASSL and not other


@rule(
    "TLS002",
    "certificate-without-key",
    confidence=Confidence.LIKELY,
    summary="Only one of certificate and private key is set: unless its file holds both, MySQL runs without TLS and "
    "MariaDB does not start.",
    options=("ssl_cert", "ssl_key"),
    evidence=("SSL-03",),
    docs=Docs(
        why="If only one of the two is configured, the server looks for the other in the same file, and does not "
        "create it. If it is not there, MySQL writes a warning to its error log, but starts and accepts only "
        "unencrypted connections; MariaDB does not start.",
        fix="Set both files, or neither. From MySQL 8.0.16 on, SET GLOBAL and ALTER INSTANCE RELOAD TLS apply this at "
        "run time; other versions need a restart.",
        risk="None.",
        exceptions="A file that contains both: a running server that offers TLS is not reported.",
        reconsider_when="A certificate shown by the status variable Ssl_server_not_after.",
    ),
)
def certificate_without_key(context: RuleContext) -> Iterator[Finding]:
    """Report ssl_cert without ssl_key, or the reverse."""
    given = [name for name in ("ssl_cert", "ssl_key") if names_file(context, name)]
    holds_both = context.has("server") and offers_tls(context)
    if len(given) == 1 and tls_switch(context) is None and not holds_both:
        missing = "ssl_key" if given == ["ssl_cert"] else "ssl_cert"
        effect = f"{context.target.label} does not start" if context.target.is_mariadb else "the server offers no TLS"
        yield certificate_without_key.finding(
            f"{given[0]} is set but {missing} is not: {effect}, unless that file holds both.",
            variable_subject(context, given[0]),
            help=f"set {missing} too",
        )


@rule(
    "TLS003",
    "weak-cipher",
    confidence=Confidence.LIKELY,
    targets=(Span("mysql", before=(9, 0)), Span("mariadb")),
    summary="The cipher list contains ciphers that can be broken, or that do not encrypt.",
    options=("ssl_cipher",),
    evidence=("SSL-05",),
    docs=Docs(
        why="A list that names a weak cipher lets clients use it for TLS 1.2 and older. MySQL 9.7 refuses to start "
        "with such names; 8.0.15 and MariaDB accepted them in tests. If the library knows none of the listed ciphers, "
        "MySQL runs without TLS and MariaDB does not start. A new library drops the weakest ciphers of a list by "
        "itself.",
        fix="Remove the line: the library's own list is kept up to date. From MySQL 8.0.16 on, SET GLOBAL and ALTER "
        "INSTANCE RELOAD TLS apply this at run time; other versions need a restart.",
        risk="Clients that support nothing better cannot connect with TLS.",
        exceptions="None.",
        reconsider_when="Nothing.",
    ),
)
def weak_cipher(context: RuleContext) -> Iterator[Finding]:
    """Report explicitly allowed weak ciphers."""
    names = (context.settings.text("ssl_cipher") or "").replace(",", ":").replace(" ", ":").split(":")
    weak = [name for name in names if name[:1] not in ("!", "-") and not WEAK.isdisjoint(_cipher_parts(name))]
    if weak and context.is_set("ssl_cipher"):
        yield weak_cipher.finding(
            f"Weak ciphers, which can be broken or do not encrypt: {', '.join(weak)}.",
            variable_subject(context, "ssl_cipher"),
            help="remove the line, or those names from it",
        )


def _cipher_parts(name: str) -> list[str]:
    return name.upper().replace("+", "-").split("-")


@rule(
    "TLS004",
    "required-but-not-offered",
    summary="Secure transport is required but TLS is off, so every TCP connection is refused.",
    options=("require_secure_transport",),
    evidence=("SSL-06",),
    docs=Docs(
        why="With require_secure_transport the server refuses every TCP connection without TLS, and with TLS off no "
        "TCP connection has it. Only the socket remains.",
        fix="Switch TLS on: remove the line that switches it off, or set ssl_cert and ssl_key. That needs a restart; "
        "from MySQL 8.0.16 on, ALTER INSTANCE RELOAD TLS loads new files and versions.",
        risk="None.",
        exceptions="A server that is meant only for its socket; skip_networking states that more clearly.",
        reconsider_when="A client on another host that is connected.",
    ),
)
def required_but_not_offered(context: RuleContext) -> Iterator[Finding]:
    """Report require_secure_transport on a server without TLS."""
    named = any(names_file(context, name) for name in ("ssl_cert", "ssl_key"))
    bare = context.target.is_mariadb and context.target.version < MAKES_ITS_OWN and not named
    asked = context.is_set("require_secure_transport") and context.settings.on("require_secure_transport")
    if asked and not context.settings.on("skip_networking") and (bare or tls_switch(context) is not None):
        yield required_but_not_offered.finding(
            "Every TCP connection is refused: TLS is required, and the server does not offer it.",
            variable_subject(context, "require_secure_transport"),
            help="set ssl_cert and ssl_key" if bare else "remove the line that switches TLS off",
        )


@rule(
    "TLS005",
    "unproved-certificate",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    targets=(Span("mysql", since=(8, 0)),),
    summary="TLS is required, with a certificate that the server generated itself and that clients cannot verify.",
    options=("require_secure_transport",),
    evidence=("SSL-07",),
    docs=Docs(
        why="Without ssl_cert MySQL generates its own certificate authority and certificate at the first start. They "
        "protect against eavesdropping. But an attacker who impersonates the server can generate such a certificate "
        "too, and clients without this server's ca.pem cannot tell the two apart.",
        fix="Set ssl_cert, ssl_key and ssl_ca to a certificate of an authority that clients trust, or give ca.pem to "
        "the clients and let them verify. From MySQL 8.0.16 on, SET GLOBAL and ALTER INSTANCE RELOAD TLS load new "
        "files; earlier versions need a restart.",
        risk="A certificate from an external authority expires and must be renewed.",
        exceptions="Clients that hold this server's ca.pem and verify with it.",
        reconsider_when="Clients with ssl-mode = VERIFY_CA or VERIFY_IDENTITY.",
    ),
)
def unproved_certificate(context: RuleContext) -> Iterator[Finding]:
    """Report require_secure_transport with the server's self-generated certificate, which clients cannot verify."""
    asked = context.is_set("require_secure_transport") and context.settings.on("require_secure_transport")
    own = any(names_file(context, name) for name in ("ssl_cert", "ssl_key", "ssl_ca"))
    if asked and not own and tls_switch(context) is None and listens_to_other_hosts(context):
        yield unproved_certificate.finding(
            "TLS is required, and no certificate is configured: clients cannot verify one that the server generated "
            "itself.",
            variable_subject(context, "require_secure_transport"),
            help="set ssl_cert, ssl_key and ssl_ca, or give ca.pem to the clients",
        )


UNTIL, SINCE = "ssl_server_not_after", "ssl_server_not_before"
SOON = 30 * 86400  # seconds
SHARE = 3  # reported in the last third of the validity period: short-lived certificates are renewed within days
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def offers_tls(context: RuleContext) -> bool | None:
    """Whether the server offers TLS; None if unknown. MySQL 8.4 and later no longer have have_ssl."""
    have = context.text("have_ssl")
    if have is not None:
        return have == "YES"
    until = context.server.status.get(UNTIL)
    return None if until is None else bool(until)


def parse_date(text: str) -> int | None:
    """Seconds since 1970 of a date in OpenSSL's format (Dec  1 17:12:52 2026 GMT); None for any other text."""
    from calendar import timegm

    try:
        month, day, clock, year, _zone = text.split()
        hour, minute, second = (int(n) for n in clock.split(":"))
        return timegm((int(year), MONTHS.index(month) + 1, int(day), hour, minute, second))
    except (ValueError, OverflowError):
        return None


def _validity(context: RuleContext) -> tuple[int | None, int | None]:
    """The first and the last second of the certificate; None for what is not shown.

    Raises MissingFact where MariaDB hides them: it shows them to sessions with TLS alone (SSL-04).
    """
    status = context.server.status
    if context.target.is_mariadb and status.get(UNTIL) == "" and offers_tls(context):
        raise MissingFact("needs a connection with TLS (--ssl-mode required): MariaDB hides its certificate's dates")
    return parse_date(status.get(SINCE, "")), parse_date(status.get(UNTIL, ""))


@rule(
    "TLS006",
    "no-tls",
    severity=Severity.NOTE,
    needs=("server",),
    options=("ssl_cert", "ssl_key"),
    evidence=("SSL-03", "SSL-04"),
    summary="Other hosts can reach the server, but it offers no TLS.",
    docs=Docs(
        why="Passwords, statements and rows cross the network in clear text. MariaDB before 11.4 and some builds of "
        "MySQL 5.7 offer TLS only if a certificate is configured. The finding is a warning if accounts may connect "
        "from other hosts, and a note if the accounts could not be read.",
        fix="Set ssl_cert and ssl_key; or bind the server to its own host with bind_address = 127.0.0.1, which cuts "
        "off clients and replicas on other hosts. Both need a restart; from MySQL 8.0.16 on, SET GLOBAL and ALTER "
        "INSTANCE RELOAD TLS load new certificate files.",
        risk="A handshake takes processor time at each new connection.",
        exceptions="A network that is encrypted at a lower layer.",
        reconsider_when="No account that may connect from another host.",
    ),
)
def no_tls(context: RuleContext) -> Iterator[Finding]:
    """Report a server that other hosts can reach and that offers no TLS."""
    accounts = context.server.accounts
    afar = None if accounts is None else any(kind.reach != "here" for kind in accounts)
    broken = names_file(context, "ssl_cert") or names_file(context, "ssl_key") or tls_switch(context) is not None
    if offers_tls(context) is False and listens_to_other_hosts(context) and afar is not False and not broken:
        yield no_tls.finding(
            "The server offers no TLS, and other hosts can reach it"
            + (": accounts may connect from there." if afar else "."),
            variable_subject(context, "bind_address"),
            help="set ssl_cert and ssl_key, or bind the server to 127.0.0.1 if no client connects from another host",
            severity=Severity.WARNING if afar else None,
        )


@rule(
    "TLS007",
    "tls-that-failed",
    needs=("server",),
    targets=(Span("mysql"),),
    options=("ssl_cert", "ssl_key"),
    evidence=("SSL-03",),
    summary="A certificate and a key are set, but the server offers no TLS.",
    docs=Docs(
        why="MySQL starts without TLS if it cannot use the files: they are missing or not readable, they do not match, "
        "or it supports none of the allowed ciphers or versions. It writes a warning to its error log, and clients "
        "that prefer TLS connect without it.",
        fix="Look for SSL in the error log at the last start, correct the files, and restart; from 8.0.16 on ALTER "
        "INSTANCE RELOAD TLS is enough.",
        risk="None.",
        exceptions="None.",
        reconsider_when="Nothing.",
    ),
)
def tls_that_failed(context: RuleContext) -> Iterator[Finding]:
    """Report a server without TLS although certificate and key are set."""
    pair = names_file(context, "ssl_cert") and names_file(context, "ssl_key")
    if pair and offers_tls(context) is False and tls_switch(context) is None:
        yield tls_that_failed.finding(
            "ssl_cert and ssl_key are set, but the server runs without TLS: it could not use them.",
            variable_subject(context, "ssl_cert"),
            help="look for SSL in the error log at the last start",
        )


@rule(
    "TLS008",
    "expired-certificate",
    severity=Severity.ERROR,
    needs=("server",),
    evidence=("SSL-04",),
    summary="The server's certificate has expired, or is not valid yet.",
    docs=Docs(
        why="Clients that verify the certificate refuse to connect; the others get no warning.",
        fix="Put a new certificate in place; ALTER INSTANCE RELOAD TLS (MySQL 8.0.16 and later) or FLUSH SSL (MariaDB) "
        "loads it without a restart.",
        risk="Clients that pinned the old certificate refuse the new one.",
        exceptions="MariaDB shows the dates to sessions with TLS alone: an audit through the socket skips this rule, "
        "unless it is run with --ssl-mode required.",
        reconsider_when="A wrong clock on the host where the facts were collected.",
    ),
)
def expired_certificate(context: RuleContext) -> Iterator[Finding]:
    """Report a certificate that has expired or is not valid yet."""
    status, now = context.server.status, context.collected_at()
    since, until = _validity(context)
    if until is not None and now >= until:
        yield expired_certificate.finding(
            f"The server's certificate expired {format_duration(now - until)} ago ({status[UNTIL]}).",
            help="install a new certificate and have the server load it",
        )
    elif since is not None and now < since:
        yield expired_certificate.finding(
            f"The server's certificate becomes valid in {format_duration(since - now)} ({status[SINCE]}).",
            help="install a valid certificate, or correct the clock",
        )


@rule(
    "TLS009",
    "certificate-expires-soon",
    confidence=Confidence.OPINION,
    needs=("server",),
    evidence=("SSL-04",),
    summary="The server's certificate expires within 30 days, and is in the last third of its lifetime.",
    docs=Docs(
        why="Once it has expired, no client that verifies it can connect. Thirty days are enough to get a certificate "
        "manually; a certificate with a lifetime of weeks is renewed by a program, which has failed if less than a "
        "third of the lifetime is left.",
        fix="Renew it; ALTER INSTANCE RELOAD TLS (MySQL 8.0.16 and later) or FLUSH SSL (MariaDB) loads it without a "
        "restart.",
        risk="Clients that pinned the old certificate refuse the new one.",
        exceptions="MariaDB shows the dates to sessions with TLS alone: an audit through the socket skips this rule, "
        "unless it is run with --ssl-mode required.",
        reconsider_when="A renewal that is under way.",
    ),
)
def certificate_expires_soon(context: RuleContext) -> Iterator[Finding]:
    """Report a certificate that expires soon."""
    status, now = context.server.status, context.collected_at()
    since, until = _validity(context)
    if until is None or since is None:
        return
    left = until - now
    if 0 < left < min(SOON, (until - since) / SHARE):
        yield certificate_expires_soon.finding(
            f"The server's certificate expires in {format_duration(left)} ({status[UNTIL]}).",
            help="renew it, and have the server load it",
        )
