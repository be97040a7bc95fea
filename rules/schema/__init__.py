"""Rules about the definitions of tables, which `--schema` reads."""
