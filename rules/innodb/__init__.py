"""Rules about InnoDB."""
