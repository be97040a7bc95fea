"""Probes of the storage under a directory: commits, random reads and writes, sequential reads."""
