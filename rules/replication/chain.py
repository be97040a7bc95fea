"""REP: rules about a server beside the others of its replication chain: transactions, ids and versions."""

from __future__ import annotations

from collections import defaultdict

from advisor.core import NamedTuple
from advisor.core.gtid import Position, beyond, count, format_set, highest, parse_positions, parse_set, subtract, union
from advisor.core.model import Confidence, Severity
from rules.core import Docs, rule
from rules.core.context import MissingFact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from advisor.core.gtid import GtidSet
    from advisor.core.model import Finding, Target
    from rules.core.context import RuleContext

LONGEST = 160  # characters of a set in a message
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class SourceLink(NamedTuple):
    """The source of one channel as the replica shows it; `uuid` is empty on MariaDB and before the first connection."""

    host: str
    port: str
    server_id: str = ""
    uuid: str = ""


class ChainServer(NamedTuple):
    """What is compared between the servers of a chain; `addresses` are its names, `read_at` the time in UTC.

    `executed` is MySQL's set of GTIDs, of which `cut` says that the server showed only the beginning; `binlog_state` is
    MariaDB's. `clustered` servers are members of a group or of Galera.
    """

    name: str
    target: Target
    server_id: str = ""
    uuid: str = ""
    hostname: str = ""
    addresses: frozenset[str] = frozenset()
    port: str = ""
    executed: str = ""
    binlog_state: str = ""
    logs_updates: bool = False
    clustered: bool = False
    read_at: str = ""
    sources: tuple[SourceLink, ...] = ()
    cut: bool = False


class Chain(NamedTuple):
    """A server and the other servers of the fleet that replicate with it, or have its server_uuid."""

    own: ChainServer
    others: tuple[ChainServer, ...]

    def sources(self, of: ChainServer | None = None) -> tuple[ChainServer, ...]:
        """The known servers from which a server, by default this one, replicates."""
        replica = of or self.own
        return tuple(server for server in (self.own, *self.others) if replicates_from(replica, server))


def replicates_from(replica: ChainServer, source: ChainServer) -> bool:
    """Whether a channel of the replica leads to that server: by its UUID, else by server_id, address and port."""
    return replica is not source and any(_leads_to(replica, link, source) for link in replica.sources)


def _leads_to(replica: ChainServer, link: SourceLink, source: ChainServer) -> bool:
    if link.uuid and source.uuid:
        return link.uuid.lower() == source.uuid.lower()
    if link.port != source.port or (link.server_id not in {"", "0"} and link.server_id != source.server_id):
        return False
    if link.host in LOOPBACK:
        return replica.hostname == source.hostname
    return any(_is_same_host(link.host, address) for address in source.addresses)


def _is_same_host(name: str, other: str) -> bool:
    """Whether two names are equal, or one is the other without its domain."""
    name, other = name.lower(), other.lower()
    return name == other or name.startswith(f"{other}.") or other.startswith(f"{name}.")


def chains(servers: tuple[ChainServer, ...]) -> dict[str, Chain]:
    """By name, the chain of each server that replicates with another one, or whose server_uuid another one has."""
    index = _index(servers)
    linked: dict[str, set[str]] = defaultdict(set)
    for replica in servers:
        for link in replica.sources:
            key = link.uuid.lower() or (link.port, "" if link.server_id == "0" else link.server_id)
            for source in index.get(key, ()):
                if replicates_from(replica, source):
                    linked[replica.name].add(source.name)
                    linked[source.name].add(replica.name)
    named, chain_by_name = {server.name: server for server in servers}, {}
    for own in servers:
        members = _connected_servers(own.name, linked)
        alike = index.get(own.uuid.lower(), ()) if own.uuid else ()
        twins = [other for other in alike if other.name not in members and _is_twin(own, other)]
        if len(members) > 1 or twins:
            chain_by_name[own.name] = Chain(own, (*(named[name] for name in members[1:]), *twins))
    return chain_by_name


def _index(servers: tuple[ChainServer, ...]) -> dict[str | tuple[str, str], list[ChainServer]]:
    """The servers by UUID, by port and server_id, and by port alone, so that not all are compared with all."""
    index: dict[str | tuple[str, str], list[ChainServer]] = defaultdict(list)
    for server in servers:
        for key in (server.uuid.lower(), (server.port, server.server_id), (server.port, "")):
            if key:
                index[key].append(server)
    return index


def _connected_servers(name: str, linked: dict[str, set[str]]) -> list[str]:
    """The server and all that are linked with it through any number of others, itself first."""
    members = {name: None}
    waiting = [name]
    while waiting:
        for other in sorted(linked.get(waiting.pop(), set()) - members.keys()):
            members[other] = None
            waiting.append(other)
    return list(members)


def _is_twin(own: ChainServer, other: ChainServer) -> bool:
    """Whether another server, not the same one under two names, has the same server_uuid."""
    return own is not other and bool(own.uuid) and own.uuid == other.uuid and not _is_same_server(own, other)


def _is_same_server(server: ChainServer, other: ChainServer) -> bool:
    """Whether the inventory has one server under two names."""
    return (server.hostname, server.port) == (other.hostname, other.port)


def chain_of(context: RuleContext) -> Chain | None:
    """The server's chain; None for a server that is no replica. Raises MissingFact for a replica without one."""
    part = context.server.replication
    if not context.has("chain") and not (part and part.is_replica):
        return None
    context.require(("chain",))
    chain: Chain = context.parts["chain"]
    return chain


@rule(
    "REP026",
    "errant-transactions",
    confidence=Confidence.LIKELY,
    summary="The replica has transactions that its source does not have.",
    needs=("server",),
    evidence=("ASK-REP-13",),
    docs=Docs(
        why="They were written on the replica, or come from a former source. If this replica becomes the source, the "
        "others fetch and apply them by GTID, on MariaDB only those after their position; on MySQL they stop with "
        "error 1236 (13114 since 8.0) where the binary log with them is purged. They are found by comparing "
        "gtid_executed (MariaDB: gtid_binlog_state) of both snapshots. Transactions that the source may have committed "
        "after it was read are not counted.",
        fix="Use mysqlbinlog to see what they changed. Repeat the changes on the source if they belong there, "
        "otherwise rebuild the replica. Then set super_read_only on the replica (read_only on MariaDB).",
        risk="Empty transactions with these GTIDs on the source hide the difference but do not remove it.",
        exceptions="Servers that replicate from each other in a ring, and members of clusters: they are not compared. "
        "A replica with its own databases.",
        reconsider_when="A former source whose transactions the new source has received by other means.",
    ),
)
def errant_transactions(context: RuleContext) -> Iterator[Finding]:
    """Report transactions of a replica that none of its sources has."""
    chain = chain_of(context)
    sources = chain.sources() if chain else ()
    if chain is None or not sources or chain.own.clustered or any(replicates_from(s, chain.own) for s in sources):
        return
    if any(server.cut for server in (chain.own, *sources)):
        raise MissingFact("needs the whole gtid_executed, which SHOW VARIABLES cuts off after 1,024 characters")
    errant = _errant_positions(chain.own, sources) if context.target.is_mariadb else _errant_set(chain.own, sources)
    if errant:
        names = " and ".join(source.name for source in sources)
        whose = f"its source {names} does" if len(sources) == 1 else f"its sources {names} do"
        yield errant_transactions.finding(
            f"The replica has {errant[0]} that {whose} not have: {_shorten_text(errant[1])}.",
            help="use mysqlbinlog to see what they changed, then repeat it on the source or rebuild this replica",
        )


def _errant_set(own: ChainServer, sources: tuple[ChainServer, ...]) -> tuple[str, str] | None:
    mine = parse_set(own.executed)
    theirs: GtidSet = {}
    for source in sources:
        theirs = union(theirs, parse_set(source.executed) or {})
    if not mine or any(not source.executed for source in sources):
        return None
    extra = subtract(mine, theirs)
    if len(sources) < len(own.sources) or any(own.read_at >= source.read_at for source in sources):
        extra = _not_newer(extra, theirs, own.uuid, complete=len(sources) == len(own.sources))
    number = count(extra)
    return (f"{number:,} transaction{'s' if number > 1 else ''}", format_set(extra)) if number else None


def _not_newer(extra: GtidSet, theirs: GtidSet, uuid: str, *, complete: bool) -> GtidSet:
    """Without what a source may have committed after it was read, or another source that is not known may have sent.

    What remains is the replica's own, and gaps below a source's highest number.
    """
    kept: GtidSet = {}
    for source, intervals in extra.items():
        if source.partition(":")[0] == uuid.lower():
            kept[source] = intervals
            continue
        most = highest(theirs, source) if complete else 0
        if gaps := tuple((first, min(last, most)) for first, last in intervals if first < most):
            kept[source] = gaps
    return kept


def _errant_positions(own: ChainServer, sources: tuple[ChainServer, ...]) -> tuple[str, str] | None:
    """MariaDB: transactions with the replica's own server_id, unless a source could not show them."""
    mine = parse_positions(own.binlog_state)
    theirs: list[Position] = []
    for source in sources:
        state = parse_positions(source.binlog_state)
        if not state or not source.logs_updates:
            return None
        theirs += state
    if not mine:
        return None
    extra = [position for position in beyond(mine, theirs) if str(position.server) == own.server_id]
    return ("transactions of its own", ",".join(map(str, extra))) if extra else None


def _shorten_text(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


@rule(
    "REP027",
    "duplicate-server-id",
    summary="Two servers of one replication chain have the same server_id or server_uuid.",
    needs=("server",),
    options=("server_id",),
    evidence=("ASK-REP-12", "REPL-18"),
    docs=Docs(
        why="A replica ignores events with its own server_id, so it misses the changes of a server that has the same "
        "id. Two MariaDB replicas of one source with the same server_id disconnect each other again and again, and "
        "their status shows no error. Of two MySQL replicas with the same server_uuid, the first stops with error 1236 "
        "(13114 since 8.0) when the second connects. A replica with its source's id stops with error 1593 (13117 on "
        "MySQL since 8.0). Two MySQL replicas with the same server_id alone both run.",
        fix="Give each server its own server_id. After copying a MySQL data directory, remove auto.cnf so that the "
        "server generates a new server_uuid.",
        risk="Replication of that server stops for the restart; server_id can be changed at run time.",
        exceptions="A server that is in the inventory under two names is not reported. Nor are two Galera nodes that "
        "replicate neither from each other nor from one source: the nodes of a cluster usually have one server_id.",
        reconsider_when="Servers that never replicate with each other.",
    ),
)
def duplicate_server_id(context: RuleContext) -> Iterator[Finding]:
    """Report the server_uuid and server_id of a server that another one of its chain has too."""
    chain = chain_of(context)
    if chain is None:
        return
    own = chain.own
    twins = [other for other in chain.others if _is_twin(own, other)]
    if twins:
        linked = _is_linked(chain, twins)
        yield duplicate_server_id.finding(
            f"{_names(twins)} and this server have the same server_uuid. "
            + ("One of them cannot stay connected." if linked else "They cannot replicate together."),
            severity=Severity.ERROR if linked else None,
            help="stop one of them, remove auto.cnf from its data directory, and start it: it generates a server_uuid",
        )
    others = [other for other in chain.others if other not in twins and not _is_same_server(own, other)]
    numbered = [other for other in others if other.server_id == own.server_id and not _are_nodes(chain, other)]
    if same := numbered if own.server_id not in {"", "0"} else []:
        refused = _is_linked(chain, same) if context.target.is_mariadb else any(map(chain.sources().__contains__, same))
        yield duplicate_server_id.finding(
            f"{_names(same)} and this server have the same server_id, {own.server_id}. "
            + (
                "One of them cannot stay connected."
                if refused
                else "A replica ignores the changes of its own server_id."
            ),
            severity=Severity.ERROR if refused else None,
            help="give each server of the chain its own server_id, with SET GLOBAL and in its option file",
        )


def _are_nodes(chain: Chain, other: ChainServer) -> bool:
    """Whether both are Galera nodes without replication between them: those of one cluster may share an id."""
    own = chain.own
    return own.target.is_mariadb and own.clustered and other.clustered and not _is_linked(chain, (other,))


def _is_linked(chain: Chain, servers: Iterable[ChainServer]) -> bool:
    """Whether one of the servers replicates directly with this one, or from the same source."""
    sources = chain.sources()
    return any(
        server in sources or replicates_from(server, chain.own) or any(s in sources for s in chain.sources(server))
        for server in servers
    )


def _names(servers: Iterable[ChainServer]) -> str:
    return ", ".join(server.name for server in servers)


@rule(
    "REP028",
    "source-newer-than-replica",
    confidence=Confidence.LIKELY,
    summary="The source runs a newer series than its replica, which can stop replication.",
    needs=("server",),
    evidence=("ASK-REP-14", "REPL-16", "REPL-17"),
    docs=Docs(
        why="A newer server logs statements, collations and events that an older one does not know. Replication then "
        "stops, often only at the first statement that needs it. MySQL supports this only for going back after an "
        "upgrade, MariaDB does not.",
        fix="Upgrade the replica to the source's series, or a newer one.",
        risk="An upgraded server cannot go back to the older series on the same data.",
        exceptions="An old server that is kept as a replica for a rollback after an upgrade. Servers of different "
        "vendors are not compared.",
        reconsider_when="A replica that will be upgraded next.",
    ),
)
def source_newer_than_replica(context: RuleContext) -> Iterator[Finding]:
    """Report each source of the same vendor whose series is newer."""
    chain = chain_of(context)
    for source in chain.sources() if chain else ():
        own = context.target
        if source.target.flavour == own.flavour and source.target.version[:2] > own.version[:2]:
            yield source_newer_than_replica.finding(
                f"The source {source.name} runs {source.target.label}, newer than this replica with {own.label}: "
                "replication can stop at statements that only the newer series has.",
                help="upgrade this replica to the source's series or a newer one",
            )
