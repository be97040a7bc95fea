"""What ansible loads, as files of its own."""
