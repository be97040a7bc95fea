"""Where the servers' readers differ, asked of MySQL 5.7.22, 8.0.15, 9.7.4 and MariaDB 10.11, 11.4, 11.8."""

from typing import NamedTuple


class Dialect(NamedTuple):
    """How one server's reader takes lines.

    `whole_lines`: it reads a line of any length as one; else it goes on after 4094 bytes as on a new line.
    `lenient_includes`: it knows a comment behind an include path, and reads the path whole where the file
    ends behind it; else the comment is part of the path, and the last byte is taken for the newline.
    """

    whole_lines: bool
    lenient_includes: bool


def dialect(flavour: str, version: tuple[int, ...] | None = None) -> Dialect:
    """The reader of a version, or of the flavour's newest.

    Whole lines are in the source of 8.0.27 and not in 8.0.15; between 8.0.27 and 9.7.4 nobody was asked
    about includes.
    """
    if flavour == "mariadb":
        return Dialect(whole_lines=False, lenient_includes=False)
    whole_lines = version is None or version >= (8, 0, 27)
    return Dialect(whole_lines, lenient_includes=version is None or version >= (9, 7))


NEWEST = dialect("mysql")
