"""An audit as one page."""
