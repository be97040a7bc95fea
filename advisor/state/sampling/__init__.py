"""A small ring buffer of counters per server, so that rules can use the busiest hour instead of the present moment."""
