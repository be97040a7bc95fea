"""Reports of two sides that are compared."""
