"""Rules about replication, Galera and Group Replication."""
