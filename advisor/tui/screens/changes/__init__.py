"""The change set."""
