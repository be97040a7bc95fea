"""The parts of `mycnf probe`: the request, the directory, the run, and saved results."""
