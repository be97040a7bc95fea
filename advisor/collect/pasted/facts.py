"""PastedFacts: the facts about a server from one text or directory."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from advisor.core.errors import MycnfError

if TYPE_CHECKING:
    from advisor.collect.pasted.process_list import PastedSessions
    from advisor.facts import Host
    from advisor.facts.host import Mount, Space
    from advisor.facts.server import ErrorLog
    from advisor.verdict.declared import ProviderParameter

FORMS = (
    "the text of SHOW GLOBAL VARIABLES, SHOW GLOBAL STATUS, SHOW REPLICA STATUS and SHOW PROCESSLIST, of mysqladmin "
    "variables or extended-status, a directory of pt-stalk, what pt-mysql-summary and pt-summary print, or an error log"
)
SAME = ("server_uuid", "hostname", "port", "datadir", "version")  # variables that distinguish servers


class TextError(MycnfError):
    """A text cannot be read, or has no facts about a server; the message is one line with the remedy."""


class PastedFacts(NamedTuple):
    """The contents of `path`: tables of variables, and samples of status counters in order.

    Of many samples, only those that a window needs are kept. Names are lower case, values as printed. `innodb_text` is
    InnoDB's status without the sections that quote statements, `host` describes the machine, `mounts` are its file
    systems with their space. `lacks` says why the variables are incomplete, `counters_lack` why the counters are.
    `replicas` has a row for each source of the server, None if unknown. `at` is when the text was written, in seconds
    since 1970. `error_log` is what an error log contains. `parameters` is a provider's list, which
    shows the values that users set. `sessions` is what a process list shows.
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
    error_log: ErrorLog | None = None
    parameters: tuple[ProviderParameter, ...] = ()
    sessions: PastedSessions | None = None

    @property
    def is_empty(self) -> bool:
        """Whether it contains nothing about a server."""
        return not (
            self.variables
            or self.samples
            or self.counters_lack
            or self.innodb_text
            or self.host
            or self.replicas is not None
            or self.error_log is not None
            or self.parameters
            or self.sessions is not None
        )
