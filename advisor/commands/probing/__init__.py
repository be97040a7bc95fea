"""What `mycnf probe` is made of: the user's wishes, the place, the run, and the results that are kept."""
