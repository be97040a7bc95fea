"""Find the dynamic and the session variables of real MySQL servers, and rewrite facts/servers/<name>/dynamic.tsv.

usage: ask_dynamic.py NAME…     names of servers that `make servers` unpacked, such as mysql-9.7

Each variable is set to its current value. MariaDB reports the same in variable-metadata.tsv.
"""

from __future__ import annotations

import os
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [TOP, os.path.join(TOP, "tests", "plugins")]

import pymysql
from real_servers import provisioned
from tables import write

from probes.sandbox import start_server

READ_ONLY = 1238  # ER_INCORRECT_GLOBAL_LOCAL_VAR: the variable is a read only variable
# Setting these, even to their current values, could affect the statements that follow.
LEFT_ALONE = frozenset({"gtid_purged", "offline_mode", "read_only", "super_read_only"})


def dynamic(name: str) -> list[dict[str, str]]:
    """A row for each global variable of a default server: its name, and whether it is read-only."""
    rows = []
    with start_server(provisioned(name)) as server, server.connect(autocommit=True) as connection:
        cursor = connection.cursor()
        cursor.execute("SHOW GLOBAL VARIABLES")
        for variable in sorted(variable for variable, _ in cursor.fetchall() if variable not in LEFT_ALONE):
            try:
                cursor.execute(f"SET GLOBAL `{variable}` = @@GLOBAL.`{variable}`")
                rows.append({"variable_name": variable, "read_only": "NO", "variable_scope": scope(cursor, variable)})
            except pymysql.Error as error:
                if error.args[0] == READ_ONLY:
                    rows.append(
                        {"variable_name": variable, "read_only": "YES", "variable_scope": scope(cursor, variable)}
                    )
    return rows


def scope(cursor: pymysql.cursors.Cursor, variable: str) -> str:
    """SESSION for a variable with a session value, else GLOBAL."""
    try:
        cursor.execute(f"SELECT @@SESSION.`{variable}`")
    except pymysql.Error:
        return "GLOBAL"
    return "SESSION"


def main() -> None:
    """Query each named server."""
    for name in sys.argv[1:]:
        version = provisioned(name).version.partition("-")[0]
        write(
            dynamic(name),
            ["variable_name", "read_only", "variable_scope"],
            "servers",
            f"mysql-{version}",
            "dynamic.tsv",
        )


if __name__ == "__main__":
    main()
