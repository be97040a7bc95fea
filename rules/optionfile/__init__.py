"""Rules about option files themselves: refused, adjusted and ignored lines, groups, suppressions."""
