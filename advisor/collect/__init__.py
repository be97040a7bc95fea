"""Read a running server, its workload and its host."""
