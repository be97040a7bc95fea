"""How full a server's redo log is: its size as options, and what InnoDB says of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from advisor.catalog.load import load

if TYPE_CHECKING:
    from advisor.core.model import Target
    from probes.served.serving import Served

FILES = 2  # innodb_log_files_in_group, where there is more than one
CAPACITY, FILE_SIZE = "innodb_redo_log_capacity", "innodb_log_file_size"
STATUS = re.compile(r"^Log sequence number\s+(\d+)\s.*?^Last checkpoint at\s+(\d+)\s", re.MULTILINE | re.DOTALL)
LSN, AGE = "redo log sequence number", "checkpoint age"


class Redo(NamedTuple):
    """The sequence number of the newest redo and of the last checkpoint, in bytes."""

    newest: int
    checkpoint: int

    @property
    def age(self) -> int:
        """Bytes of redo whose pages aren't all written yet."""
        return self.newest - self.checkpoint


def sized(target: Target, size: int) -> dict[str, str]:
    """The options of a redo log of so many bytes in all."""
    if load(target).get(CAPACITY) is not None:
        return {CAPACITY: str(size)}
    return {FILE_SIZE: str(size if target.since("mariadb", 10, 5) else size // FILES)}


def read_redo(text: str) -> Redo | None:
    """What SHOW ENGINE INNODB STATUS says of the redo log, None where it says nothing."""
    found = STATUS.search(text)
    return Redo(int(found[1]), int(found[2])) if found else None


def redo_counters(served: Served) -> dict[str, int]:
    """The log sequence number and the checkpoint age under names of their own, for use beside status counters."""
    redo = read_redo(str(served.query("SHOW ENGINE INNODB STATUS")[0][2]))
    return {} if redo is None else {LSN: redo.newest, AGE: redo.age}
