"""Snapshots that were kept on request, by server, so that what changed since can be told."""
