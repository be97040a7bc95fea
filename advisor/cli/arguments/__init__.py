"""Arguments shared by several commands, and those of the commands that read files and connect to no server."""

from __future__ import annotations

from advisor.report import formats

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

SEVERITIES = ("error", "warning", "note", "never")


def add_reports(p: argparse.ArgumentParser, command: str) -> None:
    """Add the command's formats and their files, in pairs."""
    p.add_argument(
        "--format",
        dest="reports",
        action="in_order",
        const="format",
        choices=formats.names(command),
        help="output format (default: text; repeatable, each with its own -o)",
    )
    p.add_argument(
        "-o",
        "--output",
        dest="reports",
        action="in_order",
        const="output",
        metavar="FILE",
        help="write to FILE instead of stdout",
    )


def add_report_options(p: argparse.ArgumentParser, command: str, default: str | None = "text") -> None:
    """Add the format of the command's report, and its file."""
    usual = default or "the app on a terminal, text otherwise"
    choices = formats.names(command)
    p.add_argument("--format", default=default, choices=choices, help=f"output format (default: {usual})")
    add_output(p)


def add_output(p: argparse.ArgumentParser) -> None:
    """Add the file that a report is written to."""
    p.add_argument("-o", "--output", metavar="FILE", help="write to FILE instead of stdout")


def add_reading(p: argparse.ArgumentParser) -> None:
    """Add how option files are found and read."""
    p.add_argument("--root", metavar="DIR", help="read absolute !include paths below DIR")
    add_configuration(p)


def add_configuration(p: argparse.ArgumentParser) -> None:
    """Add which configuration file is used."""
    p.add_argument("--config", metavar="FILE", help="the configuration file (default: the closest mycnf.toml)")
    p.add_argument("--isolated", action="store_true", help="use no configuration file and no baseline")


def add_rule_selection(p: argparse.ArgumentParser, *, fail_on: str) -> None:
    """Add which rules run, and which severity fails."""
    p.add_argument(
        "--select", action="append", metavar="RULES", help="only these codes, names or families (comma-separated)"
    )
    p.add_argument("--ignore", action="append", metavar="RULES", help="all but these codes, names or families")
    p.add_argument("--fail-on", choices=SEVERITIES, help=f"exit 1 from this severity up (default: {fail_on})")


def add_baseline(p: argparse.ArgumentParser) -> None:
    """Add the baseline options."""
    p.add_argument(
        "--baseline",
        metavar="FILE",
        help="suppress the findings in this baseline, each until the date in its reason, if there is one",
    )
    p.add_argument("--write-baseline", metavar="FILE", help="write the current findings as a baseline")


def add_instance(p: argparse.ArgumentParser) -> None:
    """Add the memory and the processors of a server, which formulas of parameter groups read."""
    p.add_argument("--ram", metavar="SIZE", help="the server's memory, such as 64G, if it can't be read")
    p.add_argument("--cpus", type=int, metavar="N", help="the server's processors, if they can't be read")
    p.add_argument(
        "--instance-class",
        action="instance_class",
        metavar="CLASS",
        help="the memory and processors of an instance class of Amazon RDS, such as db.r6g.2xlarge",
    )


def add_set(p: argparse.ArgumentParser, which: str) -> None:
    """Add the choice of one of several sets of options in a document."""
    p.add_argument("--set", metavar="NAME", action="append", help=f"{which} by name, if a document contains several")


def add_host(p: argparse.ArgumentParser) -> None:
    """Add the facts of a host that cannot be read."""
    add_instance(p)
    p.add_argument("--disk", choices=("hdd", "ssd", "nvme"), help="the kind of disk, if it can't be read")
    p.add_argument("--host-tar", metavar="TAR", help="a tar of the server's /proc and /sys")


def add_window(p: argparse.ArgumentParser) -> None:
    """Add the time between two samples of counters."""
    p.add_argument(
        "--window",
        type=float,
        default=10.0,
        metavar="SECONDS",
        help="time between the two samples of counters (default: 10; 0: none)",
    )


def add_schema(p: argparse.ArgumentParser) -> None:
    """Add the examination of the tables' definitions, with its limits."""
    p.add_argument(
        "--schema",
        action="store_true",
        help="also examine the tables' definitions: AUTO_INCREMENT, primary keys, engines, redundant indexes",
    )
    p.add_argument(
        "--schema-time",
        type=float,
        default=5.0,
        metavar="SECONDS",
        help="time limit for --schema (default: 5); the report lists what was skipped",
    )
    p.add_argument(
        "--schema-tables",
        type=int,
        default=1000,
        metavar="N",
        help="maximum number of tables that MySQL 5.7 and MariaDB open for --schema (default: 1000); MySQL 8.0 opens "
        "none",
    )


def add_connection(p: argparse.ArgumentParser) -> None:
    """Add the server to connect to, and the account."""
    p.add_argument("-S", "--socket", metavar="PATH", help="the server's Unix socket")
    p.add_argument("--host", metavar="NAME", help="connect by TCP to this host")
    p.add_argument("-P", "--port", type=int, metavar="N", help="TCP port (default: 3306)")
    p.add_argument(
        "-u", "--user", metavar="NAME", help="the account; the password comes from option files or --ask-password"
    )
    p.add_argument("--ask-password", action="store_true", help="ask for the password on the terminal")
    p.add_argument("--defaults-file", metavar="FILE", help="read connection options from this file only")
    p.add_argument("--defaults-extra-file", metavar="FILE", help="read connection options from this file as well")
    p.add_argument("--defaults-group-suffix", metavar="TEXT", help="read groups with this suffix too")
    p.add_argument("--login-path", metavar="NAME", help="read this login path of ~/.mylogin.cnf")
    p.add_argument(
        "--ssl-mode",
        choices=("disabled", "preferred", "required", "verify-ca", "verify-identity"),
        help="use of TLS (default: preferred)",
    )
    p.add_argument("--ssl-ca", metavar="FILE", help="certificate authority to trust")
    p.add_argument("--ssl-cert", metavar="FILE", help="client certificate")
    p.add_argument("--ssl-key", metavar="FILE", help="key of the client certificate")


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
    add_configuration(p)
    add_report_options(p, "suggest")


def explain(p: argparse.ArgumentParser) -> None:
    """Arguments of `mycnf explain`."""
    p.add_argument("code", metavar="CODE|OPTION", help="a rule's code or name, an option, or a system variable")
    p.add_argument("--target", metavar="T", help="server version to answer for, and to compare the evidence with")
    add_host(p)
    add_report_options(p, "explain")


def rules(p: argparse.ArgumentParser) -> None:
    """Arguments of `mycnf rules`."""
    add_report_options(p, "rules")
