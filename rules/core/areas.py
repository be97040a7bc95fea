"""The area of each rule, and the evidence behind rules: sources, measurements and the versions they apply to."""

from __future__ import annotations

import os

from advisor.core import NamedTuple, StrEnum
from advisor.core.model import Confidence, Severity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from advisor.core.model import Finding


class Area(StrEnum):
    """What a finding puts at risk or costs, the most important first; the value is the heading of its findings."""

    DATA = "data safety"
    AVAILABILITY = "availability"
    SECURITY = "security"
    REPLICATION = "replication"
    MEMORY = "memory"
    PERFORMANCE = "performance"
    CONFIGURATION = "configuration"
    MONITORING = "monitoring"

    def in_words(self, findings: int) -> str:
        """The number of findings of the area in words: "1 risk to data", "4 slow or wasteful settings"."""
        return f"{findings:,} {_NOUNS[self]}{'' if findings == 1 else 's'}{_OBJECTS.get(self, '')}"


_NOUNS = {
    Area.DATA: "risk",
    Area.AVAILABILITY: "risk",
    Area.SECURITY: "security risk",
    Area.REPLICATION: "replication problem",
    Area.MEMORY: "memory problem",
    Area.PERFORMANCE: "slow or wasteful setting",
    Area.CONFIGURATION: "configuration problem",
    Area.MONITORING: "monitoring problem",
}
_OBJECTS = {Area.DATA: " to data", Area.AVAILABILITY: " to availability"}


class Family(NamedTuple):
    """The rules whose codes begin with the same three letters: their title, and the area of most of them."""

    title: str
    area: Area


FAMILIES = {
    "ARI": Family("Aria", Area.PERFORMANCE),
    "BIN": Family("Binary log", Area.DATA),
    "BLK": Family("Blocked sessions", Area.AVAILABILITY),
    "BUF": Family("Buffers of sessions, and caches", Area.MEMORY),
    "CON": Family("Connections and threads", Area.AVAILABILITY),
    "DUR": Family("Durability", Area.DATA),
    "ERR": Family("Error log", Area.AVAILABILITY),
    "GAL": Family("Galera", Area.REPLICATION),
    "GRO": Family("Growth", Area.AVAILABILITY),
    "GRP": Family("Group Replication", Area.REPLICATION),
    "HOU": Family("House rules", Area.CONFIGURATION),
    "INN": Family("InnoDB", Area.PERFORMANCE),
    "LOG": Family("Redo log", Area.PERFORMANCE),
    "MEM": Family("Memory", Area.MEMORY),
    "MOD": Family("SQL modes, character sets, compatibility", Area.CONFIGURATION),
    "MYI": Family("MyISAM", Area.PERFORMANCE),
    "OBS": Family("Logs and instruments", Area.MONITORING),
    "OPT": Family("Option files", Area.CONFIGURATION),
    "PAR": Family("Parameters of managed services", Area.CONFIGURATION),
    "REP": Family("Replication", Area.REPLICATION),
    "SCH": Family("Schema", Area.PERFORMANCE),
    "SEC": Family("Security", Area.SECURITY),
    "STO": Family("Storage", Area.PERFORMANCE),
    "SUP": Family("Suppressions", Area.CONFIGURATION),
    "SYS": Family("Operating system", Area.PERFORMANCE),
    "TAB": Family("Table caches and open files", Area.PERFORMANCE),
    "TLS": Family("Encrypted connections", Area.SECURITY),
    "TMP": Family("Temporary tables", Area.MEMORY),
    "VER": Family("Versions", Area.CONFIGURATION),
    "WRK": Family("Workload", Area.PERFORMANCE),
}

# Rules of another area than their family.
_OTHER_AREAS = {
    Area.DATA: (
        *("ARI003", "ERR007", "ERR008", "ERR018", "INN014", "INN031", "INN032", "INN033", "INN046", "LOG006"),
        *("MOD001", "MOD002", "MOD009", "MYI001", "MYI002", "MYI003", "SCH006"),
        *("STO001", "STO002", "STO003", "STO004", "STO006", "STO012", "STO014", "STO021", "STO030", "VER004"),
    ),
    Area.AVAILABILITY: (
        *("ARI001", "ARI002", "ARI004", "BIN001", "BIN007", "INN025", "MEM006", "MOD007", "MOD008", "MYI005"),
        *("MOD012", "OPT003", "OPT018", "SCH001", "STO009", "STO010", "STO011"),
        *("SYS002", "SYS007", "SYS011", "SYS013", "SYS016", "SYS030", "TAB004", "TMP004", "WRK006"),
    ),
    Area.SECURITY: ("ERR014",),
    Area.REPLICATION: (
        *("BIN002", "BIN003", "BIN005", "BIN011", "BIN020", "CON007", "ERR016", "ERR017", "ERR019"),
        *("SCH002", "SCH003", "SCH004", "SCH005"),
    ),
    Area.MEMORY: ("ARI005", "INN009", "INN013", "INN021", "INN048", "MYI006", "SYS001", "SYS004", "SYS008", "SYS031"),
    Area.PERFORMANCE: (
        *("BIN008", "BIN009", "ERR012", "CON003", "CON004", "CON009", "CON021", "CON022", "CON026", "CON027"),
        *("MOD005", "MOD006", "TMP002", "TMP003", "TMP007", "TMP008"),
    ),
    Area.CONFIGURATION: (
        "BIN006",
        "BIN019",
        "CON001",
        "CON005",
        "CON008",
        "CON012",
        "INN022",
        "INN023",
        "LOG004",
        "TMP009",
    ),
}
# Areas whose findings about no option are about what happens now.
PRESSING = frozenset({Area.DATA, Area.AVAILABILITY, Area.REPLICATION})
_AREA_BY_CODE = {code: area for area, codes in _OTHER_AREAS.items() for code in codes}


def area_of(code: str) -> Area:
    """The area of a rule by its code; a rule of an unknown family counts as configuration."""
    family = FAMILIES.get(code[:3])
    return _AREA_BY_CODE.get(code) or (family.area if family else Area.CONFIGURATION)


def group_by_area(findings: Iterable[Finding]) -> dict[Area, list[Finding]]:
    """The findings of each area that has any, in the order of the areas; findings keep their order."""
    groups: dict[Area, list[Finding]] = {area: [] for area in Area}
    for finding in findings:
        groups[area_of(finding.code)].append(finding)
    return {area: members for area, members in groups.items() if members}


def by_urgency(findings: Iterable[Finding]) -> list[Finding]:
    """The errors and warnings in the order in which to act; notes are left out.

    Errors come first. Of these, as of warnings, what happens now (blocked sessions, stopped replication) comes before
    settings, then the order of areas counts, then what is ready to be carried out, surest, and without a restart.
    """
    return sorted((f for f in findings if f.severity is not Severity.NOTE), key=_urgency)


def _urgency(f: Finding) -> tuple[int, bool, int, bool, int, bool]:
    from rules.core.statements import permanent_setting

    area = area_of(f.code)
    ready = any(a.statement or permanent_setting(a) for a in f.actions)
    restart = any(a.restart for a in f.actions)
    sure = list(Confidence).index(f.confidence)
    happens_now = f.option is None and area in PRESSING
    return list(Severity).index(f.severity), not happens_now, list(Area).index(area), not ready, sure, restart


FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "evidence")


class Table(NamedTuple):
    """Published numbers; `values` are the points as numbers, `labels` as text.

    Each series has one number per point, in `unit`; None stands for a number that was not published.
    """

    x: str
    labels: tuple[str, ...]
    values: tuple[float, ...]
    unit: str
    series: dict[str, tuple[float | None, ...]]


class Evidence(NamedTuple):
    """One measurement, vendor statement, source code fact, server answer or opinion, with its conditions.

    `strength` is measured, server (real servers were asked), source-code, vendor-doc or expert-opinion.
    """

    id: str
    strength: str
    conclusion: str
    caveats: str
    versions: str
    hardware: str
    date: str
    title: str
    author: str
    url: str
    table: Table | None


_STORE: dict[str, Evidence] = {}  # all of it, once all was read
_CITED: dict[str, Evidence | None] = {}  # what was looked up before
_TEXTS: list[str] = []  # those of the files, for single entries


def find_evidence(identity: str) -> Evidence | None:
    """The evidence with this id, such as RBS-01; None if the store has none."""
    key = identity.upper()
    if _STORE:
        return _STORE.get(key)
    if key not in _CITED:
        _CITED[key] = _read_entry(key)
    return _CITED[key]


def all_evidence() -> dict[str, Evidence]:
    """All evidence by id, in the order of the files."""
    if not _STORE:  # filled at once: the app looks entries up in other threads meanwhile
        _STORE.update({key: entry for text in _read_texts() for key, entry in _parse(text).items()})
    return _STORE


def _read_entry(key: str) -> Evidence | None:
    """Read one entry by itself: a report cites a few of hundreds, and to parse them all takes longer than its rules."""
    if not key.replace("-", "").isalnum():
        return None
    for text in _read_texts():
        begin = text.find(f"\n[{key}]\n")
        if begin >= 0:
            end = text.find("\n[", begin + 1)
            while text.startswith(f"\n[{key}.", end):  # its table
                end = text.find("\n[", end + 1)
            return _parse(text[begin : end if end >= 0 else None])[key]
    return None


def _read_texts() -> list[str]:
    """The texts of the files in the order of their names; each entry begins with `[ID]` on a line of its own."""
    if not _TEXTS:
        texts = []
        for name in sorted(n for n in os.listdir(FOLDER) if n.endswith(".toml")):
            with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
                texts.append("\n" + file.read())
        _TEXTS.extend(texts)
    return _TEXTS


def _parse(text: str) -> dict[str, Evidence]:
    import tomllib  # areas need no evidence

    return {key: _evidence(key, entry) for key, entry in tomllib.loads(text).items()}


def _evidence(identity: str, entry: dict[str, Any]) -> Evidence:
    table = entry.pop("table", None)
    return Evidence(id=identity, table=_table(table) if table else None, **entry)


def _table(entry: dict[str, Any]) -> Table:
    values = tuple(entry.get("values", ()))
    labels = entry.get("labels") or [_value_text(v, size=entry.get("size", False)) for v in values]
    series = {name: tuple(numbers) for name, numbers in entry["series"].items()}
    return Table(entry["x"], tuple(labels), values, entry["unit"], series)


def _value_text(value: float, *, size: bool) -> str:
    from advisor.core.model import exact_size

    return exact_size(int(value)) if size else f"{value:g}"
