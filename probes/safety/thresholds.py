"""The numbers behind the words busy, full, little and suffering, each said to the user under its name."""

from __future__ import annotations

GIB = 1 << 30

BUSY_SERVER_CPU = 0.25
"""Processors that another server keeps busy, from which on it counts as at work."""
BUSY_SERVER_IO = 4 << 20
"""Bytes a second that another server reads and writes, from which on it counts as at work."""
BUSY_HOST = 0.5
"""The share of all processor time in use, from which on measurements tell more about the others than about us."""
BUSY_SAMPLE = 1.0
"""Seconds over which all three are looked at."""

FULL_SHARE = 0.05
FULL_BYTES = GIB
"""What stays free on the file system after we took ours: this share of it and this many bytes at least."""
LITTLE_SHARE = 0.1
LITTLE_BYTES = GIB // 2
"""What stays available of the memory after we took ours: this share of it and this many bytes at least."""

WATCH_EVERY = 0.5
"""Seconds between two looks at a server that is watched."""
BASELINE_LOOKS = 5
"""Looks at the server before anything is prepared: what it is like without us."""
WORSE_LOOKS = 4
"""Looks in a row that must be worse before a run stops: two seconds."""
WORSE_TIMES = 3.0
"""How many times worse than without us."""
WORSE_WAIT = 0.2
"""Seconds of waiting for a processor or a disk, a second, by which it must be worse besides."""
WORSE_ANSWER = 0.005
"""Seconds by which the answer to a statement must be slower besides."""
