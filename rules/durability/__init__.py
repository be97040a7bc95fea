"""Rules about what a crash loses, and about the binary log."""
