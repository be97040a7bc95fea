"""The probes screen."""
