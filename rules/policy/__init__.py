"""House rules from the configuration, and how they take precedence over built-in advice."""
