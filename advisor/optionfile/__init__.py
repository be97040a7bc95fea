"""Read an option file losslessly, and resolve its groups and includes."""
