"""Rules about connections, threads, packets and timeouts."""
