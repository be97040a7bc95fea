"""Experiments on a throwaway server, and what they have in common.

- `choosing.binary_for` picks the server program, `choosing.SERVER` is the choice that goes with it.
- `measuring.arguments` bounds a server in memory and disk, `measuring.cost` says what it takes then.
- `serving.serve` starts it and gives a `Served`, whose `set_to` brings the options of a variant into force: dynamic
  ones by SET GLOBAL, the others by a restart.
- `loaded.LoadedBench` measures variants under a workload; `loaded.warm` warms up until two blocks agree.
- `scanning.Readers` scan one table by several connections at once, `keyed.KeyedBench` reads rows by sets of keys.
- `eviction.evict` drops the server's own files from the page cache, `reading.reads_of` counts a process's reads.
"""
