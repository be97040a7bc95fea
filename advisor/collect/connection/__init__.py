"""Connect to a server and send statements from the closed list."""
