"""Experiments on the memory of a host: latency by working set, and what buffers of each size cost."""
