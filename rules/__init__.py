"""The rules of mycnf: one module a family, the evidence beside them."""

# Another distribution installs a top-level package of this name; advisor.engine compares this literal before it trusts the import.
PRODUCT = "mycnf-advisor"
