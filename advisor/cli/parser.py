"""The command line by argparse: help pages, messages about mistakes, and anything but plain command lines."""

from __future__ import annotations

import argparse
import os

from advisor import __version__
from advisor.core import errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DESCRIPTION = "Lint option files of MySQL and MariaDB, audit running servers and their hosts, and read the evidence."
EPILOG = (
    "exit codes: 0 nothing at or above --fail-on, 1 findings, 2 usage, configuration or unreadable input, "
    "3 could not connect, 130 interrupted"
)
# Of commands whose codes mean something else.
EPILOGS = {"probe": "exit codes: 0 a result, 2 refused, failed or stopped to protect a server, 130 cancelled"}
# Prefixes of argparse's messages, and hints on passwords, which all users of the host could read on a command line.
_UNKNOWN_ARGUMENT = "unrecognized arguments: "
_INVALID_CHOICE = ": invalid choice: "
_COMMAND = "argument COMMAND: "
_PORT = "argument -P/--port: "
_NO_PORT = f"{_PORT}invalid port number; use --ask-password for a password"
_HOW_TO_AUTHENTICATE = "; passwords are not accepted here: use --ask-password, or an option file with --defaults-file"
# What other tools call an option of ours.
_OTHER_NAMES = {
    "--cores": "--cpus",
    "--json": "--format",
    "--mem": "--ram",
    "--memory": "--ram",
    "--processors": "--cpus",
    "--server-version": "--target",
}


def build_parser(only: str | None = None) -> argparse.ArgumentParser:
    """Build the parser; help pages and documentation are generated from it.

    `only` names the one command whose arguments are needed: building all would take a tenth of lint's time. If it is no
    command, as in `mycnf --help`, the arguments of all commands are left out.
    """
    parser = _Parser(prog="mycnf", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("--version", action="version", version=f"mycnf {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, words in COMMANDS.items():
        if only in COMMANDS and only != name:
            continue
        command = commands.add_parser(
            name, help=words, description=f"{words[0].upper()}{words[1:]}.", epilog=EPILOGS.get(name, EPILOG)
        )
        if only in (None, name):
            _add_arguments(name, command)
    return parser


def refuse_early_options(argv: list[str]) -> None:
    """Raise MycnfError, with the right order, for options before the command, whose parser alone knows them."""
    first = argv[0] if argv else ""
    own = ("-h", "--help", "--version")
    if first[:1] != "-" or first in ("-", *own) or any(name.startswith(first) for name in own[1:]):
        return
    place = next((at for at, word in enumerate(argv) if word in COMMANDS), None)
    if place is None:
        return
    import shlex

    words = _mask_passwords([*argv[:place], *argv[place + 1 :]])
    raise errors.MycnfError(f"options come after the command: mycnf {shlex.join([argv[place], *words])}")


def _add_arguments(name: str, command: argparse.ArgumentParser) -> None:  # noqa: PLR0912 - a table of commands
    """Add the arguments of the command; imports only their module."""
    match name:
        case "lint":
            from advisor.cli.arguments import lint as add
        case "show":
            from advisor.cli.arguments import show as add
        case "upgrade":
            from advisor.cli.arguments import upgrade as add
        case "audit":
            from advisor.cli.arguments.servers import audit as add
        case "preflight":
            from advisor.cli.arguments.servers import preflight as add
        case "diff":
            from advisor.cli.arguments.servers import diff as add
        case "collect":
            from advisor.cli.arguments.servers import collect as add
        case "report":
            from advisor.cli.arguments.servers import report as add
        case "history":
            from advisor.cli.arguments.servers import history as add
        case "sample":
            from advisor.cli.arguments.servers import sample as add
        case "probe":
            from advisor.cli.arguments.servers import probe as add
        case "fleet":
            from advisor.cli.arguments.servers import fleet as add
        case "suggest":
            from advisor.cli.arguments import suggest as add
        case "explain":
            from advisor.cli.arguments import explain as add
        case "rules":
            from advisor.cli.arguments import rules as add
        case "grants":
            from advisor.cli.arguments.servers import grants as add
        case "completion":
            from advisor.cli.arguments.servers import completion as add
        case _:
            raise ValueError(f"no command {name!r}")
    add(command)


class _InOrder(argparse.Action):
    """Stores --format and -o in the given order, as (const, value): a file belongs to the format next to it."""

    def __call__(
        self, _parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, _option: str | None = None
    ) -> None:
        given = getattr(namespace, self.dest) or ()
        setattr(namespace, self.dest, (*given, (self.const, values)))


class _InstanceClass(argparse.Action):
    """Stores the memory and the processors of an instance class, unless --ram and --cpus give them."""

    def __call__(
        self, _parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, _option: str | None = None
    ) -> None:
        from advisor.catalog.managed import find_instance_class
        from advisor.core.errors import MycnfError
        from advisor.core.model import exact_size

        try:
            processors, memory = find_instance_class(values)
        except MycnfError as error:
            raise argparse.ArgumentError(self, str(error)) from error
        setattr(namespace, self.dest, values)
        namespace.ram = namespace.ram or exact_size(memory)
        namespace.cpus = namespace.cpus or processors


class _Help(argparse.HelpFormatter):
    """Formats help for the terminal's width; asking for the width here saves lint the import of shutil."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_page_width())


def _page_width() -> int:
    try:
        return max(60, int(os.environ.get("COLUMNS") or os.get_terminal_size().columns) - 2)
    except (OSError, ValueError):
        return 78


class _Parser(argparse.ArgumentParser):
    """An ArgumentParser with our exit code and one-line errors on stderr."""

    def __init__(self, **words: Any) -> None:
        super().__init__(formatter_class=_Help, **words)
        self.register("action", "in_order", _InOrder)
        self.register("action", "instance_class", _InstanceClass)

    def error(self, message: str) -> None:  # type: ignore[override]
        problem = f"{_without_passwords(message)}{self._suggestion(message)}"
        commands = self._commands()
        # argparse reports an unknown option of a command by the parser of all; only the command was built then.
        of_command = len(commands) == 1 and message.startswith(_UNKNOWN_ARGUMENT)
        name = commands[0].prog if of_command else self.prog
        self.exit(errors.USAGE, f"{name}: {problem} (see {name} --help)\n")

    def _suggestion(self, message: str) -> str:
        """Return `; did you mean X?` for a mistyped command, option or choice; empty if no known word is close."""
        from advisor.core.errors import did_you_mean

        if message.startswith(_UNKNOWN_ARGUMENT):
            unknown = message.removeprefix(_UNKNOWN_ARGUMENT).split(" ")
            option = next((word.partition("=")[0] for word in unknown if word.startswith("--")), None)
            return did_you_mean(_OTHER_NAMES.get(option, option), self._options()) if option else ""
        _, invalid, choice = message.partition(_INVALID_CHOICE)
        if not invalid:
            return ""
        written, _, choices = choice.partition(" (choose from ")  # which Python 3.14 does not quote
        if message.startswith(_COMMAND) and os.path.isfile(written.strip("'")):
            return f"; mycnf lint {written} checks an option file"
        known = [word.strip(" '") for word in choices.rstrip(")").split(",")]
        return did_you_mean(written.strip("'"), known)

    def _commands(self) -> list[argparse.ArgumentParser]:
        """Return the parsers of the commands that were built; empty for the parser of one command."""
        return [p for a in self._actions if isinstance(a.choices, dict) for p in a.choices.values()]

    def _options(self) -> list[str]:
        """Return the option strings of this parser and its commands."""
        parsers = [self, *self._commands()]
        return [option for parser in parsers for action in parser._actions for option in action.option_strings]  # noqa: SLF001 - argparse has no public list of them


def _without_passwords(message: str) -> str:
    """Return argparse's message, which quotes the command line, with passwords masked."""
    from advisor.redaction import escape_text, redact_arguments

    quoted = message.removeprefix(_UNKNOWN_ARGUMENT)
    if quoted == message:
        return _NO_PORT if message.startswith(_PORT) else escape_text(redact_arguments((message,))[0])
    given = quoted.split(" ")
    words = _mask_passwords(given)
    return f"{escape_text(_UNKNOWN_ARGUMENT + ' '.join(words))}{_HOW_TO_AUTHENTICATE if words != given else ''}"


def _mask_passwords(given: list[str]) -> list[str]:
    """Return the words of a command line with passwords masked, those of -p too."""
    from advisor.redaction import MASK, redact_arguments

    words = list(redact_arguments(tuple(given)))
    for at, word in enumerate(given):
        if word.startswith("-p"):
            words[at] = f"-p{MASK}"
        elif given[max(0, at - 1)] == "-p":
            words[at] = MASK
    return words


COMMANDS = {
    "lint": "check option files, offline",
    "show": "the effective value of each option, and where it came from",
    "upgrade": "what another version or flavour would refuse, change or ignore",
    "audit": "check a running server, its host and its option files, with evidence",
    "preflight": "what the next restart of a server would refuse, lose or change",
    "diff": "compare any two of: option file, running server, snapshot, a version's defaults",
    "collect": "save the facts that an audit reads as a snapshot",
    "report": "the findings of one snapshot or of many, in any format",
    "history": "what changed between saved snapshots",
    "sample": "save one sample of a server's counters, for cron or a timer",
    "probe": "repeat published experiments on this host, and save the results",
    "fleet": "audit many servers at once, through an Ansible inventory",
    "suggest": "write an option file for a host and a workload, each line with its reason",
    "explain": "explain a rule or an option, with the evidence",
    "rules": "list every rule, with what it needs",
    "grants": "print the statements for a least-privileged audit account",
    "completion": "print the completion script for bash, zsh or fish",
}
