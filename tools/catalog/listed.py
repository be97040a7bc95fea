"""The options that servers list without plugins, and the plugin of an option that they do not list."""

from __future__ import annotations

from tables import canonical, read

# The queried server of a series, or of its neighbor if there is none.
STANDS_FOR = {
    "mysql-5.7": "mysql-5.7.22", "mysql-8.0": "mysql-8.0.15", "mysql-8.4": "mysql-9.7.4", "mysql-9.7": "mysql-9.7.4",
    "mariadb-10.6": "mariadb-10.11.19", "mariadb-10.11": "mariadb-10.11.19", "mariadb-11.4": "mariadb-11.4.5",
    "mariadb-11.8": "mariadb-11.8.9", "mariadb-12.3": "mariadb-11.8.9",
}  # fmt: skip
BUILT_IN = {s: {canonical(r["option"]) for r in read("servers", name, "options.tsv")} for s, name in STANDS_FOR.items()}
# Longest prefix first: audit_log_filter before audit_log.
_PLUGINS = sorted(read("plugins.tsv"), key=lambda row: -len(row["prefix"]))


def owner(option: str, flavour: str) -> str | None:
    """The plugin whose options have the prefix of this one."""
    for row in _PLUGINS:
        if row["flavour"] == flavour and (option == row["prefix"] or option.startswith(row["prefix"] + "_")):
            return row["plugin"]
    return None


def never_built_in(option: str, flavour: str) -> bool:
    """Whether no queried server of the flavour lists the option without a plugin."""
    return not any(option in names for series, names in BUILT_IN.items() if series.startswith(flavour))
