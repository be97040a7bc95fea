"""The screen of host."""
