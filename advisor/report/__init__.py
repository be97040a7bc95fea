"""One module a format, each a pure function of findings and facts."""
