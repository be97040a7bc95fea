"""Files that ansible loads directly."""
