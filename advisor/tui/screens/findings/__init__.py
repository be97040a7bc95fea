"""The findings screen."""
