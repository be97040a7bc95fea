"""Rules about accounts, access, encryption and TLS."""
