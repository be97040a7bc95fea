"""The overview screen."""
