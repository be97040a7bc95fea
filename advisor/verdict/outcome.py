"""Types of a verdict: how a server takes one option, one line, one file."""

from __future__ import annotations

from advisor.core import NamedTuple, StrEnum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from advisor.catalog import Catalog, Option
    from advisor.core.model import Target
    from advisor.optionfile.lines import PlacedLine, ResolvedFiles


class Outcome(StrEnum):
    """What the server does with an option; deprecation is recorded separately.

    STOPS: the option parser accepts the value and `--verbose --help` prints it, but a real start fails. UNEXAMINED: the
    examined server does not know the name or word, but another may: another vendor's build, another platform, or a
    version newer than all examined ones. It does not count as refused.
    """

    ACCEPTED = "accepted"
    ADJUSTED = "adjusted"
    UNKNOWN = "unknown"
    REMOVED = "removed"
    AMBIGUOUS = "ambiguous"
    INVALID = "invalid"
    MISSING_ARGUMENT = "missing_argument"
    UNEXPECTED_ARGUMENT = "unexpected_argument"
    IGNORED = "ignored"
    STOPS = "stops"
    UNEXAMINED = "unexamined"


REFUSED = frozenset(
    {
        Outcome.UNKNOWN,
        Outcome.REMOVED,
        Outcome.AMBIGUOUS,
        Outcome.INVALID,
        Outcome.MISSING_ARGUMENT,
        Outcome.UNEXPECTED_ARGUMENT,
        Outcome.STOPS,
    }
)


class Argument(NamedTuple):
    """The value that an option receives: `text` is None without a value; `implied` if a prefix supplied 0 or 1."""

    text: str | None
    implied: bool = False


class TakenValue(NamedTuple):
    """How a value was taken: `value` as `--verbose --help` prints it, None if the option keeps its previous value.

    A refusal with a value comes from a check after parsing: the parser accepts the value, then the server stops.
    `likely` means that something outside the files decides: an installed plugin or another vendor's build.
    """

    outcome: Outcome
    value: str | None = None
    reason: str = ""
    likely: bool = False


class ValueContext(NamedTuple):
    """A value to be read for an option of a target; `before` is the option's value after the earlier lines."""

    argument: Argument
    option: Option
    target: Target
    before: str | None = None

    @property
    def text(self) -> str | None:
        """The value; None if there is none."""
        return self.argument.text


class LineVerdict(NamedTuple):
    """How the server takes one option line.

    `canonical` and `option` are None if the name matches no option. `value` is what `--verbose --help` prints for the
    option after this line; None if it prints nothing or the option parser refuses the value. `running` is the value in
    SHOW GLOBAL VARIABLES of the started server, if it differs and is known. `certain` means that a server of exactly
    this version was tested. `reason` is a sentence, empty for an option accepted as written. `candidates` are the
    options that an abbreviation may mean, or the suggested name.
    """

    placed: PlacedLine
    outcome: Outcome
    canonical: str | None
    option: Option | None
    value: str | None
    running: str | None
    deprecated: bool
    replaced_by: str | None
    loose: bool
    certain: bool
    reason: str
    candidates: tuple[str, ...]


class FileVerdict(NamedTuple):
    """How the server takes a file with its includes.

    `lines` are the option lines of the groups that the server reads, in its order. `effective` maps each option to the
    line in effect, `overridden` to the earlier lines that it replaced, or to later ones where the first counts.
    """

    lines: tuple[LineVerdict, ...]
    effective: dict[str, LineVerdict]
    overridden: dict[str, tuple[LineVerdict, ...]]
    resolved: ResolvedFiles
    catalog: Catalog


class NameMatch(NamedTuple):
    """The option that a name refers to.

    `canonical` is the option's name, None if there is none or several (`candidates`). `prefix` is the prefix that
    decides how the value is read, "" without one. `cache` is the name of a key cache other than the default one, or
    of an engine whose costs are set.
    """

    canonical: str | None
    prefix: str = ""
    loose: bool = False
    cache: str = ""
    candidates: tuple[str, ...] = ()


Values = dict[str, str]


class SettledValues(NamedTuple):
    """Values by canonical name after all options are read.

    `why` gives the reasons of changed values (aliases change without one), `refused` the reasons of options that the
    server refuses because of others.
    """

    values: Values
    why: dict[str, str]
    refused: dict[str, str]
