"""Rules about sessions that block others, and about transactions that stay open."""
