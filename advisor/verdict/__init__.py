"""How a server takes each option of a file."""
