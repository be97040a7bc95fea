"""The screen of files."""
