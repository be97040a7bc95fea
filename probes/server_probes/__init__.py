"""Probes that run on a throwaway server, and their common modules.

- `choices.choose_binary` selects the server program, `choices.SERVER_CHOICE` is the option for it.
- `variant_server.start_variant_server` starts a `VariantServer`, whose `apply_settings` sets a variant's options;
  `server_arguments` limits a server's memory and disk use, `server_cost` is its cost.
- `under_load.WorkloadBench` measures variants under a workload; `under_load.warm_up` runs until two blocks agree.
- `read_buffer.ScanReaders` scan one table on several connections, `cache_fit.KeyedBench` reads rows by sets of keys.
- `probes.disk.files.evict` evicts files from the page cache, `read_buffer.read_counters` counts a process's reads.
"""
