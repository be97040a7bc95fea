"""Read a text of any client format and size: variables, counters, a replica's or InnoDB's status, or sessions."""

from __future__ import annotations

import codecs
import gzip
import os
import re
import time
import zlib
from contextlib import contextmanager
from itertools import chain
from typing import IO, TYPE_CHECKING, NamedTuple

from advisor.collect.pasted.facts import (
    FORMS,
    SAME,
    SESSION_COUNTERS,
    PastedFacts,
    TextError,
    is_session_status,
    without_session_counters,
)
from advisor.collect.pasted.json import cloud_document_message, is_formula, rows_in, values_in
from advisor.collect.pasted.process_list import ProcessListReader, sessions_in
from advisor.collect.pasted.replicas import ReplicaSources, replicas_in
from advisor.collect.pasted.samples import NO_FIRST, DifferenceRounds, InnodbStatusReader, add_sample
from advisor.collect.pasted.tables import tables
from advisor.core.errors import stdin_buffer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from advisor.collect.pasted.classify import ServerAnswer, Table


_OWN = ("pt-summary-internal", "internal::")  # added by pt-mysql-summary to the variables that it saves
MOST_SERVERS = 10  # maximum number of tables from different servers; two are refused already
LARGEST = 1 << 30  # bytes; a sample of mysqladmin on MySQL 8.0 takes half a megabyte, because its columns are wide
WHOLE = 64 << 20  # bytes of a text that is read as a whole: reports, and pt-stalk's copies of host files
WHOLE_JSON = 16 << 20  # bytes of a text in JSON, whose values need up to 45 times its size in memory
MOST_UNPACKED = 256 << 20  # bytes that a gzip file may hold
LONGEST = 16 << 20  # maximum characters of a line
CHUNK = 1 << 20
STDIN = "-"

# Byte order marks, as PowerShell adds them to redirected output.
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_LOOKED_AT = 64  # bytes that are checked for UTF-16 without a byte order mark
_PACKED = ((b"\x1f\x8b", "gzip"), (b"PK\x03\x04", "zip"), (b"BZh", "bzip2"), (b"\xfd7zXZ", "xz"))
_TAR = (b"ustar", 257)
_OFFICE = b"[Content_Types].xml"  # the first entry of an office document, which is a zip file too
_COLOURS = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|\([0-9A-B])")  # terminal escape sequences, as recorded by script(1)


def read_json(path: str, text: str, at: float) -> PastedFacts:
    """The facts in JSON texts; raises TextError if they are not from a server."""
    values = tuple(values_in(text))
    watched = _LineScan()
    facts = _facts_of_answers(path, rows_in(path, values), at, watched)
    return facts._replace(replicas=replicas_in(values), sessions=sessions_in(values))


def read_plain(path: str, lines: Iterable[str], at: float) -> PastedFacts:
    """The facts in the tables of a text, with the status of a replica and of InnoDB and a process list if present.

    Texts with thousands of tables need no more memory than short ones: of the samples only those for a window are
    kept, of the variables the first table and the later ones merged into one.
    """
    watched = _LineScan()
    return _facts_of_answers(path, tables(watched.lines(without_quote_marks(lines))), at, watched)


class _LineScan:
    """What is read from the lines of a text beside its tables of names and values."""

    def __init__(self) -> None:
        self.monitor = InnodbStatusReader()
        self.sources = ReplicaSources()
        self.processes = ProcessListReader()

    def lines(self, lines: Iterable[str]) -> Iterable[str]:
        """The lines unchanged."""
        return self.processes.watch(self.sources.watch(self.monitor.watch(lines)))


def _facts_of_answers(path: str, answers: Iterable[ServerAnswer], at: float, watched: _LineScan) -> PastedFacts:
    variables: list[Table] = []
    samples: tuple[Table, ...] = ()
    rounds, of_session = DifferenceRounds(), False
    for answer in answers:
        table = {name.lower(): value for name, value in answer.rows.items() if not name.startswith(_OWN)}
        if any(map(is_formula, table.values())):
            raise cloud_document_message(path, "a parameter group of Amazon RDS")
        if answer.counters:
            whole = rounds.take_round(table)
            of_session = of_session or is_session_status(whole or {})
            samples = add_sample(samples, whole) if whole else samples
        elif len(variables) > 1 and _is_of_same_server(variables[-1], table):
            variables[-1] |= table
        elif len(variables) < MOST_SERVERS:
            variables.append(table)
    samples = tuple(
        without_session_counters(sample) if of_session else rounds.known_values(sample) for sample in samples
    )
    lacks = SESSION_COUNTERS if of_session else NO_FIRST if rounds.no_first and not samples else ""
    return PastedFacts(
        path,
        tuple(variables),
        samples,
        watched.monitor.text,
        at=at,
        replicas=watched.sources.rows,
        counters_lack=lacks,
        sessions=watched.processes.sessions,
    )


def _is_of_same_server(one: Table, other: Table) -> bool:
    return all(one.get(name, other.get(name)) == other.get(name, one.get(name)) for name in SAME)


class Text(NamedTuple):
    """An open text: its beginning, all its lines, and when it was written, in seconds since 1970."""

    path: str
    head: str
    lines: Iterator[str]
    at: float


@contextmanager
def open_text(path: str) -> Iterator[Text]:
    """Open the text of a file (- is stdin); lines are read lazily. Raises TextError, also while reading."""
    if path == STDIN:
        yield _text(path, stdin_buffer(), time.time())
        return
    if not os.path.exists(path):
        raise TextError(f"{path} does not exist; give {FORMS}")
    if not os.path.isfile(path):
        raise TextError(f"{path} is not a regular file; give {FORMS}")
    try:
        with open(path, "rb") as file:
            opened = os.fstat(file.fileno())
            if opened.st_size > LARGEST:
                raise _too_large(path, LARGEST)
            yield _text(path, file, opened.st_mtime)
    except OSError as error:
        raise TextError(f"{path} can't be read ({error.strerror}); check its owner and mode") from error


def read_all(text: Text, most: int = WHOLE) -> str:
    """All lines at once; raises TextError if the text is too large for that."""
    held, size = [], 0
    for line in text.lines:
        held.append(line)
        size += len(line) + 1
        if size > most:
            raise _too_large(text.path, most)
    return "\n".join(held)


def _text(path: str, file: IO[bytes], at: float) -> Text:
    parts = _parts(path, file)
    head = next(parts, "")
    return Text(path, head, _lines(path, chain((head,), parts)), at)


def _lines(path: str, parts: Iterable[str]) -> Iterator[str]:
    rest = ""
    for part in parts:
        *lines, rest = (rest + part).split("\n")
        if len(rest) > LONGEST:
            raise TextError(f"{path} is not text with lines; give {FORMS}")
        for line in lines:
            yield _without_colours(line)
    yield _without_colours(rest)


def _without_colours(line: str) -> str:
    line = line.removesuffix("\r")
    return _COLOURS.sub("", line) if "\x1b" in line else line


def _parts(path: str, opened: IO[bytes]) -> Iterator[str]:
    """The text in chunks of arbitrary size."""
    file: IO[bytes] | _GzipBytes = opened
    data, most = file.read(CHUNK), LARGEST
    packed = next((name for magic, name in _PACKED if data.startswith(magic)), None)
    if packed == "gzip" and path != STDIN:
        opened.seek(0)
        file, packed, most = _GzipBytes(path, opened), None, MOST_UNPACKED
        data = file.read(CHUNK)
    if packed == "zip" and _OFFICE in data[: 1 << 10]:
        raise TextError(f"{path} is a workbook or a document; save it as CSV or as plain text")
    if packed or data[_TAR[1] :].startswith(_TAR[0]):
        raise TextError(f"{path} is packed ({packed or 'tar'}); unpack it and give the texts or their directory")
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), _detect_encoding(data[:_LOOKED_AT]))
    decoder = codecs.getincrementaldecoder(encoding)("surrogateescape" if encoding == "utf-8" else "strict")
    size = 0
    while data:
        size += len(data)
        if size > most:
            raise _too_large(path, most)
        yield _decode(path, decoder, data, encoding)
        data = file.read(CHUNK)
    yield _decode(path, decoder, b"", encoding)


class _GzipBytes:
    """A gzip file as the bytes that it holds; raises TextError where it is damaged or cut off."""

    def __init__(self, path: str, file: IO[bytes]) -> None:
        self._path = path
        self._file = gzip.GzipFile(fileobj=file, mode="rb")

    def read(self, most: int) -> bytes:
        """The next bytes, at most so many; none at the end."""
        try:
            return self._file.read(most)
        except (OSError, EOFError, zlib.error) as error:
            raise TextError(f"{self._path} is packed (gzip) and damaged; unpack what can be read of it") from error


def _detect_encoding(begun: bytes) -> str:
    """The encoding of a text without a byte order mark, as in text that PowerShell appends to a file."""
    even, odd = begun[::2], begun[1::2]
    if odd and all(even) and not any(odd):
        return "utf-16-le"
    return "utf-16-be" if odd and all(odd) and not any(even) else "utf-8"


def _decode(path: str, decoder: codecs.IncrementalDecoder, data: bytes, encoding: str) -> str:
    try:
        text = decoder.decode(data, final=not data)
    except UnicodeDecodeError as error:
        raise TextError(f"{path} is not text ({encoding}); give {FORMS}") from error
    if "\0" in text:
        raise TextError(f"{path} is not text; give {FORMS}")
    return text


def _too_large(path: str, most: int) -> TextError:
    return TextError(f"{path} is larger than {most >> 20:,} MB; give the part with the variables and counters")


# Quote marks before a line that begins a table, in any form.
_BEGINS = re.compile(
    r"((?:> ?)+|[ \t]+)(?=\+-{3,}|\| *variable_name *\||\"?variable_name\"?[\t,; ]|\*{5,} 1\. row)", re.IGNORECASE
)


def without_quote_marks(lines: Iterable[str]) -> Iterator[str]:
    """The lines without the quote marks that precede a table, up to the first line without them."""
    marks = ""
    for line in lines:
        if found := _BEGINS.match(line):
            marks = found[1]
        elif not line.startswith(marks.rstrip()):
            marks = ""
        yield line.removeprefix(marks) if line.startswith(marks) else line.removeprefix(marks.rstrip())
