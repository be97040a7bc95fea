"""Settings of a managed service: its parameters over defaults of its own, where these are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.core.model import Origin, Setting
from advisor.optionfile import normalise
from advisor.verdict.formula import FormulaError, evaluate_formula, is_formula
from advisor.verdict.settings import Settings, as_variable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.catalog.load import Catalog
    from advisor.core.model import Target
    from advisor.verdict.declared import ProviderParameter
    from advisor.verdict.formula import Instance
    from advisor.verdict.outcome import FileVerdict

# Default parameter groups show that services have other defaults for these variables than their servers.
CHOSEN_BY_SERVICES = frozenset(
    (
        *("binlog_format", "innodb_buffer_pool_instances", "innodb_buffer_pool_size", "innodb_flush_method"),
        *("innodb_io_capacity", "innodb_io_capacity_max", "innodb_log_buffer_size", "innodb_log_file_size"),
        *("innodb_log_files_in_group", "innodb_purge_threads", "innodb_redo_log_capacity", "key_buffer_size"),
        *("local_infile", "log_output", "max_connections", "performance_schema", "query_cache_size"),
        *("query_cache_type", "read_buffer_size", "read_rnd_buffer_size", "relay_log_recovery", "sql_mode"),
        *("table_definition_cache", "table_open_cache", "thread_cache_size", "thread_stack"),
    )
)
# Defaults of Amazon's parameter groups. The formula of Aurora gives what its manual lists for each instance class.
_REPLICATION = {
    "master_info_repository": "TABLE",
    "relay_log_info_repository": "TABLE",
    "relay_log_recovery": "1",
    "sync_binlog": "1",
}
DEFAULTS = {
    "rds": {
        **_REPLICATION,
        "innodb_buffer_pool_size": "{DBInstanceClassMemory*3/4}",
        "innodb_flush_method": "O_DIRECT",
        "max_connections": "{DBInstanceClassMemory/12582880}",
    },
    "aurora": {
        **_REPLICATION,
        "innodb_buffer_pool_size": "{DBInstanceClassMemory*3/4}",
        "max_connections": (
            "GREATEST({log(DBInstanceClassMemory/805306368)*45},{log(DBInstanceClassMemory/8187281408)*1000})"
        ),
    },
}


class ServiceSettings(Settings):
    """Parameters over the service's defaults; without a known one, over the server's if services keep to it."""

    __slots__ = ("_defaults",)

    def __init__(self, given: Mapping[str, Setting], catalog: Catalog, defaults: Mapping[str, str]) -> None:
        super().__init__(given, catalog)
        self._defaults = defaults

    def _default(self, var: str) -> Setting | None:
        if var in self._defaults:
            return Setting(var, self._defaults[var], Origin.COMPILED)
        return None if var in CHOSEN_BY_SERVICES else super()._default(var)


def service_settings(
    verdict: FileVerdict, target: Target, listed: Mapping[str, ProviderParameter], instance: Instance | None
) -> ServiceSettings:
    """Return the settings of a set of parameters of the target; `listed` is the provider's list, by name."""
    given = Settings.from_file(verdict)
    held = {name: setting for name in given.names() if (setting := given.get(name)) is not None}
    values = dict(DEFAULTS.get(target.build, {}))
    for row in listed.values():
        if row.value and not row.is_set_by_user:
            values[normalise(row.name)] = row.value
    defaults = {}
    for name, text in values.items():
        value = _result(text, instance)
        option = verdict.catalog.find_variable(name) or verdict.catalog.get(name)
        if value is not None and option is not None:
            switched = {"1": "ON", "0": "OFF"}.get(value, value) if option.kind == "bool" else value
            defaults[option.variable or option.name] = as_variable(option, switched) or ""
    return ServiceSettings(held, verdict.catalog, defaults)


def _result(text: str, instance: Instance | None) -> str | None:
    """Return the value of a formula, None if it is unknown; any other text is the value itself."""
    if not is_formula(text):
        return None if "{" in text else text
    try:
        number = None if instance is None else evaluate_formula(text, instance)
    except FormulaError:
        return None
    return None if number is None else str(number)
