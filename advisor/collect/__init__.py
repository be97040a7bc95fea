"""Collect facts from a running server, its workload and its host."""
