"""Write the complete rounds of a running probe to the state directory, so that a crash loses at most a minute."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from msgspec.structs import replace

from advisor.core.errors import MycnfError
from probes import results
from probes.pooling import merge_runs

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.facts.probes import ProbeResult
    from probes.results import KeptResult

CHECKPOINT_SECONDS = 60.0  # seconds between two checkpoints of a run, which may be killed


class ResultWriter:
    """Writes results to the state directory; a failed write is reported but does not lose the result.

    `say` prints a line for the user; `earlier` is the saved run that this one continues.
    """

    def __init__(self, say: Callable[[str], None], earlier: KeptResult | None = None) -> None:
        self._say = say
        self._earlier = earlier
        self._path = earlier.path if earlier else None
        self._latest: ProbeResult | None = None
        self._noted = time.monotonic()

    def checkpoint(self, so_far: ProbeResult) -> None:
        """Keep the complete rounds, and write them if the last checkpoint is old enough."""
        self._latest = replace(so_far, ended="cancelled")
        if time.monotonic() - self._noted >= CHECKPOINT_SECONDS:
            self._write(self._with_earlier_rounds(self._latest))
            self._noted = time.monotonic()

    def write_checkpoint(self) -> None:
        """Write the latest complete rounds of a run that was terminated."""
        if self._latest is not None:
            whole = self._with_earlier_rounds(self._latest)
            if self._write(whole):
                self._say(f"{whole.rounds} complete rounds are saved; continue with --resume")

    def write_final(self, result: ProbeResult) -> ProbeResult:
        """Write the result, together with the rounds of the earlier run, and report its id."""
        whole = self._with_earlier_rounds(result)
        if self._write(whole) and self._path:
            self._say(f"saved: mycnf probe results {results.result_id(self._path)}")
        return whole

    def _with_earlier_rounds(self, result: ProbeResult) -> ProbeResult:
        return merge_runs(self._earlier.result, result) if self._earlier else result

    def _write(self, result: ProbeResult) -> bool:
        try:
            self._path = results.write_result(result, self._path)
        except MycnfError as error:
            self._say(str(error))
            return False
        return True
