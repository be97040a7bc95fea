"""The thresholds of the safety checks, each shown to the user under its name."""

from __future__ import annotations

GIB = 1 << 30

BUSY_SERVER_CPU = 0.25
"""CPUs that another server uses from which on it counts as busy."""
BUSY_SERVER_IO = 4 << 20
"""Bytes per second that another server reads and writes from which on it counts as busy."""
BUSY_HOST = 0.5
"""Share of all CPU time in use from which on measurements are dominated by other processes."""
BUSY_SAMPLE = 1.0
"""Seconds over which all three are sampled."""

FULL_SHARE = 0.05
FULL_BYTES = GIB
"""What must stay free on the file system during the run: this share of it, and at least this many bytes."""
LITTLE_SHARE = 0.1
LITTLE_BYTES = GIB // 2
"""What must stay available of the memory during the run: this share of it, and at least this many bytes."""

WATCH_EVERY = 0.5
"""Seconds between two samples of a monitored server."""
BASELINE_LOOKS = 5
"""Samples before anything is prepared: the baseline without a probe."""
WORSE_LOOKS = 4
"""Consecutive samples that must be worse before a run stops: two seconds."""
WORSE_TIMES = 3.0
"""Factor by which a sample must be worse than the baseline."""
WORSE_WAIT = 0.2
"""Seconds per second of waiting for a CPU or a disk by which it must also be worse."""
WORSE_ANSWER = 0.005
"""Seconds by which the answer to a statement must also be slower."""
