"""Read texts of any size line by line, in the encodings that shells write."""

from __future__ import annotations

import codecs
import os
import re
import sys
import time
from contextlib import contextmanager
from itertools import chain
from typing import IO, TYPE_CHECKING, NamedTuple

from advisor.collect.pasted.facts import FORMS, TextError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


LARGEST = 1 << 30  # bytes; a sample of mysqladmin on MySQL 8.0 takes half a megabyte, because its columns are wide
WHOLE = 64 << 20  # bytes of a text that is read as a whole: reports, and pt-stalk's copies of host files
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
        yield _text(path, sys.stdin.buffer, time.time())
        return
    if not os.path.exists(path):
        raise TextError(f"{path} does not exist; give {FORMS}")
    if not os.path.isfile(path):
        raise TextError(f"{path} is no regular file; give {FORMS}")
    try:
        with open(path, "rb") as file:
            told = os.fstat(file.fileno())
            if told.st_size > LARGEST:
                raise _too_large(path, LARGEST)
            yield _text(path, file, told.st_mtime)
    except OSError as error:
        raise TextError(f"{path} can't be read ({error.strerror}); check its owner and mode") from error


def read_all(text: Text) -> str:
    """All lines at once; raises TextError if the text is too large for that."""
    held, size = [], 0
    for line in text.lines:
        held.append(line)
        size += len(line) + 1
        if size > WHOLE:
            raise _too_large(text.path, WHOLE)
    return "\n".join(held)


def _text(path: str, file: IO[bytes], at: float) -> Text:
    parts = _parts(path, file)
    head = next(parts, "")
    return Text(path, head, _lines(path, chain((head,), parts)), at)


def _lines(path: str, parts: Iterable[str]) -> Iterator[str]:
    rest = ""
    for part in parts:
        *found, rest = (rest + part).split("\n")
        if len(rest) > LONGEST:
            raise TextError(f"{path} is no text of lines; give {FORMS}")
        for line in found:
            yield _without_colours(line)
    yield _without_colours(rest)


def _without_colours(line: str) -> str:
    line = line.removesuffix("\r")
    return _COLOURS.sub("", line) if "\x1b" in line else line


def _parts(path: str, file: IO[bytes]) -> Iterator[str]:
    """The text in chunks of arbitrary size."""
    data = file.read(CHUNK)
    packed = next((name for magic, name in _PACKED if data.startswith(magic)), None)
    if packed == "zip" and _OFFICE in data[: 1 << 10]:
        raise TextError(f"{path} is a workbook or a document; save it as CSV or as plain text")
    if packed or data[_TAR[1] :].startswith(_TAR[0]):
        raise TextError(f"{path} is packed ({packed or 'tar'}); unpack it and give the texts or their directory")
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), _detect_encoding(data[:_LOOKED_AT]))
    decoder = codecs.getincrementaldecoder(encoding)("surrogateescape" if encoding == "utf-8" else "strict")
    size = 0
    while data:
        size += len(data)
        if size > LARGEST:
            raise _too_large(path, LARGEST)
        yield _decode(path, decoder, data, encoding)
        data = file.read(CHUNK)
    yield _decode(path, decoder, b"", encoding)


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
        raise TextError(f"{path} is no text ({encoding}); give {FORMS}") from error
    if "\0" in text:
        raise TextError(f"{path} is no text; give {FORMS}")
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
