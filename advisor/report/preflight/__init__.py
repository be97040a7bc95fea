"""Reports of the next restart."""
