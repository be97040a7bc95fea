"""Estimates of the server's memory use, for rules and for suggested configurations."""
