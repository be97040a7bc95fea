"""The screen of variables."""
