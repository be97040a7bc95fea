"""What each server series knows: options, kinds, ranges, defaults."""
