"""All inputs of the next start, in order: files, command line, persisted values; and which sets a variable."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from advisor.core.model import Location, Origin
from advisor.optionfile import groups_read, resolve
from advisor.optionfile.lines import Line, LineKind, PlacedLine, ResolvedFiles
from advisor.preflight.start_command import COMMAND_LINE, next_command
from advisor.verdict import judge_file
from rules.core.context import ValueSource, source_of_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from advisor.catalog import Catalog
    from advisor.core.model import Target
    from advisor.facts import Facts, OptionFiles, PersistedOption
    from advisor.preflight.start_command import StartArgument, StartCommand
    from advisor.verdict import FileVerdict, LineVerdict


GROUP = "mysqld"
INSTALLED = "installed plugins"
LOAD_PERSISTED = "persisted_globals_load"

# The server's reported origins, used if the inputs of the next start could not be read.
REPORTED_ORIGINS = {
    "PERSISTED": Origin.PERSISTED,
    "COMMAND_LINE": Origin.COMMAND_LINE,
    "COMMAND-LINE": Origin.COMMAND_LINE,
}
FILES = frozenset({"GLOBAL", "SERVER", "EXPLICIT", "EXTRA", "USER", "LOGIN", "CONFIG"})

KEY_CACHE = frozenset(
    ("key_buffer_size", "key_cache_age_threshold", "key_cache_block_size", "key_cache_division_limit")
)

# Dynamic variables for which SET PERSIST fails with error 1238 (tested: 8.0.15 and 9.7.4).
NEVER_PERSISTED = frozenset(
    (
        "gtid_purged",
        "innodb_doublewrite",
        "innodb_undo_tablespaces",
        "keyring_operations",
        "log_bin_use_v1_row_events",
        "restrict_fk_on_non_standard_key",
    )
)


class StartFault(NamedTuple):
    """A reason other than an option line why a server stops: an invalid argument or persisted value.

    One that is not `fatal` is a persisted value at which the server ceases to apply persisted values, and starts.
    """

    message: str
    location: Location
    name: str
    help: str
    option: str | None = None
    fatal: bool = True


class NextStartOptions(NamedTuple):
    """The next start's options, and which of them come from the command line or are persisted.

    `verdict` covers all of them, `early` excludes persisted values applied after startup, so that nothing is derived
    from those. `uncatalogued` are persisted values, by variable, without an option in the catalog.
    """

    verdict: FileVerdict
    early: FileVerdict
    strays: tuple[StartFault, ...]
    command_line_paths: frozenset[str]
    persisted_at: str
    uncatalogued: dict[str, str]
    reads_persisted: bool

    def origin(self, line: LineVerdict) -> Origin:
        """Return the origin of a line."""
        if line.placed.path == self.persisted_at:
            return Origin.PERSISTED
        return Origin.COMMAND_LINE if line.placed.path in self.command_line_paths else Origin.FILE


def judge_start(facts: Facts, command: StartCommand, catalog: Catalog) -> NextStartOptions:
    """Judge what the next start reads; without collected files that is the command line only."""
    files = facts.files
    lines, strays = _command_lines(command.arguments, catalog)
    resolved = _file_options(files, catalog)
    before = [*installed_plugins(facts), *resolved.options, *lines]
    verdict = judge_file(resolved._replace(options=tuple(before)), catalog)
    reads = _reads_persisted(verdict, command, catalog)
    held = (files.persisted_options or ()) if files and reads else ()
    early, late, wrong = _read_persisted(files, catalog) if files and held else _PersistedLines([], [], ())
    if early:
        verdict = judge_file(resolved._replace(options=(*before, *early)), catalog)
    return NextStartOptions(
        verdict=judge_file(resolved._replace(options=(*before, *early, *late)), catalog) if late else verdict,
        early=verdict,
        strays=(*strays, *wrong),
        command_line_paths=frozenset({COMMAND_LINE, *(argument.path for argument in command.arguments)}),
        persisted_at=files.persisted if files else "",
        uncatalogued={o.name: o.value for o in held if catalog.find_variable(o.name) is None},
        reads_persisted=reads,
    )


def _reads_persisted(verdict: FileVerdict, command: StartCommand, catalog: Catalog) -> bool:
    """MySQL 8 and later read persisted values, unless disabled by an option or by --no-defaults."""
    if not catalog.target.since("mysql", 8) or "--no-defaults" in command.leading:
        return False
    line = verdict.effective.get(LOAD_PERSISTED)
    return line is None or line.value != "FALSE"


def _file_options(files: OptionFiles | None, catalog: Catalog) -> ResolvedFiles:
    if files is None:
        return ResolvedFiles((), (), ())
    target = catalog.target
    read = resolve(
        files.main_files, flavour=target.flavour, version=target.version, loader=files.read, lister=files.names
    )
    suffix = files.group_suffix
    return read._replace(options=tuple(_without_suffix(suffix, read.options, catalog))) if suffix else read


def _without_suffix(suffix: str, options: Iterable[PlacedLine], catalog: Catalog) -> Iterator[PlacedLine]:
    """Move options of groups with the suffix, such as [mysqld_two], into the plain group: the server reads both."""
    own = groups_read(catalog.target)
    for placed in options:
        group = placed.line.group or ""
        plain = group.removesuffix(suffix)
        yield PlacedLine(placed.path, placed.line._replace(group=plain)) if plain != group and plain in own else placed


def installed_plugins(facts: Facts) -> Iterator[PlacedLine]:
    """Yield the plugins in mysql.plugin, which are loaded again, so that their options in files are known."""
    libraries = [f"{plugin.name}={plugin.library}" for plugin in facts.server.plugins if plugin.library]
    if libraries:
        value = ";".join(dict.fromkeys(libraries))
        yield PlacedLine(INSTALLED, Line(LineKind.OPTION, 0, "", GROUP, "plugin_load_add", value, value))


def _command_lines(
    arguments: tuple[StartArgument, ...], catalog: Catalog
) -> tuple[list[PlacedLine], tuple[StartFault, ...]]:
    """Parse the arguments into option lines at the arguments' locations; each is a line of a temporary document."""
    if not arguments:
        return [], ()
    from advisor.carriers.document import Document, verbatim_piece
    from advisor.carriers.server_command import arguments_option_set

    text = "\n".join(argument.text.replace("\n", " ") for argument in arguments)
    pieces, at = [], 0
    for argument in arguments:
        pieces.append(verbatim_piece(text[at : at + len(argument.text)], at))
        at += len(argument.text) + 1
    read = arguments_option_set(Document(COMMAND_LINE, text), COMMAND_LINE, pieces).read(catalog)
    lines = [_at_argument(line, arguments[line.number - 1]) for line in read.order]
    strays = []
    for stray in read.strays:
        argument = arguments[stray.location.line - 1]
        place = Location(argument.path, argument.line, argument.column)
        strays.append(StartFault(stray.message, place, stray.name, stray.help))
    return lines, tuple(strays)


def _at_argument(line: Line, argument: StartArgument) -> PlacedLine:
    column = argument.column
    return PlacedLine(argument.path, line._replace(number=argument.line, column=column, end_column=column, group=GROUP))


class _PersistedLines(NamedTuple):
    """Persisted values: lines read with the options, lines applied later, and values at which servers stop."""

    early: list[PlacedLine]
    late: list[PlacedLine]
    strays: tuple[StartFault, ...]


def _read_persisted(files: OptionFiles, catalog: Catalog) -> _PersistedLines:
    """Read the persisted variables as the server does; each is a line of a temporary document."""
    from advisor.carriers.document import Document
    from advisor.carriers.persisted import read_persisted

    held = dict(enumerate(files.persisted_options or (), 2))
    text = "\n".join(["", *(_json_member(n, one) for n, one in held.items())])
    (found,) = read_persisted(Document(files.persisted, f'{{"Version": 2{text}\n}}')).sets
    reading = found.read(catalog)
    placed = {
        line.number: PlacedLine(files.persisted, _at_persisted_place(line, held[line.number])) for line in reading.order
    }
    strays = tuple(
        StartFault(
            stray.message,
            _place_of(held[stray.location.line], files),
            stray.name,
            stray.help,
            stray.option,
            stray.fatal,
        )
        for stray in reading.strays
        if stray.fatal or stray.name == "invalid-value"
    )
    early = [line for n, line in placed.items() if held[n].early]
    late = lines_set_after_start((line for n, line in placed.items() if not held[n].early), catalog.target)
    return _PersistedLines(early, late, strays)


def _json_member(number: int, option: PersistedOption) -> str:
    """Return one variable in a section of its own; the section's name says how it is read."""
    kind = "static" if option.static else "dynamic"
    return f', "mysql_{kind}_{number}": {{{json.dumps(option.name)}: {{"Value": {json.dumps(option.value)}}}}}'


def _at_persisted_place(line: Line, option: PersistedOption) -> Line:
    end = option.column + len(option.name)
    return line._replace(number=option.line, column=option.column, end_column=end, group=GROUP)


def _place_of(option: PersistedOption, files: OptionFiles) -> Location:
    return Location(files.persisted, option.line, option.column, option.line, option.column + len(option.name))


class NextStart:
    """All inputs of the next start, judged once; the server's reported origin replaces those that could not be read."""

    def __init__(self, facts: Facts, catalog: Catalog) -> None:
        command = next_command(facts)
        self._start = judge_start(facts, command, catalog)
        self._order = {id(line): number for number, line in enumerate(self._start.verdict.lines)}
        self._origins = facts.server.origins
        self._files_read = facts.files is not None
        self._command_read = command.is_known
        self._persisted_read = facts.files is not None and facts.files.persisted_options is not None

    def decider(self, variable: str, names: tuple[str, ...]) -> ValueSource | None:
        """Return the source of the variable's value; `names` are the canonical names of its option."""
        effective = self._start.verdict.effective
        lines = [line for name in names if (line := effective.get(name)) is not None]
        last = max(lines, key=lambda line: self._order.get(id(line), -1), default=None)
        reported = self._reported_decider(variable, names)
        if reported is not None and (last is None or self._is_unread(reported.origin)):
            return reported
        return None if last is None else source_of_line(self._start.origin(last), last)

    def _reported_decider(self, variable: str, names: tuple[str, ...]) -> ValueSource | None:
        """Return the origin that the server reports, if that source was not read."""
        for name in (variable, *names):
            origin_reported = self._origins.get(name)
            word = origin_reported.source.upper() if origin_reported else ""
            if word in REPORTED_ORIGINS and self._is_unread(REPORTED_ORIGINS[word]):
                return ValueSource(REPORTED_ORIGINS[word], None, name)
            if origin_reported and word in FILES and not self._files_read:
                return ValueSource(
                    Origin.FILE, Location(origin_reported.path, 0) if origin_reported.path else None, name
                )
        return None

    def _is_unread(self, origin: Origin) -> bool:
        """Whether values of that origin, which override files, could not be read."""
        if origin is Origin.PERSISTED:
            return not self._persisted_read
        return origin is Origin.COMMAND_LINE and not self._command_read


def may_be_persisted(name: str, target: Target) -> bool:
    """Whether SET PERSIST accepts the variable and the server applies the value at its next start."""
    return name not in NEVER_PERSISTED and is_restored(name, target)


def is_restored(name: str, target: Target) -> bool:
    """Whether a persisted value is applied: 8.0.15 saves those of key caches, but does not apply them."""
    return target.since("mysql", 8, 0, 16) or name not in KEY_CACHE


def lines_set_after_start(late: Iterable[PlacedLine], target: Target) -> list[PlacedLine]:
    """Return the lines that take effect, and those they imply: character set and collation set each other."""
    restored = [placed for placed in late if is_restored(placed.line.name or "", target)]
    return [*restored, *_implied_lines(restored, target)] if restored else []


def _implied_lines(restored: list[PlacedLine], target: Target) -> list[PlacedLine]:
    """Return the character set that a collation implies, and vice versa, unless it is persisted itself."""
    from advisor.upgrade.defaults import CHARSET, COLLATION, default_collation
    from advisor.verdict.words import charset_of, full_charset_name

    names = {placed.line.name for placed in restored}
    implied = []
    for placed in restored:
        value = placed.line.value or ""
        if placed.line.name == CHARSET and COLLATION not in names:
            implied.append(_with_option(placed, COLLATION, default_collation(full_charset_name(value), target)))
        elif placed.line.name == COLLATION and CHARSET not in names:
            implied.append(_with_option(placed, CHARSET, charset_of(value)))
    return implied


def _with_option(placed: PlacedLine, name: str, value: str) -> PlacedLine:
    return placed._replace(line=placed.line._replace(name=name, raw=value, value=value))
