"""An audit as one page for browsers: a file that fetches nothing, reads nothing and runs without a network."""
