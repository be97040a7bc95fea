"""Read a running server: variables, InnoDB, replication, counters."""
