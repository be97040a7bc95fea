"""The screen of probes."""
