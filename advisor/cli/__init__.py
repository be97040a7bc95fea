"""The command line: parser and arguments."""
