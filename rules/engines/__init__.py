"""Rules about MyISAM and Aria."""
