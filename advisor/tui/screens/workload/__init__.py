"""The workload screen."""
