"""VER: rules about the server's version."""

from __future__ import annotations

from advisor.catalog.targets import END_OF_LIFE
from advisor.core import NamedTuple
from advisor.core.model import Confidence, Severity
from rules.core import Docs, Span, rule
from rules.core.context import MissingFact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core.context import RuleContext

SOON = 183  # days before the end of support
YEARS_FROM = 24  # months; from here on periods are given in years
MONTHS = 30.44  # days in an average month


class Defect(NamedTuple):
    """Releases that their vendor warns of, the vendor's number of the fault, what it does, and the remedy."""

    releases: tuple[tuple[str, tuple[int, ...]], ...]
    number: str
    effect: str
    remedy: str


INSTANT = Defect(
    (("mysql", (8, 0, 29)),),
    "Bug 107613",
    "a crash can corrupt tables whose columns were added or dropped instantly",
    "run OPTIMIZE TABLE on the tables with TOTAL_ROW_VERSIONS > 0 in information_schema.INNODB_TABLES, and upgrade to "
    "8.0.32 or later",
)
MANY_TABLES = Defect(
    (("mysql", (8, 0, 38)), ("mysql", (8, 4, 1)), ("mysql", (9, 0, 0))),
    "Bug 36808732",
    "with 8,001 tables or more the server can crash at its next start",
    "upgrade to the next patch release, and do not start this one again",
)
# Each is a warning of the vendor (the ids REL in rules/evidence/versions.toml), for all platforms.
DEFECTS = (
    INSTANT,
    MANY_TABLES,
    Defect(
        (("mariadb", (10, 4, 16)), ("mariadb", (10, 5, 7))),
        "MDEV-24096",
        "if a table has indexed virtual columns, or unique indexes on BLOB or TEXT, all InnoDB data can become corrupt",
        "upgrade to the newest patch release",
    ),
    Defect(
        (("mariadb", (10, 6, 9)),),
        "MDEV-29374",
        "a crash shortly after InnoDB merged pages can corrupt data",
        "upgrade to 10.6.10 or later",
    ),
    Defect(
        (("mariadb", (10, 6, 14)),),
        "MDEV-31767",
        "InnoDB files can become corrupt under heavy I/O",
        "upgrade to 10.6.15 or later",
    ),
    Defect(
        (("mariadb", (11, 8, 4)),),
        "MDEV-38068",
        "DELETE on MyISAM and Aria tables can leave rows that it should delete; InnoDB is not affected",
        "upgrade to 11.8.5 or later",
    ),
)
TABLES = 8001  # from this number on MANY_TABLES takes effect
KNOWN = "November 2026"  # the date of these patch numbers
# The newest patch release that was known then, of series that are still supported (REL-NEW-01).
NEWEST: dict[str, dict[tuple[int, ...], int]] = {
    "mysql": {(8, 4): 13, (9, 7): 4},
    "mariadb": {(10, 11): 19, (11, 4): 12, (11, 8): 9, (12, 3): 2},
}
BEHIND = 4  # patch releases; about a year
# Patch releases with fixes for Galera alone, one of them for the highest rating of all (REL-MARIADB-05).
GALERA_FIX: dict[tuple[int, ...], int] = {(10, 6): 27, (10, 11): 18, (11, 4): 12, (11, 8): 8}


@rule(
    "VER001",
    "end-of-life",
    summary="The vendor's support for the series has ended, or ends within half a year.",
    needs=("server", "host"),
    evidence=("EOL-01",),
    docs=Docs(
        why="After the end of support, bugs and vulnerabilities are no longer fixed: that is a warning. In the half "
        "year before, the finding is a note.",
        fix="Plan the move to a supported series; mycnf lint --target reports what the option file needs for it.",
        risk="An upgrade changes defaults and removes options.",
        restart=True,
        exceptions="Vendors and distributions that still fix defects of the series, such as long-term Linux releases. "
        "Managed platforms have dates of their own, and are not reported.",
        reconsider_when="A support contract for the series.",
    ),
)
def end_of_life(context: RuleContext) -> Iterator[Finding]:
    """Report a series whose support has ended by the host's clock, or ends soon."""
    end = END_OF_LIFE.get(context.target.flavour, {}).get(context.target.version[:2])
    now = context.host.os.time if context.host.os else None
    if now is None:
        raise MissingFact("needs the host's clock")
    if end is None or context.server.managed:
        return
    left = _days_since_epoch(end) - now / 86400
    when = "-".join(f"{part:02}" for part in end if part)
    if left < SOON:
        state = f"ended {_period_text(-left)} ago" if left < 0 else f"ends in {_period_text(left)}"
        yield end_of_life.finding(
            f"{_supported_series(context)} {state} ({when}).",
            severity=None if left < 0 else Severity.NOTE,
            help="plan the move to a supported series",
        )


def _supported_series(context: RuleContext) -> str:
    """Whose support it is, and for which series: another vendor's build is as old as what it is based on."""
    if _is_vendors_build(context):
        return f"The vendor's support for {context.target.label.rpartition('.')[0]}"
    series = ".".join(map(str, context.target.version[:2]))
    name = "MariaDB" if context.target.is_mariadb else "MySQL"
    return f"The support for {name} {series}, on which this build is based,"


def _days_since_epoch(date: tuple[int, int, int]) -> float:
    """Approximate days since 1970; day 0 is the end of the month."""
    year, month, day = date
    return (year - 1970) * 365.2425 + (month - 1) * MONTHS + (day or 30)


def _period_text(days: float) -> str:
    """A period in months, or in years from two years on."""
    months = round(days / MONTHS)
    if months >= YEARS_FROM:
        return f"{months // 12} years"
    return f"{months} month{'s' if months != 1 else ''}" if months else "less than a month"


@rule(
    "VER002",
    "newer-than-catalog",
    severity=Severity.NOTE,
    confidence=Confidence.CERTAIN,
    summary="The server is newer than the versions that mycnf knows; mycnf uses the nearest older version.",
    needs=("server",),
    evidence=("ASK-01",),
    docs=Docs(
        why="mycnf does not know which options were added or removed since that version.",
        fix="Update mycnf.",
        risk="None.",
        exceptions="None.",
        reconsider_when="A catalog of this version.",
    ),
)
def newer_than_catalog(context: RuleContext) -> Iterator[Finding]:
    """Report a server whose series or patch is newer than the catalog."""
    read_as = context.catalog.read_as
    if read_as.version[:2] < context.target.version[:2]:
        yield newer_than_catalog.finding(
            f"{context.target.label} is checked with the options of {read_as.label}.",
            help="update mycnf to check the options that have changed since",
        )


@rule(
    "VER003",
    "older-than-catalog",
    severity=Severity.NOTE,
    confidence=Confidence.CERTAIN,
    summary="The server is older than all versions that mycnf knows; only its version, system and disks are checked.",
    needs=("server",),
    evidence=("ASK-01",),
    docs=Docs(
        why="mycnf does not know which options this server has or how it reads them: advice on its settings would be a "
        "guess.",
        fix="Plan the move to a supported series; mycnf lint --target reports what the option file needs for it.",
        risk="An upgrade changes defaults and removes options.",
        exceptions="None.",
        reconsider_when="A catalog of this version.",
    ),
)
def older_than_catalog(context: RuleContext) -> Iterator[Finding]:
    """Report a server whose series is older than all catalogs."""
    read_as = context.catalog.read_as
    if read_as.version[:2] > context.target.version[:2]:
        oldest = f"{read_as.flavour}-{read_as.series}"
        yield older_than_catalog.finding(
            f"{context.target.label} is older than {oldest}, the oldest that mycnf knows: its version, system and "
            "disks are checked, but not its options, memory and load.",
            help=f"mycnf lint --target {oldest} FILE shows what its option file needs for an upgrade",
        )


def _spans() -> tuple[Span, ...]:
    """Each release with a defect, as a range of its own."""
    releases = [release for defect in DEFECTS for release in defect.releases]
    return tuple(Span(flavour, version, (*version[:-1], version[-1] + 1)) for flavour, version in releases)


@rule(
    "VER004",
    "known-bad-release",
    confidence=Confidence.LIKELY,
    summary="The vendor warns about this release, because it can lose or corrupt data or crash at start-up.",
    targets=_spans(),
    evidence=(
        *("REL-MYSQL-01", "REL-MYSQL-02", "REL-MYSQL-03"),
        *("REL-MARIADB-01", "REL-MARIADB-02", "REL-MARIADB-03", "REL-MARIADB-04"),
    ),
    docs=Docs(
        why="The vendor withdrew the release, or put a warning into its release notes. MySQL 8.0.29 wrote redo with "
        "which crash recovery can corrupt tables whose columns were added or dropped instantly; INSTANT is the default "
        "of ALTER TABLE there. MySQL 8.0.38, 8.4.1 and 9.0.0 can crash at start-up with 8,001 tables or more: that is "
        "an error if the server has that many, a note if it has fewer. The messages describe the bug in each release "
        "of MariaDB.",
        fix="Upgrade to a later patch release of the same series. Check the data that the bug may have changed: CHECK "
        "TABLE, and a comparison with a replica or a backup.",
        risk="A patch release rarely changes settings. OPTIMIZE TABLE rebuilds the table, which loads the server.",
        restart=True,
        exceptions="Builds of other vendors: Percona Server 8.0.29 fixed the bug with instant columns. Audits do not "
        "report them, nor MariaDB Enterprise and managed platforms. Bugs that affect only FreeBSD or AIX are left out.",
        reconsider_when="A build whose vendor states that the bug is fixed.",
    ),
)
def known_bad_release(context: RuleContext) -> Iterator[Finding]:
    """Report a release that its vendor warns of."""
    release = (context.target.flavour, context.target.version)
    if context.has("server") and not _is_vendors_build(context):
        return
    for defect in DEFECTS:
        if release in defect.releases:
            yield known_bad_release.finding(
                f"{context.target.label} has a known bug ({defect.number}): {defect.effect}.",
                severity=_severity(context, defect),
                help=defect.remedy,
            )


def _severity(context: RuleContext, defect: Defect) -> Severity | None:
    """By the number of tables, where the fault depends on it and the number is known."""
    data = context.server.data if context.has("server") else None
    if defect is not MANY_TABLES or data is None:
        return None
    return Severity.ERROR if data.innodb_tables >= TABLES else Severity.NOTE


def _is_vendors_build(context: RuleContext) -> bool:
    """Whether the server is the community build of Oracle or MariaDB, which their lists of releases are about."""
    server = context.server
    own = "MariaDB" if context.target.is_mariadb else "MySQL"
    enterprise = context.target.is_mariadb and "enterprise" in (context.text("version") or "").lower()
    return server.vendor in ("", own) and not server.managed and not enterprise


@rule(
    "VER005",
    "outdated-patch-release",
    severity=Severity.NOTE,
    summary="The server lacks the fixes of many patch releases of its series, or a security fix that affects it.",
    needs=("server",),
    evidence=("REL-NEW-01", "REL-MARIADB-05"),
    docs=Docs(
        why="Patch releases of a supported series fix bugs and vulnerabilities. Oracle and MariaDB publish about four "
        "a year. Four or more behind the newest that mycnf knows is a note; that threshold is our choice. A Galera "
        "node without the fixes of May 2026 is a warning: one of the vulnerabilities has the highest rating (CVSS 10). "
        "VER001 reports series without support.",
        fix="Read the release notes in between, and update to the newest patch release of the series.",
        risk="Patch releases rarely change settings. The server restarts.",
        restart=True,
        exceptions="Packages of distributions, which may have fixes under an older number. Percona Server, MariaDB "
        "Enterprise and managed platforms have their own releases, and are not reported.",
        reconsider_when="The list in this version of mycnf is out of date.",
    ),
)
def outdated_patch_release(context: RuleContext) -> Iterator[Finding]:
    """Report a server many patch releases behind, and a Galera node without fixes of security."""
    series, patch = context.target.version[:2], context.target.version[-1]
    newest = NEWEST[context.target.flavour].get(series)
    if len(context.target.version) <= len(series) or not _is_vendors_build(context):
        return
    name, number = context.target.label, ".".join(map(str, series))
    replication = context.server.replication
    fixed = GALERA_FIX.get(series) if context.target.is_mariadb and replication and replication.galera else None
    if fixed is not None and patch < fixed:
        yield outdated_patch_release.finding(
            f"According to its version number, {name} lacks Galera fixes of May 2026, one of them for CVE-2026-49261, "
            "which has the highest rating.",
            severity=Severity.WARNING,
            confidence=Confidence.LIKELY,
            help=f"update every node to {number}.{fixed} or later",
        )
    elif newest is not None and newest - patch >= BEHIND:
        yield outdated_patch_release.finding(
            f"{name} is {newest - patch} patch releases behind {number}.{newest}, the newest known in {KNOWN}.",
            help=f"read the release notes in between, and update to the newest {number}",
        )
