"""Reports of a move between servers."""
