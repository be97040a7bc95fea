"""Types and small helpers shared by all packages; standard library only."""
