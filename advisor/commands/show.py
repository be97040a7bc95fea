"""`mycnf show`: the effective value of each option in the files, and where it is set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from advisor.catalog.load import load
from advisor.catalog.targets import parse_target, stand_in_note
from advisor.commands.read_files import configure, missing_group_message, read_resolved, replace_stdin
from advisor.core import errors
from advisor.redaction import secrets
from advisor.report.findings_json import dumps
from advisor.report.formats import by_hand
from advisor.report.output import write
from advisor.report.words import WIDTH, plural, wrap
from advisor.verdict import REFUSED, judge_file
from advisor.verdict.startup.host import host_note

if TYPE_CHECKING:
    import argparse

    from advisor.core.model import Target
    from advisor.verdict import FileVerdict, LineVerdict

NAMES = 34  # width of the name column; a longer name shifts its value
NOTE = " " * 4
WORDS = {"1": "TRUE", "ON": "TRUE", "0": "FALSE", "OFF": "FALSE"}


def run(args: argparse.Namespace) -> int:
    """Print every option that the files set, with the target's value; refused lines are left out."""
    configure(args)
    paths, given = replace_stdin(args.files, "<stdin>")
    target = _target(args, paths, given)
    verdict = judge_file(read_resolved(paths, target, args.root, given), load(target))
    _tell_problems(verdict)
    options = {name: _entry(name, line, verdict) for name, line in sorted(verdict.effective.items())}
    own = {
        "text": lambda: _text(verdict, options),
        "json": lambda: dumps({"version": 1, "target": str(target), "options": options}),
    }
    write(by_hand("show", args.format, own), args.output)
    return errors.OK


def _tell_problems(verdict: FileVerdict) -> None:
    resolved = verdict.resolved
    lines = [f"{problem.path}:{problem.line or 1}: {problem.message}" for problem in resolved.problems]
    lines += [
        sentence for sentence in (stand_in_note(verdict.catalog.target), missing_group_message(resolved)) if sentence
    ]
    if lines:
        from advisor.core.console import print_notice

        for line in lines:
            print_notice(line)


def _target(args: argparse.Namespace, paths: list[str], given: dict[str, bytes]) -> Target:
    if args.target:
        target = parse_target(args.target)
    else:
        from advisor.commands.guess_target import assume_target

        target = assume_target(paths, args.root, given)
    return target._replace(platform="" if args.platform == "linux" else args.platform) if args.platform else target


def _entry(name: str, line: LineVerdict, verdict: FileVerdict) -> dict[str, Any]:
    return {
        "value": secrets.redact_value(name, line.value or ""),
        "running": None if line.running is None else secrets.redact_value(name, line.running),
        "note": host_note(verdict, name),
        **_written(name, line),
        "overridden": [_written(name, other) for other in verdict.overridden.get(name, ())],
    }


def _written(name: str, line: LineVerdict) -> dict[str, Any]:
    at = line.placed.line
    raw = at.raw if at.raw is None else secrets.redact_value(name, at.raw)
    return {"raw": raw, "file": line.placed.path, "line": at.number, "group": at.group}


def _text(verdict: FileVerdict, options: dict[str, dict[str, Any]]) -> str:
    lines = [f"{plural(len(options), 'option')} set, as {verdict.catalog.target.label} takes them"]
    wide = min(NAMES, max(map(len, options), default=0))
    for name, o in options.items():
        lines += _option(f"{name:<{wide}}  ", o, told=verdict.effective[name].value is not None)
        lines += [_placed(" " * (wide + 2), f"{x['raw']} was overridden", x) for x in o["overridden"]]
    refused = [line for line in verdict.lines if line.outcome in REFUSED and line.value is None]
    if refused:
        count = f"{plural(len(refused), 'line is', 'lines are')} left out, for the server refuses or ignores"
        lines.append(wrap(f"{count} {'it' if len(refused) == 1 else 'them'}: mycnf lint says why."))
    return "\n".join(lines) + "\n"


def _option(first: str, o: dict[str, Any], *, told: bool) -> list[str]:
    """Return the lines of one option: its value (as written if the server's is unknown), the running value, its place.

    The written text is added if it differs from the value.
    """
    value = (o["value"] if told else o["raw"]) or "(empty)"
    if o["running"] is not None:
        value += f"  (running: {o['running'] or 'empty'})"
    if told and o["raw"] and not _reads_alike(o["raw"], o["value"]):
        value += f"  (written: {o['raw']})"
    return [_placed(first, value, o), *([wrap(o["note"], NOTE)] if o["note"] else [])]


def _placed(first: str, text: str, at: dict[str, Any]) -> str:
    """Return a text followed by its place, on the next line if too long; lists are wrapped."""
    text, place = secrets.escape_text(text), secrets.escape_text(f"{at['file']}:{at['line']}")
    line, rest = f"{first}{text}  {place}", " " * len(first)
    if len(line) <= WIDTH:
        return line
    if len(first) + len(text) > WIDTH and "," in text:
        text = wrap(text.replace(",", ", "), first).removeprefix(first)
    return f"{first}{text}\n{rest}{place}"


def _reads_alike(raw: str, value: str) -> bool:
    """Whether a written value equals the server's, ignoring case, quotes, and the spelling of booleans."""
    plain = raw.strip("\"'").upper()
    return plain == value.upper() or WORDS.get(plain, plain) == value.upper()
