"""Reports of a fleet."""
