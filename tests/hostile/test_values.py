"""Every command and every format handles any content of a server's values."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hostile_server import Recording, hostile
from markdown_it import MarkdownIt

from advisor.collect.connection.options import Account
from advisor.collect.connection.session import open_session
from advisor.collect.server.workload import read_counters, sample_of
from advisor.report.formats import names
from advisor.tui.screens.workload.rates import measure_intervals
from advisor.tui.screens.workload.rows import live_rows
from tests.hostile.conftest import AUDIT, Against, Alone, Turns, ended_well, harmless
from tests.hostile.values import NUMBERS, TEXTS, bad_values

TEXT_FORMATS = [name for name in names("audit") if name != "parquet"]

READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])

both = pytest.mark.servers("mysql-8.0", "mariadb-10.11")
one = pytest.mark.servers("mariadb-10.11")


@one
def test_one_number_for_every_value(against: Against, turns: Turns) -> None:
    """Digits by the thousand, other scripts' digits, infinities, nothing: audits end with findings or none."""
    for number in NUMBERS[:: 3 if turns(1) == 1 else 1]:
        ended_well(against(bad_values(lambda number=number: number), *AUDIT), 0, 1)  # type: ignore[misc] # the loop's own


@both
def test_numbers_among_good_values(against: Against, turns: Turns) -> None:
    """So they do where one value in ten is no number, and the rules go on to look at the others."""
    for seed in range(turns(6)):
        chance = random.Random(seed)  # noqa: S311 - the same each time
        ended_well(against(bad_values(lambda: chance.choice(NUMBERS), 0.1, seed), *AUDIT), 0, 1)  # noqa: B023


@one
@pytest.mark.parametrize("form", TEXT_FORMATS)
def test_texts_are_harmless_in_every_format(against: Against, form: str, turns: Turns) -> None:
    """Markup, escapes and controls are text in every format, and what is JSON stays JSON."""
    for seed in range(turns(1)):
        chance = random.Random(seed)  # noqa: S311 - the same each time
        mischief = bad_values(lambda: chance.choice(TEXTS), 0.5, seed)  # noqa: B023
        ended = against(mischief, "audit", "--isolated", "--window", "0", "--format", form)
        ended_well(ended, 0, 1)
        shown = READER.render(ended.out) if form == "markdown" else ended.out
        assert "<script>alert" not in shown or form not in ("html", "markdown", "junit")
        if form == "json":
            json.loads(ended.out)


@both
def test_a_snapshot_of_such_a_server_says_the_same(against: Against, alone: Alone, tmp_path: Path) -> None:
    """What collect saves of it can be loaded, judged and compared with itself."""
    chance = random.Random(3)  # noqa: S311 - the same each time
    path = tmp_path / "snap"
    mischief = bad_values(lambda: chance.choice(NUMBERS + TEXTS), 0.3)
    ended_well(against(mischief, "collect", "-o", path, "--window", "0.01"), 0)
    ended_well(alone("audit", "--snapshot", path, "--isolated", "--format", "text"), 0, 1)
    ended_well(alone("report", path, "--format", "markdown"), 0, 1)
    ended_well(alone("diff", path, path), 0)
    ended_well(alone("preflight", "--snapshot", path), 0, 1)
    assert harmless(ended_well(alone("history"), 0))


@one
def test_samples_of_such_a_server_are_kept(against: Against, alone: Alone, turns: Turns) -> None:
    """A sample keeps the counters that are numbers, or says why there is nothing to keep."""
    for number in NUMBERS[: turns(8)]:
        ended_well(against(bad_values(lambda number=number: number, 0.5), "sample"), 0, 2, 3)  # type: ignore[misc]
    ended_well(alone("sample", "--list"), 0)


@one
def test_rates_of_such_a_server_are_drawn(recording: Recording, tmp_path: Path, turns: Turns) -> None:
    """The app's live screen draws what it can of counters that jump, go back, or are none."""
    chance = random.Random(9)  # noqa: S311 - the same each time
    numbers = [*NUMBERS, "0", "1", str((1 << 64) - 1), "-9", "9" * 20]
    place = tmp_path / "h.sock"
    with hostile(recording, str(place), bad_values(lambda: chance.choice(numbers), 0.6)):
        session = open_session(Account("root", socket=str(place)))
        readings = [read_counters(session, [], with_text=True) for _ in range(turns(8))]
        session.close()
    samples = [sample_of(reading, readings[0]) for reading in readings]
    for window in (60.0, 3600.0):
        rows = live_rows(measure_intervals(samples), window, 100).rows
        assert rows
        assert harmless("\n".join(row.line for row in rows))
