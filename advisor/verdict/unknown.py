"""Explains names that match no option: ambiguous, removed, of another server, mistyped, or of a plugin."""

from __future__ import annotations

from advisor.catalog import load
from advisor.catalog.presence import (
    WINDOWS,
    KnownSpan,
    Presence,
    VendorBuild,
    find_presence,
    nearest_option,
    nearest_vendor_option,
    vendor_of_option,
    vendor_of_value,
)
from advisor.catalog.targets import SERIES
from advisor.core.model import BUILDS
from advisor.verdict.names import (
    CAPITALS,
    NOT_LOADED,
    NOT_OF_MARIADB,
    PROVIDER_OPTIONS,
    PROVIDER_SINCE,
    find_removed_library,
    is_component_option,
    option_prefixes,
    removed_plugin_of,
    was_examined,
)
from advisor.verdict.outcome import REFUSED, Outcome, TakenValue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from advisor.catalog import Catalog, Option
    from advisor.core.model import Target
    from advisor.verdict.outcome import NameMatch

SWITCHES = ("skip_", "disable_", "enable_")
FLAVOURS = {"mysql": "MySQL", "mariadb": "MariaDB"}
LATER = "later than this target."
# Servers' test suites leave these out when they record a help: what is known of a build's is what its source declares.
HIDDEN_FROM_HELP = ("innodb", "thread_pool", "rocksdb", "tokudb", "audit_log")
COLUMNSTORE = "columnstore_"  # options of a plugin of MariaDB in no list: its package has a file that loads it
SOURCE_READ = ("5.7", "8.0")  # the series of Percona Server whose source was read


def explain_missing(
    written: str, match: NameMatch, catalog: Catalog, loaded: frozenset[str]
) -> tuple[NameMatch, TakenValue]:
    """Explain why the target has no such option, and suggest names.

    If the target was not examined, a name missing from the server examined instead is not refused.
    """
    if match.candidates and not _is_removed_since(written, catalog):
        return match, _explain_ambiguous(written, match)
    name = match.canonical or strip_prefix(written, match)
    if not _can_be_name(name):
        return _explain_mistyped(name, match, catalog)  # no server has it, examined or not
    if is_component_option(name, catalog.target):
        return match._replace(canonical=None), _explain_component(name, catalog)
    if catalog.target.is_mariadb:
        loaded -= NOT_OF_MARIADB
    if not catalog.target.since(*PROVIDER_SINCE):
        loaded -= PROVIDER_OPTIONS
    if any(name.startswith(plugin) for plugin in loaded):
        match, taken = _explain_loaded_plugin(name, match._replace(canonical=None), catalog, loaded)
    else:
        other = vendor_of_option(name, catalog.target) or vendor_of_option(_strip_switch(name), catalog.target)
        own = catalog.get(name) if catalog.lists_plugins else None
        if other is not None and own is not None and own.plugin:
            other = None  # an option of a plugin of the target's own build
        if other is not None and catalog.has_own_build and other.series:
            return match._replace(canonical=None), _explain_build_lacks(name, other, catalog)
        if other is not None:
            sentence = other.sentence(name, catalog.read_as)
            option = catalog.get(name)
            if option is not None:  # as an option of a plugin
                here = f"in MySQL Community it belongs to the plugin {option.plugin}, {NOT_LOADED}."
                sentence = f"{other.vendor} documents {name}; {here}"
            return match._replace(canonical=None), TakenValue(
                _outcome_of_other_build(catalog), None, sentence, likely=True
            )
        match, taken = _not_loaded_or_unknown(name, written, match, catalog)
    return match, _refuse_unless_stand_in(name, taken, catalog)


def _is_removed_since(written: str, catalog: Catalog) -> bool:
    """Whether this is the whole name of an option that was removed after the version whose facts are used."""
    if catalog.read_as == catalog.target:
        return False
    presence = find_presence(written.lower().replace("-", "_"))
    own = presence.span(catalog.target.flavour) if presence else None
    return bool(own and own.gone and catalog.read_as.version < _version(own.gone) <= catalog.target.version)


def _explain_build_lacks(name: str, documented: VendorBuild, catalog: Catalog) -> TakenValue:
    """Explain an option that a build's manual lists and the build itself does not: the server's own list wins."""
    build, series = BUILDS[catalog.target.build], catalog.read_as.series
    first = load(catalog.target._replace(version=(*catalog.read_as.version[:2], 1))).get(name)
    if first is not None and first.gone:
        return TakenValue(Outcome.REMOVED, None, f"{name} was removed in {build} {first.gone}.")
    is_hidden = name.startswith(HIDDEN_FROM_HELP)
    if is_hidden and series not in SOURCE_READ:
        why = f"{documented.vendor} documents {name}; whether {build} {series} has it was not examined."
        return TakenValue(Outcome.UNEXAMINED, None, why, likely=True)
    lists = series in documented.series and (documented.build == build or catalog.target.build == "pxc")
    if lists:
        place = "source does not have it" if is_hidden else "help does not"
        why = f"The manual of {documented.build} {series} lists {name}, but the server's own {place}."
    else:
        place = "source" if is_hidden else "help"
        why = f"{documented.vendor} documents {name}; the {place} of {build} {series} does not list it."
    return TakenValue(Outcome.UNKNOWN if catalog.whole else Outcome.UNEXAMINED, None, why, likely=True)


def _can_be_name(name: str) -> bool:
    """Whether this can be an option name; with a blank or colon it may hold a value without =, perhaps a secret."""
    return name.replace(".", "_").isidentifier()


def judge_unknown_word(option: Option, value: str, taken: TakenValue, catalog: Catalog) -> TakenValue:
    """Judge a word that the examined server does not know for the option; another build or version may know it."""
    other = vendor_of_value(option.name, value, catalog.target)
    if other is not None and other.windows and catalog.target.platform == WINDOWS:
        return TakenValue(Outcome.ACCEPTED, value, likely=True)
    if other is not None and not (catalog.has_own_build and other.series):
        outcome = taken.outcome if _outcome_of_other_build(catalog) is Outcome.UNKNOWN else Outcome.UNEXAMINED
        return TakenValue(outcome, value, other.sentence(f"{option.name} = {value}", catalog.read_as), likely=True)
    if catalog.whole or catalog.of_other_build:
        return taken
    return TakenValue(Outcome.UNEXAMINED, value, f"{taken.reason} {not_examined(catalog)}")


def hedge_refusal(taken: TakenValue, catalog: Catalog) -> TakenValue:
    """Return a refusal as unexamined if the target's build was not examined: its flavour's server refuses."""
    if taken.outcome not in REFUSED:
        return taken
    examined = catalog.read_as.base.label
    why = f"{taken.reason} This is known for {examined}; {catalog.target.label} was not examined."
    return TakenValue(Outcome.UNEXAMINED, taken.value, why, likely=True)


def _outcome_of_other_build(catalog: Catalog) -> Outcome:
    """Return the outcome for options of another build: UNKNOWN only if exactly this version and build was tested."""
    return Outcome.UNKNOWN if catalog.exact and not catalog.any_build else Outcome.UNEXAMINED


def _refuse_unless_stand_in(name: str, taken: TakenValue, catalog: Catalog) -> TakenValue:
    if taken.outcome is not Outcome.UNKNOWN or catalog.whole or catalog.of_other_build:
        return taken
    nearest = catalog.read_as != catalog.target
    if nearest and (since := _documented_since(name, catalog.target)):
        return TakenValue(
            Outcome.ACCEPTED, None, f"{name} was introduced in {FLAVOURS[catalog.target.flavour]} {since}."
        )
    if NOT_LOADED in taken.reason:
        why = f"{taken.reason} {catalog.target.label} was not examined."
        return TakenValue(Outcome.UNEXAMINED, None, why) if nearest else taken
    if taken.reason.endswith(LATER):  # a manual's statement, which needs no other
        return TakenValue(Outcome.UNEXAMINED, None, taken.reason)
    if taken.reason.startswith("Unknown option"):
        return TakenValue(Outcome.UNEXAMINED, None, _not_known(name, catalog))
    return TakenValue(Outcome.UNEXAMINED, None, f"{taken.reason} {_not_known('It', catalog)}")


def _not_known(what: str, catalog: Catalog) -> str:
    """A sentence on a name that no list has, and on the target, whose own list mycnf has not read."""
    if catalog.read_as == catalog.target:
        return f"{what} is not in the documents that mycnf knows; no {catalog.target.label} server was examined."
    return f"{what} does not exist up to {catalog.read_as.label}; {catalog.target.label} was not examined."


def not_examined(catalog: Catalog) -> str:
    """A sentence on the version whose valid values these are, and on the target, which was not examined."""
    if catalog.read_as == catalog.target:
        return f"No {catalog.target.label} server was examined."
    return f"This is known for {catalog.read_as.label}; {catalog.target.label} was not examined."


def _documented_since(name: str, target: Target) -> str | None:
    """Return the version, in the target's series or before, that introduced the option according to the manuals."""
    presence = find_presence(name)
    own = presence.span(target.flavour) if presence else None
    if own is None or own.gone or not own.came or _introduced_later(own, target):
        return None
    return max((text for text in own.came if _version(text)[:2] <= target.version[:2]), key=_version)


def _not_loaded_or_unknown(name: str, written: str, match: NameMatch, catalog: Catalog) -> tuple[NameMatch, TakenValue]:
    """Explain an option of a plugin that is not loaded, of another version, or an unknown one."""
    option = catalog.get(name)
    if option is not None and option.plugin:
        return match._replace(canonical=None), _explain_plugin(name, option.plugin, catalog)
    spelt = CAPITALS.get(name, name)
    if option is not None and spelt != written.replace("-", "_").removeprefix("loose_"):
        why = f"The server distinguishes upper and lower case in option names, and knows only {spelt}."
        return match._replace(candidates=(spelt,)), TakenValue(Outcome.UNKNOWN, None, why)
    if name.startswith("innodb") and load(catalog.target).get(name) is not None and catalog.get(name) is None:
        why = "ignore_builtin_innodb disables InnoDB, so its options are unknown."
        return match, TakenValue(Outcome.UNKNOWN, None, why)
    presence = find_presence(name) or find_presence(_strip_switch(name))
    return (
        _explain_unlisted(name, match, catalog) if presence is None else (match, explain_elsewhere(presence, catalog))
    )


def _explain_plugin(name: str, plugin: str, catalog: Catalog) -> TakenValue:
    """Explain an option of a plugin; those of a build alone are mostly installed by its own script, not by a file."""
    if not catalog.lists_plugins or load(catalog.target.base).get(name) is not None:
        return _explain_not_loaded(name, plugin)
    installer = "ps-admin or INSTALL PLUGIN" if catalog.has_own_build else "INSTALL PLUGIN"
    build = BUILDS[catalog.target.build]
    why = f"{name} belongs to the plugin {plugin} of {build}, which {installer} must have installed."
    return TakenValue(Outcome.UNEXAMINED, None, why, likely=True)


def _explain_not_loaded(name: str, plugin: str) -> TakenValue:
    why = f"{name} belongs to the plugin {plugin}, {NOT_LOADED}."
    return TakenValue(Outcome.UNKNOWN, None, why, likely=True)


def _explain_component(name: str, catalog: Catalog) -> TakenValue:
    """A file cannot load a component, so it does not show whether the server knows the component's options."""
    why = f"{name} belongs to a component, which must first be installed with INSTALL COMPONENT."
    return TakenValue(_outcome_of_other_build(catalog), None, why, likely=True)


def _explain_unlisted(name: str, match: NameMatch, catalog: Catalog) -> tuple[NameMatch, TakenValue]:
    """Explain a name in no list of options: of a removed plugin, or mistyped."""
    library = find_removed_library(name, catalog.target)
    if library is not None:
        return match, _explain_removed_library(name, library)
    plugin = removed_plugin_of(name, catalog.target)
    if catalog.target.is_mariadb and name.startswith(COLUMNSTORE):
        plugin = "ha_columnstore"
    if plugin:
        return match, _explain_not_loaded(name, plugin)
    return _explain_mistyped(name, match, catalog)


def _explain_mistyped(name: str, match: NameMatch, catalog: Catalog) -> tuple[NameMatch, TakenValue]:
    """A name that no server knows, with the one that is meant; the name itself is not repeated.

    The server that reads the file may be the other vendor's whose option is meant: it refuses the mistyped name too.
    """
    from advisor.verdict.formats import find_statement

    mistyped = find_statement(name) is None  # the name of a variable without an option is not
    own = nearest_option(name, catalog) if mistyped else None
    others = nearest_vendor_option(name, catalog.target, own) if mistyped else None
    vendor = vendor_of_option(others, catalog.target) if others else None
    meant = others or own
    near = f"{vendor.describe(meant)}," if vendor and meant else meant
    unknown = "Unknown option"
    if catalog.has_own_build:
        unknown = (
            f"Unknown option: the help of {BUILDS[catalog.target.build]} {catalog.read_as.series} does not list it"
        )
    taken = TakenValue(Outcome.UNKNOWN, None, f"{unknown}; {near} is near." if near else f"{unknown}.")
    return match._replace(candidates=(meant,) if meant else ()), taken._replace(likely=vendor is not None)


def _explain_loaded_plugin(
    name: str, match: NameMatch, catalog: Catalog, loaded: frozenset[str]
) -> tuple[NameMatch, TakenValue]:
    """Explain an option of a plugin that the file loads if the target's catalog does not list it."""
    presence = find_presence(name)
    own = presence.span(catalog.target.flavour) if presence else None
    if presence is not None and presence.spans and own is None and catalog.target.is_mariadb:
        return match, explain_elsewhere(presence, catalog)._replace(likely=True)  # from a MySQL library
    gone = own is not None and own.gone is not None and _version(own.gone) <= catalog.target.version
    if presence is not None and own is not None and (gone or _introduced_later(own, catalog.target)):
        return match, explain_elsewhere(presence, catalog)
    library = find_removed_library(name, catalog.target)
    if library is not None:
        return match, _explain_removed_library(name, library)
    meant = nearest_option(name, catalog) if presence is None else None
    option = catalog.get(meant) if meant else None
    if option is not None and option.plugin in loaded:
        why = f"The plugin {option.plugin} has no option {name}; {meant} is near."
        return match._replace(candidates=(option.name,)), TakenValue(Outcome.UNKNOWN, None, why)
    own_libraries = [stem for stem in sorted(loaded) if name.startswith(option_prefixes(stem))]
    plugin = next((stem for stem in own_libraries if was_examined(stem, catalog)), None)
    if plugin is not None and presence is None:
        why = f"The plugin {plugin} of {catalog.read_as.label} has no option {name}."
        return match, TakenValue(_outcome_of_other_build(catalog), None, why)
    why = f"{name} belongs to a plugin that the file loads, so the server is expected to know it."
    return match, TakenValue(Outcome.ACCEPTED, None, why)


def _explain_removed_library(name: str, library: tuple[str, str, str]) -> TakenValue:
    stem, gone, successor = library
    instead = f" {successor} took the plugin's place." if successor else ""
    why = f"{name} belongs to the plugin {stem}, which was removed in {gone}.{instead}"
    return TakenValue(Outcome.REMOVED, None, why)


def strip_prefix(written: str, match: NameMatch) -> str:
    """Return the name as written, without loose-."""
    name = written.lower().replace("-", "_")
    return name.removeprefix("loose_") if match.loose else name


def _strip_switch(name: str) -> str:
    """Return the name without skip_, disable_ or enable_, as other servers list it."""
    prefix = next((prefix for prefix in SWITCHES if name.startswith(prefix)), "")
    return name.removeprefix(prefix)


def _explain_ambiguous(written: str, match: NameMatch) -> TakenValue:
    some = ", ".join(match.candidates[:4])
    more = len(match.candidates) - 4
    rest = f" and {more} more" if more > 0 else ""
    return TakenValue(Outcome.AMBIGUOUS, None, f"{written} is short for several options: {some}{rest}.")


def explain_elsewhere(presence: Presence, catalog: Catalog) -> TakenValue:
    """Explain a name that the target lacks, but another version or flavour has."""
    successor, name = presence.replaced_by, presence.name
    own = presence.span(catalog.target.flavour)
    instead = f" Use {successor}." if successor and catalog.get(successor) else ""
    if own is None:
        return TakenValue(Outcome.UNKNOWN, None, f"{_explain_other_flavour(presence)}{instead}")
    gone = own.gone or _gone_in_series(name, catalog)
    if gone and _version(gone) <= catalog.target.version:
        return TakenValue(Outcome.REMOVED, None, f"{name} was removed in {gone}.{instead}")
    if came := _introduced_later(own, catalog.target):
        why = f"{name} was introduced in {FLAVOURS[own.flavour]} {came}, {LATER}"
        return TakenValue(Outcome.UNKNOWN, None, why)
    if own.plugin:
        return _explain_not_loaded(name, own.plugin)
    return _explain_absent(presence, own, instead, catalog)


def _gone_in_series(name: str, catalog: Catalog) -> str | None:
    """The version of the target's own series that removed the option (5.7.39), if the manuals' tables have it."""
    first = _first_of_series(name, catalog)
    return first.gone if first is not None and "gone" in first.documented else None


def _first_of_series(name: str, catalog: Catalog) -> Option | None:
    """The option as the first version of the target's series has it."""
    return load(catalog.target._replace(version=(*catalog.target.version[:2], 1))).get(name)


def _explain_absent(presence: Presence, own: KnownSpan, instead: str, catalog: Catalog) -> TakenValue:
    """Explain an option of the flavour that the target lacks, without a version of removal or introduction."""
    name = presence.name
    if presence.built:
        return TakenValue(
            _outcome_of_other_build(catalog), None, f"Only servers built with {presence.built} have {name}."
        )
    older = _version(own.last)[:2] < catalog.read_as.version[:2] and not own.gone and catalog.whole
    if older or _first_of_series(name, catalog) is not None:
        return TakenValue(Outcome.REMOVED, None, f"{name} was removed.{instead}")
    return TakenValue(Outcome.UNKNOWN, None, f"Unknown option {name}.{instead}")


def _explain_other_flavour(presence: Presence) -> str:
    """Explain an option that the flavour never had.

    Both flavours may have had an option that was removed before the supported series.
    """
    other = presence.spans[0] if presence.spans else None
    if other is None or _version(other.last)[:2] < min(SERIES[other.flavour]):
        return f"Unknown option {presence.name}."
    return f"Only {FLAVOURS[other.flavour]} knows {presence.name}."


def _introduced_later(own: KnownSpan, target: Target) -> str | None:
    """The version that the manuals say introduced the option, where the target is older; else None.

    Of several series each is named that got it while it was maintained: one between them has it not, one after all has.
    A target without a patch stands for the newest of its series.
    """
    came = sorted((_version(text), text) for text in own.came)
    came = [pair for pair in came if pair[0][:2] == target.version[:2]] or came
    later = [text for version, text in came if version[: len(target.version)] > target.version]
    return later[0] if later else None


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(n) for n in text.split(".") if n.isdecimal())
