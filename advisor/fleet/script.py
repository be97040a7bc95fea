"""The command that a host's shell runs for us, and its answer read back: a tar that survives terminals and banners."""

from __future__ import annotations

import base64
import binascii
import re

from advisor.collect.host import host_tar_script

BEGIN, END = "MYCNF-TAR-BEGIN", "MYCNF-TAR-END"
_BEGUN = re.compile(rf"{BEGIN}-(base64|hex)\s")
# Connection plugins may give the command a terminal, which mixes in what is said on stderr, changes the ends of lines
# and is no place for bytes. base64 is everywhere but in the smallest systems, od is POSIX's.
_WRAPPED = """host_tar() (
{script}
)
smaller() {{ if command -v gzip >/dev/null 2>&1; then gzip -c; else cat; fi; }}
if command -v base64 >/dev/null 2>&1; then
  echo {begin}-base64; host_tar 2>/dev/null | smaller | base64; echo {end}
elif command -v openssl >/dev/null 2>&1; then
  echo {begin}-base64; host_tar 2>/dev/null | smaller | openssl base64; echo {end}
else
  echo {begin}-hex; host_tar 2>/dev/null | smaller | od -An -v -tx1; echo {end}
fi
"""


def command() -> str:
    """The text that a POSIX shell on the host is given."""
    return _WRAPPED.format(script=host_tar_script(), begin=BEGIN, end=END)


def unpacked(printed: str) -> bytes:
    """The tar in what the shell printed, gzipped where the host could; ValueError in one line where there is none.

    Takes time and memory by its length alone, whatever it holds.
    """
    begun = None
    for begun in _BEGUN.finditer(printed):  # noqa: B007 - the last one counts
        pass
    text, end, _ = printed[begun.end() :].partition(END) if begun else ("", "", "")
    if begun is None or not end:
        raise ValueError("the host's shell did not run the script to its end")
    try:
        written = text.encode("ascii").translate(None, b" \t\r\n")
        data = base64.b64decode(written, validate=True) if begun[1] == "base64" else binascii.unhexlify(written)
    except (ValueError, binascii.Error) as error:
        raise ValueError("what the host's shell printed is damaged") from error
    if not data:
        raise ValueError("the host's shell made no tar: is tar installed there?")
    return data
