"""The probes of mycnf, and the package that starts throwaway servers."""

PRODUCT = "mycnf-advisor"
