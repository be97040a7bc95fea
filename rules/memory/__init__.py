"""Rules about memory: session buffers, caches, temporary tables and the total."""
