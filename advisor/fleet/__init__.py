"""Audit many servers: ansible connects to the hosts, mycnf reads the servers, and a run directory holds the results."""
