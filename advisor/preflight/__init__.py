"""What the next restart of a running server would refuse, lose or change, and why."""
