"""Reports of what changed."""
