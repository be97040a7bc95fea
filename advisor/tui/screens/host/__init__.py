"""The host screen."""
