"""Generate texts for --from: tables of variables and counters in every client's format, reports of Percona's tools."""

from __future__ import annotations

import random
from collections.abc import Mapping

from strange import TEXTS
from tableforms import BARE, FORMS, HEADS, KEEPING, ON_A_LINE, Form, Rows, replica

SIZES = ("23.5G", "256k", "16M", "0", "9" * 400 + "G", "1.5.5G", "-1M", "", "²M", "1e5", "0.0001P", "9" * 5000, "NaN")
REPORT = (
    *("Version | 8.0.36-28 Percona Server", "Built On | Linux x86_64", "Started | 2026-11-21 20:42 (up 0+00:00:33)"),
    *("Datadir | /var/lib/mysql/", "Hostname | db1", "Size | @", "query_cache_type | ON", "Buffer Pool Size | @"),
    *("Log File Size | 2 * @ = 1.0G", "Flush Method | O_DIRECT", "R/W I/O Threads | 4 4", "Doublewrite | ON"),
    *("Key Cache | @", "join_buffer_size | @"),
    *("max_allowed_packet | @", "Auto-Inc Incr/Offset | 1/1", "thread_stack | @"),
    *("Total | @", "Free | @"),
    *("Used | physical = 1.0G, swap allocated = @, swap used = @, virtual = 2", "Swappiness | @"),
    *("Processors | physical = 1, cores = 2, virtual = 99999", "DirtyPolicy | 20, 10"),
    *("DirtyStatus | 0, @", "Kernel | 6"),
    *("  /dev/sda1 10G 5% ext4 rw,noatime /", "  tmpfs 1G - tmpfs rw /run", "Started | (up 99999999999+9:9:9)"),
)
HEADINGS = (
    *("Percona Toolkit MySQL Summary Report", "Report On Port 3306", "InnoDB", "MyISAM", "Query cache", "Table cache"),
    *("Binary Logging", "Noteworthy Variables", "Report On Port ²", "Percona Toolkit System Summary Report", "Memory"),
    *("Processor", "Mounted Filesystems", "#####", ""),
)
PARTS = {
    "meminfo": ("MemTotal: 16384 kB", "MemFree: @ kB", "HugePages_Total: x", "SwapTotal: 0 kB", "TS 1.0 2026-11-21"),
    "procstat": ("cpu  1 2 3", "cpu0 1 2", "cpu99999 1", "cpu0 x", "intr 1", "btime 1"),
    "sysctl": ("vm.swappiness = 60", "vm.dirty_ratio = @", "kernel.osrelease = 6.1", "fs.aio-max-nr = ²", "x"),
    "df": ("/dev/sda1 100 50 50 50% /", "/dev/sdb 999999999999999999 1 1 1% /var/lib/mysql", "x 1 1 1 1% /", "TS"),
    "innodbstatus1": ("INNODB MONITOR OUTPUT", "---", "LOG", "Log sequence number 1", "END OF INNODB MONITOR OUTPUT"),
}
ENCODINGS = ("utf-8", "utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be")
STALKED = b"\0part "  # separates the files of a directory; no text contains it


def _rows(server: Mapping[str, str], chance: random.Random) -> Rows:
    """Some of a real server's variables or counters, usually with the version, with a few strange values."""
    names = sorted(server)
    start = chance.randrange(len(names))
    chosen = names[start : start + chance.choice((0, 1, 3, 10, 40))]
    if chance.random() < 0.8:
        chosen += [name for name in ("version", "version_comment", "Uptime", "Questions") if name in server]
    return [(n, chance.choice(TEXTS) if chance.random() < 0.1 else server[n]) for n in chosen]


def table(server: Mapping[str, str], chance: random.Random) -> str:
    """A table in one of the formats, sometimes truncated."""
    text = chance.choice(FORMS)(chance.choice(HEADS), _rows(server, chance))
    return text if chance.random() < 0.8 else text[: chance.randrange(len(text) + 1)]


def report(chance: random.Random) -> str:
    """A report of pt-mysql-summary or pt-summary."""
    title = chance.choice((HEADINGS[0], HEADINGS[9]))
    lines = [f"# {title} {'#' * 20}", "# Report On Port 3306 ####", chance.choice(REPORT[:1])]
    for _ in range(chance.randrange(12)):
        if chance.random() < 0.4:
            lines.append(f"# {chance.choice(HEADINGS)} {'#' * chance.randrange(1, 60)}")
        lines.append(_fill_line(chance.choice(REPORT), chance))
    return "\n".join(lines)


def _fill_line(line: str, chance: random.Random) -> str:
    return line.replace("@", chance.choice(SIZES))


def text(variables: Mapping[str, str], status: Mapping[str, str], chance: random.Random) -> bytes:
    """Tables and reports, one after another, in one of the encodings that shells write."""
    parts = [
        table(variables, chance),
        *(table(status, chance) for _ in range(chance.randrange(3))),
        *(report(chance) for _ in range(chance.choice((0, 0, 0, 1)))),
        *(replica(chance, TEXTS) for _ in range(chance.choice((0, 0, 1)))),
    ]
    chance.shuffle(parts)
    whole = chance.choice(("\n\n", "\n", "")).join(parts)
    return whole.encode(chance.choice(ENCODINGS), "surrogatepass")


def whole_text(variables: Mapping[str, str], counters: Mapping[str, str], chance: random.Random) -> bytes:
    """All of a server's variables and counters in one format, intact."""
    on_lines = all("\n" not in value for table in (variables, counters) for value in table.values())
    form = chance.choice((*KEEPING, *ON_A_LINE, *BARE) if on_lines else KEEPING)
    parts = [form(HEADS[0], [*table.items()]) for table in (variables, counters)]
    return _mail_text("\n".join(parts), form, chance).encode(chance.choice(ENCODINGS))


def _mail_text(text: str, form: Form, chance: random.Random) -> str:
    """The text, sometimes with other line ends, or quoted as in mail if its format has headings."""
    if chance.random() < 0.2 and form in (KEEPING[0], *ON_A_LINE[:2]):
        return "".join(f"> {line}\n" for line in text.split("\n"))
    return text.replace("\n", "\r\n") if chance.random() < 0.2 and "\r" not in text else text


def stalk_files(variables: Mapping[str, str], status: Mapping[str, str], chance: random.Random) -> bytes:
    """The files of a pt-stalk directory, each preceded by its name."""
    made = {"variables": table(variables, chance), "mysqladmin": table(status, chance)}
    for part, lines in PARTS.items():
        if chance.random() < 0.6:
            chosen = [_fill_line(chance.choice(lines), chance) for _ in range(chance.randrange(8))]
            made[part] = "\n".join(chosen)
    texts = ((name.encode(), text.encode("utf-8", "surrogatepass")) for name, text in made.items())
    return b"".join(STALKED + name + b"\n" + text for name, text in texts)


def unpack(data: bytes) -> dict[str, bytes]:
    """The files of such a directory by name."""
    parts = (part.partition(b"\n") for part in data.split(STALKED)[1:])
    return {f"2026_11_21_05_00_00-{name.decode()}": text for name, _, text in parts}
