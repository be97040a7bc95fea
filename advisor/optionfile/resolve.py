"""Follow the includes of option files in the order in which a server reads them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from advisor.optionfile.lines import Kind, Line, OptionFile, Placed, Problem, Resolved
from advisor.optionfile.places import LONGEST_PATH, candidates, is_relative, option_files
from advisor.optionfile.reader import parse
from advisor.optionfile.source import OptionFileError, check_text, load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

DEEPEST = 10  # the include lines of a file at this depth are skipped by every server
MOST_READS = 2000  # ours: a file that includes itself twice has a server read it a thousand times, ten times for hours


def resolve(
    paths: Sequence[str],
    *,
    flavour: str = "mysql",
    root: str | None = None,
    loader: Callable[[str], bytes] | None = None,
    lister: Callable[[str], Iterable[str]] | None = None,
    on_host: bool = False,
) -> Resolved:
    """Read files one after another, as one, with all that they include.

    `root` is put before absolute include paths. `loader` gives the bytes of a path and `lister` the names
    in a directory, in place of the file system; both may raise OSError. `on_host` says that the files lie
    where the server reads them, so that a world-writable one counts as empty, as it does for servers;
    without, it is read, and told as a problem. Each line stands among the options once, where servers read
    it last, however often its file is included.
    Raises OptionFileError for a path of `paths` that can't be read.
    """
    walk = _Walk(flavour, root, loader, lister, on_host=on_host)
    for path in paths:
        walk.top(path)
    return walk.resolved()


class _Walk:
    """One reading under way: what was read so far, in which order, and what was wrong."""

    __slots__ = ("files", "flavour", "lister", "loader", "on_host", "options", "problems", "reads", "root", "within")

    def __init__(
        self,
        flavour: str,
        root: str | None,
        loader: Callable[[str], bytes] | None,
        lister: Callable[[str], Iterable[str]] | None,
        *,
        on_host: bool,
    ) -> None:
        self.flavour = flavour
        self.root = root
        self.loader = loader
        self.lister = lister or os.listdir
        self.on_host = on_host
        self.files: dict[str, OptionFile] = {}
        self.options: list[Placed] = []
        self.problems: dict[Problem, None] = {}
        self.reads = 0
        self.within: list[str] = []

    def top(self, path: str) -> None:
        """Read a file that was named, and all below it."""
        try:
            file = self._file(path)
        except OSError as error:
            raise OptionFileError(f"{path}: can't be read ({error.strerror or error}); check the path") from None
        self._follow(file)

    def resolved(self) -> Resolved:
        """Everything that was read."""
        options = self.options
        if self.reads > len(self.files):
            last = {(p.path, p.line.number, p.line.column): at for at, p in enumerate(options)}
            options = [options[at] for at in sorted(last.values())]
        return Resolved(tuple(self.files.values()), tuple(options), tuple(self.problems))

    def _file(self, path: str) -> OptionFile:
        """The file, parsed once; raises OptionFileError or OSError where it can't be read."""
        known = self.files.get(path)
        if known is None:
            known = self.files[path] = self._parsed(path)
        return known

    def _parsed(self, path: str) -> OptionFile:
        if self.loader is not None:
            data = self.loader(path)
            check_text(data, path)
            return parse(data, path)
        source = load(path)
        if source.world_writable:
            self._tell(path, 0, "world-writable", f"{path} is writable for everybody, so servers ignore it")
            if self.on_host:
                return OptionFile(path, ())
        return parse(source.data, path)

    def _tell(self, path: str, line: int, name: str, message: str) -> None:
        self.problems[Problem(path, line, name, message)] = None

    def _follow(self, file: OptionFile) -> None:
        """Read one file on; an error in an included file ends that file, and the including one goes on."""
        self.reads += 1
        self.within.append(file.path)
        for line in file.lines:
            if line.kind is Kind.OPTION:
                if line.group is None and len(self.within) > 1:
                    self._cut_short(file.path, line)
                    break
                self.options.append(Placed(file.path, line))
            elif line.kind in (Kind.INCLUDE, Kind.INCLUDEDIR):
                if not line.templated:
                    self._include(file.path, line)
            elif line.kind is Kind.REJECTED and len(self.within) > 1:
                self._cut_short(file.path, line)
                break
            elif line.kind is Kind.IGNORED:
                self._tell(file.path, line.number, "unknown-directive", line.value or "")
        self.within.pop()

    def _cut_short(self, path: str, line: Line) -> None:
        message = f"servers stop reading {path} at line {line.number}, and go on with the file that includes it"
        self._tell(path, line.number, "cut-short", message)

    def _include(self, path: str, line: Line) -> None:
        if len(self.within) > DEEPEST:
            message = f"servers skip this include, being {DEEPEST} levels deep"
            self._tell(path, line.number, "include-too-deep", message)
            return
        if self.reads >= MOST_READS:
            message = f"{MOST_READS} includes were read and the others left out; files include each other too often"
            self._tell(path, 0, "too-many-includes", message)
            return
        written = line.value or ""
        if is_relative(written):
            message = f"{written} is looked for in the directory that the server is started in; write the whole path"
            self._tell(path, line.number, "relative-include", message)
        if line.kind is Kind.INCLUDEDIR:
            self._directory(path, line)
        else:
            self._one_file(path, line)

    def _directory(self, path: str, line: Line) -> None:
        why = ""
        for directory in candidates(line.value or "", path, self.root):
            try:
                names = option_files(self.lister(directory), self.flavour)
            except OSError as error:
                why = why or f"{directory}: {error.strerror or error}"
                continue
            for name in names:
                self._included(path, line, os.path.join(directory, name))
            return
        message = f"{why}; a server that can't read it either refuses to start"
        self._tell(path, line.number, "missing-includedir", message)

    def _one_file(self, path: str, line: Line) -> None:
        places = candidates(line.value or "", path, self.root)
        if len(os.fsencode(places[0])) > LONGEST_PATH:
            message = f"servers ignore an include of more than {LONGEST_PATH} bytes"
            self._tell(path, line.number, "missing-include", message)
            return
        found = next((place for place in places if self._is_there(place)), None)
        if found is None:
            message = f"{places[0]}: no such file here; servers pass over a missing file in silence"
            self._tell(path, line.number, "missing-include", message)
        else:
            self._included(path, line, found)

    def _is_there(self, place: str) -> bool:
        if self.loader is None or place in self.files:
            return place in self.files or os.path.lexists(place)
        try:
            self._file(place)
        except FileNotFoundError:
            return False
        except (OSError, OptionFileError):
            return os.path.lexists(place)
        return True

    def _included(self, path: str, line: Line, place: str) -> None:
        if place in self.within:
            message = f"an include cycle: {place} is being read already; servers go round ten levels deep"
            self._tell(path, line.number, "include-cycle", message)
        try:
            file = self._file(place)
        except OptionFileError as error:
            self._tell(path, line.number, "unreadable-include", str(error))
        except OSError as error:
            self._tell(path, line.number, "unreadable-include", f"{place}: {error.strerror or error}")
        else:
            self._follow(file)
