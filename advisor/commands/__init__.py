"""The commands of mycnf, one module per command."""
