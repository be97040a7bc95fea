"""Reports of probes and their results."""
