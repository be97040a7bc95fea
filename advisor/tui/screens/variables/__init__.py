"""The variables screen."""
