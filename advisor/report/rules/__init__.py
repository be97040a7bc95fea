"""Pages on rules and options."""
