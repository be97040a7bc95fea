"""The text and tables of docs/experiments/memory.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from filled import PREPARED, SESSIONS, SETTINGS, SPARE, Step

from advisor.analysis.context import build_context
from advisor.core.model import format_size
from rules.sizing.memory import expected_memory, memory_budget

MIB = 1 << 20
CALM = "read a row"  # the step with all sessions connected and idle, and the pool warm
HEAD = f"""# Memory, measured

What real servers have resident under load, and what an audit estimates at the same time.
Written by `python tools/figures/memory.py`; run it to have the page of your own machine.

Each server was started twice on empty data: with its defaults, and with larger buffers
(`{"`, `".join(word.removeprefix("--").removeprefix("loose-") for word in SETTINGS["larger"])}`).
`max_connections = {SESSIONS + SPARE}`, so nearly every allowed session was at work.
The pool was filled by writing as much as it holds. {SESSIONS} sessions connected, each read a row, and each prepared
{PREPARED} statements. Then, load by load, {SESSIONS} sessions ran one statement that fills a buffer to 85 percent.
All held it (their clients had read only the first row of the result) while the process was looked at.
"""
TAIL = """
## What is in the numbers

- **measured**: the process's resident size; without the process, the memory in `performance_schema`.
- **likely**: the program at rest, `performance_schema` and the prepared statements; the whole buffer pool, for it fills
  sooner or later; the key buffer and Aria's page cache as full as they have ever been; a part for each connection of
  the peak; and for each session at work just now the buffers of sorts and joins, if the counters show any, with one
  temporary table in memory at its limit. So it is two to three times too high while sessions only sort or join, and
  near once they fill temporary tables. In an audit it is never less than the process's
  peak so far; here that is left out, as where the process can't be seen, so that the estimate alone is tested.
- **ceiling**: the same with each cache full, and every allowed connection with its whole stack, one buffer of each kind
  and two temporary tables (a grouped derived table that is joined takes two). MySQL 8.0 and later keep the temporary
  tables of all sessions within `temptable_max_ram`, and MariaDB the join buffers of a statement within
  `join_buffer_space_limit`.

## What is not

- A statement takes a buffer for each of its joins, sorts and derived tables; the ceiling counts one, and two tables.
- Tables of the engine MEMORY that sessions make themselves, packets up to `max_allowed_packet`, bulk loads and repairs
  of MyISAM, binary log caches and large stored programs have no part in either number.
- Temporary tables that TempTable puts into mapped files are in the resident size (*in files*). The kernel can write
  them out and take that memory back, so neither the ceiling nor *peak / ceiling* counts them.
- The program's part is that of these six builds at rest with few tables; another build, or ten thousand open tables,
  differ by tens or hundreds of MiB.
- Sessions worked on one or two tables, one statement at a time, on a machine that did other work as well; how long
  anything took plays no part. This is one run.
- The parts that no variable shows (the program, `performance_schema`, a session, a prepared statement) were taken from
  such runs, so that *calm* agrees on these six is no proof; the peaks, other machines and other builds can disagree.
"""


class Run(NamedTuple):
    """One server with one setting, step by step."""

    server: str
    setting: str
    steps: list[Step]

    @property
    def highest(self) -> Step:
        """The step with the most resident memory."""
        return max(self.steps, key=lambda step: step.resident)

    @property
    def lasting(self) -> int:
        """The peak without mapped files of temporary tables, which the kernel can reclaim.

        The program's own files are included.
        """
        return self.highest.resident - max(0, self.highest.files - self.steps[0].files)

    @property
    def ceiling(self) -> int:
        """The ceiling in bytes by the model, including the statements that were prepared at the time."""
        estimate = memory_budget(build_context(self.highest.facts))
        assert estimate is not None
        return estimate.ceiling

    def at(self, name: str) -> Step:
        """The step of that name."""
        return next(step for step in self.steps if step.name == name)


def page_text(runs: list[Run]) -> str:
    """The whole page."""
    parts = (_machine(runs), _table(runs), _by_step(runs), _of_a_session(runs))
    return "\n".join([HEAD, *("\n".join([*part, ""]) for part in parts), TAIL.strip(), ""])


def _machine(runs: list[Run]) -> Iterator[str]:
    host, taken = runs[0].steps[0].facts.host, runs[0].steps[0].facts.taken_at[:10]
    if host and host.cpu and host.memory and host.os:
        cpu, size = host.cpu, format_size(host.memory.total)
        yield f"Machine: {cpu.model_name}, {len(cpu.online)} processors, {size} of memory, Linux {host.os.kernel};"
        yield f"{taken}."
    versions = {run.server: run.steps[0].facts.server.version for run in runs}
    yield "Servers: " + ", ".join(f"{server} is {version}" for server, version in versions.items()) + "."


def likely_memory(step: Step) -> int:
    """The estimate from the audit's counters alone, without the process."""
    return expected_memory(build_context(step.facts))


def _table(runs: list[Run]) -> Iterator[str]:
    yield "## Measured and estimated, MiB"
    yield ""
    yield f"*Calm*: the pool is warm, {SESSIONS} sessions are connected and have read a row, none is at work."
    yield "*Likely* is estimated at the same moment as the figure before it, from settings and counters alone."
    yield ""
    yield (
        "| server | setting | at rest | calm | likely | calm / likely | peak | in files | likely | peak / likely "
        "| ceiling | peak / ceiling |"
    )
    yield "|---|---|" + "--:|" * 10
    for run in runs:
        calm, peak = run.at(CALM), run.highest
        cells = [run.server, run.setting, _mib(run.steps[0].resident)]
        cells += [*_beside(calm), _mib(peak.resident), _mib(peak.files), *_beside(peak)[1:]]
        yield _row([*cells, _mib(run.ceiling), _times(run.lasting, run.ceiling)])


def _beside(step: Step) -> list[str]:
    return [_mib(step.resident), _mib(likely_memory(step)), _times(step.resident, likely_memory(step))]


def _by_step(runs: list[Run]) -> Iterator[str]:
    names = list(dict.fromkeys(step.name for run in runs for step in run.steps))
    yield "## Step by step, MiB: resident, and likely below it"
    yield ""
    yield "What a load leaves behind the allocator keeps, and the next load uses."
    yield ""
    yield _row(["server", "setting", *names])
    yield "|---|---|" + "--:|" * len(names)
    for run in runs:
        there = {step.name: f"{_mib(step.resident)}<br>{_mib(likely_memory(step))}" for step in run.steps}
        yield _row([run.server, run.setting, *(there.get(name, "lost") for name in names)])


def _of_a_session(runs: list[Run]) -> Iterator[str]:
    yield "## What a session takes without its buffers, KiB"
    yield ""
    yield "| server | setting | connected | and has read a row | each prepared statement |"
    yield "|---|---|--:|--:|--:|"
    for run in runs:
        sizes = [run.at(name).resident >> 10 for name in ("warm", "connected", CALM, "prepared")]
        idle, read = sizes[1] - sizes[0], sizes[2] - sizes[0]
        each = (sizes[3] - sizes[2]) / SESSIONS / PREPARED
        yield _row([run.server, run.setting, f"{idle / SESSIONS:,.0f}", f"{read / SESSIONS:,.0f}", f"{each:,.0f}"])


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _mib(size: int) -> str:
    return f"{size // MIB:,}"


def _times(size: int, other: int) -> str:
    return f"{size / other:.2f}"
