"""CON: limits of connections, their stacks and the names of their hosts, as option files set them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.model import Confidence, Severity
from advisor.sizes import about
from advisor.verdict import REFUSED
from rules.advice import advise, default_of, these, words
from rules.reach import beyond_the_host
from rules.registry import Docs, Span, rule
from rules.subject import of_variable, of_verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.model import Finding
    from rules.known import Known
    from rules.subject import Subject

OLD_STACK = 192 << 10  # the default of old versions
ENOUGH_STACK = 256 << 10


@rule(
    "CON001",
    "user-limit-without-effect",
    summary="The limit of connections for one account is no lower than the limit for all of them.",
    options=("max_user_connections",),
    evidence=("CONA-01",),
    docs=Docs(
        why="max_user_connections keeps one account from taking every connection. Where it is as high as "
        "max_connections, one account can take them all: with both at 12 the next account was refused "
        "with error 1040 on the servers that were asked.",
        fix="Set max_user_connections below max_connections by as many connections as the others need.",
        risk="An account that opens more is refused with error 1203.",
        exceptions="Servers with a single account, which need no such limit at all.",
        mind="Limits for single accounts, given by MAX_USER_CONNECTIONS.",
    ),
)
def user_limit_without_effect(known: Known) -> Iterator[Finding]:
    """A limit for one account that all connections together reach first."""
    each, together = known.number("max_user_connections"), known.number("max_connections")
    if each and together and each >= together and known.chosen("max_user_connections"):
        yield user_limit_without_effect.finding(
            f"One account may open {each:,} connections and all accounts together {together:,}: one can take them all.",
            of_variable(known, "max_user_connections"),
            help="set it below max_connections by as many as other accounts need",
        )


@rule(
    "CON002",
    "small-thread-stack",
    confidence=Confidence.LIKELY,
    summary="Threads get a smaller stack than this version was built for, so nested statements fail.",
    options=("thread_stack",),
    evidence=("CONA-02", "CONA-15"),
    docs=Docs(
        why="Each version wants a part of the stack free before it runs a statement, 112 to 160 kB on the "
        "servers that were asked. With 192K procedures that call each other failed with error 1436 three to twelve "
        "levels deep, with 256K twelve to twenty, and with 128K at the first or second; MySQL then refused views of "
        "sys as well. The line comes from files of old versions, whose default was 192K. Up to 192K is a warning, up "
        "to 256K a note; more is enough for ordinary statements.",
        fix="Take the line out, or write the default of this version.",
        risk="Address space for each connection; the kernel gives memory only for pages that are touched.",
        restart=True,
        exceptions="MySQL 5.7 as Ubuntu packed it, whose own file says 192K: there it is a note.",
        mind="A version whose default is no larger.",
    ),
)
def small_thread_stack(known: Known) -> Iterator[Finding]:
    """A stack of 256K or less, below the version's default."""
    stack, usual = known.number("thread_stack"), default_of(known, "thread_stack")
    if not stack or not usual or not known.chosen("thread_stack") or stack >= usual or stack > ENOUGH_STACK:
        return
    action = advise(known, "thread_stack", usual, size=True, risk="address space for each connection")
    packed = stack == OLD_STACK and known.target.is_mysql and not known.target.since("mysql", 8, 0)
    yield small_thread_stack.finding(
        f"Threads get {about(stack)} of stack where this version takes {about(usual)} by default; deeply "
        "nested statements fail with error 1436.",
        of_variable(known, "thread_stack"),
        severity=Severity.NOTE if packed or stack > OLD_STACK else None,
        help=words(action),
        actions=these(action),
    )


@rule(
    "CON004",
    "uncached-host-names",
    confidence=Confidence.LIKELY,
    summary="The server asks for the name of each client's host anew at every connection.",
    options=("host_cache_size", "skip_host_cache"),
    evidence=("CONV-01",),
    docs=Docs(
        why="While names are resolved, a TCP connection from another host waits for two look-ups, from "
        "address to name and back. The host cache spares all but the first; without it every connection "
        "waits for the name server, and none can be made while that is away.",
        fix="Take the line out, or switch skip_name_resolve on where no account is given by host name.",
        risk="With skip_name_resolve accounts given by host name, other than localhost, can't log in.",
        exceptions="Servers without clients on other hosts, though they listen for some.",
        mind="A name server that answers on this very host.",
    ),
)
def uncached_host_names(known: Known) -> Iterator[Finding]:
    """Names that are resolved and not kept."""
    about_it = _no_host_cache(known)
    if about_it is not None and known.settings.on("skip_name_resolve") is not True and beyond_the_host(known):
        yield uncached_host_names.finding(
            "Each TCP connection from another host waits for the name server, for no answer of it is kept.",
            about_it,
            help="remove the line, or set skip_name_resolve = ON where no account is given by host name",
        )


def _no_host_cache(known: Known) -> Subject | None:
    """The setting that switches the host cache off, None where it is on or nobody chose."""
    line = known.file_verdict.effective.get("skip_host_cache")
    if line is not None and line.outcome not in REFUSED:
        return of_verdict(line)
    off = known.number("host_cache_size") == 0 and known.chosen("host_cache_size")
    return of_variable(known, "host_cache_size") if off else None


@rule(
    "CON005",
    "uncounted-connect-errors",
    severity=Severity.NOTE,
    summary="max_connect_errors does nothing, for errors are counted in the host cache, which isn't used.",
    options=("max_connect_errors",),
    evidence=("CONA-03", "CONV-01"),
    docs=Docs(
        why="Broken connections are counted in the host cache. With host_cache_size = 0 or with "
        "skip_name_resolve the servers that were asked let a host go on after any number of them, and "
        "with the cache they blocked it after max_connect_errors.",
        fix="Take the line out. Where hosts shall be blocked, the host cache and name resolution must be on.",
        risk="None: the server does the same without it.",
        exceptions="A file that serves hosts with other settings as well.",
        mind="A host that this server blocks with error 1129.",
    ),
)
def uncounted_connect_errors(known: Known) -> Iterator[Finding]:
    """A limit of errors that nobody counts."""
    unresolved = known.settings.on("skip_name_resolve") is True
    if known.chosen("max_connect_errors") and (unresolved or _no_host_cache(known) is not None):
        why = "skip_name_resolve is on" if unresolved else "the host cache is off"
        yield uncounted_connect_errors.finding(
            f"max_connect_errors does nothing while {why}: broken connections are counted in the host cache.",
            of_variable(known, "max_connect_errors"),
            help="remove the line",
        )


@rule(
    "CON008",
    "spare-port-without-address",
    summary="Connections are kept for an administrator, but the port that they come by isn't opened.",
    targets=(Span("mysql", since=(8, 0, 14)), Span("mariadb")),
    options=("create_admin_listener_thread", "extra_max_connections"),
    evidence=("CONA-05",),
    docs=Docs(
        why="MySQL opens its administrative port only where admin_address names an address, MariaDB its "
        "extra port only where extra_port names a port. Without that the other options of the port do "
        "nothing, and on the day when all connections are taken the spare way in isn't there.",
        fix="Set admin_address = 127.0.0.1 on MySQL, or a free extra_port on MariaDB, or take the line out.",
        risk="Another port to guard: keep it to addresses that administrators come from.",
        restart=True,
        exceptions="None.",
        mind="A server that listens there (ss -ltn).",
    ),
)
def spare_port_without_address(known: Known) -> Iterator[Finding]:
    """Options of a port that nobody opened."""
    closed = {
        "create_admin_listener_thread": known.settings.on("create_admin_listener_thread") is True
        and not known.text("admin_address"),
        "extra_max_connections": known.number("extra_port") == 0,
    }
    for name, without in closed.items():
        if without and known.chosen(name):
            missing = "extra_port" if name == "extra_max_connections" else "admin_address"
            yield spare_port_without_address.finding(
                f"{name} does nothing: no port is opened for it, as {missing} isn't set.",
                of_variable(known, name),
                help=f"set {missing}, or remove the line",
            )
