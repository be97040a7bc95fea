"""What a verdict is: how a server takes one option, one line, one file."""

from enum import StrEnum
from typing import NamedTuple

from advisor.catalog.load import Catalog, Option
from advisor.core.model import Target
from advisor.optionfile.lines import PlacedLine, ResolvedFiles


class Outcome(StrEnum):
    """What the server does with an option; that it is deprecated is told beside it.

    STOPS is a value that the reader takes, help prints, and at which the server ends when it starts for good.
    UNEXAMINED is a name or a word that the examined server does not know, and that another may: another vendor's build,
    another platform, or a version newer than all that were examined. It counts as no refusal.
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
    """The value that reaches an option: `text` is None without one; `implied` where a prefix put a 0 or 1 there."""

    text: str | None
    implied: bool = False


class TakenValue(NamedTuple):
    """How a value was taken: `value` in the notation of `--verbose --help`, None where the option keeps what it had.

    A refusal with a value is one of a later check: the reader takes the value, and the server stops at it afterwards.
    `likely` says that something outside of the files decides: a plugin that was installed, another vendor's build.
    """

    outcome: Outcome
    value: str | None = None
    reason: str = ""
    likely: bool = False


class ValueContext(NamedTuple):
    """A value on its way to an option of a target; `before` is what earlier lines of the file made of the option."""

    argument: Argument
    option: Option
    target: Target
    before: str | None = None

    @property
    def text(self) -> str | None:
        """The value, None without one."""
        return self.argument.text


class LineVerdict(NamedTuple):
    """How the server takes one option line.

    `canonical` and `option` are None where the name leads to no option. `value` is what `--verbose --help` prints for
    the option after this line, None where help prints nothing or the reader refuses it. `running` is what SHOW GLOBAL
    VARIABLES says once the server is up, where that differs and can be told. `certain` says that a server of this very
    version was asked. `reason` is in plain words and empty for an option that is taken as written. `candidates` are
    the options that an abbreviation may mean, or the name that was probably meant.
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

    `lines` are the option lines of the groups that it reads, in its order; `effective` the line that counts for each
    option, `overridden` the earlier ones that it replaced.
    """

    lines: tuple[LineVerdict, ...]
    effective: dict[str, LineVerdict]
    overridden: dict[str, tuple[LineVerdict, ...]]
    resolved: ResolvedFiles
    catalog: Catalog


class NameMatch(NamedTuple):
    """Where a name leads.

    `canonical` is the option's name, None where there is none or several (`candidates`). `prefix` is the prefix that
    decides how the value is read, "" without one. `cache` is the name of a key cache other than the default one.
    """

    canonical: str | None
    prefix: str = ""
    loose: bool = False
    cache: str = ""
    candidates: tuple[str, ...] = ()


Values = dict[str, str]


class SettledValues(NamedTuple):
    """Values by canonical name after all options are read, why some moved (an alias moves without a word), and at which
    options the server stops because of others."""

    values: Values
    why: dict[str, str]
    refused: dict[str, str]
