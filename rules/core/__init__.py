"""The framework for rules: the `rule` decorator, the rule context, and helpers for findings, fixes and advice."""
