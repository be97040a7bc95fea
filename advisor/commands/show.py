"""`mycnf show`: the effective value of each option in the files, and where it is set."""

from __future__ import annotations

from advisor.catalog import load
from advisor.catalog.targets import names_patch, parse_target, stand_in_note
from advisor.commands.read_files import (
    configure,
    missing_group_message,
    on_platform,
    read_carrier,
    read_resolved,
    replace_stdin,
)
from advisor.core import NamedTuple, errors
from advisor.redaction import escape_text, redact_value
from advisor.report import WIDTH, plural, wrap
from advisor.report.findings_json import dumps
from advisor.report.formats import by_hand
from advisor.report.output import write
from advisor.verdict import LISTS, REFUSED, Outcome, judge_file
from advisor.verdict.startup.host import host_note

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from advisor.core.model import Target
    from advisor.verdict import FileVerdict, LineVerdict

NAMES = 34  # width of the name column; a longer name shifts its value
NOTE = " " * 4
NOT_EXAMINED = "No server of {} itself was examined, so these values are likely, not certain."
WORDS = {"1": "TRUE", "ON": "TRUE", "0": "FALSE", "OFF": "FALSE"}


def run(args: argparse.Namespace) -> int:
    """Print every option that the files set, with the target's value; refused lines are left out."""
    configure(args)
    if args.ram is not None or args.cpus is not None:
        from advisor.commands.managed import instance_of

        instance_of(args)  # mistakes are reported even if no formula needs it
    paths, given = replace_stdin(args.files, "<stdin>")
    if args.set and len(args.set) > 1:
        raise errors.MycnfError("--set can be given once: show prints one set, or all without --set")
    name = args.set[0] if args.set else None
    sets = _sets_of_document(args, paths, given, name) or [_read_as_one(args, paths, given, name)]
    for verdict in sets:
        _tell_problems(verdict.verdict)
    own = {
        "text": lambda: "\n".join(_text(one) for one in sets),
        "json": lambda: dumps({"version": 1, **_json(sets)}),
    }
    write(by_hand("show", args.format, own), args.output)
    return errors.OK


class _SetVerdict(NamedTuple):
    """What one server gets: the label of its set, empty if the files have only one, its target and the verdict."""

    label: str
    target: Target
    verdict: FileVerdict

    def options(self) -> dict[str, dict[str, Any]]:
        """Return the options that are set, by name."""
        return {name: _entry(name, line, self.verdict) for name, line in sorted(self.verdict.effective.items())}


def _read_as_one(args: argparse.Namespace, paths: list[str], given: dict[str, bytes], name: str | None) -> _SetVerdict:
    target = _target(args, paths, given, name)
    resolved = read_resolved(paths, target, args.root, given, name)
    full = bool(args.target and names_patch(args.target))
    target = on_platform(target, args.platform, resolved, full_version=full)
    return _SetVerdict("", target, judge_file(resolved, load(target)))


def _sets_of_document(
    args: argparse.Namespace, paths: list[str], given: dict[str, bytes], name: str | None
) -> list[_SetVerdict]:
    """Return the sets of a single document, each for its own server; empty for option files."""
    carrier = read_carrier(paths[0], given, args.root) if len(paths) == 1 else None
    if carrier is None:
        return []
    from advisor.commands.carrier_texts import resolved_of, sets_named
    from advisor.commands.carriers import target_of
    from advisor.commands.managed import instance_of, managed_verdict

    shown = []
    for option_set in sets_named(carrier, name):
        target = parse_target(args.target) if args.target else target_of(carrier, option_set)
        if option_set.declared is not None and target.is_managed:
            verdict = managed_verdict(option_set.declared, target, instance_of(args))
        else:
            verdict = judge_file(resolved_of(carrier, option_set, target), load(target))
        shown.append(_SetVerdict(option_set.label if len(carrier.sets) > 1 else "", target, verdict))
    return shown


def _json(sets: list[_SetVerdict]) -> dict[str, Any]:
    """Return the fields of the only set, or a list of the sets, each with its name."""
    made = [
        {**({"set": one.label} if one.label else {}), "target": str(one.target), "options": one.options()}
        for one in sets
    ]
    return made[0] if len(made) == 1 else {"sets": made}


def _tell_problems(verdict: FileVerdict) -> None:
    resolved = verdict.resolved
    lines = [f"{problem.path}:{problem.line or 1}: {problem.message}" for problem in resolved.problems]
    lines += [
        sentence for sentence in (stand_in_note(verdict.catalog.target), missing_group_message(resolved)) if sentence
    ]
    if lines:
        from advisor.core.errors import print_notice

        for line in lines:
            print_notice(line)


def _target(args: argparse.Namespace, paths: list[str], given: dict[str, bytes], name: str | None) -> Target:
    if args.target:
        return parse_target(args.target)
    from advisor.commands.guess_target import assume_target

    return assume_target(paths, args.root, given, name)


def _entry(name: str, line: LineVerdict, verdict: FileVerdict) -> dict[str, Any]:
    return {
        "value": redact_value(name, _collected_values(name, verdict) if line.value is None else line.value),
        "running": None if line.running is None else redact_value(name, line.running),
        "note": None if verdict.catalog.target.is_managed else host_note(verdict, name),
        **_line_fields(name, line),
        "overridden": [_line_fields(name, other) for other in verdict.overridden.get(name, ())],
    }


def _collected_values(name: str, verdict: FileVerdict) -> str:
    """The values of all lines of an option that collects them; empty for the others.

    Servers show performance_schema_instrument otherwise, the last line alone; the verdict has that value.
    """
    if name not in LISTS:
        return ""
    lines = [line for line in verdict.lines if line.canonical == name and line.outcome not in REFUSED]
    return ",".join([line.placed.line.value or "" for line in lines])


def _line_fields(name: str, line: LineVerdict) -> dict[str, Any]:
    at = line.placed.line
    raw = at.raw if at.raw is None else redact_value(name, at.raw)
    return {"raw": raw, "file": line.placed.path, "line": at.number, "group": at.group}


def _text(shown: _SetVerdict) -> str:
    verdict, options = shown.verdict, shown.options()
    them = "it" if len(options) == 1 else "them"
    label = f"{escape_text(shown.label)}: " if shown.label else ""
    lines = [f"{label}{plural(len(options), 'option')} set, as {shown.target.label} takes {them}"]
    wide = min(NAMES, max(map(len, options), default=0))
    for name, o in options.items():
        lines += _option(f"{name:<{wide}}  ", o, known=bool(o["value"]) or verdict.effective[name].value is not None)
        lines += [_with_place(" " * (wide + 2), f"{x['raw']} was overridden", x) for x in o["overridden"]]
    refused = [line for line in verdict.lines if line.outcome in REFUSED and line.value is None]
    if refused:
        count = f"{plural(len(refused), 'line is', 'lines are')} skipped, because the server refuses or ignores"
        lines.append(wrap(f"{count} {'it' if len(refused) == 1 else 'them'}: mycnf lint shows the reason."))
    unknown = [line for line in verdict.lines if line.outcome is Outcome.UNEXAMINED and line.canonical is None]
    if unknown:
        count = f"{plural(len(unknown), 'line is', 'lines are')} skipped, because it is not known whether the server"
        it = "the option" if len(unknown) == 1 else "the options"
        lines.append(wrap(f"{count} has {it}: mycnf lint shows {'it' if len(unknown) == 1 else 'them'}."))
    if options and not verdict.catalog.exact:
        lines.append(wrap(NOT_EXAMINED.format(shown.target.label)))
    return "\n".join(lines) + "\n"


def _option(first: str, o: dict[str, Any], *, known: bool) -> list[str]:
    """Return the lines of one option: its value (as written if the server's is unknown), the running value, its place.

    The written text is added if it differs from the value.
    """
    value = (o["value"] if known else o["raw"]) or "(empty)"
    if o["running"] is not None:
        value += f"  (running: {o['running'] or 'empty'})"
    if known and o["raw"] and not o["value"].endswith(f",{o['raw']}") and not _reads_alike(o["raw"], o["value"]):
        value += f"  (written: {o['raw']})"
    return [_with_place(first, value, o), *([wrap(o["note"], NOTE)] if o["note"] else [])]


def _with_place(first: str, text: str, at: dict[str, Any]) -> str:
    """Return a text followed by its place, on the next line if too long; lists are wrapped."""
    text, place = escape_text(text), escape_text(f"{at['file']}:{at['line']}")
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
