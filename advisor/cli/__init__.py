"""The command line: plain ones are parsed here, others by argparse, whose import takes as long as a lint."""

from __future__ import annotations

from advisor.core import errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import Any

PRODUCT = "mycnf-advisor"
MANY = ("*", "+")


def dispatch(argv: list[str]) -> int:
    """Parse the arguments and run the command; argparse itself exits with 0 and 2."""
    args = parse_plainly(argv)
    if args is None:
        from advisor.cli.parser import build_parser, refuse_early_options

        refuse_early_options(argv)
        parser = build_parser(only=argv[0] if argv else "")
        if not argv:
            parser.print_help()
            return errors.OK
        args = parser.parse_args(argv)
    check_package("rules")
    if hasattr(args, "output"):
        _refuse_repeated(args.command, argv)
    if getattr(args, "output", None) or getattr(args, "reports", None):
        from advisor.report.output import refuse_named

        refuse_named(args)
    return _run(args)


def _refuse_repeated(command: str, argv: Sequence[str]) -> None:
    """Raise MycnfError for a second -o or --format of a command that writes one report: the first would be ignored."""
    names = [word.partition("=")[0] for word in argv]
    files = sum(
        word[:2] == "-o" or (name[:3] == "--o" and "--output".startswith(name))
        for word, name in zip(argv, names, strict=True)
    )
    formats = sum(name[:4] == "--fo" and "--format".startswith(name) for name in names)
    for shown, count in (("-o", files), ("--format", formats)):
        if count > 1:
            raise errors.MycnfError(f"{shown} can be given once: mycnf {command} writes one report")


def check_package(name: str) -> None:
    """Raise MycnfError if another distribution's package of that name is imported instead of ours."""
    package = __import__(name)
    if getattr(package, "PRODUCT", None) != PRODUCT:
        raise errors.MycnfError(
            f"the Python package {name!r} at {getattr(package, '__file__', 'an unknown place')} is not part of mycnf: "
            "another distribution with this package is installed. Install mycnf in an environment of its own, as pipx "
            "does"
        )


class Arguments:
    """The values of the arguments by name, as argparse.Namespace holds them."""

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)


class _Argument:
    """One declared argument, with the words of `ArgumentParser.add_argument`."""

    __slots__ = ("action", "choices", "const", "default", "dest", "nargs", "required", "type")

    def __init__(
        self,
        dest: str,
        *,
        action: str = "store",
        nargs: str | None = None,
        const: str | None = None,
        default: Any = None,
        choices: Sequence[str] | None = None,
        type: Any = None,  # noqa: A002 - argparse's word
        required: bool = False,
        metavar: str | None = None,  # noqa: ARG002 - for help pages
        help: str = "",  # noqa: A002, ARG002 - the same
    ) -> None:
        self.dest = dest
        self.action = action
        self.nargs = nargs
        self.const = const
        self.default = False if action == "store_true" else default
        self.choices = choices
        self.type = type
        self.required = required


class PlainParser:
    """Parses what needs no interpretation: whole options, their values, and operands that follow one another.

    Arguments are declared as for argparse. Abbreviations, mistakes, --help and rare notations are left to argparse.
    """

    def __init__(self) -> None:
        self._options: dict[str, _Argument] = {}
        self._operands: list[_Argument] = []

    def add_argument(self, *names: str, dest: str | None = None, **words: Any) -> None:
        """Declare an option with these names, or an operand."""
        if names[0][0] != "-":
            self._operands.append(_Argument(names[0], **words))
            return
        long = next((name for name in names if name[:2] == "--"), names[0])
        made = _Argument(dest or long.lstrip("-").replace("-", "_"), **words)
        self._options.update(dict.fromkeys(names, made))

    def parse(self, words: Sequence[str]) -> dict[str, Any] | None:
        """Return the values by name; None if the words are not plain."""
        arguments = (*self._options.values(), *self._operands)
        values = {argument.dest: argument.default for argument in arguments}
        operands: list[str] = []
        ended = False  # whether an option followed the operands, which must not go on then
        place = 0
        while place < len(words):
            word = words[place]
            place += 1
            if _is_value(word):
                if ended:
                    return None
                operands.append(word)
                continue
            ended = bool(operands)
            name, equals, text = word.partition("=")
            option = self._options.get(name if name[:2] == "--" else word)
            if option is None:
                return None
            if option.action != "store_true" and not equals:
                if place == len(words) or not _is_value(words[place]):
                    return None
                text = words[place]
                place += 1
            if not _store(option, text, values, given=bool(equals)):
                return None
        missing = any(option.required and values[option.dest] is None for option in self._options.values())
        return None if missing or not self._take_operands(operands, values) else values

    def _take_operands(self, words: list[str], values: dict[str, Any]) -> bool:
        """Store the operands; False if there are too few or too many of them."""
        if len(self._operands) != 1:
            return not self._operands and not words
        (operand,) = self._operands
        if operand.choices is not None or operand.type is not None or operand.nargs not in (None, *MANY):
            return False
        if not words and operand.nargs == "*":
            values[operand.dest] = []
            return operand.default is None
        values[operand.dest] = words if operand.nargs else "".join(words)
        return bool(words) if operand.nargs else len(words) == 1


def _is_value(word: str) -> bool:
    return word == "-" or (word != "" and word[0] != "-")


def _store(option: _Argument, text: str, values: dict[str, Any], *, given: bool) -> bool:
    """Store the value of an option as its action does; False if argparse has to decide, or to refuse it."""
    if option.action == "store_true":
        values[option.dest] = True
        return not given
    if text == "" or (option.choices is not None and text not in option.choices):
        return False
    value: Any = text
    if option.type is not None:
        try:
            value = option.type(text)
        except ValueError:
            return False
    if option.action == "append":
        values[option.dest] = [*(values[option.dest] or ()), value]
    elif option.action == "in_order":
        values[option.dest] = (*(values[option.dest] or ()), (option.const, value))
    else:
        values[option.dest] = value
    return option.action in ("store", "append", "in_order")


def parse_plainly(argv: Sequence[str]) -> argparse.Namespace | None:
    """Return the arguments of a plain command line of a frequent command; None leaves it to argparse."""
    match argv[0] if argv else "":
        case "lint":
            from advisor.cli.arguments import lint as declare
        case "show":
            from advisor.cli.arguments import show as declare
        case "explain":
            from advisor.cli.arguments import explain as declare
        case _:
            return None
    parser = PlainParser()
    declare(parser)  # type: ignore[arg-type]  # it has what they need
    values = parser.parse(argv[1:])
    return None if values is None else Arguments(command=argv[0], **values)  # type: ignore[return-value]


def _run(args: argparse.Namespace) -> int:  # noqa: PLR0912 - a table of commands
    """Run the command; imports only its module."""
    match args.command:
        case "lint":
            from advisor.commands.lint import run
        case "show":
            from advisor.commands.show import run
        case "upgrade":
            from advisor.commands.upgrade import run
        case "audit":
            from advisor.commands.audit import run
        case "preflight":
            from advisor.commands.preflight import run
        case "diff":
            from advisor.commands.diff import run
        case "collect":
            from advisor.commands.collect import run
        case "report":
            from advisor.commands.report import run
        case "history":
            from advisor.commands.history import run
        case "sample":
            from advisor.commands.sample import run
        case "probe":
            from advisor.commands.probe import run
        case "fleet":
            from advisor.commands.fleet import run
        case "suggest":
            from advisor.commands.suggest import run
        case "explain":
            from advisor.commands.explain import run
        case "rules":
            from advisor.commands.rules import run
        case "grants":
            from advisor.commands.grants import run
        case "completion":
            from advisor.commands.completion import run
        case _:
            raise ValueError(f"no command {args.command!r}")
    return run(args)
