"""The files screen."""
