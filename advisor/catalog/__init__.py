"""Loads the options of one server version from the generated file of its series."""

from __future__ import annotations

from advisor.catalog.targets import BUILD_SERIES, DOCUMENTED_BUILDS, EXAMINED, catalog_for, lists_names
from advisor.core import NamedTuple, loads, read_entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from advisor.core import Entries
    from advisor.core.model import Target

_FOLDER = __file__.rpartition("/")[0] + "/data/"
_FACTS = frozenset(
    (
        *("alias_of", "arg", "kind", "bits", "min", "max", "block", "values", "default", "running", "shown"),
        *("variable", "scope", "dynamic", "since", "gone", "deprecated", "replaced_by", "ignored", "plugin", "maximum"),
    )
)


class Option(NamedTuple):
    """What a server version knows of one option.

    `name` is spelled as `--verbose --help` prints it, with underscores. `arg` is none, optional or required. `kind` is
    bool, int, uint, double, enum, set, flagset, string, or flag (takes no argument and has no variable). `bits` is the
    width of a number (32 or 64), 0 for other kinds. `min`, `max` and `block` limit a number, None if unlimited or
    unknown. `values` are the members of an enumeration or set in the server's order. `default` is what `--verbose
    --help` prints without an option file; None if it depends on the host (`host` is True), is unknown, or if no value
    is printed (`shown` is False). `running` is the value in SHOW GLOBAL VARIABLES of a server without settings, if it
    differs from `default` in more than notation, else None. `variable` is the system variable; `scope` is global,
    session or both. `since`, `gone` and `deprecated` are versions of the flavour. `plugin` is the plugin that provides
    the option. `maximum` is the effect of the prefix `maximum-`: sets (the option itself), keeps (limits sessions
    only), bounds (both), None if it is refused. `alias_of` is the canonical name of the option that this one is another
    name of. `asked` names the fields read from a real server, `documented` those from a manual; the others come from
    source code or are inferred.
    """

    name: str
    arg: str
    kind: str
    bits: int
    min: int | float | None
    max: int | float | None
    block: int
    values: tuple[str, ...]
    default: str | None
    running: str | None
    shown: bool
    host: bool
    variable: str | None
    scope: str | None
    dynamic: bool | None
    since: str | None
    gone: str | None
    deprecated: str | None
    replaced_by: str | None
    ignored: bool
    plugin: str | None
    maximum: str | None
    secret: bool
    durability: bool
    security: bool
    alias_of: str | None
    asked: frozenset[str]
    documented: frozenset[str] = frozenset()


MAX_ANSWERS = 2_000  # cached results for single options, per version


class Catalog:
    """What one server version knows: `options` maps canonical names to raw records, `get` returns an Option.

    `target` is the requested version, `read_as` the version whose facts are used, `exact` whether a running server of
    exactly the target version was examined, `whole` whether a name that is missing here is one that such a server does
    not know (see `lists_names`). `of_other_build` means that the facts are those of the flavour's own server, because
    the target's build has no catalog. `any_build` means that any vendor's build of the version may be meant: the user
    named a series or nothing. `kept` caches results that depend on the catalog and a few words only, for callers that
    judge many files.
    """

    __slots__ = (
        *("_options_built", "_similar_length", "_sorted", "_spellings", "_variables"),
        *("any_build", "exact", "kept", "of_other_build", "options", "read_as", "target", "whole"),
    )

    def __init__(self, target: Target, read_as: Target, options: Entries, *, any_build: bool = False) -> None:
        self.target = target
        self.any_build = any_build
        self.read_as = read_as
        self.exact = target in EXAMINED
        self.of_other_build = read_as.build != target.build or target.build in DOCUMENTED_BUILDS
        self.whole = lists_names(target)
        self.options = options
        self.kept: dict[tuple[object, ...], Any] = {}
        self._similar_length: dict[tuple[int, int], list[str]] = {}
        self._sorted: list[str] = []
        self._options_built: dict[str, Option] = {}
        self._variables: dict[str, str] | None = None
        self._spellings: dict[str, list[str]] | None = None

    @property
    def has_own_build(self) -> bool:
        """Whether the facts are those of a vendor's build that lists its options itself, such as Percona Server."""
        return self.lists_plugins and self.read_as.build not in DOCUMENTED_BUILDS

    @property
    def lists_plugins(self) -> bool:
        """Whether the options of plugins that only the target's build has are among those of the catalog."""
        return self.read_as.version[:2] in BUILD_SERIES.get(self.read_as.build, ())

    def keep(self, key: tuple[object, ...], answer: Any) -> None:
        """Cache an answer; a full cache is cleared first."""
        if len(self.kept) >= MAX_ANSWERS:
            self.kept.clear()
        self.kept[key] = answer

    def names_starting_with(self, beginning: str) -> list[str]:
        """Return the option names that start like this, sorted; none for an empty beginning."""
        names = self._names()
        low, high = 0, len(names) if beginning else 0
        while low < high:  # bisection; an index by letters took longer than all else in the catalog
            middle = (low + high) // 2
            low, high = (middle + 1, high) if names[middle] < beginning else (low, middle)
        end = low
        while end < len(names) and beginning and names[end].startswith(beginning):
            end += 1
        return names[low:end]

    def _names(self) -> list[str]:
        if not self._sorted:
            self._sorted = sorted(self.options)
        return self._sorted

    def names_of_similar_length(self, length: int, off: int) -> list[str]:
        """Return the option names, sorted, whose lengths differ by at most `off` characters."""
        if (length, off) not in self._similar_length:
            least, most = length - off, length + off
            self._similar_length[length, off] = [name for name in self._names() if least <= len(name) <= most]
        return self._similar_length[length, off]

    def get(self, name: str) -> Option | None:
        """Return the option of that canonical name, or None."""
        made = self._options_built.get(name)
        if made is None and name in self.options:
            made = self._options_built[name] = _build_option(name, self.options[name])
        return made

    def find_variable(self, name: str) -> Option | None:
        """Return the option that sets the system variable; None if no option does."""
        wanted = name.lower()
        own = self.get(wanted)
        if own is not None and own.variable == wanted:  # nearly always
            return own
        if self._variables is None:
            self._variables = {}
            for option, variable in self.options.texts("variable"):
                self._variables.setdefault(variable, option)
        option_name = self._variables.get(wanted)
        return self.get(option_name) if option_name else None

    def spellings(self, name: str) -> tuple[str, ...]:
        """Return all canonical names of an option with aliases, else only its own."""
        if self._spellings is None:
            self._spellings = {}
            for option, root in self.options.texts("alias_of"):
                self._spellings.setdefault(root, [root]).append(option)
        root = self.options.get(name, {}).get("alias_of") or name
        return tuple(self._spellings.get(root, (name,)))

    def __len__(self) -> int:
        return len(self.options)


_LOADED: dict[tuple[Target, bool], Catalog] = {}
# By series, shared by its versions: the options as of the newest patch, and the names of those that differ between
# patches.
_READ: dict[str, tuple[Entries, list[str]]] = {}


def limit_cache(most: int) -> None:
    """Clear the cache if it holds more than `most` catalogs: thousands of servers may have hundreds of versions."""
    if len(_LOADED) > most:
        _LOADED.clear()


def load(target: Target, *, any_build: bool = False) -> Catalog:
    """Return the catalog of a target, cached. `any_build` is as in `Catalog`.

    Raises MycnfError if no catalog can be used for the target.
    """
    key = target, any_build
    if key not in _LOADED:
        read_as = catalog_for(target)
        options = _options_at(f"{read_as.flavour}-{read_as.series}", read_as.version)
        if read_as.version[:2] in BUILD_SERIES.get(read_as.build, ()):
            own = _options_at(f"{read_as.build}-{read_as.series}", read_as.version)
            options.update(own)
            _remove(options, own.nulls())
        if read_as.platform == "windows":
            options.update(_options_at("windows", read_as.version))
        if read_as.version < target.version:  # the manuals may say what was removed since
            _remove(options, [name for name, gone in options.texts("gone") if _version(gone) <= target.version])
        _LOADED[key] = Catalog(target, read_as, options, any_build=any_build)
    return _LOADED[key]


def _options_at(series: str, version: tuple[int, ...]) -> Entries:
    """Return the options in a file as of that version; in the file of a build, None stands for what it lacks."""
    newest, moving = _read_series(series)
    options = newest.copy()
    for name in moving:
        if _has_option(options[name], version):
            options[name] = _record_at(options[name], version)
        else:
            del options[name]
    return options


def _remove(options: Entries, names: list[str]) -> None:
    for name in names:
        del options[name]


def _read_series(series: str) -> tuple[Entries, list[str]]:
    """Read the file of a series; that of a build has the same form, with the options that differ from its flavour's."""
    if series not in _READ:
        beginning, options = read_entries(f"{_FOLDER}{series}.json")
        _READ[series] = options, loads(beginning + "}}")["moving"]
    return _READ[series]


def _version(text: str) -> tuple[int, ...]:
    return tuple([int(n) for n in text.split(".")])


def _has_option(raw: dict[str, Any], version: tuple[int, ...]) -> bool:
    """Whether the version has the option, by its `since` and `gone`."""
    since = raw.get("since")
    return (since is None or _version(since) <= version) and not _is_gone(raw, version)


def _is_gone(raw: dict[str, Any], version: tuple[int, ...]) -> bool:
    """Whether the option was removed in this version or before."""
    gone = raw.get("gone")
    return gone is not None and _version(gone) <= version


def _record_at(raw: dict[str, Any], version: tuple[int, ...]) -> dict[str, Any]:
    """Return the record as of that version: the file holds the newest facts and the older ones of each change."""
    for before, facts in raw.get("was", ()):
        if version < _version(before):
            raw = {**raw, **facts}
    return raw


def _build_option(name: str, raw: dict[str, Any]) -> Option:
    get, marks, by = raw.get, raw.get("marks", ()), raw.get("by", {})
    told_otherwise = {field for fields in by.values() for field in fields.split()}
    asked = frozenset() if "*" in told_otherwise else (_FACTS & raw.keys()) - told_otherwise
    return Option(  # without keywords, which take longer than all the rest here
        *(name, raw["arg"], raw["kind"], get("bits", 0), get("min"), get("max"), get("block", 1)),
        *(tuple(get("values", ())), get("default"), get("running"), get("shown", True), "host" in marks),
        *(get("variable"), get("scope"), get("dynamic"), get("since"), get("gone"), get("deprecated")),
        *(get("replaced_by"), get("ignored", False), get("plugin"), get("maximum")),
        *("secret" in marks, "durability" in marks, "security" in marks, get("alias_of")),
        *(asked, frozenset(by.get("documented", "").split())),
    )
