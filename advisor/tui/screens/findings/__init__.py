"""The screen of findings."""
