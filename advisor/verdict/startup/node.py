"""What MariaDB asks of the settings of a cluster's node before it starts; help stops there too."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from advisor.verdict.outcome import Values

ON, PROVIDER, FORMAT = "wsrep_on", "wsrep_provider", "binlog_format"
ADDRESS, METHOD = "wsrep_cluster_address", "wsrep_sst_method"
OFF, NOBODY = ("FALSE", "OFF"), ("", "none")


def faults_of_node(values: Values, unread: frozenset[str]) -> dict[str, str]:
    """Why a node doesn't start, by the option to blame; `unread` are options that a template is yet to fill in."""
    if values.get(ON, "OFF") in OFF or values.get(PROVIDER, "").lower() in NOBODY:
        return {}
    named = values.get(ADDRESS) or ADDRESS in unread or METHOD in unread
    if not named and values.get(METHOD) != "mysqldump":
        return {ON: "A node of a cluster needs wsrep_cluster_address, which this file lacks."}
    if values.get(FORMAT, "MIXED") != "ROW" and FORMAT not in unread:
        why = "A node of a cluster needs binlog_format = ROW."
        return {FORMAT if FORMAT in values else PROVIDER: why}
    return {}
