"""Options that share one setting with others, switch them or size them: their values after all lines are read."""

from __future__ import annotations

from advisor.verdict.number import parse_digits
from advisor.verdict.settings import DEFAULT_CONNECTIONS, NO_DEFAULT, ansi_values, move_value
from advisor.verdict.take import LEFT_TO_SERVER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from advisor.catalog import Catalog
    from advisor.verdict.outcome import SettledValues, Values


# MariaDB's set options with the switches for single members; True: ON adds the member, False: ON removes it.
SWITCHES = {
    "log_slow_disabled_statements": (
        ("log_slow_admin_statements", "admin", False),
        ("log_slow_slave_statements", "slave", False),
    ),
    "log_slow_filter": (("log_queries_not_using_indexes", "not_using_index", True),),
}
DROPPED_WITH_INNODB = frozenset(
    {"innodb_ft_aux_table", "innodb_ft_server_stopword_table", "innodb_ft_user_stopword_table", "innodb_tmpdir"}
)
OLD_MODES = frozenset({"NO_PROGRESS_INFO", "IGNORE_INDEX_ONLY_FOR_JOIN", "COMPAT_5_1_CHECKSUM"})
MAX_BACK_LOG = 900
MANY, MOST_HOSTS = 500, 2000  # connections above MANY count a twentieth; MOST_HOSTS limits the autosized host cache
# Values that MariaDB's Performance Schema uses for -1: up to twice the default connections, and above.
SIZED = {
    "history_long_size": ("1000", "10000"),
    "history_size": ("10", "10"),
    "digests_size": ("5000", "10000"),
    "session_connect_attrs_size": ("512", "512"),
}


def settle_linked(settled: SettledValues, catalog: Catalog, names: list[str]) -> None:
    """Apply the linked values, with a reason where a line's value is lost; `names` are the options in file order."""
    values = settled.values
    connections = parse_digits(values.get("max_connections")) or DEFAULT_CONNECTIONS
    if values.get("flush") == "TRUE":
        move_value(settled, "flush_time", "0", "flush is on, and closes tables after every statement anyway")
    if values.get("super_read_only") == "TRUE" and "read_only" in values:
        move_value(settled, "read_only", "TRUE", "super_read_only switches it on")
    if values.get("back_log") == "0":
        newer = catalog.target.since("mysql", 8)
        values["back_log"] = str(connections if newer else min(50 + connections // 5, MAX_BACK_LOG))
    if "ansi" in names:
        _apply_ansi(settled, catalog, names[: names.index("ansi")])
    if values.get("mysqlx") == "OFF":
        _unset_mysqlx(settled, catalog)
    if catalog.target.is_mariadb:
        _apply_autosize(values, connections)
        _settle_mariadb(settled, catalog, connections)


def _apply_autosize(values: Values, connections: int) -> None:
    """Replace values that autoset- leaves to MariaDB by those it derives from max_connections."""
    more = max(0, connections - MANY) // 20
    sizes = {
        "back_log": min(50 + connections // 5, MAX_BACK_LOG),
        "host_cache_size": min(128 + min(connections, MANY) + more, MOST_HOSTS),
    }
    values.update({name: str(size) for name, size in sizes.items() if values.get(name) == LEFT_TO_SERVER})


def _settle_mariadb(settled: SettledValues, catalog: Catalog, connections: int) -> None:
    for name, switches in SWITCHES.items():
        _apply_switches(settled, catalog, name, switches)
    _apply_query_time(settled.values)
    _apply_old_modes(settled, catalog)
    if settled.values.get("innodb") == "OFF":
        for name in DROPPED_WITH_INNODB & settled.values.keys():
            settled.values[name] = NO_DEFAULT
            settled.why[name] = "The server ignores the value: InnoDB is off."
    if settled.values.get("flashback") == "TRUE":
        move_value(settled, "binlog_format", "ROW", "flashback needs whole rows")
    if settled.values.get("performance_schema") == "TRUE":
        _size_performance_schema(settled.values, connections)


def _apply_ansi(settled: SettledValues, catalog: Catalog, earlier: list[str]) -> None:
    """ansi sets its values when its line is read; only later lines change them."""
    for name, value in ansi_values(catalog).items():
        if name in earlier:
            move_value(settled, name, value, "ansi comes later, and sets it too")


def _unset_mysqlx(settled: SettledValues, catalog: Catalog) -> None:
    """With mysqlx off, all its string options but one are unset; numbers are printed as given."""
    for name, value in settled.values.items():
        option = catalog.get(name)
        text = option is not None and option.kind == "string" and not option.values
        if text and name.startswith("mysqlx_") and name != "mysqlx_ssl_crlpath" and value != NO_DEFAULT:
            settled.values[name] = NO_DEFAULT
            settled.why[name] = "The server ignores the value: mysqlx is off."


def _apply_switches(
    settled: SettledValues, catalog: Catalog, name: str, switches: tuple[tuple[str, str, bool], ...]
) -> None:
    """Apply lines in order: each changes the state of the lines before, as a whole set or one member."""
    option = catalog.get(name)
    given = [other for other in settled.values if other == name or other in [switch for switch, _, _ in switches]]
    if option is None or not given:
        return
    state = set((option.default or "").split(","))
    for other in given:
        if other == name:
            state = set(settled.values[name].split(","))
        for switch, member, puts in switches:
            if other == switch:
                state = state | {member} if (settled.values[switch] == "TRUE") == puts else state - {member}
    if name in given:
        settled.values[name] = ",".join([member for member in option.values if member in state])
    for switch, member, puts in switches:
        why = f"the line of {name} comes later, and sets the same option"
        move_value(settled, switch, "TRUE" if (member in state) == puts else "FALSE", why)


def _apply_old_modes(settled: SettledValues, catalog: Catalog) -> None:
    """The switch old adds its modes to old_mode, which replaced it."""
    modes, option = settled.values.get("old_mode"), catalog.get("old_mode")
    if settled.values.get("old") == "TRUE" and option and modes is not None:
        state = OLD_MODES.union(modes.split(","))
        settled.values["old_mode"] = ",".join([mode for mode in option.values if mode in state])


def _apply_query_time(values: Values) -> None:
    """Two names of one variable that the catalog does not record as aliases."""
    given = [name for name in values if name in ("long_query_time", "log_slow_query_time")]
    for name in given:
        values[name] = values[given[-1]]


def _size_performance_schema(values: Values, connections: int) -> None:
    """Replace sizes of -1 by those that the server derives from max_connections."""
    for name, value in values.items():
        end = next((end for end in SIZED if name.endswith(end)), None)
        if value == "-1" and end and name.startswith("performance_schema_"):
            values[name] = SIZED[end][connections > 2 * DEFAULT_CONNECTIONS]
