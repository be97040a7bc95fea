"""Mutation testing of the rules: change them in small ways, one at a time, and list the changes that no case detects.

usage: python tools/mutate [--module rules/connections/limits.py]… [--every N] [--seed N] [--verdict [--sample N]]

Everything runs in this process: the cases are built once, and a changed module is executed next to the real one and
run on the cases of its rules and of all rules that import it. A change is detected if a case gets another severity,
confidence, option, line or statement, becomes silent, fails, or does not end. changes.py defines the changes and the
exceptions, modules.py the modules and what else tests them. --verdict changes advisor/verdict instead, and runs its
tests again for each change. Exit 1 if less than 90 % were detected, or a change of the verdict was not.
"""

from __future__ import annotations

import argparse
import linecache
import os
import random
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [TOP, os.path.join(TOP, "tests", "plugins")]

from changes import Mutant, mutants
from modules import LEFT_OUT, Module, rule_modules
from outcomes import Detection, PosedCase, notice_change, pose_cases
from rule_cases import all_cases, context_of_case
from verdicts import try_verdicts

ENOUGH = 90  # percent


def main() -> int:
    """Run the requested changes."""
    args = _arguments()
    if args.verdict:
        return int(not try_verdicts(TOP, args.module, args.sample, args.seed))
    modules = rule_modules(TOP)
    chosen = _chosen(modules, args.module, args.every, args.seed)
    with tempfile.TemporaryDirectory() as folder:
        cases = [(case, context_of_case(case, _folder(folder, n))) for n, case in enumerate(all_cases())]
        try:
            kept = pose_cases(cases, modules)
        except ValueError as wrong:
            sys.exit(f"mutate: {wrong}")
        tally = [how for module, some in chosen for how in _try(module, some, modules, kept)]
    killed = len(tally) - tally.count(Detection.NOT_AT_ALL)
    percent = 100 * killed / max(1, len(tally))
    print(f"of them by another option or advice alone, which no table holds: {tally.count(Detection.BY_ADVICE)}")
    print(f"rules: killed {killed} of {len(tally)} ({percent:.1f} %)")
    return int(percent < ENOUGH)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make mutate", description="list the small changes that no test notices")
    parser.add_argument(
        "--module", action="append", default=[], help="rules/connections/limits.py for instance (default: all)"
    )
    parser.add_argument("--every", type=int, default=1, help="try one change of so many (default: 1, all of them)")
    parser.add_argument("--seed", type=int, default=1, help="the same seed chooses the same changes")
    parser.add_argument("--verdict", action="store_true", help="change the verdict instead of the rules")
    parser.add_argument("--sample", type=int, default=100, help="how many changes of the verdict (default: 100)")
    return parser.parse_args()


def _chosen(
    modules: Mapping[str, Module], paths: Sequence[str], every: int, seed: int
) -> list[tuple[Module, list[Mutant]]]:
    """The changes to try, by module; exits for a path that is not a module of rules."""
    names = [path.removesuffix(".py").replace("/", ".") for path in paths]
    for path, name in zip(paths, names, strict=True):
        if name not in modules:
            judge = LEFT_OUT.get(name)
            sys.exit(f"mutate: {path}: " + (f"no case judges it, but {judge}" if judge else "no module of rules/"))
    changes = [(name, mutant) for name in names or modules for mutant in mutants(modules[name].tree)]
    sample = random.Random(seed).sample(range(len(changes)), -(-len(changes) // every))  # noqa: S311 - no secret
    picked = [changes[number] for number in sorted(sample)]
    return [(modules[name], [m for of, m in picked if of == name]) for name in names or modules]


def _folder(above: str, number: int) -> Path:
    folder = Path(above, str(number))
    folder.mkdir()
    return folder


def _try(
    module: Module, some: Sequence[Mutant], modules: Mapping[str, Module], cases: Sequence[PosedCase]
) -> list[Detection]:
    """Whether the cases detect each change of one module; prints those that are not detected."""
    path, tally = os.path.relpath(module.path, TOP), []
    for mutant in some:
        tally.append(notice_change(mutant, module, modules, cases))
        if tally[-1] is Detection.NOT_AT_ALL:
            source = linecache.getline(module.path, mutant.line).strip()
            print(f"{path}:{mutant.line}: no case notices {mutant.change}: {source}", flush=True)
    if some:
        print(f"{path}: killed {len(tally) - tally.count(Detection.NOT_AT_ALL)} of {len(tally)}", flush=True)
    return tally


if __name__ == "__main__":
    sys.exit(main())
