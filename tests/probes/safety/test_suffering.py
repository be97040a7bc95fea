"""When a server counts as suffering."""

from __future__ import annotations

import pytest

from probes.safety import watch
from probes.safety.watch import ServerSample, describe_degradation


@pytest.mark.parametrize(
    ("alone", "latest", "words"),
    [
        (ServerSample(0.0, 0.0, 0.001), ServerSample(0.0, 0.0, 0.001), ""),
        (ServerSample(0.0, 0.0, 0.001), ServerSample(0.0, 0.0, 0.004), ""),  # four times, but three milliseconds
        (ServerSample(0.0, 0.0, 0.010), ServerSample(0.0, 0.0, 0.040), "answers 4 times slower than before"),
        (
            ServerSample(0.1, 0.0, None),
            ServerSample(0.5, 0.0, None),
            "waits for a processor 0.5 s per second, 0.1 before",
        ),
        (ServerSample(1.0, 0.0, None), ServerSample(2.0, 0.0, None), ""),  # it always waited much
        (ServerSample(0.0, 0.1, None), ServerSample(0.0, 0.9, None), "waits for its disk 0.9 s per second, 0.1 before"),
        (ServerSample(None, None, None), ServerSample(None, None, None), ""),
    ],
)
def test_suffering_is_both_a_multiple_and_an_amount(alone: ServerSample, latest: ServerSample, words: str) -> None:
    """A server suffers where every one of the last looks is several times and noticeably worse."""
    assert describe_degradation([alone] * 5, [latest] * watch.WORSE_LOOKS) == words
    assert describe_degradation([alone] * 5, [*[latest] * (watch.WORSE_LOOKS - 1), alone]) == ""
