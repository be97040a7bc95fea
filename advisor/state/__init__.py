"""The user's state directory: private files, locks, history and samples."""
