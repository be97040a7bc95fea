"""Generate configurations by a grammar: known and unknown keys with values of every TOML type."""

from __future__ import annotations

import random

from strange import TEXTS

KEYS = (
    *("target", "select", "ignore", "fail-on", "baseline", "root", "format", "ram", "cpus", "disk", "per-file-ignores"),
    *("house", "required", "forbidden", "minimum", "maximum", "allowed", "message", "severity", "targets", "tagret"),
    *("innodb_buffer_pool_size", "max_connections", "sql_mode", "skip-name-resolve"),
    *("'*.cnf'", '"a.b"', '""', "é", "1"),
)
TABLES = ("house", "per-file-ignores", "house.max_connections", "house.sql_mode", "tool.mycnf", "tool.mycnf.house", "x")
GOOD = (
    *('"mysql-8.4"', '["mysql-8.0", "mariadb-10.11"]', '"BUF"', '["BUF001", "DUR"]', '"warning"', '"never"', '"json"'),
    *('"64G"', "8", '"nvme"', '"ssd"', "true", "false", '"128K"', "0.75", '["ON", 1, true]', '"mariadb-10.11"', '"/x"'),
)
BAD = (
    *("0", "-1", "1.5", "inf", "-inf", "nan", "0o17"),
    *("0b1", "1_000", "+5", "1e400", "1e5", "-0.0", "9" * 30, "9" * 5000),
    *("0x" + "f" * 30, "0x" + "f" * 9000, "1979-05-27", "07:32:00"),
    *("1979-05-27T07:32:00Z", "[]", "{}", "[[[]]]", "'''x'''"),
    *('{a = 1, b = "x"}', '[{required = true}, {minimum = "1G"}]', "{minimum = 5, maximum = 1}"),
    *("[" * 2000, '"', '"\\u0000"'),
)


# Typical valid configurations.
FINE = (
    *('target = "mysql-8.4"', 'target = ["mysql-8.0", "mariadb-10.11"]', 'select = "BUF,DUR"', 'ignore = ["OPT003"]'),
    *('fail-on = "error"', 'baseline = "b.json"', 'root = "."', 'format = "json"'),
    *('ram = "64G"', "cpus = 8", 'disk = "ssd"'),
    *('per-file-ignores."*.cnf" = "SEC"', "house.sync_binlog = {minimum = 1}", "house.sql_mode = {forbidden = true}"),
    *('house.max_connections = {maximum = "2K", message = "see the wiki", severity = "note", targets = "mysql"}',),
    *("house.innodb_flush_log_at_trx_commit = {allowed = [1, 2]}", 'house.read_buffer_size = [{maximum = "1M"}]'),
)


def _value(chance: random.Random) -> str:
    kind = chance.random()
    if kind < 0.5:
        return chance.choice(GOOD)
    if kind < 0.8:
        return chance.choice(BAD)
    text = chance.choice(TEXTS).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text}"'


def _line(chance: random.Random) -> str:
    if chance.random() < 0.5:
        return chance.choice(FINE)
    if chance.random() < 0.3:
        table = chance.choice(TABLES)
        return chance.choice((f"[{table}]", f"[[{table}]]", f"[{table}", f"[ {table} ] # x"))
    dotted = ".".join(chance.choice(KEYS) for _ in range(chance.choice((1, 1, 1, 2, 3))))
    return f"{dotted} {chance.choice(('=', '=', '=', ''))} {_value(chance)}"


def toml(chance: random.Random) -> bytes:
    """A few lines; mostly one or two, because reading ends at the first invalid one."""
    lines = [_line(chance) for _ in range(chance.choice((1, 1, 2, 2, 3, 5)))]
    return chance.choice(("", "", "", "\ufeff", "# x\n")).encode() + "\n".join(lines).encode("utf-8", "surrogatepass")


def keymap(chance: random.Random) -> bytes:
    """A keymap of the app's user."""
    names = ("findings.suppress", "app.quit", "x", "é", "")
    lines = [f'"{chance.choice(names)}" = {_value(chance)}' for _ in range(chance.choice((1, 1, 2, 4)))]
    return "\n".join(lines).encode("utf-8", "surrogatepass")
