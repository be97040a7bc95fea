"""A small ring of counters for each server, so that rules can speak of the busiest hour and not of a moment."""
