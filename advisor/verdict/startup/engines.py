"""Storage engines by name: those that a server has built in, and a name at which it ends its start."""

from typing import TYPE_CHECKING

from advisor.redaction.secrets import quoted
from advisor.verdict.startup.words import OTHER_NAMES

if TYPE_CHECKING:
    from advisor.core.model import Target

EVERYWHERE = ("InnoDB", "MyISAM", "MEMORY", "CSV", "MRG_MYISAM", "PERFORMANCE_SCHEMA")
OF_MYSQL = ("ARCHIVE", "BLACKHOLE")
OF_MARIADB = ("Aria", "SEQUENCE")
# Engines that another option file, a package's or a table of the server may load: nothing is said of them.
LOADABLE = frozenset(
    [
        *("archive", "blackhole", "cassandra", "columnstore", "connect", "duckdb", "example", "federated"),
        *("federatedx", "mroonga", "ndb", "ndbcluster", "oqgraph", "rocksdb", "s3", "sphinx", "spider", "tianmu"),
        *("tokudb", "videx"),
    ]
)


def fault_of_engine(written: str, target: "Target") -> str:
    """Why no server of the target starts with this engine, empty where one may: six were started with it."""
    name = (written.rstrip(" ") if target.since("mysql", 8) else written).lower()
    built_in = (*EVERYWHERE, *(OF_MYSQL if target.is_mysql else OF_MARIADB))
    if name in OTHER_NAMES or name in LOADABLE or name in {engine.lower() for engine in built_in}:
        return ""
    has = ", ".join(engine for engine in built_in if engine != "PERFORMANCE_SCHEMA")
    return f"This server has no engine {quoted(written)} built in, and no plugin of that name is known; it has {has}."


def is_innodb(written: str) -> bool:
    """Whether InnoDB is meant, by either of its names."""
    return written.lower() in ("innodb", "innobase")
