"""What lint prints, a module a format."""
