"""Run the rules over what was read: context, engine, baselines, suppressions, local results."""
