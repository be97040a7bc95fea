"""The screen of workload."""
