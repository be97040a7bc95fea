"""Local measurements: which results apply to a server, and how they change findings."""
