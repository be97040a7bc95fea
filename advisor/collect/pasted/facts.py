"""What one text or one directory of texts tells of a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from advisor.core.errors import MycnfError

if TYPE_CHECKING:
    from advisor.facts import Host
    from advisor.facts.host import Mount, Space

FORMS = (
    "the text of SHOW GLOBAL VARIABLES, SHOW GLOBAL STATUS and SHOW REPLICA STATUS, of mysqladmin variables or "
    "extended-status, a directory of pt-stalk, or what pt-mysql-summary and pt-summary print"
)
SAME = ("server_uuid", "hostname", "port", "datadir", "version")  # what tells one server from another


class TextError(MycnfError):
    """A text can't be read, or is none of those that tell of a server; the message is one line with the remedy."""


class PastedFacts(NamedTuple):
    """What was read at `path`: tables of variables, and samples of status counters in the order in which they stand,
    of many those that a window needs.

    Names are lower case, values as printed. `innodb_text` is InnoDB's status without the parts that quote statements,
    `host` what is told of the machine, `mounts` its file systems with their room. `lacks` says in what the variables
    are not those of the server, `counters_lack` in what the counters aren't; `replicas` has a row for each source that
    the server follows, and is None where that isn't told; `at` is when the text was written, in seconds since 1970.
    """

    path: str
    variables: tuple[dict[str, str], ...] = ()
    samples: tuple[dict[str, str], ...] = ()
    innodb_text: str = ""
    host: Host | None = None
    mounts: tuple[tuple[Mount, Space | None], ...] = ()
    lacks: str = ""
    at: float = 0.0
    replicas: tuple[dict[str, str | None], ...] | None = None
    counters_lack: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether nothing in it tells of a server."""
        return not (
            self.variables
            or self.samples
            or self.counters_lack
            or self.innodb_text
            or self.host
            or self.replicas is not None
        )
