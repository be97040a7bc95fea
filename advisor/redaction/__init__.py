"""Masks secrets in texts and facts, and escapes text from other sources."""
