"""What moving a server to another version or flavour makes of its option files, and of what they leave unset."""
