"""Many servers at once: ansible reaches the hosts, mycnf asks the servers, and a run directory keeps what was told."""
