"""Rules about SQL modes, logging, statements and transactions."""
