"""Connect to a server and send statements of the closed list."""
