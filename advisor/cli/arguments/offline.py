"""Arguments of the commands that read files and connect to no server."""

from __future__ import annotations

from advisor.cli.arguments import (
    SEVERITIES,
    add_baseline,
    add_host,
    add_instance,
    add_reading,
    add_report_options,
    add_reports,
    add_rule_selection,
    add_set,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse


def lint(p: argparse.ArgumentParser) -> None:
    """Arguments of `mycnf lint`."""
    p.add_argument(
        "files", nargs="*", metavar="FILE", help="option file, or - for stdin (default: this host's own files)"
    )
    p.add_argument(
        "--target",
        action="append",
        metavar="T",
        help="server version to check for, such as mysql-8.4 or mariadb-10.11 (repeatable)",
    )
    add_platform(p)
    p.add_argument("--stdin-filename", default="<stdin>", metavar="NAME", help="file name to report for stdin")
    p.add_argument("--fix", action="store_true", help="apply the fixes that don't change what the server does")
    p.add_argument("--unsafe-fixes", action="store_true", help="--fix, and fixes that may change what the server does")
    p.add_argument("--diff", action="store_true", help="print the changes of --fix as a diff, and write nothing")
    p.add_argument("--statistics", action="store_true", help="count findings by rule instead of listing them")
    p.add_argument("--exit-zero", action="store_true", help="exit 0 even with findings")
    p.add_argument(
        "--parameters",
        metavar="FILE",
        help="check ranges with a provider's list of parameters in JSON (describe-engine-default-parameters)",
    )
    add_reading(p)
    add_rule_selection(p, fail_on="warning")
    add_baseline(p)
    add_reports(p, "lint")
    add_host(p)


def add_platform(p: argparse.ArgumentParser) -> None:
    """The platform of the server, for commands that read its files."""
    p.add_argument(
        "--platform",
        choices=("linux", "windows", "macos"),
        help="platform of the server (default: by the paths in the file)",
    )


def show(p: argparse.ArgumentParser) -> None:
    """Arguments of `mycnf show`."""
    p.add_argument("files", nargs="+", metavar="FILE", help="option files, read in order as one; - is stdin")
    p.add_argument("--target", metavar="T", help="server version to answer for")
    add_platform(p)
    add_set(p, "only this set of options")
    add_instance(p)
    add_report_options(p, "show")
    add_reading(p)


def upgrade(p: argparse.ArgumentParser) -> None:
    """Arguments of `mycnf upgrade`."""
    p.add_argument("files", nargs="+", metavar="FILE", help="option files, read in order as one; - is stdin")
    p.add_argument(
        "--from",
        dest="before",
        required=True,
        metavar="T",
        help="the server version that reads the files now, such as mysql-5.7",
    )
    p.add_argument("--to", dest="after", required=True, metavar="T", help="the server version that will read them")
    add_platform(p)
    p.add_argument("--all", action="store_true", help="also list changed defaults of little importance")
    p.add_argument(
        "--keep-lines",
        action="store_true",
        help="print the lines that keep the old defaults, as a [mysqld] group to paste, each with its reason",
    )
    p.add_argument(
        "--fail-on",
        choices=SEVERITIES,
        default="error",
        help="exit 1 from this severity up (default: error, a line at which the server stops)",
    )
    add_set(p, "the set of options")
    add_report_options(p, "upgrade")
    add_reading(p)


def suggest(p: argparse.ArgumentParser) -> None:
    """Arguments of `mycnf suggest`."""
    p.add_argument("--target", metavar="T", help="server version that the file is for (default: the newest MySQL)")
    loads = ("oltp", "mixed", "analytic", "dev")
    p.add_argument("--workload", default="mixed", choices=loads, help="workload of the server (default: mixed)")
    add_host(p)
    p.add_argument("--write-diff", metavar="FILE", help="print the changes to this option file as a diff")
    add_report_options(p, "suggest")


def explain(p: argparse.ArgumentParser) -> None:
    """Arguments of `mycnf explain`."""
    p.add_argument("code", metavar="CODE|OPTION", help="a rule's code or name, or an option")
    p.add_argument("--target", metavar="T", help="server version to answer for, and to compare the evidence with")
    add_host(p)
    add_report_options(p, "explain")


def rules(p: argparse.ArgumentParser) -> None:
    """Arguments of `mycnf rules`."""
    add_report_options(p, "rules")
