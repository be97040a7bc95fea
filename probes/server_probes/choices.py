"""The compared option of an `ab` run and its values, checked against the catalog before a server is started."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from advisor.catalog import load
from advisor.verdict import REFUSED, judge_value
from probes.experiment import Choice, ProbeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.core.model import Target
    from advisor.verdict import LineVerdict
    from probes.experiment import Environment
    from probes.sandbox import Binary


# Options for the server's paths; a probe must stay within its own directory.
PATH_SUFFIXES = ("dir", "_file", "path", "basename", "socket", "log_error", "secure_file_priv")
RESERVED_OPTIONS = frozenset(
    [
        *("port", "bind_address", "skip_networking", "user", "chroot", "daemonize", "help", "verbose", "log_bin_index"),
        *("log_bin", "relay_log", "relay_log_index", "init_connect", "plugin_load", "plugin_load_add", "upgrade"),
        *("bootstrap", "initialize", "initialize_insecure", "validate_config", "print_defaults", "skip_grant_tables"),
        *("innodb_read_only", "read_only", "super_read_only", "innodb_force_recovery", "offline_mode"),
    ]
)
DATA_FILE_OPTIONS = frozenset(
    [
        *("innodb_page_size", "lower_case_table_names", "innodb_data_file_path", "innodb_undo_tablespaces"),
        *("aria_block_size"),
    ]
)


class OptionValues(NamedTuple):
    """An option by its canonical name, with the values as given and as the server reads them."""

    name: str
    written: tuple[str, ...]
    values: tuple[str, ...]


def read_option_values(text: str, target: Target) -> OptionValues:
    """Parse NAME=V1,V2,… (separated by | if a value contains commas) as the target reads it.

    Raises ProbeError for a name or value that the server refuses, for values that are equal to it, and for options
    that would lead it out of its own directory or cannot be compared on the same data.
    """
    name, _, listed = text.partition("=")
    values = tuple(dict.fromkeys(v.strip() for v in listed.split("|" if "|" in listed else ",") if v.strip()))
    if not name.strip() or not values:
        raise ProbeError("nothing to compare: use --option set=NAME=VALUE1,VALUE2")
    verdicts = [_require_accepted(name.strip(), value, target) for value in values]
    canonical = str(verdicts[0].canonical)
    _require_comparable(canonical, values)
    if len(values) == 1:
        raise ProbeError(f"only one value of {canonical}: give two or more, separated by commas")
    made = tuple(_running_value(verdict, value) for verdict, value in zip(verdicts, values, strict=True))
    for place, value in enumerate(made):
        if value in made[:place]:
            twin = values[made.index(value)]
            raise ProbeError(f"{canonical}: {target.label} reads both {twin} and {values[place]} as {value}")
    return OptionValues(canonical, values, made)


def _require_accepted(name: str, value: str, target: Target) -> LineVerdict:
    verdict = judge_value(name, value, load(target))
    if verdict.canonical is None or verdict.outcome in REFUSED:
        why = verdict.reason or f"it is {verdict.outcome.value} there"
        raise ProbeError(f"{target.label} refuses {name}={value}: {why}")
    return verdict


def _running_value(verdict: LineVerdict, value: str) -> str:
    return verdict.running or verdict.value or value


def _require_comparable(name: str, values: tuple[str, ...]) -> None:
    if name in DATA_FILE_OPTIONS:
        raise ProbeError(f"{name} determines the data files, so its values cannot be compared on the same data")
    if name in RESERVED_OPTIONS or name.endswith(PATH_SUFFIXES) or any("/" in value for value in values):
        raise ProbeError(f"{name} cannot be compared: a throwaway server uses only its own scratch directory")


SERVER_CHOICE = Choice(
    "server", "word", "", "server to start: mysql-8.0 or the path of a program; default: the first found"
)


def choose_binary(
    environment: Environment, word: str, fits: Callable[[Binary], bool] = lambda _: True, why: str = "suits this probe"
) -> Binary:
    """The program that `word` denotes (its name, path, target or a prefix of one), or the first that `fits`.

    Raises ProbeError if there is none; `why` describes what the programs lack that do not fit.
    """
    if not environment.binaries:
        raise ProbeError(
            "no MySQL or MariaDB server program found on this host: install one (it runs on a scratch "
            "directory), or give its path"
        )
    named = [binary for binary in environment.binaries if _matches(word, binary)]
    if not named:
        known = ", ".join(binary.name for binary in environment.binaries)
        raise ProbeError(f"no server {word!r} found; available: {known}")
    fitting = [binary for binary in named if fits(binary)]
    if not fitting:
        raise ProbeError(f"{', '.join(binary.name for binary in named)}: none {why}")
    return fitting[0]


def _matches(word: str, binary: Binary) -> bool:
    target = str(binary.target)
    return word in ("", binary.name, binary.program, target, binary.target.flavour) or target.startswith(word + ".")
