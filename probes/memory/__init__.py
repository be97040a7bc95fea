"""Probes of the host's memory: latency by working set, and the cost of buffers by size."""
