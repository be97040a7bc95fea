"""Snapshots saved on request, by server, to show what changed since."""
