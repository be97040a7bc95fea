"""The report screen, which saves and copies reports."""
