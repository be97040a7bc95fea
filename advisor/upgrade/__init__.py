"""Changes in the meaning of option files, and of unset options, when a server moves to another version or flavour."""
