"""Runs the rules on collected facts: context, engine, baselines, suppressions, local results."""
