"""RuleContext: everything a rule may read about one server, and ValueSource: where a value is set."""

from __future__ import annotations

from advisor.core import NamedTuple
from advisor.core.model import AbsentPart, Location, Origin
from advisor.redaction import redact_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from advisor.catalog import Catalog, Option
    from advisor.core.model import Target
    from advisor.facts import (
        Host,
        OptionFiles,
        SampledHours,
        SchemaRisks,
        Server,
        Service,
        SpaceReading,
        Unavailable,
        Workload,
    )
    from advisor.verdict import FileVerdict, LineVerdict
    from advisor.verdict.declared import ParameterProblem
    from advisor.verdict.settings import Settings
    from rules.measured.answers import LocalAnswer
    from rules.policy.house_rule import HouseRule

    FindSource = Callable[[str, tuple[str, ...]], "ValueSource | None"]


COMMAND = "the server's command line"
UNITS = ("/etc/systemd/", "/run/systemd/", "/lib/systemd/", "/usr/lib/systemd/", "/usr/local/lib/systemd/")
REMOVE_LINE = "remove the line"
REFUSAL = "the server refused "  # begins the reason for a part for which no privilege is missing


class ValueSource(NamedTuple):
    """The source of a variable's value: an option line, a command-line argument or a persisted value.

    `place` is None if no file that was read holds the command line. `name` is the option name as written there, `text`
    the whole line or argument with secrets masked, `value` the server's reading of it, None if unknown.
    """

    origin: Origin
    place: Location | None
    name: str = ""
    text: str = ""
    value: str | None = None


def source_of_line(origin: Origin, line: LineVerdict) -> ValueSource:
    """The option line as the source of a value."""
    at = line.placed.line
    name, value = (at.name or "").strip(), at.value
    shown = None if value is None else redact_value(line.canonical or name, redact_value(name, value))
    place = Location(line.placed.path, at.number, at.column, at.number, at.end_column) if at.number else None
    if origin is Origin.COMMAND_LINE:
        text = f"--{name}" if shown is None else f"--{name}={shown}"
    else:
        text = name if shown is None else f"{name} = {shown}"
    return ValueSource(origin, place, name, text, line.value)


def removal_step(decided: ValueSource | None, option: Option) -> str:
    """How to remove the setting, as the end of a sentence."""
    if decided is not None and decided.origin is Origin.PERSISTED:
        return f"run RESET PERSIST {option.variable or option.name}"
    if decided is not None and decided.origin is Origin.COMMAND_LINE:
        return f"remove {decided.text or 'the option'} from {source_place(decided)}{reload_step(decided)}"
    return REMOVE_LINE


def source_place(decided: ValueSource) -> str:
    """The source's location, `/etc/systemd/system/mysql.service.d/a.conf:3`, or a phrase for the command line."""
    return f"{decided.place.path}:{decided.place.line}" if decided.place else COMMAND


def reload_step(decided: ValueSource) -> str:
    """The step after a change of a systemd unit, which a restart does not read; empty for other places."""
    of_unit = decided.place is not None and decided.place.path.startswith(UNITS)
    return ", and run systemctl daemon-reload" if of_unit else ""


NOT_ASKED = AbsentPart("needs a running server (mycnf audit)")
NO_HOST = AbsentPart("needs the host under the server (--ram, --cpus, --disk, or an audit on it)")
NO_HOUSE = AbsentPart("needs house rules (in mycnf.toml)")
NO_PROBES = AbsentPart("needs results of probes on the server's host (mycnf probe)")
NO_SAMPLES = AbsentPart("needs samples of this server (mycnf sample)")
NO_CHAIN = AbsentPart("needs the snapshot of the replica's source (mycnf fleet)")
NO_SCHEMA = AbsentPart("needs the definitions of tables (mycnf audit --schema)")
NO_PARAMETERS = AbsentPart("needs the parameters of a managed service (a parameter group, flags)")
NO_FINDINGS = AbsentPart("needs the findings of all other rules")
OUT_OF_RANGE = 1 << 64  # no server variable holds a larger number: the peer is not a server, or is malicious


class MissingFact(Exception):  # noqa: N818 - it is no error: the engine turns it into a skipped rule
    """Raised if a rule lacks something it needs; the message names it and how to provide it."""


class RuleContext:
    """The target, catalog, settings and verdicts, and the collected parts: server, host, workload, files and others.

    Reading an absent part raises MissingFact with the reason; the engine then records the rule as skipped.
    """

    __slots__ = (
        *("_is_running", "catalog", "file_verdict", "find_source"),
        *("parts", "service", "settings", "spaces", "taken_at", "target", "unavailable"),
    )

    def __init__(
        self,
        target: Target,
        catalog: Catalog,
        settings: Settings,
        file_verdict: FileVerdict,
        *,
        server: Server | AbsentPart = NOT_ASKED,
        host: Host | AbsentPart = NOT_ASKED,
        workload: Workload | AbsentPart = NOT_ASKED,
        files: OptionFiles | AbsentPart = NOT_ASKED,
        house: tuple[HouseRule, ...] | AbsentPart = NO_HOUSE,
        probes: tuple[LocalAnswer, ...] = (),
        sampled: SampledHours | AbsentPart = NO_SAMPLES,
        schema: SchemaRisks | AbsentPart = NO_SCHEMA,
        unavailable: tuple[Unavailable, ...] = (),
        taken_at: str = "",
        spaces: tuple[SpaceReading, ...] = (),
        service: Service | None = None,
        find_source: FindSource | None = None,
    ) -> None:
        self.target = target
        self.service = service  # the systemd unit that starts the server; None if there is none or it was not looked up
        self.taken_at = taken_at  # UTC in ISO 8601; empty if nothing was collected
        self.spaces = spaces  # earlier readings of the room on the server's disks
        self.unavailable = unavailable  # parts of the facts that were not read, with reasons
        self.catalog = catalog
        self.find_source = find_source  # on a server: finds the source of a value by variable and option names
        self.settings = settings
        self.file_verdict = file_verdict
        self.parts: dict[str, Any] = {
            "server": server,
            "host": host,
            "workload": workload,
            "files": files,
            "house": house,
            "probes": probes or NO_PROBES,
            "sampled": sampled,
            "chain": NO_CHAIN,
            "schema": schema,
            "parameters": NO_PARAMETERS,
            "findings": NO_FINDINGS,
        }
        self._is_running = not isinstance(
            server, AbsentPart
        )  # a running server has no templated values; checked once here, not for each variable

    def number(self, name: str) -> int | None:
        """A variable as a whole number (bytes or a count); None if it is absent, not a number, or templated."""
        value = self.settings.number(name) if self._is_running or not self.is_templated(name) else None
        return value if value is not None and -OUT_OF_RANGE < value < OUT_OF_RANGE else None

    def text(self, name: str) -> str | None:
        """A variable as the server prints it, in upper case for comparison; None as for `number`."""
        value = self.settings.text(name) if self._is_running or not self.is_templated(name) else None
        return None if value is None else value.upper()

    def is_set(self, name: str) -> bool:
        """Whether the variable is explicitly configured."""
        return self.settings.is_set(name)

    def explicit_switch(self, name: str) -> bool | None:
        """The value of an explicitly configured switch; None where it is not set."""
        return self.settings.on(name) if self.is_set(name) else None

    def is_templated(self, name: str) -> bool:
        """Whether a template fills in the variable's value, which is unknown until then."""
        option = self.catalog.find_variable(name)
        line = self.file_verdict.effective.get(option.name if option else name)
        return line is not None and line.placed.line.templated

    def has(self, part: str) -> bool:
        """Whether the part (server, host, workload, files, house, probes, sampled or schema) is available."""
        return not isinstance(self.parts[part], AbsentPart)

    @property
    def server(self) -> Server:
        """Facts collected from the running server."""
        return self._part("server")  # type: ignore[return-value]

    @property
    def host(self) -> Host:
        """Facts about the host that the server runs on."""
        return self._part("host")  # type: ignore[return-value]

    @property
    def workload(self) -> Workload:
        """Two samples of the server's counters and the window between them."""
        return self._part("workload")  # type: ignore[return-value]

    @property
    def files(self) -> OptionFiles:
        """The option files of a running server, with owners and modes."""
        return self._part("files")  # type: ignore[return-value]

    @property
    def house(self) -> tuple[HouseRule, ...]:
        """The house rules of the user's configuration."""
        return self._part("house")  # type: ignore[return-value]

    @property
    def probes(self) -> tuple[LocalAnswer, ...]:
        """Probe results from the server's host, newest first; empty if there are none, without skipping the rule."""
        return self._part("probes") if self.has("probes") else ()  # type: ignore[return-value]

    @property
    def sampled(self) -> SampledHours:
        """The server's busiest hours, if its counters were sampled."""
        return self._part("sampled")  # type: ignore[return-value]

    @property
    def schema(self) -> SchemaRisks:
        """What `--schema` read of the definitions of tables."""
        return self._part("schema")  # type: ignore[return-value]

    @property
    def parameters(self) -> tuple[ParameterProblem, ...]:
        """The problems of a managed service's parameters."""
        return self._part("parameters")  # type: ignore[return-value]

    def collected_at(self) -> float:
        """When the facts were collected, in seconds since 1970; raises MissingFact if that is unknown."""
        moment = timestamp(self.taken_at)
        if moment is None:
            raise MissingFact("needs the time at which the facts were collected")
        return moment

    def reason_unread(self, part: str) -> str:
        """Why a part of the facts was not read, for MissingFact."""
        return next((gap.reason for gap in self.unavailable if gap.part == part), f"{part} was not collected")

    def refusal(self, part: str) -> str:
        """The server's error if it refused a part for another reason than a missing privilege; else empty."""
        reason = next((gap.reason for gap in self.unavailable if gap.part == part), "")
        return reason if reason.startswith(REFUSAL) else ""

    @property
    def findings(self) -> None:
        """Always raises MissingFact.

        Rules that need the findings of other rules are run separately, after all others.
        """
        self._part("findings")

    @property
    def is_managed(self) -> bool:
        """Whether a provider runs the server, which then decides about parameters, privileges and binary logs."""
        return self.target.is_managed or (self.has("server") and bool(self.server.managed))

    def available_parts(self) -> frozenset[str]:
        """The parts that a rule may require without MissingFact."""
        return frozenset({name for name, part in self.parts.items() if not isinstance(part, AbsentPart)} | {"probes"})

    def require(self, names: tuple[str, ...]) -> None:
        """Raise MissingFact for the first absent part; `probes` is always accepted."""
        for name in names:
            part = self.parts[name]
            if isinstance(part, AbsentPart) and name != "probes":
                raise MissingFact(part.reason)

    def _part(self, name: str) -> object:
        part = self.parts[name]
        if isinstance(part, AbsentPart):
            raise MissingFact(part.reason)
        return part


def timestamp(moment: str) -> float | None:
    """Seconds since 1970 of a time in ISO 8601; None if it is unknown."""
    from datetime import datetime

    try:
        return datetime.fromisoformat(moment).timestamp()
    except (ValueError, OverflowError):
        return None
