"""Rules about the events that the server's error log contains."""
