"""Where the servers' readers differ, asked of MySQL 5.7.22, 8.0.15, 9.7.4 and MariaDB 10.11, 11.4, 11.8."""

from __future__ import annotations

from typing import NamedTuple


class Dialect(NamedTuple):
    """How one server's reader takes lines.

    `whole_lines`: it reads a line of any length as one; else it goes on after 4094 bytes as on a new line.
    `keeps_last_byte`: it reads an include path whole where the file ends behind it without a newline; else
    it takes the path's last byte for that newline.
    """

    whole_lines: bool
    keeps_last_byte: bool


def dialect(flavour: str, version: tuple[int, ...] | None = None) -> Dialect:
    """The reader of a version, or of the flavour's newest.

    Whole lines are in the source of 8.0.27 and not in 8.0.15; nobody was asked between, nor between 8.0.27
    and 9.7.4 about the last byte.
    """
    if flavour == "mariadb":
        return Dialect(whole_lines=False, keeps_last_byte=False)
    whole_lines = version is None or version >= (8, 0, 27)
    return Dialect(whole_lines, keeps_last_byte=version is None or version >= (9, 7))


NEWEST = dialect("mysql")
