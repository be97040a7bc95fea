"""The service that starts a server: its unit with the drop-ins, and what they say about its environment."""

from dataclasses import field

from advisor.facts.files import FileCopy
from advisor.facts.record import record


@record(frozen=True)
class Service:
    """A systemd service as its files have it now, secrets taken out.

    `name` is the unit's (mysqld@two.service); `unit_files` the unit and then its drop-ins in the order in which systemd
    applies them, `environment_files` the files that `EnvironmentFile=` names and that could be read. `environment`
    holds those variables named by the unit's command line that the running process was started with.
    """

    name: str
    unit_files: tuple[FileCopy, ...] = ()
    environment_files: tuple[FileCopy, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
