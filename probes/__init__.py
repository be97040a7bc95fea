"""The experiments of mycnf, and the one starter of throwaway servers."""

PRODUCT = "mycnf-advisor"
