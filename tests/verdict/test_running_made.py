"""Made-up and real option files, and the servers started with them: how often what runs was predicted.

MYCNF_FUZZ_EXAMPLES says with how many made-up files each server is started (1 without it), MYCNF_FUZZ_SEED with which.
"""

from __future__ import annotations

import itertools
import json
import os
import random
from pathlib import Path

from option_file_generator import compose, names, startable
from start_and_compare import Run, compare, composed

from advisor.catalog import Catalog
from probes.sandbox import Binary

EXAMPLES = int(os.environ.get("MYCNF_FUZZ_EXAMPLES", "1"))
SEED = os.environ.get("MYCNF_FUZZ_SEED", "1")
IN_A_THOUSAND = 1  # settings that may run otherwise


def test_made_up_files(catalog: Catalog, run: Run) -> None:
    """Of the settings in files that were made up without a look at the verdict, 999 in 1000 run as predicted."""
    settings = 0
    wrong: list[str] = []
    for lines, variables in itertools.islice(composed(catalog, SEED, run), EXAMPLES):
        compared = compare(lines, variables, catalog)
        settings, wrong = settings + compared.settings, wrong + compared.wrong
    print(f"{catalog.target}: {len(wrong)} of {settings} settings in {EXAMPLES} files run otherwise", *wrong, sep="\n")
    assert settings
    assert len(wrong) * 1000 <= settings * IN_A_THOUSAND


def test_real_files(catalog: Catalog, binary: Binary, run: Run, shared: Path) -> None:
    """Real files run as predicted, once what keeps them from starting on this host is out of them."""
    asked = json.loads((shared / "corpus" / "verdicts.json").read_text(encoding="utf-8"))
    chosen = random.Random(SEED).sample(sorted(asked), len(asked))  # noqa: S311 - no secrets here
    wrong: list[str] = []
    started = 0
    for name in chosen:
        answers = asked[name].get(binary.name, {})
        refused = {
            option
            for kind in ("unknown", "ambiguous", "invalid", "suffix", "noarg")
            for option in answers.get(kind, [])
        }
        text = (shared / "corpus" / "files" / name).read_text(encoding="utf-8", errors="replace")
        lines = startable(text, refused, catalog)
        variables = run(lines) if len(lines) > 10 else None  # a start is worth that many
        if variables is not None:
            wrong += [f"{name}: {disagreement}" for disagreement in compare(lines, variables, catalog).wrong]
            started += 1
        if started >= EXAMPLES:
            break
    assert started
    assert wrong == []


def test_made_up_files_are_spread(catalog: Catalog) -> None:
    """A few hundred files reach every option that they may hold, and are the same again from the same seed."""
    chance, again = random.Random(1), random.Random(1)  # noqa: S311 - no secrets here
    files = [compose(catalog, chance) for _ in range(300)]
    reached = {line.partition("=")[0].replace("-", "_") for lines in files for line in lines}
    assert len(set(names(catalog)) - reached) <= len(names(catalog)) // 100
    assert files[:5] == [compose(catalog, again) for _ in range(5)]
