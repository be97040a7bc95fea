"""Reports of many snapshots."""
