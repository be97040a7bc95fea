"""Rules about the operating system, file systems and disks."""
