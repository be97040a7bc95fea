"""The command line: what can be asked, and which module answers."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from advisor import __version__, exits

if TYPE_CHECKING:
    from collections.abc import Callable

DESCRIPTION = (
    "Lint option files of MySQL and MariaDB, audit running servers with the hardware under them, and see the evidence."
)
EPILOG = (
    "exit codes: 0 nothing at or above --fail-on, 1 findings, 2 usage, configuration or unreadable input, "
    "3 could not connect, 130 interrupted"
)
PRODUCT = "mycnf-advisor"
SEVERITIES = ("error", "warning", "note", "never")
FORMATS = ("text", "concise", "json", "jsonl", "sarif", "github", "gitlab", "junit", "markdown")
AUDIT_FORMATS = ("text", "concise", "json", "jsonl", "sarif", "junit", "markdown")
PROBE_FORMATS = ("text", "json", "markdown", "svg")


def dispatch(argv: list[str]) -> int:
    """Parse the arguments and run the command that they name; argparse's own ends are exits 0 and 2."""
    parser = build_parser(only=argv[0] if argv and argv[0] in COMMANDS else None)
    if not argv:
        parser.print_help()
        return exits.OK
    args = parser.parse_args(argv)
    check_package("rules")
    command = __import__(f"advisor.commands.{args.command}", fromlist=["run"])
    code: int = command.run(args)
    return code


def check_package(name: str) -> None:
    """Raise one clear MycnfError where another distribution's package of that name stands in the place of ours."""
    package = __import__(name)
    if getattr(package, "PRODUCT", None) != PRODUCT:
        raise exits.MycnfError(
            f"the Python package {name!r} at {getattr(package, '__file__', 'an unknown place')} is not mycnf's: "
            "another distribution is installed beside it. Install mycnf by itself: pipx install mycnf-advisor"
        )


def build_parser(only: str | None = None) -> argparse.ArgumentParser:
    """The command line as one parser; help pages and documentation are made from it.

    `only` names the one command that is going to be parsed: lint would spend a tenth of its time on the others.
    """
    parser = _Parser(prog="mycnf", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("--version", action="version", version=f"mycnf {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (words, fill) in COMMANDS.items():
        if only in (None, name):
            fill(commands.add_parser(name, help=words, description=f"{words[0].upper()}{words[1:]}.", epilog=EPILOG))
    return parser


class _Help(argparse.HelpFormatter):
    """Help pages as wide as the terminal; asking for the width ourselves spares lint the import of shutil."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_page_width())


def _page_width() -> int:
    try:
        return max(60, int(os.environ.get("COLUMNS") or os.get_terminal_size().columns) - 2)
    except (OSError, ValueError):
        return 78


class _Parser(argparse.ArgumentParser):
    """argparse with our exit code and one line on stderr."""

    def __init__(self, **words: Any) -> None:
        super().__init__(formatter_class=_Help, **words)

    def error(self, message: str) -> None:  # type: ignore[override]
        self.exit(exits.USAGE, f"{self.prog}: {message} (see {self.prog} --help)\n")


class _InOrder(argparse.Action):
    """Keeps --format and -o in the order given, as (const, value): a file belongs to the format beside it."""

    def __call__(
        self, _parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, _option: str | None = None
    ) -> None:
        given = getattr(namespace, self.dest) or ()
        setattr(namespace, self.dest, (*given, (self.const, values)))


def _lint(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "files", nargs="*", metavar="FILE", help="option file, or - for stdin (default: this host's own files)"
    )
    p.add_argument(
        "--target",
        action="append",
        metavar="T",
        help="server to judge for, such as mysql-8.4 or mariadb-10.11 (repeatable)",
    )
    p.add_argument("--stdin-filename", default="<stdin>", metavar="NAME", help="the name to report for -")
    p.add_argument("--fix", action="store_true", help="write the fixes that keep what the server does into the files")
    p.add_argument("--unsafe-fixes", action="store_true", help="--fix, with fixes that may change what the server does")
    p.add_argument("--diff", action="store_true", help="print what --fix would change as a diff, and write nothing")
    p.add_argument("--statistics", action="store_true", help="count findings by rule instead of listing them")
    p.add_argument("--exit-zero", action="store_true", help="exit 0 even with findings")
    _reading(p)
    _selecting(p, fail_on="warning")
    _baseline(p)
    _reports(p, FORMATS)
    _machine(p)


def _show(p: argparse.ArgumentParser) -> None:
    p.add_argument("files", nargs="+", metavar="FILE", help="option files, read in order as one; - is stdin")
    p.add_argument("--target", metavar="T", help="server to answer for")
    p.add_argument("--format", default="text", choices=("text", "json"), help="how to print it (default: text)")
    p.add_argument("-o", "--output", metavar="FILE", help="write there instead of to stdout")
    _reading(p)


def _upgrade(p: argparse.ArgumentParser) -> None:
    p.add_argument("files", nargs="+", metavar="FILE", help="option files, read in order as one; - is stdin")
    p.add_argument(
        "--from", dest="before", required=True, metavar="T", help="the server that reads the files now, as mysql-5.7"
    )
    p.add_argument("--to", dest="after", required=True, metavar="T", help="the server that is to read them")
    p.add_argument("--all", action="store_true", help="list the defaults that change little, too")
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
    p.add_argument("--format", default="text", choices=("text", "json"), help="how to print it (default: text)")
    p.add_argument("-o", "--output", metavar="FILE", help="write there instead of to stdout")
    _reading(p)


def _audit(p: argparse.ArgumentParser) -> None:
    p.add_argument("--snapshot", metavar="SNAP", help="audit saved facts instead of a running server")
    p.add_argument(
        "--list-statements", action="store_true", help="print every statement that can ever be sent, and stop"
    )
    _window(p)
    _connection(p)
    _selecting(p, fail_on="error")
    _isolated(p)
    p.add_argument("--format", default="text", choices=AUDIT_FORMATS, help="how to print it (default: text)")
    p.add_argument("-o", "--output", metavar="FILE", help="write there instead of to stdout")
    _machine(p)


def _preflight(p: argparse.ArgumentParser) -> None:
    p.add_argument("--snapshot", metavar="SNAP", help="look at saved facts instead of a running server")
    p.add_argument(
        "--root", metavar="DIR", help="read option files and service below DIR, such as a copy of /etc to be deployed"
    )
    p.add_argument("--service", metavar="UNIT", help="the systemd unit that starts the server (default: its own)")
    _connection(p)
    p.add_argument(
        "--fail-on", choices=SEVERITIES, default="note", help="exit 1 from this severity up (default: note, anything)"
    )
    p.add_argument("--format", default="text", choices=("text", "json"), help="how to print it (default: text)")
    p.add_argument("-o", "--output", metavar="FILE", help="write there instead of to stdout")


def _collect(p: argparse.ArgumentParser) -> None:
    p.add_argument("-o", "--output", metavar="SNAP", required=True, help="the snapshot to write (mode 0600)")
    _window(p)
    _connection(p)
    _machine(p)


def _explain(p: argparse.ArgumentParser) -> None:
    p.add_argument("code", metavar="CODE|OPTION", help="a rule's code or name, or an option")
    p.add_argument("--target", metavar="T", help="server to answer for, where an option is asked about")
    p.add_argument("--format", default="text", choices=("text", "json"), help="how to print it (default: text)")


def _probe(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "name", nargs="?", metavar="NAME", help="the probe to run, prove or results; without it they are listed"
    )
    p.add_argument(
        "words", nargs="*", metavar="WORD", help="after results: a kept result; after prove: a rule, and an option file"
    )
    p.add_argument("--describe", action="store_true", help="say what it asks, on what evidence, and what it can't show")
    p.add_argument("--dry-run", action="store_true", help="say what it would create, and the time it takes, and stop")
    p.add_argument("--time", metavar="TIME", help="how long to measure: 60s, 10m, 3h (preparation comes on top)")
    p.add_argument("--rounds", type=int, metavar="N", help="how often each variant has its turn")
    p.add_argument("--resume", action="store_true", help="go on with the kept run of the same parameters")
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
        "--option", action="append", default=[], metavar="NAME=VALUE", help="a choice of the probe (repeatable)"
    )
    p.add_argument("--set", metavar="OPTION=A,B", help="the option and the values that ab compares")
    p.add_argument("--workload", metavar="NAME", help="the load, such as oltp_read_write")
    p.add_argument("--acceptable-qps", metavar="N", help="queries a second that are still acceptable (cache-fit)")
    p.add_argument(
        "--force", action="append", default=[], metavar="REFUSAL", help="run in spite of this refusal (repeatable)"
    )
    p.add_argument("--seed", type=int, default=0, metavar="N", help="equal numbers give the variants equal orders")
    p.add_argument("--json", action="store_true", help="the same as --format json")
    _reports(p, PROBE_FORMATS)


def _rules(p: argparse.ArgumentParser) -> None:
    p.add_argument("--format", default="text", choices=("text", "json"), help="how to print it (default: text)")


def _grants(p: argparse.ArgumentParser) -> None:
    p.add_argument("--target", required=True, metavar="T", help="server that the account is for")


def _reports(p: argparse.ArgumentParser, formats: tuple[str, ...]) -> None:
    p.add_argument(
        "--format",
        dest="reports",
        action=_InOrder,
        const="format",
        choices=formats,
        help="how to print it (default: text; repeatable, each with its own -o)",
    )
    p.add_argument(
        "-o",
        "--output",
        dest="reports",
        action=_InOrder,
        const="output",
        metavar="FILE",
        help="write there instead of to stdout",
    )


def _reading(p: argparse.ArgumentParser) -> None:
    p.add_argument("--root", metavar="DIR", help="read absolute !include paths below DIR")
    _isolated(p)


def _isolated(p: argparse.ArgumentParser) -> None:
    p.add_argument("--config", metavar="FILE", help="the configuration file (default: the closest mycnf.toml)")
    p.add_argument("--isolated", action="store_true", help="use neither configuration file nor baseline")


def _selecting(p: argparse.ArgumentParser, *, fail_on: str) -> None:
    p.add_argument(
        "--select", action="append", metavar="RULES", help="only these codes, names or families (comma-separated)"
    )
    p.add_argument("--ignore", action="append", metavar="RULES", help="all but these codes, names or families")
    p.add_argument("--fail-on", choices=SEVERITIES, help=f"exit 1 from this severity up (default: {fail_on})")


def _baseline(p: argparse.ArgumentParser) -> None:
    p.add_argument("--baseline", metavar="FILE", help="leave out the findings that this baseline knows")
    p.add_argument("--write-baseline", metavar="FILE", help="write today's findings as a baseline")


def _machine(p: argparse.ArgumentParser) -> None:
    p.add_argument("--ram", metavar="SIZE", help="the server's memory, such as 64G, where it can't be read")
    p.add_argument("--cpus", type=int, metavar="N", help="the server's processors, where they can't be read")
    p.add_argument("--disk", choices=("hdd", "ssd", "nvme"), help="the kind of disk, where it can't be read")
    p.add_argument("--host-tar", metavar="TAR", help="a tar of the server's /proc and /sys")


def _window(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--window",
        type=float,
        default=10.0,
        metavar="SECONDS",
        help="time between the two samples of counters (default: 10; 0: none)",
    )


def _connection(p: argparse.ArgumentParser) -> None:
    p.add_argument("-S", "--socket", metavar="PATH", help="the server's Unix socket")
    p.add_argument("--host", metavar="NAME", help="connect by TCP to this host")
    p.add_argument("-P", "--port", type=int, metavar="N", help="TCP port (default: 3306)")
    p.add_argument(
        "-u", "--user", metavar="NAME", help="the account; its password is asked for or read from option files"
    )
    p.add_argument("--ask-password", action="store_true", help="ask for the password on the terminal")
    p.add_argument("--defaults-file", metavar="FILE", help="read connection options from this file only")
    p.add_argument("--defaults-extra-file", metavar="FILE", help="read connection options from this file too")
    p.add_argument("--defaults-group-suffix", metavar="TEXT", help="read groups with this suffix too")
    p.add_argument("--login-path", metavar="NAME", help="read this login path of ~/.mylogin.cnf")
    p.add_argument(
        "--ssl-mode",
        choices=("disabled", "preferred", "required", "verify-ca", "verify-identity"),
        help="use of TLS (default: preferred)",
    )
    p.add_argument("--ssl-ca", metavar="FILE", help="certificate authority to trust")
    p.add_argument("--ssl-cert", metavar="FILE", help="our certificate")
    p.add_argument("--ssl-key", metavar="FILE", help="its key")


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "lint": ("check option files, offline", _lint),
    "show": ("the effective value of each option, and where it came from", _show),
    "upgrade": ("what a move to another version or flavour would refuse, change or ignore", _upgrade),
    "audit": ("a running server, its host and its files, judged with evidence", _audit),
    "preflight": ("what a server's next restart would refuse, lose or change", _preflight),
    "collect": ("save what an audit reads as a snapshot", _collect),
    "probe": ("repeat published experiments on this host, and keep what they show", _probe),
    "explain": ("a rule or an option: what, why, the evidence", _explain),
    "rules": ("every rule, with what it needs", _rules),
    "grants": ("the least-privileged account for audits", _grants),
}
