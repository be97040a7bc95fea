"""What rules are made of: the decorator, what a rule may read, and how findings, fixes and advice are built."""
