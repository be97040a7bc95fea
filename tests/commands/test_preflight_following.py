"""`mycnf preflight` beside the restart: values that come back, or follow others, in ways of their own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from pymysql.cursors import DictCursor
from server_restart import QUICKLY, differing, items, preflight, run, variables, written

from probes.sandbox import SandboxError

if TYPE_CHECKING:
    from mycnf_command import Mycnf
    from real_servers import Start

    from probes.sandbox import Sandbox


class Restart(NamedTuple):
    """The lines that a server starts with, the statements it gets, and the lines that it starts with again."""

    says: str
    before: str = ""
    statements: tuple[str, ...] = ()
    after: str = ""

    def __str__(self) -> str:
        return self.says


PERSISTED = (
    Restart("key caches, and a character set", statements=(
        "SET PERSIST key_cache_block_size = 2048", "SET PERSIST key_cache_age_threshold = 400",
        "SET PERSIST key_cache_division_limit = 50", "SET PERSIST_ONLY key_buffer_size = 16777216",
        "SET PERSIST character_set_server = latin2")),
    Restart("a character set, for the next start alone", statements=("SET PERSIST_ONLY character_set_server = gbk",)),
    Restart("a collation", statements=("SET PERSIST_ONLY collation_server = latin2_czech_cs",)),
    Restart("both", statements=(
        "SET PERSIST character_set_server = latin2", "SET PERSIST collation_server = latin2_czech_cs")),
)  # fmt: skip
POOLS = (
    Restart("a chunk's line goes", "innodb_buffer_pool_chunk_size = 3M"),
    Restart("a chunk's line comes", after="innodb_buffer_pool_chunk_size = 3M"),
    Restart("a larger pool", "innodb_buffer_pool_size = 64M", after="innodb_buffer_pool_size = 1G"),
    Restart("a pool just over a power of two", after="innodb_buffer_pool_size = 258M"),
    Restart("a pool just below a power of two", after="innodb_buffer_pool_size = 253M"),
)
SEVEN = "table_open_cache = 500\nthread_pool_size = 7\n"
MANY = "max_connections = 30000\n"
FILES = (
    Restart("a smaller pool of threads", SEVEN, after=SEVEN.replace("7", "3")),
    Restart("a pool of threads", SEVEN, after=f"{SEVEN}thread_handling = pool-of-threads"),
    Restart("connections beyond the files", MANY, after=f"{MANY}table_open_cache_instances = 2"),
)


def predicted_and_real(
    case: Restart, server_name: str, mycnf: Mycnf, start: Start, tmp_path: Path
) -> tuple[dict[str, tuple[str, str | None]], dict[str, tuple[str, str | None]]]:
    """What preflight predicts as (now, next) by variable, and what the restart then did."""
    first = "[mysqld]\n" if server_name == "mysql-5.7" else QUICKLY  # 5.7 starts quickly anyway
    file = written(tmp_path / "my.cnf", f"{first}{case.before}\n")
    sandbox = start(server_name, option_file=file)
    run(sandbox, *case.statements)
    written(file, f"{first}{case.after}\n")
    before = variables(sandbox)
    by_variable = {
        i["variable"]: (i["running"], i["next"]) for i in items(preflight(mycnf, sandbox, "--format", "json"))
    }
    sandbox.restart()
    return by_variable, differing(before, variables(sandbox))


@pytest.mark.servers("mysql-8.0", "mysql-9.7")
@pytest.mark.parametrize("case", PERSISTED, ids=str)
def test_persisted(case: Restart, server_name: str, mycnf: Mycnf, start: Start, tmp_path: Path) -> None:
    """A character set and a collation bring each other; 8.0.15 never sets what it persisted for key caches."""
    predicted, real = predicted_and_real(case, server_name, mycnf, start, tmp_path)
    assert predicted == real


@pytest.mark.servers("mysql-8.0")
def test_persisted_over_a_line(mycnf: Mycnf, server_name: str, start: Start, tmp_path: Path) -> None:
    """On 8.0 a persisted character set, which is set late, takes the place of a collation of another one."""
    line = "collation_server = utf8mb4_bin"
    case = Restart("", line, ("SET PERSIST_ONLY character_set_server = latin1",), line)
    predicted, real = predicted_and_real(case, server_name, mycnf, start, tmp_path)
    assert predicted == real


@pytest.mark.servers("mysql-9.7")
def test_persisted_against_a_line(mycnf: Mycnf, server_name: str, start: Start, tmp_path: Path) -> None:
    """On 9.7 it is read with the options, and the server stops at a collation of another one."""
    file = written(tmp_path / "my.cnf", f"{QUICKLY}collation_server = utf8mb4_bin\n")
    sandbox = start(server_name, option_file=file, small=True)
    run(sandbox, "SET PERSIST_ONLY character_set_server = latin1")
    found = items(preflight(mycnf, sandbox, "--format", "json"))
    assert [i["option"] for i in found if i["kind"] == "refused"] == ["collation_server"]
    with pytest.raises(SandboxError):
        sandbox.restart()


def stops_as_predicted(line: str, mycnf: Mycnf, sandbox: Sandbox) -> list[str]:
    """Add the line to the option file: preflight says that the server refuses the option, and it does.

    Returns all kinds of items about that option.
    """
    written(Path(str(sandbox.option_file)), f"{Path(str(sandbox.option_file)).read_text()}{line}\n")
    found = items(preflight(mycnf, sandbox, "--format", "json"))
    assert [i["option"] for i in found if i["kind"] == "refused"] == [line.partition(" ")[0]]
    with pytest.raises(SandboxError):
        sandbox.restart()
    return [i["kind"] for i in found if i["option"] == line.partition(" ")[0]]


@pytest.mark.servers("mysql-8.0", "mariadb-11.8", whole="mysql-5.7 mysql-9.7 mariadb-10.11")
def test_a_page_size_other_than_the_data_have(mycnf: Mycnf, start: Start, server_name: str, tmp_path: Path) -> None:
    """The page size is fixed when the data directory is initialized, and the server stops at another one.

    It is refused and not changed as well: no start gets as far as to change it.
    """
    sandbox = start(server_name, option_file=written(tmp_path / "my.cnf", QUICKLY), small=True)
    assert stops_as_predicted("innodb_page_size = 8K", mycnf, sandbox) == ["refused"]


@pytest.mark.servers("mysql-8.0", "mysql-9.7")
def test_a_case_of_names_other_than_the_data_have(mycnf: Mycnf, start: Start, server_name: str, tmp_path: Path) -> None:
    """From MySQL 8.0 on the dictionary keeps lower_case_table_names; 2 is 0 where file names have a case."""
    sandbox = start(server_name, option_file=written(tmp_path / "my.cnf", QUICKLY), small=True)
    run(sandbox, "SET PERSIST_ONLY lower_case_table_names = 2")
    assert "refused" not in {i["kind"] for i in items(preflight(mycnf, sandbox, "--format", "json"))}
    sandbox.restart()
    run(sandbox, "RESET PERSIST lower_case_table_names")
    stops_as_predicted("lower_case_table_names = 1", mycnf, sandbox)


@pytest.mark.servers("mariadb-10.11", whole="mariadb-11.8")
def test_a_default_engine_without_its_plugin(mycnf: Mycnf, start: Start, server_name: str, tmp_path: Path) -> None:
    """Where no line loads the plugin of the default engine, the server does not start; with INSTALL SONAME it does."""
    sandbox = start(server_name, option_file=written(tmp_path / "my.cnf", QUICKLY), small=True)
    engine = "default_storage_engine = BLACKHOLE"
    written(tmp_path / "my.cnf", f"{QUICKLY}plugin_load_add = ha_blackhole\n{engine}\n")
    assert "refused" not in {i["kind"] for i in items(preflight(mycnf, sandbox, "--format", "json"))}
    written(tmp_path / "my.cnf", QUICKLY)
    stops_as_predicted(engine, mycnf, sandbox)
    written(tmp_path / "my.cnf", QUICKLY)
    sandbox.restart()
    run(sandbox, "INSTALL SONAME 'ha_blackhole'")
    written(tmp_path / "my.cnf", f"{QUICKLY}{engine}\n")
    assert "refused" not in {i["kind"] for i in items(preflight(mycnf, sandbox, "--format", "json"))}
    sandbox.restart()


@pytest.mark.servers("mysql-8.0", whole="mysql-5.7")
def test_a_value_that_needs_another_option(mycnf: Mycnf, start: Start, server_name: str, tmp_path: Path) -> None:
    """What lint reports for lines at which a real start stops (OPT018), preflight reports too."""
    sandbox = start(server_name, option_file=written(tmp_path / "my.cnf", QUICKLY), small=True)
    stops_as_predicted("gtid_mode = ON", mycnf, sandbox)


@pytest.mark.servers("mysql-8.0")
def test_a_persisted_value_that_needs_another_option(
    mycnf: Mycnf, start: Start, server_name: str, tmp_path: Path
) -> None:
    """There is no line to remove: RESET PERSIST removes what is persisted, and the server starts."""
    sandbox = start(server_name, option_file=written(tmp_path / "my.cnf", QUICKLY), small=True)
    run(sandbox, "SET PERSIST_ONLY gtid_mode = ON")
    (refused,) = (i for i in items(preflight(mycnf, sandbox, "--format", "json")) if i["kind"] == "refused")
    assert refused["help"] == "also write enforce_gtid_consistency = ON, or run RESET PERSIST gtid_mode"
    run(sandbox, "RESET PERSIST gtid_mode")
    sandbox.restart()


@pytest.mark.servers("mysql-8.0", "mariadb-11.8")
def test_a_named_time_zone(mycnf: Mycnf, start: Start, server_name: str, tmp_path: Path) -> None:
    """A server whose time zone tables are empty stops at it; preflight does not read them, and is not certain."""
    file = written(tmp_path / "my.cnf", QUICKLY)
    sandbox = start(server_name, option_file=file, small=True)
    written(file, f"{QUICKLY}default_time_zone = Europe/Berlin\n")
    (zone,) = items(preflight(mycnf, sandbox, "--format", "json"))
    assert (zone["variable"], zone["confidence"]) == ("time_zone", "likely")
    assert zone["message"].endswith("stops at start-up if mysql.time_zone_name lacks Europe/Berlin.")
    with pytest.raises(SandboxError):
        sandbox.restart()


@pytest.mark.servers("mysql-8.0", whole="mysql-5.7")
def test_a_switch_with_a_third_word(mycnf: Mycnf, start: Start, server_name: str, tmp_path: Path) -> None:
    """The default of enforce_gtid_consistency, FALSE in the server's help, is OFF in the running server."""
    case = Restart("", statements=("SET GLOBAL enforce_gtid_consistency = ON",))
    predicted, real = predicted_and_real(case, server_name, mycnf, start, tmp_path)
    assert predicted == real == {"enforce_gtid_consistency": ("ON", "OFF")}


@pytest.mark.servers("mysql-8.0", whole="mysql-5.7")
def test_replication_filters_that_no_restart_keeps(
    mycnf: Mycnf, start: Start, server_name: str, tmp_path: Path
) -> None:
    """Filters of CHANGE REPLICATION FILTER are lost with a restart, and those of a file are not."""
    file = written(tmp_path / "my.cnf", f"{QUICKLY}server_id = 2\nreplicate_ignore_db = tmp\n")
    sandbox = start(server_name, option_file=file, small=True)
    run(
        sandbox,
        "CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = 1, MASTER_USER = 'r'",
        "CHANGE REPLICATION FILTER REPLICATE_DO_DB = (shop, stock)",
    )
    (lost,) = items(preflight(mycnf, sandbox, "--format", "json"))
    assert (lost["kind"], lost["variable"], lost["running"], lost["next"]) == (
        "lost",
        "replicate_do_db",
        "shop,stock",
        "",
    )
    sandbox.restart()
    assert items(preflight(mycnf, sandbox, "--format", "json")) == []
    with sandbox.connect() as connection, connection.cursor(DictCursor) as cursor:
        cursor.execute("SHOW SLAVE STATUS")
        (row,) = cursor.fetchall()
    assert (row["Replicate_Do_DB"], row["Replicate_Ignore_DB"]) == ("", "tmp")


@pytest.mark.servers("mariadb-11.8", whole="mariadb-10.11")
def test_filters_of_a_channel_with_a_name(mycnf: Mycnf, start: Start, server_name: str, tmp_path: Path) -> None:
    """MariaDB's variables show the filters of the unnamed channel only; those of others are lost all the same."""
    file = written(tmp_path / "my.cnf", f"{QUICKLY}server_id = 2\neu.replicate_do_db = shop\n")
    sandbox = start(server_name, option_file=file, small=True)
    run(
        sandbox,
        "CHANGE MASTER 'eu' TO MASTER_HOST = '127.0.0.1', MASTER_PORT = 1, MASTER_USER = 'r'",
        "SET GLOBAL eu.replicate_ignore_table = 'shop.a'",
    )
    (lost,) = items(preflight(mycnf, sandbox, "--format", "json"))
    assert (lost["kind"], lost["variable"], lost["running"]) == ("lost", "replicate_ignore_table", "shop.a")
    assert lost["help"] == "write a line eu.replicate_ignore_table = … for each of its values"
    sandbox.restart()
    assert items(preflight(mycnf, sandbox, "--format", "json")) == []


@pytest.mark.servers("mysql-8.0")
def test_a_persisted_value_of_durability(mycnf: Mycnf, start: Start, server_name: str, tmp_path: Path) -> None:
    """A line in the file would not outrank what is persisted."""
    sandbox = start(server_name, option_file=written(tmp_path / "my.cnf", QUICKLY), small=True)
    run(sandbox, "SET PERSIST_ONLY innodb_flush_method = O_DIRECT_NO_FSYNC")
    (changed,) = items(preflight(mycnf, sandbox, "--format", "json"))
    assert changed["help"] == "It affects durability: persist the intended value."


# The others size a pool as their neighbours here do, and start slowly.
@pytest.mark.servers("mysql-9.7", "mariadb-11.8", whole="mysql-5.7 mariadb-10.11")
@pytest.mark.parametrize("case", POOLS, ids=str)
def test_pools(case: Restart, server_name: str, mycnf: Mycnf, start: Start, tmp_path: Path) -> None:
    """The pool, its chunks and what is sized by it are predicted as the server then has them."""
    predicted, real = predicted_and_real(case, server_name, mycnf, start, tmp_path)
    assert predicted == real
    assert real


@pytest.mark.servers("mysql-8.0")
def test_no_advice_to_persist_without_effect(mycnf: Mycnf, start: Start, server_name: str, tmp_path: Path) -> None:
    """Where a persisted value would not come back, a line keeps it, and no statement is offered that can't."""
    sandbox = start(server_name, option_file=written(tmp_path / "my.cnf", QUICKLY), small=True)
    run(sandbox, "SET GLOBAL key_cache_block_size = 2048")
    (lost,) = items(preflight(mycnf, sandbox, "--format", "json"))
    assert [(a["option_line"], a["statement"]) for a in lost["actions"]] == [("key_cache_block_size = 2K", None)]


@pytest.mark.servers("mysql-8.0")
def test_a_persisted_switch_that_no_value_turns_off(
    mycnf: Mycnf, start: Start, server_name: str, tmp_path: Path
) -> None:
    """8.0.15 takes each value of skip_name_resolve for ON, so that only RESET PERSIST keeps OFF."""
    sandbox = start(server_name, option_file=written(tmp_path / "my.cnf", QUICKLY), small=True)
    run(sandbox, "SET PERSIST_ONLY skip_name_resolve = ON")
    (changed,) = items(preflight(mycnf, sandbox, "--format", "json"))
    assert (changed["help"], changed["actions"]) == ("To keep OFF, run RESET PERSIST skip_name_resolve.", [])
    run(sandbox, "RESET PERSIST skip_name_resolve")
    assert items(preflight(mycnf, sandbox, "--format", "json")) == []


@pytest.mark.servers("mariadb-10.11")
@pytest.mark.parametrize("case", FILES, ids=str)
def test_what_needs_files(case: Restart, server_name: str, mycnf: Mycnf, start: Start, tmp_path: Path) -> None:
    """MariaDB asks for a file for each group that a pool of threads would have, and lowers what it gets too few for."""
    predicted, real = predicted_and_real(case, server_name, mycnf, start, tmp_path)
    assert predicted == real
    assert real.keys() & {"open_files_limit", "max_connections"}


@pytest.mark.servers("mysql-9.7", "mariadb-11.8", whole="mysql-5.7 mysql-8.0")
def test_a_pool_beyond_the_memory(server_name: str, mycnf: Mycnf, start: Start, tmp_path: Path) -> None:
    """A pool that the next start would take and that the host has no memory for is named; one that fits is not."""
    messages = []
    for size in ("256M", "100T"):
        file = written(tmp_path / f"{size}.cnf", "[mysqld]\ninnodb_buffer_pool_size = 64M\n")
        sandbox = start(server_name, option_file=file)
        written(file, f"[mysqld]\ninnodb_buffer_pool_size = {size}\n")
        entries = items(preflight(mycnf, sandbox, "--format", "json"))
        messages += [item["message"] for item in entries if item["variable"] == "innodb_buffer_pool_size"]
    assert ["does not fit in the " in message for message in messages] == [False, True]


RATES = (
    Restart("a rate of a line", statements=("SET GLOBAL innodb_io_capacity_max = 5000",),
            after="innodb_io_capacity = 300"),
    Restart("a persisted rate", "innodb_io_capacity = 200", ("SET PERSIST innodb_io_capacity = 300",),
            "innodb_io_capacity = 200"),
)  # fmt: skip


@pytest.mark.servers("mysql-8.0", "mysql-9.7")
@pytest.mark.parametrize("case", RATES, ids=str)
def test_the_greatest_rate(case: Restart, server_name: str, mycnf: Mycnf, start: Start, tmp_path: Path) -> None:
    """MySQL 8.4 and later double the rate; before, the greatest rate is 2000 or more."""
    predicted, real = predicted_and_real(case, server_name, mycnf, start, tmp_path)
    assert predicted == real


@pytest.mark.servers("mysql-5.7")
def test_set_over_the_command_line(server_name: str, mycnf: Mycnf, start: Start, tmp_path: Path) -> None:
    """A value that was set at run time over the command line's is lost, although 5.7 reports no origins."""
    file = written(tmp_path / "my.cnf", "[mysqld]\nmax_connections = 100\n")
    sandbox = start(server_name, option_file=file, arguments=("--max-connections=60",))
    run(sandbox, "SET GLOBAL max_connections = 80")
    (lost,) = items(preflight(mycnf, sandbox, "--format", "json"))
    assert (lost["kind"], lost["variable"], lost["running"], lost["next"]) == ("lost", "max_connections", "80", "60")
    assert lost["message"].startswith("It was set at run time: the running server was started with another value.")


@pytest.mark.servers("mysql-9.7")
def test_a_default_over_an_argument(server_name: str, mycnf: Mycnf, start: Start, tmp_path: Path) -> None:
    """A SET to the default over an argument is lost, although MySQL reports it as it reports that of a session."""
    file = written(tmp_path / "my.cnf", QUICKLY)
    sandbox = start(server_name, option_file=file, arguments=("--sort-buffer-size=1M",))
    run(sandbox, "SET GLOBAL sort_buffer_size = 262144")
    (lost,) = items(preflight(mycnf, sandbox, "--format", "json"))
    found = (lost["kind"], lost["variable"], lost["running"], lost["next"])
    assert found == ("lost", "sort_buffer_size", "262144", "1048576")


@pytest.mark.servers("mariadb-11.8")
def test_one_expiry(server_name: str, mycnf: Mycnf, start: Start, tmp_path: Path) -> None:
    """The expiry in days follows the one in seconds that a SET changed: no line was removed."""
    sandbox = start(server_name, option_file=written(tmp_path / "my.cnf", QUICKLY), small=True)
    run(sandbox, "SET GLOBAL binlog_expire_logs_seconds = 600")
    found = {i["variable"]: (i["kind"], i["follows"]) for i in items(preflight(mycnf, sandbox, "--format", "json"))}
    assert found == {
        "binlog_expire_logs_seconds": ("lost", []),
        "expire_logs_days": ("changed", ["binlog_expire_logs_seconds"]),
    }


@pytest.mark.servers("mysql-8.0", whole="mysql-9.7")
@pytest.mark.parametrize("name", ["innodb_undo_log_encrypt", "binlog_encryption"])
def test_encrypted_logs_without_a_keyring(
    name: str, mycnf: Mycnf, start: Start, server_name: str, tmp_path: Path
) -> None:
    """Nothing shows whether the next start will have a keyring: the change is no more than likely, and says so."""
    sandbox = start(server_name, option_file=written(tmp_path / "my.cnf", QUICKLY), small=True)
    written(tmp_path / "my.cnf", f"{QUICKLY}{name} = ON\n")
    (item,) = items(preflight(mycnf, sandbox, "--format", "json"))
    assert (item["variable"], item["next"], item["confidence"]) == (name, "ON", "likely")
    assert "stops at its start unless a keyring is loaded" in item["message"]
    with pytest.raises(SandboxError):
        sandbox.restart()


@pytest.mark.servers("mariadb-11.8", whole="mariadb-10.11")
def test_keys_that_come_after_innodb(mycnf: Mycnf, start: Start, server_name: str, tmp_path: Path) -> None:
    """A key management plugin of mysql.plugin serves temporary files, and comes too late for InnoDB."""
    written(tmp_path / "keys", "1;770A8A65DA156D24EE2A093277530142\n")
    lines = f"{QUICKLY}loose_file_key_management_filename = {tmp_path}/keys\n"
    sandbox = start(server_name, option_file=written(tmp_path / "my.cnf", lines), small=True)
    run(sandbox, "INSTALL SONAME 'file_key_management'")
    written(tmp_path / "my.cnf", f"{lines}encrypt_tmp_files = ON\n")
    assert "refused" not in {i["kind"] for i in items(preflight(mycnf, sandbox, "--format", "json"))}
    sandbox.restart()
    encrypts = f"{lines}innodb_encrypt_log = ON\n"
    written(tmp_path / "my.cnf", f"{encrypts}plugin_load_add = file_key_management\n")
    assert "refused" not in {i["kind"] for i in items(preflight(mycnf, sandbox, "--format", "json"))}
    written(tmp_path / "my.cnf", lines)
    stops_as_predicted("innodb_encrypt_log = ON", mycnf, sandbox)


@pytest.mark.servers("mysql-8.0", "mariadb-11.8", whole="mysql-5.7 mysql-9.7 mariadb-10.11")
@pytest.mark.parametrize("line", ["init_file = /nowhere/x", "innodb_data_home_dir = /nowhere"])
def test_a_path_that_is_not_there(line: str, mycnf: Mycnf, start: Start, server_name: str, tmp_path: Path) -> None:
    """Preflight does not look for the path: the change is no more than likely, and says what the server needs."""
    sandbox = start(server_name, option_file=written(tmp_path / "my.cnf", QUICKLY), small=True)
    written(tmp_path / "my.cnf", f"{QUICKLY}{line}\n")
    name, _, path = line.partition(" = ")
    (item,) = (i for i in items(preflight(mycnf, sandbox, "--format", "json")) if i["variable"] == name)
    assert item["confidence"] == "likely"
    assert f"may not start if {path} does not exist" in item["message"]
    with pytest.raises(SandboxError):
        sandbox.restart()


@pytest.mark.servers("mysql-8.0", "mariadb-11.8", whole="mysql-5.7 mysql-9.7 mariadb-10.11")
def test_a_directory_without_the_files(mycnf: Mycnf, start: Start, server_name: str, tmp_path: Path) -> None:
    """A directory that exists is not enough for InnoDB's files: they have to be there, which is said too."""
    sandbox = start(server_name, option_file=written(tmp_path / "my.cnf", QUICKLY), small=True)
    empty = tmp_path / "empty"
    empty.mkdir(mode=0o777)
    written(tmp_path / "my.cnf", f"{QUICKLY}innodb_data_home_dir = {empty}\n")
    found = items(preflight(mycnf, sandbox, "--format", "json"))
    (item,) = (one for one in found if one["variable"] == "innodb_data_home_dir")
    assert "or if InnoDB's files were not moved there from the old directory" in item["message"]
    with pytest.raises(SandboxError):
        sandbox.restart()
