"""`mycnf show`: the effective value of each option in the files, and where it came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from advisor import exits, redact
from advisor.catalog.load import load
from advisor.catalog.targets import parse_target
from advisor.commands.reading import configure, read_resolved, take_stdin
from advisor.report.jsonform import dumps
from advisor.report.output import write
from advisor.verdict import judge_file

if TYPE_CHECKING:
    import argparse

    from advisor.model import Target
    from advisor.optionfile.lines import Problem
    from advisor.verdict import FileVerdict, LineVerdict


def run(args: argparse.Namespace) -> int:
    """Print every option that the files set, as the target's server would have it; refused lines are left out."""
    configure(args)
    paths, given = take_stdin(args.files, "<stdin>")
    target = _target(args, paths, given)
    verdict = judge_file(read_resolved(paths, target, args.root, given), load(target))
    if verdict.resolved.problems:
        _tell_problems(verdict.resolved.problems)
    options = {name: _entry(name, line, verdict) for name, line in sorted(verdict.effective.items())}
    write(
        dumps({"version": 1, "target": str(target), "options": options})
        if args.format == "json"
        else _text(target, options),
        args.output,
    )
    return exits.OK


def _tell_problems(problems: tuple[Problem, ...]) -> None:
    from advisor.narration import narrate

    for problem in problems:
        narrate(f"{problem.path}:{problem.line or 1}: {problem.message}")


def _target(args: argparse.Namespace, paths: list[str], given: dict[str, bytes]) -> Target:
    if args.target:
        return parse_target(args.target)
    from advisor.commands.assume import assume_target

    return assume_target(paths, args.root, given)


def _entry(name: str, line: LineVerdict, verdict: FileVerdict) -> dict[str, Any]:
    return {
        "value": redact.redact_value(name, line.value or ""),
        "running": None if line.running is None else redact.redact_value(name, line.running),
        **_written(name, line),
        "overridden": [_written(name, other) for other in verdict.overridden.get(name, ())],
    }


def _written(name: str, line: LineVerdict) -> dict[str, Any]:
    at = line.placed.line
    raw = at.raw if at.raw is None else redact.redact_value(name, at.raw)
    return {"raw": raw, "file": line.placed.path, "line": at.number, "group": at.group}


def _text(target: Target, options: dict[str, dict[str, Any]]) -> str:
    lines = [f"{len(options)} options set, as {target.label} takes them"]
    wide = min(44, max(map(len, options), default=0))
    for name, o in options.items():
        running = f"  (running: {o['running']})" if o["running"] is not None else ""
        lines.append(redact.clean(f"{name:<{wide}}  {o['value']}{running}  {o['file']}:{o['line']}"))
        lines += [
            redact.clean(f"{'':<{wide}}  {x['raw']} was overridden  {x['file']}:{x['line']}") for x in o["overridden"]
        ]
    return "\n".join(lines) + "\n"
