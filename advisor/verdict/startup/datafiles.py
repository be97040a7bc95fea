"""The files of InnoDB's shared tablespaces: `name:size[:autoextend[:max:size]]`, several with semicolons between."""

import re
from typing import TYPE_CHECKING

from advisor.redaction.secrets import quoted

if TYPE_CHECKING:
    from advisor.core.model import Target

SYSTEM, TEMPORARY = "innodb_data_file_path", "innodb_temp_data_file_path"
MEGABYTE = 1 << 20  # the least size of a file
LEAST = {SYSTEM: 5 * MEGABYTE, TEMPORARY: 12 * MEGABYTE}  # bytes of all files together
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_SIZE = r"\s*\+?([0-9]{1,19})([KkMmGg]?)"
SIZE, MOST = 1, 4  # the groups of the numbers, each with its unit behind it
_FILE = re.compile(
    r"(?:[^:]|:(?=[\\/:]))*:"  # a colon before a slash belongs to the name, as in C:\ib
    rf"{_SIZE}(?P<grows>:autoextend(?::max:{_SIZE})?)?(?P<raw>(?:new)?(?:raw)?)(?:;|\Z)"
)


def fault_of_files(name: str, written: str, target: "Target") -> str:
    """Why InnoDB can't take this list of files, empty where it can; asked of six servers by starting them."""
    at = total = 0
    grows = False
    while at < len(written) or not at:
        found = _FILE.match(written, at)
        if found is None or not _fits(found, target):
            return (
                f"InnoDB can't read it from {quoted(written[at:])} on: each file is name:size with a size of 1M or "
                "more, and the last may end in :autoextend or :autoextend:max:size, in lower case."
            )
        if name == TEMPORARY and found["raw"]:
            return "The temporary tablespace can't lie on a raw device: leave out the word behind the size."
        at, total, grows = found.end(), total + _bytes(found, SIZE), bool(found["grows"])
    if total >= LEAST[name] or (name == TEMPORARY and grows and target.is_mariadb):
        return ""
    return f"InnoDB doesn't start with less than {LEAST[name] // MEGABYTE}M in all of these files."


def _fits(found: re.Match[str], target: "Target") -> bool:
    """Whether the sizes are some, and what may grow is the last; MySQL 8 wants room between size and limit too."""
    size, most = _bytes(found, SIZE), _bytes(found, MOST)
    if size < MEGABYTE or (found[MOST] and most < MEGABYTE):
        return False
    if found["grows"] and found.end() != found.end("raw"):
        return False
    return not (found[MOST] and most < size and target.since("mysql", 8))


def _bytes(found: re.Match[str], at: int) -> int:
    return int(found[at] or 0) * _UNITS[(found[at + 1] or "").lower()]
