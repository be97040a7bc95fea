"""Read facts from a running server: variables, InnoDB, replication, counters."""
