"""What a statement of the closed list is: its text, what may vary in it, who it is for, and what it needs."""

from __future__ import annotations

from typing import NamedTuple

TAG = "/* mycnf */ "
NUMBER = "{number}"
NAME = "{name}"
ALL = "all"
MYSQL = "MySQL"
MARIADB = "MariaDB"


class Statement(NamedTuple):
    """A statement: its exact text, the servers it is for, its purpose, and the privilege it needs.

    `needs` is empty if every account may send it. `driver` marks statements that PyMySQL sends by itself, without a
    tag. `columns` is the number of columns in the result, 0 if no code depends on it.
    """

    name: str
    sql: str
    servers: str
    why: str
    needs: str = ""
    driver: bool = False
    columns: int = 0

    def text(self, number: int | None = None, name: str | None = None) -> str:
        """The text as sent: tagged, with the number and the name inserted; the name is sent in hexadecimal."""
        sql = self.sql if number is None else self.sql.replace(NUMBER, str(int(number)))
        if name is not None:
            sql = sql.replace(NAME, f"0x{name.encode('utf-8', 'surrogateescape').hex()}")
        return sql if self.driver else TAG + sql
