"""Write a run's finished rounds to the state directory while it runs, so that a crash loses at most a minute."""

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

CHECKPOINT_SECONDS = 60.0  # seconds between two notes of what there is so far, in a run that may be killed


class ResultWriter:
    """Writes results to the state directory; one that can't be written costs a line, not the answer.

    `say` takes lines for the user; `earlier` is the kept run that this one continues.
    """

    def __init__(self, say: Callable[[str], None], earlier: KeptResult | None = None) -> None:
        self._say = say
        self._earlier = earlier
        self._path = earlier.path if earlier else None
        self._latest: ProbeResult | None = None
        self._noted = time.monotonic()

    def checkpoint(self, so_far: ProbeResult) -> None:
        """Remember the whole rounds, and write them where the last writing is long ago."""
        self._latest = replace(so_far, ended="cancelled")
        if time.monotonic() - self._noted >= CHECKPOINT_SECONDS:
            self._write(self._with_earlier_rounds(self._latest))
            self._noted = time.monotonic()

    def write_checkpoint(self) -> None:
        """Write what there was when the run was ended by force."""
        if self._latest is not None:
            whole = self._with_earlier_rounds(self._latest)
            if self._write(whole):
                self._say(f"{whole.rounds} complete rounds are saved; continue with --resume")

    def write_final(self, result: ProbeResult) -> ProbeResult:
        """Write the result, the earlier rounds before it where there are any, and say under which name it is kept."""
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
