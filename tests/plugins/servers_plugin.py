"""Fixtures for real servers."""
