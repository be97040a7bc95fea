"""What a rule may know about a server: frozen values, off the lint path."""
