"""Arguments of the commands that connect to a server, or start one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.cli.arguments import (
    SEVERITIES,
    add_baseline,
    add_configuration,
    add_connection,
    add_host,
    add_report_options,
    add_reports,
    add_rule_selection,
    add_schema,
    add_window,
)
from advisor.cli.arguments.servers import add_keep

if TYPE_CHECKING:
    import argparse


def audit(p: argparse.ArgumentParser) -> None:
    """Arguments of `mycnf audit`."""
    p.add_argument("--snapshot", metavar="SNAP", help="audit saved facts instead of a running server")
    p.add_argument(
        "--from",
        dest="texts",
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
    p.add_argument("-o", "--output", metavar="SNAP", help="the snapshot to write (mode 0600; needed without --keep)")
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
    p.add_argument("--time", metavar="TIME", help="how long to measure: 60s, 10m, 3h (preparation comes on top)")
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
