"""The screen that saves and copies reports."""
