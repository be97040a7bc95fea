"""Arguments of the commands that connect to servers, or that read snapshots, histories and many servers' reports."""

from __future__ import annotations

from advisor.cli.arguments import (
    SEVERITIES,
    add_baseline,
    add_configuration,
    add_connection,
    add_host,
    add_instance,
    add_reading,
    add_report_options,
    add_reports,
    add_rule_selection,
    add_schema,
    add_set,
    add_window,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse


def report(p: argparse.ArgumentParser) -> None:
    """Arguments of `mycnf report`."""
    p.add_argument(
        "snapshots", nargs="+", metavar="SNAP", help="a snapshot, or a directory of them (*.json, at any depth)"
    )
    add_rule_selection(p, fail_on="error")
    add_configuration(p)
    p.add_argument("--baseline", metavar="FILE", help="suppress the findings in this baseline")
    p.add_argument(
        "--since", metavar="SNAP", help="compare one snapshot with this earlier one: what is gone, still there and new"
    )
    p.add_argument(
        "--jobs", type=int, metavar="N", help="processes that check many snapshots (default: one per processor)"
    )
    add_reports(p, "report")
    add_host(p)


SIDE_HELP = (
    "an option file (a path, several joined by commas, -), a snapshot, a target's defaults (mysql-8.4), or a server: "
    "server (from the connection options), a socket's path, host:port, tcp:HOST, defaults:FILE, login:NAME or "
    "group:SUFFIX"
)


def diff(p: argparse.ArgumentParser) -> None:
    """Arguments of `mycnf diff`."""
    p.add_argument("a", metavar="A", help=SIDE_HELP)
    p.add_argument("b", metavar="B", help="the same")
    p.add_argument(
        "--target",
        action="append",
        metavar="T",
        help="server version that reads the file (default: the other side's; give it twice for two files)",
    )
    p.add_argument("--only", action="append", metavar="PATTERN", help="only these variables, such as 'innodb_*'")
    p.add_argument("--ignore", action="append", metavar="PATTERN", help="all but these variables")
    p.add_argument(
        "--all",
        action="store_true",
        help="count differences expected between any two servers too, and print values in full",
    )
    add_set(p, "the set of options (twice: that of A, that of B)")
    add_instance(p)
    add_report_options(p, "diff")
    add_reading(p)
    add_connection(p)


SHELLS = ("bash", "zsh", "fish")


def completion(p: argparse.ArgumentParser) -> None:
    """Arguments of `mycnf completion`."""
    p.add_argument("shell", metavar="SHELL", choices=SHELLS, help="bash, zsh or fish")


def fleet(p: argparse.ArgumentParser) -> None:
    """Arguments of `mycnf fleet`."""
    p.add_argument(
        "-i",
        "--inventory",
        action="append",
        default=[],
        metavar="FILE",
        help="Ansible inventory: a file, a directory or host,host (repeatable; default: that of ansible.cfg)",
    )
    p.add_argument("-l", "--limit", metavar="PATTERN", help="only these hosts and groups, as an Ansible pattern")
    p.add_argument("-f", "--forks", type=int, metavar="N", help="hosts at a time (default: Ansible's own setting)")
    p.add_argument(
        "--timeout", type=float, default=60.0, metavar="SECONDS", help="time limit for each host (default: 60)"
    )
    p.add_argument("--dir", metavar="DIR", help="the run's directory (default: a new one below ~/.local/state/mycnf)")
    p.add_argument(
        "--resume", action="store_true", help="resume the run in --dir: read only the hosts that are missing"
    )
    p.add_argument(
        "--from", dest="kept", metavar="DIR", help="report on the run saved in DIR, without contacting any host"
    )
    p.add_argument("--vault-id", action="append", default=[], metavar="ID", help="passed to Ansible (repeatable)")
    p.add_argument(
        "--vault-password-file", action="append", default=[], metavar="FILE", help="passed to Ansible (repeatable)"
    )
    p.add_argument("--ask-vault-password", action="store_true", help="let Ansible ask for the vault password")
    add_window(p)
    add_rule_selection(p, fail_on="error")
    add_configuration(p)
    add_report_options(p, "fleet")


def sample(p: argparse.ArgumentParser) -> None:
    """Arguments of `mycnf sample`."""
    p.add_argument("--list", action="store_true", help="the servers that were sampled, with their busiest hours")
    p.add_argument(
        "--print-timer", action="store_true", help="print a cron line and systemd units that run it, and exit"
    )
    add_connection(p)


def history(p: argparse.ArgumentParser) -> None:
    """Arguments of `mycnf history`."""
    p.add_argument(
        "words", nargs="*", metavar="SERVER", help="a server's name or id (default: list all), or add and snapshots"
    )
    p.add_argument("--last", type=int, default=10, metavar="N", help="number of changes, newest first (default: 10)")
    p.add_argument("--select", action="append", metavar="RULES", help="only these codes, names or families")
    p.add_argument("--ignore", action="append", metavar="RULES", help="all but these codes, names or families")
    add_report_options(p, "history")
    add_configuration(p)


def add_keep(p: argparse.ArgumentParser) -> None:
    """Add the option that saves the collected facts in the history."""
    p.add_argument(
        "--keep",
        action="store_true",
        help="save a snapshot for mycnf history too (100 per server, readable by its owner only)",
    )


def audit(p: argparse.ArgumentParser) -> None:
    """Arguments of `mycnf audit`."""
    p.add_argument("--snapshot", metavar="SNAP", help="audit saved facts instead of a running server")
    p.add_argument(
        "--from",
        dest="texts",
        action="extend",
        nargs="+",
        metavar="FILE",
        help="audit texts: of SHOW GLOBAL VARIABLES, STATUS and REPLICA STATUS, pt-mysql-summary, pt-summary, or "
        "pt-stalk's directory",
    )
    p.add_argument(
        "--since", metavar="SNAP", help="compare with this earlier snapshot: findings resolved, new and remaining"
    )
    add_keep(p)
    p.add_argument("--demo", action="store_true", help="audit a recorded server, to try mycnf")
    p.add_argument("--list-statements", action="store_true", help="print every statement that mycnf can send, and exit")
    add_window(p)
    add_schema(p)
    add_connection(p)
    add_rule_selection(p, fail_on="error")
    add_configuration(p)
    add_baseline(p)
    add_report_options(p, "audit", default=None)
    p.add_argument("--no-mouse", action="store_true", help="don't use the mouse in the app")
    add_host(p)


def preflight(p: argparse.ArgumentParser) -> None:
    """Arguments of `mycnf preflight`."""
    p.add_argument("--snapshot", metavar="SNAP", help="check saved facts instead of a running server")
    p.add_argument(
        "--root", metavar="DIR", help="read option files and service below DIR, such as a copy of /etc to be deployed"
    )
    p.add_argument("--service", metavar="UNIT", help="the systemd unit that starts the server (default: its own)")
    add_connection(p)
    p.add_argument(
        "--fail-on", choices=SEVERITIES, default="note", help="exit 1 from this severity up (default: note, anything)"
    )
    add_report_options(p, "preflight")


def collect(p: argparse.ArgumentParser) -> None:
    """Arguments of `mycnf collect`."""
    p.add_argument(
        "-o",
        "--output",
        metavar="SNAP",
        help="the snapshot to write (mode 0600), or - for stdout; needed without --keep",
    )
    add_keep(p)
    add_window(p)
    add_schema(p)
    add_connection(p)
    add_host(p)


def probe(p: argparse.ArgumentParser) -> None:
    """Arguments of `mycnf probe`."""
    p.add_argument(
        "name", nargs="?", metavar="NAME", help="the probe to run, prove or results; without it they are listed"
    )
    p.add_argument(
        "words",
        nargs="*",
        metavar="WORD",
        help="after results: a saved result; after prove: a rule, and an option file",
    )
    p.add_argument(
        "--describe", action="store_true", help="describe the question, the evidence and the limits of the probe"
    )
    p.add_argument("--dry-run", action="store_true", help="print what it would create and how long it takes, and exit")
    p.add_argument("--time", metavar="TIME", help="how long to measure: 60s, 10m, 3h (not including preparation)")
    p.add_argument("--rounds", type=int, metavar="N", help="number of rounds for each variant")
    p.add_argument("--resume", action="store_true", help="resume the saved run of the same parameters")
    p.add_argument(
        "--dir", metavar="DIR", help="a directory on the file system to measure (default: that of the data directory)"
    )
    p.add_argument(
        "--server",
        "--target",
        dest="server",
        action="append",
        metavar="PROGRAM",
        help="the server program to start, or its target (default: this host's own; repeatable where two are compared)",
    )
    p.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the probe (repeatable)"
    )
    p.add_argument("--set", metavar="OPTION=A,B", help="the option and the values that ab compares")
    p.add_argument("--workload", metavar="NAME", help="the load, such as oltp_read_write")
    p.add_argument("--acceptable-qps", metavar="N", help="lowest acceptable queries per second (cache-fit)")
    p.add_argument(
        "--force", action="append", default=[], metavar="REFUSAL", help="run despite this refusal (repeatable)"
    )
    p.add_argument(
        "--seed",
        type=int,
        metavar="N",
        help="seed for the order of the variants (default: random)",
    )
    p.add_argument("--json", action="store_true", help="the same as --format json")
    add_reports(p, "probe")


def grants(p: argparse.ArgumentParser) -> None:
    """Arguments of `mycnf grants`."""
    p.add_argument("--target", required=True, metavar="T", help="server version that the account is for")
    p.add_argument("--schema", action="store_true", help="also the privileges for mycnf audit --schema")
