"""What the app is started with."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, NamedTuple, Protocol

from advisor.facts.record import record

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.collect.connection.options import ConnectRequest
    from advisor.core.model import Finding
    from advisor.tui.feed import Feed
    from probes.experiment import Ground


class Connect(Protocol):
    """Makes a feed of what the connect screen asked for; with no password that of the option files is taken."""

    def __call__(self, request: ConnectRequest, password: str = "") -> Feed:
        """A feed; raises MycnfError where the request can't be meant."""


class Site(NamedTuple):
    """A directory of this host where experiments can take place, with the host as it was read for it.

    `why` says why it was chosen; it is empty where the user named it.
    """

    path: str
    why: str
    ground: Ground


@record(frozen=True)
class Opening:
    """What to read first, and the user's preferences.

    `connect` is None where only files are read; `request` is what the command line said, `reason` why that gave no
    feed. `keymap` has keys by id of the binding. `site` looks at this host for the experiments, in the directory that
    it is given or in one that it chooses; it may block, and raises MycnfError. None where no server of it is read.
    `baseline` gives the path of the baseline in use, or nothing; `aside` writes into it why a finding is put aside,
    or without a reason takes it out. Both raise MycnfError.
    """

    feed: Feed | None
    connect: Connect | None = None
    request: ConnectRequest | None = None
    reason: str = ""
    theme: str = "textual-dark"
    keymap: dict[str, str] = field(default_factory=dict)
    site: Callable[[str | None], Site] | None = None
    aside: Callable[[Finding, str], None] | None = None
    baseline: Callable[[], str] = str
