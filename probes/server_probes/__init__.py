"""Probes that run on a throwaway server, and their common modules.

- `choices.choose_binary` selects the server program, `choices.SERVER_CHOICE` is the option for it.
- `server_settings.server_arguments` limits a server's memory and disk use, `server_settings.server_cost` is its cost.
- `variant_server.start_variant_server` starts a `VariantServer`, whose `apply_settings` sets a variant's options.
- `under_load.WorkloadBench` measures variants under a workload; `under_load.warm_up` runs until two blocks agree.
- `scanning.ScanReaders` scan one table on several connections, `key_reads.KeyedBench` reads rows by sets of keys.
- `probes.page_cache.evict` evicts files from the page cache, `scanning.read_counters` counts a process's reads.
"""
